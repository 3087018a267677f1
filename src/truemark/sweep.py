"""Counts at every threshold from one set of scored predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from truemark.aggregate import total
from truemark.counts import EQUAL_WEIGHTS, Counts, Weights, scores

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

    def turning_points(self) -> tuple[SweepPoint, ...]:
        """The points beside which the number of matches changes, and the two ends.

        Between them only false positives vary, so the best point is here whatever the weights.
        """
        import numpy as np

        changes = np.flatnonzero(np.diff(self.matched))
        chosen = np.unique(np.concatenate(([0], changes, changes + 1, [len(self) - 1])))
        return tuple(map(self.point, chosen.tolist()))


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


def sweep(
    groups: Sequence[Group], thresholds: Sequence[float], tolerance: int
) -> tuple[SweepPoint, ...]:
    """The counts summed over all groups at each threshold, in the order of the thresholds."""
    return summed(sweep_groups(groups, thresholds, tolerance), thresholds)


def sweep_groups(
    groups: Sequence[Group], thresholds: Sequence[float], tolerance: int
) -> tuple[tuple[SweepPoint, ...], ...]:
    """For each group its counts at each threshold, as `match_positions` would give them."""
    return tuple(_sweep_group(group, thresholds, tolerance) for group in groups)


def summed(
    per_group: Sequence[Sequence[SweepPoint]], thresholds: Sequence[float]
) -> tuple[SweepPoint, ...]:
    """The points of all groups added up, threshold by threshold."""
    if any([point.threshold for point in points] != list(thresholds) for points in per_group):
        raise ValueError("groups must all be swept over the given thresholds, got others")
    return tuple(
        SweepPoint(threshold, total(points[number].counts for points in per_group))
        for number, threshold in enumerate(thresholds)
    )


def _sweep_group(
    group: Group, thresholds: Sequence[float], tolerance: int
) -> tuple[SweepPoint, ...]:
    import numpy as np

    from truemark.found import found_scores

    scored, expected = group
    levels = np.asarray(thresholds, dtype=np.float64)
    matched = _count_above(np.sort(found_scores(scored, expected, tolerance)), levels)
    predicted = _count_above(np.sort(scored.scores), levels)
    return tuple(
        SweepPoint(threshold, Counts.of(matched=hits, predicted=marks, expected=len(expected)))
        for threshold, hits, marks in zip(
            thresholds, matched.tolist(), predicted.tolist(), strict=True
        )
    )


def exact_curve(groups: Sequence[Group], tolerance: int) -> Curve:
    """The counts summed over all groups at every distinct score."""
    import numpy as np

    from truemark.found import found_scores

    nothing = np.empty(0)
    found = [found_scores(scored, expected, tolerance) for scored, expected in groups]
    marked = np.sort(np.concatenate([nothing, *(scored.scores for scored, _ in groups)]))
    finite = marked[: np.searchsorted(marked, np.inf)]
    levels = finite[np.diff(finite, append=np.inf) > 0]
    lowest = np.nextafter(levels[:1], -np.inf) if len(levels) else np.zeros(1)
    thresholds = np.concatenate((lowest, levels))
    return Curve(
        thresholds=thresholds,
        matched=_count_above(np.sort(np.concatenate([nothing, *found])), thresholds),
        predicted=_count_above(marked, thresholds),
        expected=sum(len(expected) for _, expected in groups),
    )


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
    per_group: Sequence[Sequence[SweepPoint]], weights: Weights = EQUAL_WEIGHTS, *, empty: float
) -> tuple[SweepPoint, ...]:
    """Per group its own counts at the threshold that is best for all the other groups."""
    if len(per_group) < 2:
        raise ValueError(f"groups must be at least 2, got {len(per_group)}")
    thresholds = [point.threshold for point in per_group[0]]
    whole = summed(per_group, thresholds)
    chosen = []
    for own in per_group:
        others = [_without(everything, mine) for everything, mine in zip(whole, own, strict=True)]
        threshold = best(others, weights, empty=empty).threshold
        chosen.append(own[thresholds.index(threshold)])
    return tuple(chosen)


def _without(point: SweepPoint, part: SweepPoint) -> SweepPoint:
    counts, own = point.counts, part.counts
    rest = Counts(counts.tp - own.tp, counts.fp - own.fp, counts.fn - own.fn)
    return SweepPoint(point.threshold, rest)
