"""Counts at every threshold from one set of scored predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from truemark.counts import EQUAL_WEIGHTS, Counts, Weights, best_row, scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_GRID_POINTS = 100_000


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

    from truemark.found import found_scores

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
