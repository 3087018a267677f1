"""Measure how much faster two workers read a corpus than one; check that their counts are equal.

    python -m benchmarks.cluster [--talks N]

starts two local clusters, with one and with two single-threaded workers, and runs them in turns
with a file of SaT-3l's shape. Starting workers and loading the model are not counted.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from testing.measuring import CountedTalks, counted

from benchmarks.machine import machine
from benchmarks.segmentation_speed import models, talk_text
from benchmarks.timing import fastest
from sat_bench.corpus.talks import Talk, find_sentences
from sat_bench.measure import measure
from sat_bench.models.protocol import BoundaryModel
from sat_bench.models.segmenter import Segmenter
from sat_bench.running.cluster import connected
from sat_bench.running.inference import read_talks
from truemark.curve import grid
from truemark.tables import Table, render

TALK_CHARACTERS = 2_500
HERE = "this process, one thread"
THRESHOLDS = grid(0.01, 1.0, 0.01)


def talks(count: int) -> list[Talk]:
    """Make talks of equal length from the bundled ones."""
    text = talk_text(count * TALK_CHARACTERS)
    parts = [
        text[start : start + TALK_CHARACTERS] for start in range(0, len(text), TALK_CHARACTERS)
    ]
    return [Talk(f"{n}", "", "", "", part, find_sentences(part)) for n, part in enumerate(parts)]


def read(model: BoundaryModel, corpus: list[Talk], counts: list[CountedTalks]) -> None:
    """Add the counts of the model's answers."""
    counts.append(counted(measure(partial(read_talks, model), corpus), THRESHOLDS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--talks", type=int, default=24, help="how many talks to read")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each, the fastest counts")
    options = parser.parse_args()
    corpus = talks(options.talks)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        shaped, _ = models(folder)
        local = Segmenter(shaped.model, shaped.tokenizer, batch_tokens=0, threads=1)
        runs: dict[str, BoundaryModel] = {HERE: stack.enter_context(local)}
        for workers, name in ((1, "one worker"), (2, "two workers")):
            cluster = stack.enter_context(connected(f"local:{workers}"))
            runs[name] = cluster.model(shaped, shaped.windowing)
        for model in runs.values():
            measure(partial(read_talks, model), corpus[:4])  # loads the model on every worker
        counts: dict[str, list[CountedTalks]] = {name: [] for name in runs}
        jobs: dict[str, Callable[[], object]] = {
            name: partial(read, model, corpus, counts[name]) for name, model in runs.items()
        }
        times = fastest(jobs, options.rounds)
    for name, measurements in counts.items():
        if any(measurement != counts[HERE][0] for measurement in measurements):
            raise SystemExit(f"{name}: counts differ from those of {HERE}")
    rows = tuple((name, taken, times["one worker"] / taken) for name, taken in times.items())
    print(f"{len(corpus)} talks of {TALK_CHARACTERS:,} characters, SaT-3l's shape, {machine()}\n")
    columns = ("run by", "seconds", "times as fast as one worker")
    print(render(Table(columns, rows, (None, ".2f", ".2f")), "markdown"))
    print(f"All counts equal at {len(THRESHOLDS)} thresholds.")


if __name__ == "__main__":
    main()
