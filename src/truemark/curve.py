"""One talk at all thresholds: counts, grids, the best threshold, and sums over many talks.

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
MOST_SCORES = 1 << 18
_FINE = 2.0**16


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One talk at all thresholds: the scores of its predictions, and of those that add a match.

    Both are in ascending order. An infinite score is above every threshold; a system without
    probabilities has no others.
    """

    scores: Floats
    matched: Floats
    expected: int

    def above(self, thresholds: Floats) -> tuple[Ints, Ints]:
        """Count the matches and the predictions above each threshold."""
        return _count_above(self.matched, thresholds), _count_above(self.scores, thresholds)

    @property
    def graded(self) -> bool:
        """Whether thresholds make a difference."""
        return bool(len(self.scores)) and math.isfinite(self.scores[0])


def _count_above(ascending: Floats, thresholds: Floats) -> Ints:
    return len(ascending) - np.searchsorted(ascending, thresholds, side="right")


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """The counts of the predictions whose score is above the threshold, and their ratios."""

    threshold: float
    counts: Counts
    scores: Scores


@dataclass(frozen=True, slots=True, eq=False)
class SummedCurve:
    """The counts of several talks at every threshold where they change, in ascending order.

    The first threshold lies just below the lowest score, so every prediction is above it; the
    others are the distinct finite scores.
    """

    thresholds: Floats
    matched: Ints
    predicted: Ints
    expected: int

    def __len__(self) -> int:
        return len(self.thresholds)

    def counts(self, place: int) -> Counts:
        return Counts.of(
            matched=int(self.matched[place]),
            predicted=int(self.predicted[place]),
            expected=self.expected,
        )

    def place_of(self, threshold: float) -> int:
        """Return the place whose counts hold at the threshold."""
        return max(0, int(np.searchsorted(self.thresholds, threshold, side="right")) - 1)

    def best_place(self, weights: Weights = EQUAL_WEIGHTS, *, empty: float) -> int:
        """Return the place of highest weighted score; ties: higher F1, then lower threshold."""
        invented, missed = self.predicted - self.matched, self.expected - self.matched
        return best_row(self.matched, invented, missed, empty=empty, weights=weights)


