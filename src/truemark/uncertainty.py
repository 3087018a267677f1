"""How much of a number, or of a difference between two, is chance.

Clusters are drawn by chance: talks, or samples with their repeats, never parts of them.

The interval of one score is Wilson's, with Student's t for the normal quantile. Its number of
trials is how many independent trials would vary as much as the score does when one cluster after
the other is left out. It stays between 0 and 1, is wider towards the middle, and does not
collapse where all clusters are alike, since no more than two trials are taken per item counted.

Two systems are compared by flipping signs: without a true difference, what each cluster adds to
it could as well have been the opposite. The sums are corrected for skewness, because a system
that fails on a few clusters only would otherwise be called better too often on those that hold
none of them. The interval of the difference holds the values that this same test does not
reject, at the same corrected level where several are compared, so the two never contradict each
other.

`benchmarks/coverage.py` measures on simulated data how often all this is right.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from truemark.counts import Counts, scores
from truemark.resampling import flipped_sums

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

Measure = Literal["precision", "recall", "f1", "clean"]
Verdict = Literal["better", "worse", "not distinguishable", "too few to tell"]
MEASURES: tuple[Measure, ...] = ("f1", "precision", "recall")
ALL_MEASURES: tuple[Measure, ...] = (*MEASURES, "clean")
FEWEST_FOR_INTERVAL = 5  # clusters; below, an interval would say nothing
FEWEST_FOR_VERDICT = 6  # five clusters all agree by chance in 2 of 32 cases
ROUGH_BELOW = 10
LARGE_SHARE = 0.2  # of all items in one cluster, beyond which intervals are too narrow
LEVEL = 0.05
DEFAULT_SEED = 20260220
FLIPS = 10_000
_NORMAL = NormalDist()
_TRIALS_PER_ITEM = 2
_ROUNDING = 1e-9
# The flipped sums are skewed by chance themselves, so the whole correction would be too much.
_SKEWNESS_CORRECTED = 0.75
_UNSEEN_ITEMS = _NORMAL.inv_cdf(0.975) ** 2  # fewer cannot be ruled out where none was seen
_STEPS = 40  # of a bisection


@dataclass(frozen=True, slots=True)
class Scoring:
    """Computes one measure; a ratio of 0 to 0 is `empty`.

    Tables have a row of tp, fp, fn per cluster; for the share of clean units, two more columns
    hold the number of units without and with a mistake.
    """

    measure: Measure
    empty: float

    def __call__(self, counts: Counts) -> float:
        value: float = getattr(scores(counts, empty=self.empty), self.measure)
        return value

    def parts(self, rows: Ints | Floats) -> tuple[Floats, Floats]:
        """Return the numerator and the denominator of each row's score."""
        counts = np.asarray(rows, dtype=np.float64)
        tp, fp, fn = counts[..., 0], counts[..., 1], counts[..., 2]
        match self.measure:
            case "f1":
                return 2 * tp, 2 * tp + fp + fn
            case "precision":
                return tp, tp + fp
            case "recall":
                return tp, tp + fn
            case "clean":
                return counts[..., 3], counts[..., 3] + counts[..., 4]

    def of_rows(self, rows: Ints | Floats) -> Floats:
        right, items = self.parts(rows)
        score: Floats = np.where(items > 0, right / np.maximum(items, 1e-300), self.empty)
        return score


@dataclass(frozen=True, slots=True)
class Interval:
    """A score with its 95% interval, and what that rests on.

    `largest` is the share of all items that lies in the largest cluster.
    """

    value: float
    low: float
    high: float
    clusters: int
    largest: float

    @property
    def known(self) -> bool:
        """Whether there are enough clusters for the interval to mean something."""
        return self.clusters >= FEWEST_FOR_INTERVAL

    @property
    def rough(self) -> bool:
        return self.clusters < ROUGH_BELOW

    @property
    def lopsided(self) -> bool:
        """Whether one cluster has so many items that the interval is too narrow."""
        return self.largest > LARGE_SHARE


