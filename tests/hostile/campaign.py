"""The campaign: thousands of bad inputs and faults, kills, writers at once, full disks.

    python -m tests.hostile.campaign [--seed N] [--only PART]

Everything is generated from the seed. Each case runs in a process of its own and is held to the
same criteria (`forked.complaints`); the exit status is 1 when one of them is not met.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
SEED = 20260220
Finding = tuple[str, str, list[str]]


def cases_part(seed: int) -> Iterator[Finding]:
    """Every reader and every flag."""
    from tests.hostile.forked import complaints, run
    from tests.hostile.generated import generated_cases

    with _folders() as folder:
        for case in _own(generated_cases(seed)):
            place = Path(tempfile.mkdtemp(dir=folder))
            outcome = run(case, place)
            found = complaints(case, outcome, place)
            if found:
                found.append(outcome.err.decode("utf-8", "replace")[-300:])
            shutil.rmtree(place, ignore_errors=True)
            yield case.kind, case.name, found


def servers_part(seed: int) -> Iterator[Finding]:
    """Every fault of each of the four kinds of server."""
    from tests.hostile.server_faults import server_cases

    with _folders() as folder:
        yield from server_cases(folder, _own)


def kills_part(seed: int) -> Iterator[Finding]:
    """Each command that writes, killed at random moments."""
    from tests.hostile.kills import kill_cases

    with _folders() as folder:
        yield from kill_cases(folder, seed, _own)


def disks_part(seed: int) -> Iterator[Finding]:
    """Each command that writes, on a disk that is full, and with output that cannot be written."""
    from tests.hostile.kills import full_disk_cases

    with _folders() as folder:
        yield from full_disk_cases(folder, seed, _own)


def writers_part(seed: int) -> Iterator[Finding]:
    """Four writers at once."""
    from tests.hostile.kills import writer_cases

    with _folders() as folder:
        yield from writer_cases(folder, _own)


PARTS: dict[str, Callable[[int], Iterator[Finding]]] = {
    "inputs": cases_part,
    "servers": servers_part,
    "kills": kills_part,
    "disks": disks_part,
    "writers": writers_part,
}
_IMPORTED = (
    "caldav.davclient",
    "google.genai",
    "google_auth_httplib2",
    "googleapiclient.discovery",
    "httpx2",
    "icalendar",
    "onnxruntime",
    "rapidfuzz",
    "recurring_ical_events",
    "sentencepiece",
    "cal_ai.applying.pipeline",
    "cal_ai.benchmark.command",
    "cal_ai.calendars.caldav",
    "cal_ai.calendars.google",
    "cal_ai.calendars.ics",
    "cal_ai.extractors.reader.extractor",
    "sat_bench.commands",
    "truemark.comparison",
    "truemark.services.gemini",
    "truemark.services.openai",
    "truemark.sheets",
)
_share = (0, 1)


def _own(cases: Iterable[T]) -> Iterator[T]:
    """The cases that fall to this process."""
    number, of = _share
    return (case for index, case in enumerate(cases) if index % of == number)


def _folders() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="hostile", ignore_cleanup_errors=True)


def _work(number: int, of: int, seed: int, parts: list[str], results: object) -> None:
    global _share
    _share = (number, of)
    _import_all()
    for part in parts:
        for finding in PARTS[part](seed):
            results.put((part, finding))  # type: ignore[attr-defined]  # a queue
    results.put(None)  # type: ignore[attr-defined]  # likewise


def _import_all() -> None:
    """Imports what the commands import, so that each child starts at once."""
    for name in _IMPORTED:
        import_module(name)


def main() -> int:
    """The exit status; prints a line per kind, then what was not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", choices=sorted(PARTS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    parts = [options.only] if options.only else list(PARTS)
    begun_s = time.monotonic()
    counts: Counter[str] = Counter()
    bad: list[tuple[str, str, list[str]]] = []
    for part, (kind, name, found) in _results(options.jobs, options.seed, parts):
        counts[f"{part}: {kind}"] += 1
        if found:
            bad.append((kind, name, found))
            print(f"NOT AS IT SHOULD BE {kind}: {name}: {found}", file=sys.stderr, flush=True)
    for label, count in sorted(counts.items()):
        print(f"{count:6}  {label}")
    print(
        f"{sum(counts.values()):6}  in all, {len(bad)} not as they should be, "
        f"{time.monotonic() - begun_s:.0f} s, seed {options.seed}"
    )
    return 1 if bad else 0


def _results(jobs: int, seed: int, parts: list[str]) -> Iterator[tuple[str, Finding]]:
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    workers = [
        context.Process(target=_work, args=(number, jobs, seed, parts, results))
        for number in range(jobs)
    ]
    for worker in workers:
        worker.start()
    left = jobs
    while left:
        result = results.get(timeout=600)
        if result is None:
            left -= 1
        else:
            yield result
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    sys.exit(main())
