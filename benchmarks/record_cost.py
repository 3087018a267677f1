"""Measure what writing a run record adds to a run over the bundled talks.

    python -m benchmarks.record_cost [--rounds N]

A run is the whole command without the start of the interpreter; the cost of the record is that of
making and writing its texts, marks, findings and curves.
"""

from __future__ import annotations

import argparse
import io
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from benchmarks.machine import machine
from benchmarks.timing import fastest
from sat_bench.cli import main as sat_bench
from sat_bench.corpus.loading import Corpus, load_corpus
from sat_bench.defaults import BUNDLED_CORPUS, ENGLISH_MODELS, Options
from sat_bench.measure import measure_system
from sat_bench.models.systems import find_system
from sat_bench.record import with_findings
from sat_bench.report import result_of
from truemark.records import write_run
from truemark.tables import Table, render


def command(model: str) -> None:
    """Run the command once and drop its output."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        status = sat_bench(["-corpus", "bundled", "-model", model])
    assert status == 0


def row(model: str, corpus: Corpus, file: Path, rounds: int) -> tuple[object, ...]:
    """Return the times of a run and of its record, and the size of the record."""
    [measured] = measure_system(find_system(model), corpus)
    run = result_of(measured, Options(), corpus.checksum).run

    def record() -> None:
        write_run(file, with_findings(run, measured, corpus))

    times = fastest({"run": lambda: command(model), "record": record}, rounds)
    share = times["record"] / times["run"]
    return model, times["run"], times["record"], 100 * share, file.stat().st_size / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each, the fastest counts")
    rounds: int = parser.parse_args().rounds
    corpus = load_corpus(BUNDLED_CORPUS)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.json"
        rows = tuple(row(model, corpus, file, rounds) for model in ENGLISH_MODELS)
    print(f"The {len(corpus)} bundled talks, {corpus.characters:,} characters, on {machine()}\n")
    columns = ("model", "run, s", "record, s", "record, % of the run", "size, kB")
    print(render(Table(columns, rows, (None, ".2f", ".3f", ".1f", ",.0f")), "markdown"), end="")


if __name__ == "__main__":
    main()