@dataclass(frozen=True, slots=True)
class PairedInterval:
    """The difference first minus second, its interval, and the p-value of no difference.

    Where several differences are tested together, p is corrected for their number and the
    interval has a higher `confidence`. It contains 0 exactly where the p-value is above 0.05.
    """

    value: float
    low: float
    high: float
    p_value: float
    clusters: int
    raw_p_value: float
    confidence: float

    @property
    def known(self) -> bool:
        """Whether there are enough clusters to tell any difference from chance."""
        return self.clusters >= FEWEST_FOR_VERDICT

    @property
    def whole_range(self) -> bool:
        """Whether any difference is possible, as where one system has nothing to score."""
        return self.low <= -1 and self.high >= 1

    @property
    def verdict(self) -> Verdict:
        """The verdict of the test on the first system."""
        if not self.known:
            return "too few to tell"
        if self.p_value > LEVEL or self.value == 0:
            return "not distinguishable"
        return "better" if self.value > 0 else "worse"

    def equivalent(self, margin: float) -> bool:
        """Whether a true difference of `margin` or more, either way, is ruled out."""
        return -margin < self.low and self.high < margin

    def not_inferior(self, margin: float) -> bool:
        """Whether it is ruled out that the first is worse by `margin` or more."""
        return -margin < self.low


def clustered(rows: Ints, clusters: Sequence[Hashable] | None) -> Ints:
    """Add up the rows of each cluster, clusters in order of first appearance."""
    if clusters is None:
        return rows
    if len(clusters) != len(rows):
        raise ValueError(f"clusters must be one per group, got {len(clusters)} for {len(rows)}")
    numbers: dict[Hashable, int] = {}
    place = [numbers.setdefault(name, len(numbers)) for name in clusters]
    sums = np.zeros((len(numbers), rows.shape[1]), dtype=np.int64)
    np.add.at(sums, place, rows)
    return sums


def intervals_of(table: Ints, scorings: Iterable[Scoring]) -> tuple[Interval, ...]:
    """Return an interval per scoring; rows of `table` are clusters."""
    if not len(table):
        raise ValueError("groups must not be empty, got none")
    ordered = _sorted(table)
    intervals = []
    for scoring in scorings:
        value, low, high = (float(number) for number in score_ends(ordered, scoring))
        _, items = scoring.parts(ordered)
        largest = float(items.max() / max(items.sum(), 1))
        intervals.append(Interval(value, low, high, len(table), largest))
    return tuple(intervals)


def score_ends(tables: Ints, scoring: Scoring) -> tuple[Floats, Floats, Floats]:
    """Return the score of each table and both ends of its interval.

    The last two axes of `tables` are clusters and their counts; any before are sets of data.
    """
    clusters = tables.shape[-2]
    whole = tables.sum(axis=-2, keepdims=True)
    value = scoring.of_rows(whole[..., 0, :])
    if clusters == 1:
        return value, np.zeros_like(value), np.ones_like(value)
    changes = scoring.of_rows(whole - tables) - value[..., np.newaxis]
    variance = (clusters - 1) / clusters * (changes**2).sum(axis=-1)
    _, items = scoring.parts(whole[..., 0, :])
    spread = value * (1 - value)
    most = _TRIALS_PER_ITEM * items
    trials = np.where(spread > variance * most, most, spread / np.maximum(variance, 1e-300))
    # All right or all wrong: nothing varies, and every item is a trial.
    trials = np.where(spread > 0, trials, items)
    reach = t_quantile(0.975, clusters - 1)
    lower, upper = _with_half_a_trial_more(value, trials)
    low, high = _wilson_end(lower, trials, -reach), _wilson_end(upper, trials, reach)
    # At 0 and 1 the formula gives exactly these but for rounding.
    return value, np.where(value > 0, np.maximum(low, 0), 0), np.where(value < 1, high, 1)