def curve_of(predicted: ScoredPositions, expected: Sequence[int], tolerance: int) -> Curve:
    """Match the predictions of one talk with its truths at all thresholds at once.

    >>> scored = ScoredPositions(np.array([5, 9, 20]), np.array([0.2, 0.9, 0.6]))
    >>> counts_at([curve_of(scored, [5, 21], tolerance=1)], 0.5)
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


def counts_at(curves: Iterable[Curve], threshold: float) -> Counts:
    """Sum the counts of all talks at one threshold."""
    matched = predicted = expected = 0
    for curve in curves:
        matched += int(np.count_nonzero(curve.matched > threshold))
        predicted += int(np.count_nonzero(curve.scores > threshold))
        expected += curve.expected
    return Counts.of(matched=matched, predicted=predicted, expected=expected)


def sweep(
    curves: Iterable[Curve],
    thresholds: Sequence[float],
    weights: Weights = EQUAL_WEIGHTS,
    *,
    empty: float,
) -> tuple[SweepPoint, ...]:
    """Sum the counts of all talks at each threshold, in the order of the thresholds."""
    levels = np.sort(np.asarray(thresholds, dtype=np.float64))
    # Scores counted by how many levels they are above: those that add a match, and all.
    matched, predicted = np.zeros((2, len(levels) + 1), dtype=np.int64)
    expected = 0
    for curve in curves:
        matched += _tally(levels, curve.matched)
        predicted += _tally(levels, curve.scores)
        expected += curve.expected
    places = np.searchsorted(levels, thresholds)
    hits, marks = (column[::-1].cumsum()[::-1][places + 1] for column in (matched, predicted))
    return tuple(
        point_of(
            threshold,
            Counts.of(matched=tp, predicted=count, expected=expected),
            weights,
            empty=empty,
        )
        for threshold, tp, count in zip(thresholds, hits.tolist(), marks.tolist(), strict=True)
    )


def _tally(levels: Floats, scores: Floats) -> Ints:
    """Count the scores by how many levels they are above."""
    return np.bincount(np.searchsorted(levels, scores, side="left"), minlength=len(levels) + 1)


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
    above = [curve.above(levels) for curve in curves]
    matched, predicted = np.sum(above, axis=0)
    expected = sum(curve.expected for curve in curves)
    points = []
    for curve, (hits, marks) in zip(curves, above, strict=True):
        tp = matched - hits
        fp = predicted - marks - tp
        fn = expected - curve.expected - tp
        place = best_row(tp, fp, fn, empty=empty, weights=weights)
        counts = Counts.of(
            matched=int(hits[place]), predicted=int(marks[place]), expected=curve.expected
        )
        points.append(point_of(float(levels[place]), counts, weights, empty=empty))
    return tuple(points)


def sum_curves(curves: Iterable[Curve], most: int = MOST_SCORES) -> SummedCurve:
    """Sum the counts of all talks at every threshold where they change.

    With more than `most` distinct scores they are rounded up to multiples of 2**-16. At those
    thresholds the counts stay exact, because a score is above one whenever its rounded value is.
    """
    levels, columns = np.empty(0), np.empty((2, 0), dtype=np.int64)
    waiting: list[Curve] = []
    expected = scores_waiting = 0
    for curve in curves:
        waiting.append(curve)
        expected += curve.expected
        scores_waiting += len(curve.scores)
        if scores_waiting > most:
            levels, columns = _folded(levels, columns, waiting, most)
            waiting, scores_waiting = [], 0
    levels, columns = _folded(levels, columns, waiting, most)
    matched, predicted = np.append(columns[:, ::-1].cumsum(axis=1)[:, ::-1], [[0], [0]], axis=1)
    if len(levels) and levels[-1] == math.inf:  # above every threshold, but not a threshold itself
        levels, matched, predicted = levels[:-1], matched[:-1], predicted[:-1]
    lowest = np.nextafter(levels[:1], -math.inf) if len(levels) else np.zeros(1)
    return SummedCurve(np.append(lowest, levels), matched, predicted, expected)


def _folded(
    levels: Floats, columns: Ints, curves: Sequence[Curve], most: int
) -> tuple[Floats, Ints]:
    """Add the scores of the curves to the matches and predictions counted at each level."""
    scores = np.concatenate([np.empty(0), *(curve.scores for curve in curves)])
    matched = np.concatenate([np.empty(0), *(curve.matched for curve in curves)])
    distinct = np.unique(np.append(levels, scores))
    sums = np.zeros((2, len(distinct)), dtype=np.int64)
    sums[:, np.searchsorted(distinct, levels)] = columns
    for row, column in zip(sums, (matched, scores), strict=True):
        row += np.bincount(np.searchsorted(distinct, column), minlength=len(distinct))
    if len(distinct) <= most:
        return distinct, sums
    rounded = np.ceil(distinct * _FINE) / _FINE
    first = np.flatnonzero(np.append(True, rounded[1:] != rounded[:-1]))
    return rounded[first], np.add.reduceat(sums, first, axis=1)


def best_of_all(
    curve: SummedCurve, weights: Weights = EQUAL_WEIGHTS, *, empty: float
) -> SweepPoint:
    """Pick the best of all thresholds, rounded to as few digits as keep its counts."""
    place = curve.best_place(weights, empty=empty)
    low = float(curve.thresholds[place])
    high = float(curve.thresholds[place + 1]) if place + 1 < len(curve) else math.inf
    rounded = (math.ceil(low * 10**digits) / 10**digits for digits in range(2, 17))
    threshold = next((value for value in rounded if low <= value < high), low)
    return point_of(threshold, curve.counts(place), weights, empty=empty)


def thinned(curve: SummedCurve, rules: ScoringRules, points: int = RECORD_POINTS) -> CurveColumns:
    """Keep at most `points` points, among them the best ones and the thresholds in force."""
    kept = {0, len(curve) - 1}
    for weights in (rules.weights, EQUAL_WEIGHTS):
        kept.add(curve.best_place(weights, empty=rules.empty))
    for threshold in (rules.threshold, rules.own_threshold):
        if threshold is not None:
            kept.add(curve.place_of(threshold))
    places = np.array(sorted(kept))
    if points > len(kept):
        room = min(points - len(kept), len(curve))
        spread = np.linspace(0, len(curve) - 1, room).round().astype(np.int64)
        places = np.union1d(places, spread)
    matched, predicted = curve.matched[places], curve.predicted[places]
    return CurveColumns(
        tuple(curve.thresholds[places].tolist()),
        tuple(matched.tolist()),
        tuple((predicted - matched).tolist()),
        tuple((curve.expected - matched).tolist()),
    )
