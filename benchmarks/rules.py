"""How long the extractor without a language model takes, by the length of the conversation.

    python -m benchmarks.rules

reads the bundled samples and those under testdata/unseen several times over; the fastest time of
each conversation counts, and what was read before is forgotten in between.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import mean

from benchmarks.machine import machine
from cal_ai.benchmark.samples import Sample, bundled_folder, load_samples
from cal_ai.extractors.rules.extractor import find_events
from cal_ai.extractors.rules.moments import find_moments
from truemark.tables import Table, render

UNSEEN = Path(__file__).parents[1] / "testdata" / "unseen"
LINES = (0, 6, 8, 10, 12, 20, 200)
ROUNDS = 5


def milliseconds(samples: list[Sample]) -> dict[str, float]:
    """The shortest time that each conversation took."""
    shortest: dict[str, float] = {}
    # The first round also compiles the patterns.
    for number in range(ROUNDS + 1):
        find_moments.cache_clear()
        for sample in samples:
            begun_s = time.perf_counter()
            find_events(sample.request)
            taken_ms = 1_000 * (time.perf_counter() - begun_s)
            if number:
                shortest[sample.id] = min(taken_ms, shortest.get(sample.id, taken_ms))
    return shortest


def rows(samples: list[Sample]) -> Iterator[tuple[object, ...]]:
    taken_ms = milliseconds(samples)
    for above, most in pairwise(LINES):
        among = [it for it in samples if above < len(it.request.transcript.utterances) <= most]
        times_ms = [taken_ms[sample.id] for sample in among]
        yield f"{above + 1} to {most}", len(among), mean(times_ms), max(times_ms)


def main() -> None:
    samples = [
        sample for folder in (bundled_folder(), UNSEEN) for sample in load_samples(folder).samples
    ]
    print(f"{machine()}\n")
    columns = ("lines", "conversations", "mean, ms", "longest, ms")
    print(render(Table(columns, tuple(rows(samples)), (None, "d", ".1f", ".1f")), "markdown"))


if __name__ == "__main__":
    main()