def _with_half_a_trial_more(share: Floats, trials: Floats) -> tuple[Floats, Floats]:
    """Return the shares from which the lower and the upper end are computed.

    Where fewer than four trials went one way, the end on that side is taken up to half a trial
    further out: Wilson's end is then too close in more than one of ten cases.
    """
    right, wrong = share * trials, (1 - share) * trials
    least = np.maximum(trials, 1e-300)
    lower = share - np.minimum(right, np.maximum(0, 0.5 - right / 8)) / least
    upper = share + np.minimum(wrong, np.maximum(0, 0.5 - wrong / 8)) / least
    return lower, upper


def _wilson_end(share: Floats, trials: Floats, reach: float) -> Floats:
    """Return the end of the Wilson interval that lies `reach` standard errors from the share."""
    half = reach * np.sqrt(trials * share * (1 - share) + reach**2 / 4)
    end: Floats = (share * trials + reach**2 / 2 + half) / (trials + reach**2)
    return end


def _sorted(table: Ints) -> Ints:
    """Sort the rows, so that results do not depend on the order of units."""
    return table[np.lexsort(table.T[::-1])]


def paired_intervals(
    tables: Sequence[tuple[Ints, Ints]], scoring: Scoring
) -> tuple[PairedInterval, ...]:
    """Return the difference of scores per pair of tables, corrected for their number.

    Rows of tables are clusters; the correction is Holm's.
    """
    tests = [_PairedTest(paired_rows(first, second), scoring) for first, second in tables]
    p_values = [test.p_value for test in tests]
    corrected = zip(tests, holm(p_values), strict=True)
    return tuple(test.interval(p_value, level) for test, (p_value, level) in corrected)


def paired_rows(first: Ints, second: Ints) -> Ints:
    """Put the counts of both systems side by side, a row per cluster, in ascending order."""
    if len(first) != len(second) or not len(first):
        raise ValueError(
            f"both systems must have the same groups, got {len(first)} and {len(second)}"
        )
    return _sorted(np.concatenate((first, second), axis=1))


def contributions(pairs: Ints, scoring: Scoring) -> tuple[Floats, Floats, Floats]:
    """Return what each cluster adds to the difference, its share of the items, and their number.

    Rows of `pairs` are the counts of both systems, side by side. A cluster on which both do alike
    adds nothing, and all clusters add up to the difference. Where the score of a system is a ratio
    of 0 to 0, no cluster adds anything.
    """
    half = pairs.shape[-1] // 2
    right, made = scoring.parts(pairs[..., :half])
    other_right, other_made = scoring.parts(pairs[..., half:])
    count, other_count = (items.sum(axis=-1, keepdims=True) for items in (made, other_made))
    known = (count > 0) & (other_count > 0)
    count, other_count = np.where(known, count, 1), np.where(known, other_count, 1)
    pooled = (right + other_right).sum(axis=-1, keepdims=True) / (count + other_count)
    mean = 2 * count * other_count / (count + other_count)
    apart = (right - other_right) - pooled * (made - other_made)
    together = (right + other_right) - pooled * (made + other_made)
    # A system that marks more counts for more; easy clusters must not count for it.
    together = _centred(together, made + other_made, apart != 0)
    added = apart / mean - (count - other_count) / (2 * count * other_count) * together
    share = (made / count + other_made / other_count) / 2
    return np.where(known, added, 0), np.where(known, share, 0), mean[..., 0]


def count_differing(first: Ints, second: Ints, scoring: Scoring) -> int:
    """Count the clusters that add something to the difference."""
    return int(np.count_nonzero(contributions(paired_rows(first, second), scoring)[0]))


def _centred(values: Floats, sizes: Floats, chosen: NDArray[np.bool_]) -> Floats:
    """Subtract from each chosen value its share of their sum; set the others to 0."""
    sizes, values = np.where(chosen, sizes, 0), np.where(chosen, values, 0)
    whole = np.maximum(sizes.sum(axis=-1, keepdims=True), 1)
    centred: Floats = values - values.sum(axis=-1, keepdims=True) / whole * sizes
    return centred


