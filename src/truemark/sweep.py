"""Counts at every threshold from one set of scored predictions.

A sweep has the thresholds it is given; a curve has all where the counts change, from one pass.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from truemark.counts import EQUAL_WEIGHTS, Counts, Weights, best_row, scores
from truemark.matching import found_scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_GRID_POINTS = 100_000
_FINE = 2.0**16


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """The counts of the predictions whose score is above the threshold."""

    threshold: float
    counts: Counts


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPositions:
    """Positions in ascending order with a score each; a score of infinity is always predicted."""

    positions: NDArray[np.int64]
    scores: NDArray[np.float64]

    def __post_init__(self) -> None:
        import numpy as np

        positions, scores = np.asarray(self.positions), np.asarray(self.scores)
        if positions.ndim != 1 or positions.shape != scores.shape:
            raise ValueError(
                "positions and scores must be two rows of equal length, "
                f"got shapes {positions.shape} and {scores.shape}"
            )
        if len(positions) and positions.dtype.kind not in "iu":
            raise ValueError(f"positions must be whole numbers, got {positions.dtype}")
        if (positions[1:] < positions[:-1]).any():
            raise ValueError("positions must be in ascending order, got some that go back")
        if not (scores > -math.inf).all():
            raise ValueError("scores must be numbers above minus infinity, got NaN or -inf")
        # Compared in single precision, a score of 0.3 would not be above a threshold of 0.3
        # that it exceeds in double precision.
        object.__setattr__(self, "positions", positions.astype(np.int64, copy=False))
        object.__setattr__(self, "scores", scores.astype(np.float64, copy=False))

    def __len__(self) -> int:
        return len(self.positions)

    def above(self, threshold: float) -> list[int]:
        """The positions whose score is above `threshold`."""
        chosen: list[int] = self.positions[self.scores > threshold].tolist()
        return chosen


Group = tuple[ScoredPositions, Sequence[int]]


def grid(start: float, stop: float, step: float) -> tuple[float, ...]:
    """start, start + step, … below `stop`; each is the float nearest to its decimal value."""
    for name, value in (("start", start), ("stop", stop), ("step", step)):
        if not math.isfinite(value):
            raise ValueError(f"{name} must be a finite number, got {value}")
    if step <= 0:
        raise ValueError(f"step must be above 0, got {step}")
    if stop <= start:
        raise ValueError(f"stop must be above start ({start}), got {stop}")
    first, last, width = (Decimal(repr(float(value))) for value in (start, stop, step))
    points = (last - first) / width
    if points > MAX_GRID_POINTS:
        raise ValueError(f"step must give at most {MAX_GRID_POINTS} points, got {step}")
    return tuple(float(first + number * width) for number in range(math.ceil(points)))


@dataclass(frozen=True, slots=True, eq=False)
class SweepTable:
    """The counts of every group at every threshold: rows are groups, columns thresholds."""

    thresholds: tuple[float, ...]
    matched: NDArray[np.int32]
    predicted: NDArray[np.int32]
    expected: NDArray[np.int64]  # one per group

    def __len__(self) -> int:
        return len(self.expected)

    def points(self, group: int) -> tuple[SweepPoint, ...]:
        """The counts of one group at each threshold."""
        return self._points(self.matched[group], self.predicted[group], int(self.expected[group]))

    def summed(self) -> tuple[SweepPoint, ...]:
        """The counts of all groups together at each threshold."""
        import numpy as np

        matched = self.matched.sum(axis=0, dtype=np.int64)
        predicted = self.predicted.sum(axis=0, dtype=np.int64)
        return self._points(matched, predicted, int(self.expected.sum()))

    def _points(
        self, matched: NDArray[Any], predicted: NDArray[Any], expected: int
    ) -> tuple[SweepPoint, ...]:
        return tuple(
            SweepPoint(threshold, Counts.of(matched=hits, predicted=marks, expected=expected))
            for threshold, hits, marks in zip(
                self.thresholds, matched.tolist(), predicted.tolist(), strict=True
            )
        )


def sweep(
    groups: Sequence[Group], thresholds: Sequence[float], tolerance: int
) -> tuple[SweepPoint, ...]:
    """The counts summed over all groups at each threshold, in the order of the thresholds."""
    return sweep_groups(groups, thresholds, tolerance).summed()


def sweep_groups(
    groups: Sequence[Group], thresholds: Sequence[float], tolerance: int
) -> SweepTable:
    """For each group its counts at each threshold, as `match_positions` would give them."""
    import numpy as np

    levels = np.asarray(thresholds, dtype=np.float64)
    shape = len(groups), len(levels)
    matched, predicted = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32)
    for number, (scored, expected) in enumerate(groups):
        found = np.sort(found_scores(scored, expected, tolerance))
        matched[number] = _count_above(found, levels)
        predicted[number] = _count_above(np.sort(scored.scores), levels)
    truths = np.array([len(expected) for _, expected in groups], dtype=np.int64)
    return SweepTable(tuple(thresholds), matched, predicted, truths)


def _count_above(
    ascending: NDArray[np.float64], thresholds: NDArray[np.float64]
) -> NDArray[np.int64]:
    import numpy as np

    return len(ascending) - np.searchsorted(ascending, thresholds, side="right")


def ranked(
    points: Sequence[SweepPoint], weights: Weights = EQUAL_WEIGHTS, *, empty: float
) -> tuple[SweepPoint, ...]:
    """Best first: highest weighted score; ties go to the higher F1, then the lower threshold."""

    def merit(point: SweepPoint) -> tuple[float, float, float]:
        ratios = scores(point.counts, empty=empty, weights=weights)
        return -ratios.weighted, -ratios.f1, point.threshold

    return tuple(sorted(points, key=merit))


def best(
    points: Sequence[SweepPoint], weights: Weights = EQUAL_WEIGHTS, *, empty: float
) -> SweepPoint:
    """The point of highest weighted score; ties go to the higher F1, then the lower threshold."""
    if not points:
        raise ValueError("points must not be empty, got none")
    return ranked(points, weights, empty=empty)[0]


def leave_one_out(
    table: SweepTable, weights: Weights = EQUAL_WEIGHTS, *, empty: float
) -> tuple[SweepPoint, ...]:
    """Per group its own counts at the threshold that is best for all the other groups."""
    import numpy as np

    if len(table) < 2:
        raise ValueError(f"groups must be at least 2, got {len(table)}")
    # The first of equals is the lowest threshold, whatever the order they came in.
    order = np.argsort(table.thresholds, kind="stable")
    matched = table.matched.sum(axis=0, dtype=np.int64)[order]
    predicted = table.predicted.sum(axis=0, dtype=np.int64)[order]
    expected = int(table.expected.sum())
    chosen = []
    for group, truths in enumerate(table.expected.tolist()):
        tp = matched - table.matched[group, order]
        fp = predicted - table.predicted[group, order] - tp
        fn = expected - truths - tp
        place = int(order[best_row(tp, fp, fn, empty=empty, weights=weights)])
        counts = Counts.of(
            matched=int(table.matched[group, place]),
            predicted=int(table.predicted[group, place]),
            expected=truths,
        )
        chosen.append(SweepPoint(table.thresholds[place], counts))
    return tuple(chosen)


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Counts at every threshold where they change, in ascending threshold.

    The first threshold lies just below the lowest score, so every prediction is in; the others
    are the distinct finite scores, each of which leaves out the predictions that have it.
    """

    thresholds: NDArray[np.float64]
    matched: NDArray[np.int64]
    predicted: NDArray[np.int64]
    expected: int

    def __len__(self) -> int:
        return len(self.thresholds)

    def point(self, number: int) -> SweepPoint:
        """The point at that place of the curve."""
        counts = Counts.of(
            matched=int(self.matched[number]),
            predicted=int(self.predicted[number]),
            expected=self.expected,
        )
        return SweepPoint(float(self.thresholds[number]), counts)

    def best(self, weights: Weights = EQUAL_WEIGHTS, *, empty: float) -> int:
        """The place of highest weighted score; ties: higher F1, then lower threshold."""
        return best_row(
            self.matched,
            self.predicted - self.matched,
            self.expected - self.matched,
            empty=empty,
            weights=weights,
        )


