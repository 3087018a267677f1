"""One talk, or many, at all thresholds: counts, grids, and the best threshold.

Predictions are taken by descending score, equal scores from left to right; one adds a match if the
largest matching grows with it (`matching.adds_match`). So at a threshold the predictions are the
scores above it, and the true positives are those of them that add a match.
The counts agree with `match_positions`, the pairs may not, so code that names places calls that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from truemark.counts import EQUAL_WEIGHTS, Counts, Scores, Weights, best_row, scores
from truemark.matching import ScoredPositions, adds_match
from truemark.records import CurveColumns, ScoringRules

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MAX_GRID_POINTS = 100_000
RECORD_POINTS = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One talk, or several together, at all thresholds.

    Holds the scores of the predictions, and of those that add a match, both in ascending order. An
    infinite score is above every threshold; a system without probabilities has no others.
    """

    scores: Floats
    matched: Floats
    expected: int

    def counts(self, threshold: float) -> Counts:
        tp, fp, fn = self.columns(np.array([threshold]))[:, 0].tolist()
        return Counts(tp, fp, fn)

    def columns(self, thresholds: Floats) -> Ints:
        """Return three rows, tp, fp and fn, with a column for each threshold."""
        tp, predicted = (
            len(ascending) - np.searchsorted(ascending, thresholds, side="right")
            for ascending in (self.matched, self.scores)
        )
        return np.stack((tp, predicted - tp, self.expected - tp))

    @property
    def graded(self) -> bool:
        """Whether thresholds make a difference."""
        return bool(len(self.scores)) and math.isfinite(self.scores[0])

    @property
    def thresholds(self) -> Floats:
        """Every threshold where the counts change, in ascending order.

        The first lies just below the lowest score, so every prediction is above it; the others are
        the distinct finite scores.
        """
        levels = np.unique(self.scores[: np.searchsorted(self.scores, math.inf)])
        lowest = np.nextafter(levels[:1], -math.inf) if len(levels) else np.zeros(1)
        return np.append(lowest, levels)


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """The counts of the predictions whose score is above the threshold, and their ratios."""

    threshold: float
    counts: Counts
    scores: Scores


def curve_of(predicted: ScoredPositions, expected: Sequence[int], tolerance: int) -> Curve:
    """Match the predictions of one talk with its truths at all thresholds at once.

    >>> scored = ScoredPositions(np.array([5, 9, 20]), np.array([0.2, 0.9, 0.6]))
    >>> curve_of(scored, [5, 21], tolerance=1).counts(0.5)
    Counts(tp=1, fp=1, fn=1)
    """
    matched = predicted.scores[adds_match(predicted, expected, tolerance)]
    return Curve(np.sort(predicted.scores), np.sort(matched), len(expected))


def grid(start: float, stop: float, step: float) -> tuple[float, ...]:
    """List start, start + step, … below `stop`; each is the float nearest to its decimal value."""
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


def sum_curves(curves: Iterable[Curve]) -> Curve:
    """Put the predictions of all talks together."""
    talks = tuple(curves)
    scores, matched = (
        np.sort(np.concatenate([np.empty(0), *columns]))
        for columns in ([talk.scores for talk in talks], [talk.matched for talk in talks])
    )
    return Curve(scores, matched, sum(talk.expected for talk in talks))


def sweep(
    curves: Iterable[Curve],
    thresholds: Sequence[float],
    weights: Weights = EQUAL_WEIGHTS,
    *,
    empty: float,
) -> tuple[SweepPoint, ...]:
    """Sum the counts of all talks at each threshold, in the order of the thresholds."""
    columns = sum_curves(curves).columns(np.asarray(thresholds, dtype=np.float64))
    return tuple(
        point_of(threshold, Counts(*row), weights, empty=empty)
        for threshold, row in zip(thresholds, columns.T.tolist(), strict=True)
    )


def point_of(
    threshold: float, counts: Counts, weights: Weights = EQUAL_WEIGHTS, *, empty: float
) -> SweepPoint:
    """Make a point from the counts, with their ratios."""
    return SweepPoint(threshold, counts, scores(counts, empty=empty, weights=weights))


def ranked(points: Iterable[SweepPoint]) -> tuple[SweepPoint, ...]:
    """Sort best first: highest weighted score; ties: higher F1, then lower threshold."""

    def merit(point: SweepPoint) -> tuple[float, float, float]:
        return -point.scores.weighted, -point.scores.f1, point.threshold

    return tuple(sorted(points, key=merit))


def best(points: Sequence[SweepPoint]) -> SweepPoint:
    """Pick the point of highest weighted score; ties: higher F1, then lower threshold."""
    if not points:
        raise ValueError("points must not be empty, got none")
    return ranked(points)[0]


def leave_one_out(
    curves: Sequence[Curve],
    thresholds: Sequence[float],
    weights: Weights = EQUAL_WEIGHTS,
    *,
    empty: float,
) -> tuple[SweepPoint, ...]:
    """Score each talk at the threshold that is best for all the other talks."""
    if len(curves) < 2:
        raise ValueError(f"curves must be at least 2, got {len(curves)}")
    # Ascending, so that the lowest threshold is chosen among equal rows.
    levels = np.sort(np.asarray(thresholds, dtype=np.float64))
    by_talk = np.array([curve.columns(levels) for curve in curves])
    whole = by_talk.sum(axis=0)
    points = []
    for columns in by_talk:
        place = best_row(*(whole - columns), empty=empty, weights=weights)
        counts = Counts(*columns[:, place].tolist())
        points.append(point_of(float(levels[place]), counts, weights, empty=empty))
    return tuple(points)


def best_of_all(curve: Curve, weights: Weights = EQUAL_WEIGHTS, *, empty: float) -> SweepPoint:
    """Pick the best of all thresholds, rounded to as few digits as keep its counts."""
    levels = curve.thresholds
    place = best_row(*curve.columns(levels), empty=empty, weights=weights)
    low, high = np.append(levels, math.inf)[place : place + 2].tolist()
    rounded = (math.ceil(low * 10**digits) / 10**digits for digits in range(2, 17))
    threshold = next((value for value in rounded if low <= value < high), low)
    return point_of(threshold, curve.counts(low), weights, empty=empty)


def thinned(curve: Curve, rules: ScoringRules, points: int = RECORD_POINTS) -> CurveColumns:
    """Keep at most `points` points, among them the best ones and the thresholds in force."""
    levels = curve.thresholds
    columns = curve.columns(levels)
    kept = {0, len(levels) - 1}
    for weights in (rules.weights, EQUAL_WEIGHTS):
        kept.add(best_row(*columns, empty=rules.empty, weights=weights))
    for threshold in (rules.threshold, rules.own_threshold):
        if threshold is not None:
            kept.add(max(0, int(np.searchsorted(levels, threshold, side="right")) - 1))
    places = np.array(sorted(kept))
    if points > len(kept):
        room = min(points - len(kept), len(levels))
        spread = np.linspace(0, len(levels) - 1, room).round().astype(np.int64)
        places = np.union1d(places, spread)
    return CurveColumns(tuple(levels[places].tolist()), *map(tuple, columns[:, places].tolist()))