class _PairedTest:
    """Tests one measured difference against any true difference.

    If the true difference is smaller than the measured one by an excess, a cluster adds its rest
    and its share of the excess; sums of these and of their cubes follow from the sums of six
    columns.
    """

    def __init__(self, pairs: Ints, scoring: Scoring) -> None:
        whole, half = pairs.sum(axis=0), pairs.shape[1] // 2
        self.clusters = len(pairs)
        self.value = float(scoring.of_rows(whole[:half]) - scoring.of_rows(whole[half:]))
        added, share, items = contributions(pairs, scoring)
        rest = added - self.value * share
        columns = (rest, share, rest**3, 3 * rest**2 * share, 3 * rest * share**2, share**3)
        generator = np.random.default_rng(DEFAULT_SEED)
        self._sums = flipped_sums(np.stack(columns, axis=1), FLIPS, generator).T
        self._squares = np.array((rest @ rest, 2 * rest @ share, share @ share))
        self._unseen = min(1.0, _UNSEEN_ITEMS / float(items))
        self.p_value = self._p_value(0.0) if abs(self.value) > self._unseen else 1.0

    def _p_value(self, difference: float) -> float:
        """Return how often chance leads to the measured difference if this is the true one."""
        excess = self.value - difference
        powers = excess ** np.arange(4)
        square = float(self._squares @ powers[:3])
        if square <= 0:
            return 1.0
        first = (self._sums[0] + excess * self._sums[1]) / math.sqrt(square)
        third = powers @ self._sums[2:] / square**1.5
        return float(flip_p_values(first[:, np.newaxis], third[:, np.newaxis])[0])

    def interval(self, p_value: float, level: float) -> PairedInterval:
        """Return the interval at this level; `p_value` is corrected like the level."""
        low, high = (self._end(furthest, level, p_value > LEVEL) for furthest in (-1.0, 1.0))
        low, high = min(low, self.value - self._unseen), max(high, self.value + self._unseen)
        return PairedInterval(
            self.value,
            max(low, -1.0),
            min(high, 1.0),
            p_value,
            self.clusters,
            self.p_value,
            confidence=1 - level,
        )

    def _end(self, furthest: float, level: float, holds_0: bool) -> float:
        """Return the last difference towards `furthest` that is not rejected.

        `holds_0` is whether the interval contains 0, which is known before.
        """
        if self._p_value(furthest) > level:
            return furthest
        kept, rejected = self.value, furthest
        if min(kept, rejected) < 0 < max(kept, rejected):
            kept, rejected = (0.0, rejected) if holds_0 else (kept, 0.0)
        for _ in range(_STEPS):
            middle = (kept + rejected) / 2
            if self._p_value(middle) > level:
                kept = middle
            else:
                rejected = middle
        return kept


def flip_p_values(first: Floats, third: Floats) -> Floats:
    """Return a p-value per column: the share of sums at least as far out as that in the first row.

    `first` are sums of values under flipped signs, `third` those of their cubes; the squares of
    the values add up to 1.
    """
    size = np.abs(first + _SKEWNESS_CORRECTED * third * (2 * first**2 + 1) / 6)
    shares: Floats = (size >= size[0] * (1 - _ROUNDING)).mean(axis=0)
    return shares


@dataclass(frozen=True, slots=True)
class Share:
    """A share of `count` cases with its Wilson interval."""

    value: float
    low: float
    high: float
    count: int


def wilson(correct: int, count: int) -> Share | None:
    """Return the share of correct cases with its Wilson interval; None when there are no cases."""
    if not 0 <= correct <= count:
        raise ValueError(f"correct must be between 0 and {count}, got {correct}")
    if not count:
        return None
    share, trials = np.array(correct / count), np.array(float(count))
    reach = _NORMAL.inv_cdf(0.975)
    # At the ends the formula gives 0 and 1 but for rounding.
    low = float(_wilson_end(share, trials, -reach)) if correct else 0.0
    high = float(_wilson_end(share, trials, reach)) if correct < count else 1.0
    return Share(float(share), low, high, count)


