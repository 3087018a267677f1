"""How long the scoring core takes for a million predictions; prints a markdown table."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import machine
from truemark.matching import match_by_cost, match_positions
from truemark.sweep import ScoredPositions, exact_curve, grid, sweep
from truemark.tables import Table, render

MILLION = 1_000_000
TOLERANCE = 3
REPEATS = 3
SEED = 1


def seconds(work: Callable[[], object]) -> float:
    """The shortest of a few runs: the one least disturbed by other work on the machine."""
    durations = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        durations.append(time.perf_counter() - start)
    return min(durations)


def positions(generator: np.random.Generator, count: int, span: int) -> NDArray[np.int64]:
    return np.sort(generator.integers(0, span, count))


def measured() -> list[tuple[str, float]]:
    """Each job with its time in seconds."""
    generator = np.random.default_rng(SEED)
    dense = positions(generator, MILLION, 10 * MILLION)
    dense_truths = positions(generator, MILLION, 10 * MILLION).tolist()
    dense_list = dense.tolist()
    scores = generator.random(MILLION)
    talk = ScoredPositions(positions(generator, MILLION, 4 * MILLION), scores)
    talk_truths = positions(generator, MILLION // 20, 4 * MILLION).tolist()
    crowd = ScoredPositions(dense, scores)
    thresholds = grid(0.01, 0.20, 0.01)
    cost = generator.random((300, 300)).tolist()
    near = [[value < 0.1 for value in row] for row in cost]
    return [
        (
            "match 1,000,000 sorted predictions with 1,000,000 sorted truths",
            seconds(lambda: match_positions(dense_list, dense_truths, TOLERANCE)),
        ),
        (
            "exact curve of 1,000,000 predictions, a truth per 20 (like a talk)",
            seconds(lambda: exact_curve([(talk, talk_truths)], TOLERANCE)),
        ),
        (
            "exact curve of 1,000,000 predictions, as many truths",
            seconds(lambda: exact_curve([(crowd, dense_truths)], TOLERANCE)),
        ),
        (
            "exact curve of 1,000,000 predictions, as many truths, tolerance 30",
            seconds(lambda: exact_curve([(crowd, dense_truths)], 30)),
        ),
        (
            f"sweep of 1,000,000 predictions over {len(thresholds)} thresholds, a truth per 20",
            seconds(lambda: sweep([(talk, talk_truths)], thresholds, TOLERANCE)),
        ),
        ("pair 300 events with 300 by cost", seconds(lambda: match_by_cost(cost, near))),
    ]


def main() -> None:
    table = Table(("Job", "Seconds"), tuple(measured()), (None, ".2f"))
    print(f"Scoring core on {machine()}; best of {REPEATS} runs\n")
    print(render(table, "markdown"), end="")


if __name__ == "__main__":
    main()
