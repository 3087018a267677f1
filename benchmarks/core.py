"""Measure how long the scoring core takes for a million predictions; print a markdown table.

For comparison, plain code that handles one object at a time is measured too; if it takes most of a
minute, it is timed on a tenth of the data and the time is multiplied by ten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import plain_core as plain
from benchmarks.machine import machine
from benchmarks.timing import fastest
from truemark.assignment import match_by_cost
from truemark.curve import curve_of, grid, sweep
from truemark.matching import ScoredPositions, match_positions
from truemark.tables import Table, render
from truemark.uncertainty import Scoring, intervals_of, paired_intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

MILLION = 1_000_000
UNITS = 100_000
DRAWS = 10_000
TOLERANCE = 3
REPEATS = 3
SEED = 1
F1 = Scoring("f1", empty=0.0)


@dataclass(frozen=True, slots=True)
class Job:
    """A function to time, its goal in seconds, and plain code that does the same."""

    name: str
    work: Callable[[], object]
    goal_s: float | None = None
    before: Callable[[], object] | None = None
    times: int = 1  # how often `before` would have to run for the same amount of work


def positions(generator: np.random.Generator, count: int, span: int) -> Ints:
    return np.sort(generator.integers(0, span, count))


def jobs() -> Iterator[Job]:
    """Yield every job with its data."""
    generator = np.random.default_rng(SEED)
    yield from _matching(generator)
    yield from _sweeps(generator)
    yield from _chance(generator)


def _matching(generator: np.random.Generator) -> Iterator[Job]:
    guesses = positions(generator, MILLION, 10 * MILLION).tolist()
    truths = positions(generator, MILLION, 10 * MILLION).tolist()
    yield Job(
        "match 1,000,000 sorted predictions with 1,000,000 sorted truths",
        lambda: match_positions(guesses, truths, TOLERANCE),
        0.25,
        lambda: plain.match_by_scan(guesses, truths, TOLERANCE),
    )
    cost = generator.random((1000, 1000)).tolist()
    near = [[value < 0.1 for value in row] for row in cost]
    yield Job(
        "pair 1,000 events with 1,000 by cost",
        lambda: match_by_cost(cost, near),
        1.0,
        lambda: plain.pair_exactly(cost, near),
    )


def exact_curve(predicted: ScoredPositions, expected: list[int], tolerance: int) -> Ints:
    """Count at every distinct score, however many there are."""
    curve = curve_of(predicted, expected, tolerance)
    return curve.columns(curve.thresholds)


def _sweeps(generator: np.random.Generator) -> Iterator[Job]:
    scores = generator.random(MILLION)
    talk = ScoredPositions(positions(generator, MILLION, 4 * MILLION), scores)
    rare = positions(generator, MILLION // 20, 4 * MILLION).tolist()
    crowd = ScoredPositions(positions(generator, MILLION, 10 * MILLION), scores)
    dense = positions(generator, MILLION, 10 * MILLION).tolist()
    million = "exact curve of 1,000,000 predictions,"
    yield Job(f"{million} a truth per 20", lambda: exact_curve(talk, rare, TOLERANCE), 1.0)
    yield Job(f"{million} as many truths", lambda: exact_curve(crowd, dense, TOLERANCE))
    yield Job(f"{million} as many truths, tolerance 30", lambda: exact_curve(crowd, dense, 30))
    thresholds = grid(0.01, 0.20, 0.01)
    yield Job(
        f"sweep of 1,000,000 predictions over {len(thresholds)} thresholds, a truth per 20",
        lambda: sweep([curve_of(talk, rare, TOLERANCE)], thresholds, empty=0.0),
    )
    talks = [
        (
            ScoredPositions(positions(generator, 1_000, 8_000), generator.random(1_000)),
            positions(generator, 100, 8_000).tolist(),
        )
        for _ in range(1_000)
    ]
    fine = grid(0.0, 1.0, 0.0001)
    yield Job(
        "sweep of 1,000 talks over 10,000 thresholds",
        lambda: sweep([curve_of(*talk, TOLERANCE) for talk in talks], fine, empty=0.0),
        2.0,
        lambda: plain.sweep_by_point(talks[:100], fine, TOLERANCE),
        10,
    )


def _chance(generator: np.random.Generator) -> Iterator[Job]:
    def column(most: int) -> Ints:
        return generator.integers(0, most, UNITS)

    distinct = np.stack((np.arange(UNITS), column(50), column(50)), axis=1)
    first = np.stack((column(9), column(3), column(3)), axis=1)
    second = np.stack((column(9), column(3), column(3)), axis=1)
    yield Job(
        "interval over 100,000 units with distinct counts",
        lambda: intervals_of(distinct, (F1,)),
        6.0,
    )
    yield Job(
        "paired permutation test of 100,000 units, 10,000 permutations",
        lambda: paired_intervals([(first, second)], F1),
        0.5,
        lambda: plain.permutation_by_unit(first[::10], second[::10], F1, DRAWS),
        10,
    )


def measured() -> list[tuple[object, ...]]:
    """Return each job with its goal, its time and the plain code's in seconds, and their ratio."""
    rows: list[tuple[object, ...]] = []
    for job in jobs():
        taken = fastest({job.name: job.work}, REPEATS)[job.name]
        before = fastest({job.name: job.before}, 1)[job.name] * job.times if job.before else None
        rows.append((job.name, job.goal_s, taken, before, before / taken if before else None))
    return rows


def main() -> None:
    columns = ("Job", "Goal, s", "Seconds", "Plain way, s", "Times faster")
    table = Table(columns, tuple(measured()), (None, ".2f", ".2f", ".2f", ".1f"))
    print(f"Scoring core on {machine()}; best of {REPEATS} runs, the plain way once\n")
    print(render(table, "markdown"), end="")


if __name__ == "__main__":
    main()