def clustered_share(correct: Sequence[int], counts: Sequence[int]) -> Share | None:
    """Return the share of correct cases, where those of one cluster may be correlated.

    Both lists have an entry per cluster, such as a sample with its repeats. None when there are
    no cases; where no cluster has more than one, the interval is Wilson's. Repeats that are all
    alike do not change it.
    """
    right, made = (np.asarray(numbers, dtype=np.int64) for numbers in (correct, counts))
    if right.shape != made.shape or not ((right >= 0) & (right <= made)).all():
        raise ValueError("correct must be between 0 and the count of each cluster, got others")
    alike = int(np.gcd.reduce(np.concatenate((right, made)))) or 1
    if made.max(initial=0) <= alike:
        once = wilson(int(right.sum()) // alike, int(made.sum()) // alike)
        return once and replace(once, count=int(made.sum()))
    right, made = right // alike, made // alike
    rows = np.stack((right, np.zeros_like(right), made - right), axis=-1)[made > 0]
    if not len(rows):
        return None
    (share,) = intervals_of(rows, (Scoring("recall", empty=0.0),))
    return Share(share.value, share.low, share.high, int(made.sum()) * alike)


def holm(p_values: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Correct p-values for their number by Holm's method; return each with the level it is held to.

    The smallest is held to 0.05 divided by their number, the next to 0.05 divided by one less,
    and so on up to the first that is not rejected, whose level holds for the rest.
    """
    count, highest, level = len(p_values), 0.0, LEVEL
    corrected = [(1.0, LEVEL)] * count
    for rank, place in enumerate(sorted(range(count), key=p_values.__getitem__)):
        if highest <= LEVEL:
            level = LEVEL / (count - rank)
        highest = max(highest, min(1.0, (count - rank) * p_values[place]))
        corrected[place] = highest, level
    return tuple(corrected)


@cache
def t_quantile(probability: float, freedom: int) -> float:
    """Return the quantile of Student's t with `freedom` degrees of freedom."""
    if freedom > 200:
        z = _NORMAL.inv_cdf(probability)
        correction = (5 * z**5 + 16 * z**3 + 3 * z) / 96
        return z + (z**3 + z) / 4 / freedom + correction / freedom**2
    low, high = -1_000.0, 1_000.0
    for _ in range(60):
        middle = (low + high) / 2
        below = _t_distribution(middle, freedom) < probability
        low, high = (middle, high) if below else (low, middle)
    return high


def _t_distribution(value: float, freedom: int) -> float:
    """Return the probability of a smaller value: the finite series for whole degrees of freedom."""
    angle = math.atan(value / math.sqrt(freedom))
    square = math.cos(angle) ** 2
    term = math.cos(angle) if freedom % 2 else 1.0
    series = term if freedom > 1 else 0.0
    for degree in range(3 if freedom % 2 else 2, freedom - 1, 2):
        term *= square * (degree - 1) / degree
        series += term
    if freedom % 2:
        return 0.5 + (angle + math.sin(angle) * series) / math.pi
    return 0.5 + math.sin(angle) * series / 2


def variance_components(groups: Iterable[Sequence[float]]) -> tuple[float, float]:
    """Return the variances between and within groups, unbiased as in an analysis of variance.

    The chance variation of group means is subtracted from the first, which is at least 0.
    """
    measured = [np.asarray(group, dtype=np.float64) for group in groups if len(group)]
    sizes = np.array([len(group) for group in measured], dtype=np.float64)
    count, total = len(measured), float(sizes.sum())
    if not count:
        return 0.0, 0.0
    means = np.array([group.mean() for group in measured])
    freedom = total - count
    around = sum(float(((group - group.mean()) ** 2).sum()) for group in measured)
    within = around / freedom if freedom else 0.0
    if count == 1:
        return 0.0, within
    square = float(sizes @ (means - sizes @ means / total) ** 2) / (count - 1)
    typical_size = (total - float(sizes @ sizes) / total) / (count - 1)
    return max(0.0, (square - within) / typical_size), within