def exact_curve(groups: Iterable[Group], tolerance: int) -> Curve:
    """The counts summed over all groups at every distinct score."""
    tally = CurveTally(tolerance, most=sys.maxsize)
    for group in groups:
        tally.add(group)
    return tally.curve


class CurveTally:
    """The exact curve of groups that come one at a time, in bounded memory.

    With more than `most` distinct scores, they are rounded up to multiples of 2**-16. At those
    thresholds the counts stay exact, because a score is above one whenever its rounding is.
    """

    def __init__(self, tolerance: int, most: int = 1 << 18) -> None:
        import numpy as np

        self._tolerance, self._most = tolerance, most
        self._levels = np.empty(0)
        self._columns = np.empty((2, 0), dtype=np.int64)  # marked and found at each level
        self._always = np.zeros(2, dtype=np.int64)
        self._waiting: tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]] = ([], [])
        self._room = most
        self._expected = 0

    def add(self, group: Group) -> None:
        """Counts the group in."""
        scored, expected = group
        self._expected += len(expected)
        self._waiting[0].append(scored.scores)
        self._waiting[1].append(found_scores(scored, expected, self._tolerance))
        self._room -= len(scored)
        if self._room < 0:
            self._merge()

    @property
    def curve(self) -> Curve:
        """The counts of all groups so far at every threshold where they change."""
        import numpy as np

        self._merge()
        lowest = np.nextafter(self._levels[:1], -np.inf) if len(self._levels) else np.zeros(1)
        # Above a level is all that lies at later levels, and what is always predicted.
        above = self._columns[:, ::-1].cumsum(axis=1)[:, ::-1]
        predicted, matched = (
            np.append(above, np.zeros((2, 1), np.int64), axis=1) + (self._always[:, None])
        )
        return Curve(np.append(lowest, self._levels), matched, predicted, self._expected)

    def _merge(self) -> None:
        import numpy as np

        scores = [np.concatenate([np.empty(0), *arrays]) for arrays in self._waiting]
        finite = [column[np.isfinite(column)] for column in scores]
        self._always += [len(all_) - len(some) for all_, some in zip(scores, finite, strict=True)]
        self._fold(np.concatenate((self._levels, *finite)), [len(column) for column in finite])
        if len(self._levels) > self._most:
            self._fold(np.ceil(self._levels * _FINE) / _FINE, [0, 0])
        self._waiting = ([], [])
        self._room = self._most

    def _fold(self, places: NDArray[np.float64], fresh: Sequence[int]) -> None:
        """Adds up what lies at equal places: the columns so far, then one per fresh score."""
        import numpy as np

        known = self._columns.shape[1]
        self._levels, number = np.unique(places, return_inverse=True)
        columns = np.zeros((2, len(self._levels)), dtype=np.int64)
        first = known
        for column, old, count in zip(columns, self._columns, fresh, strict=True):
            np.add.at(column, number[:known], old)
            column += np.bincount(number[first : first + count], minlength=len(column))
            first += count
        self._columns = columns
