"""Compare the cost of a sweep of 19 thresholds with a single evaluation of the same talks.

    python -m benchmarks.sweep_cost [--rounds N]

measures both in turns on the bundled corpus, with a file of SaT-3l's shape (random weights, which
take the same time as trained ones) and with the bundled model `small`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.machine import machine
from benchmarks.segmentation_speed import models
from benchmarks.timing import undisturbed
from sat_bench.corpus.loading import Corpus, load_corpus
from sat_bench.defaults import BUNDLED_CORPUS, DEFAULT_GRID, DEFAULT_THRESHOLD
from sat_bench.measure import measure
from sat_bench.models.protocol import Read
from sat_bench.models.systems import ModelFiles, find_model
from sat_bench.running.inference import Inference
from truemark.counts import EQUAL_WEIGHTS
from truemark.curve import grid
from truemark.tables import Table, render


@dataclass(frozen=True, slots=True)
class Cost:
    wall_s: float
    processor_s: float


def cost(read: Read, corpus: Corpus, thresholds: Sequence[float]) -> Cost:
    """Time one measurement, including reading the talks."""
    wall_s, processor_s = time.perf_counter(), time.process_time()
    measure(read, corpus).sweep(thresholds, EQUAL_WEIGHTS)
    return Cost(time.perf_counter() - wall_s, time.process_time() - processor_s)


def row(files: ModelFiles, corpus: Corpus, rounds: int) -> tuple[object, ...]:
    """Return the fastest evaluation and the fastest sweep, and their ratio."""
    single, full = (DEFAULT_THRESHOLD,), grid(*DEFAULT_GRID)
    costs: dict[tuple[float, ...], list[Cost]] = {single: [], full: []}
    with Inference().opened(files) as read:
        cost(read, corpus, single)
        for number in range(rounds):
            # Change the order with each round.
            for thresholds in (single, full) if number % 2 else (full, single):
                taken = undisturbed(partial(cost, read, corpus, thresholds), files.name)
                costs[thresholds].append(taken)
    wall_s = [min(run.wall_s for run in costs[key]) for key in (single, full)]
    processor_s = [min(run.processor_s for run in costs[key]) for key in (single, full)]
    return files.name, *wall_s, wall_s[1] / wall_s[0], processor_s[1] / processor_s[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=4, help="runs of each, the fastest counts")
    rounds: int = parser.parse_args().rounds
    corpus = load_corpus(BUNDLED_CORPUS)
    with tempfile.TemporaryDirectory() as name:
        shaped, _ = models(Path(name))
        rows = (
            row(shaped, corpus, rounds),
            row(find_model("small"), corpus, 2 * rounds),
        )
    print(f"The {len(corpus)} bundled talks, {corpus.characters:,} characters, on {machine()}\n")
    columns = ("model", "1 threshold, s", "19 thresholds, s", "ratio", "ratio of processor time")
    print(render(Table(columns, rows, (None, ".2f", ".2f", ".3f", ".3f")), "markdown"), end="")


if __name__ == "__main__":
    main()
