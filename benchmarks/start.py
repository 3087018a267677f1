"""Measure how long `cal_ai FILE --dry-run` takes, and the part of the embedded extractor.

    python -m benchmarks.start [--rounds N]

The command is run as a user would, in a separate process, on a conversation of the bundled samples:
first with an extractor that answers at once, to measure the command itself, then with the embedded
one, which loads and runs a network.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.machine import machine
from benchmarks.processes import Cost, cost_of
from cal_ai.benchmark.samples import bundled_folder, load_samples
from truemark.tables import Table, render

QUIET = "def nothing(request):\n    return []\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10, help="runs of each, the fastest counts")
    rounds: int = parser.parse_args().rounds
    sample = load_samples(bundled_folder())[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "quiet.py").write_text(QUIET, encoding="utf-8")
        conversation = str(bundled_folder() / f"{sample.id}.txt")
        dry_run = ["-m", "cal_ai", conversation, "--dry-run", "--calendar", "ics:none.ics"]
        jobs = {
            "python -c pass": ["-c", "pass"],
            "an extractor that answers at once": [*dry_run, "--extractor", "py:quiet:nothing"],
            "the embedded extractor": [*dry_run, "--extractor", "reader"],
        }
        costs: dict[str, list[Cost]] = {job: [] for job in jobs}
        for _ in range(rounds):
            for job, command in jobs.items():
                costs[job].append(cost_of(command, folder=folder))
    rows = tuple(
        (job, min(cost.wall_s for cost in taken), min(cost.cpu_s for cost in taken))
        for job, taken in costs.items()
    )
    print(f"{machine()}\n")
    columns = ("cal_ai FILE --dry-run with", "seconds", "CPU seconds")
    print(render(Table(columns, rows, (None, ".3f", ".3f")), "markdown"), end="")


if __name__ == "__main__":
    main()
