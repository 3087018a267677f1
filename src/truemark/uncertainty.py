"""How much of a number, or of a difference between two, is chance.

Intervals come from resampling clusters: bias-corrected and accelerated (BCa), at levels widened
from the normal to Student's t. Plain percentiles of the resamples hold the truth too seldom with
few clusters (89 to 92% instead of 95% for twenty), since resampling understates the spread by
the missing degree of freedom and scores near 1 are skewed. The t levels mend the first, BCa the
second, and unlike a studentised interval this one never leaves the range of scores.
`benchmarks/coverage.py` measures it. Intervals of shares, the correction for many tests and power
have closed forms and need no resampling.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

from truemark.counts import EQUAL_WEIGHTS, Counts, Weights, scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

Measure = Literal["precision", "recall", "f1", "weighted"]
MEASURES: tuple[Measure, ...] = ("f1", "precision", "recall")
DEFAULT_SEED = 20260220
RESAMPLES = 10_000
_ROUNDING = 1e-12
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Scoring:
    """Which score is meant and how it is computed from counts."""

    measure: Measure
    empty: float
    weights: Weights = EQUAL_WEIGHTS

    def __call__(self, counts: Counts) -> float:
        ratios = scores(counts, empty=self.empty, weights=self.weights)
        value: float = getattr(ratios, self.measure)
        return value

    def of_rows(self, rows: Ints | Floats) -> Floats:
        """The score of each row of tp, fp, fn."""
        from truemark.counts import score_columns

        ratios = score_columns(
            rows[..., 0], rows[..., 1], rows[..., 2], empty=self.empty, weights=self.weights
        )
        return ratios[self.measure]


@dataclass(frozen=True, slots=True)
class Interval:
    """A score with the range that resampled clusters give, and what it takes to redo it."""

    value: float
    low: float
    high: float
    confidence: float
    resamples: int
    seed: int
    clusters: int


@dataclass(frozen=True, slots=True)
class PairedInterval:
    """The difference first minus second with its range and its standard error."""

    value: float
    low: float
    high: float
    standard_error: float
    clusters: int


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The difference first minus second, and how often chance alone gives one as large."""

    difference: float
    p_value: float
    permutations: int
    seed: int


@dataclass(frozen=True, slots=True)
class Draws:
    """How intervals and tests are drawn."""

    confidence: float = 0.95
    resamples: int = RESAMPLES
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence must be between 0 and 1, got {self.confidence}")
        if self.resamples < 1:
            raise ValueError(f"resamples must be 1 or more, got {self.resamples}")


DEFAULT_DRAWS = Draws()


def clustered(rows: Ints, clusters: Sequence[Hashable] | None) -> Ints:
    """The rows of each cluster added up, clusters in order of first appearance."""
    import numpy as np

    if clusters is None:
        return rows
    if len(clusters) != len(rows):
        raise ValueError(f"clusters must be one per group, got {len(clusters)} for {len(rows)}")
    numbers: dict[Hashable, int] = {}
    place = [numbers.setdefault(name, len(numbers)) for name in clusters]
    sums = np.zeros((len(numbers), rows.shape[1]), dtype=np.int64)
    np.add.at(sums, place, rows)
    return sums


def intervals_of(
    table: Ints, scorings: Iterable[Scoring], draws: Draws = DEFAULT_DRAWS
) -> tuple[Interval, ...]:
    """An interval per scoring from one set of resamples; rows of `table` are clusters."""
    import numpy as np

    from truemark.resampling import resampled_sums

    if not len(table):
        raise ValueError("groups must not be empty, got none")
    whole = table.sum(axis=0)
    sums = resampled_sums(table, draws.resamples, np.random.default_rng(draws.seed))
    found = []
    for scoring in scorings:
        value = float(scoring.of_rows(whole))
        low, high = _ends(
            scoring.of_rows(sums), value, scoring.of_rows(whole - table), draws.confidence, 0.0
        )
        found.append(Interval(value, low, high, *_facts(draws), len(table)))
    return tuple(found)


def _facts(draws: Draws) -> tuple[float, int, int]:
    return draws.confidence, draws.resamples, draws.seed


def paired_interval(
    first: Ints, second: Ints, scoring: Scoring, draws: Draws = DEFAULT_DRAWS
) -> PairedInterval:
    """The difference of scores, first minus second, over clusters resampled together."""
    return paired_intervals(first, second, (scoring,), draws)[0]


def paired_intervals(
    first: Ints, second: Ints, scorings: Iterable[Scoring], draws: Draws = DEFAULT_DRAWS
) -> tuple[PairedInterval, ...]:
    """A difference per scoring, first minus second, from one set of resamples."""
    import numpy as np

    from truemark.resampling import resampled_sums

    _check_pairs(first, second)
    both = np.concatenate((first, second), axis=1)
    whole, count = both.sum(axis=0), len(both)
    sums = resampled_sums(both, draws.resamples, np.random.default_rng(draws.seed))
    found = []
    for scoring in scorings:
        value = float(_difference(whole, scoring))
        drawn, without_one = _difference(sums, scoring), _difference(whole - both, scoring)
        low, high = _ends(drawn, value, without_one, draws.confidence, -1.0)
        error = float(drawn.std()) * math.sqrt(count / (count - 1)) if count > 1 else math.inf
        found.append(PairedInterval(value, low, high, error, count))
    return tuple(found)


def _difference(rows: Ints | Floats, scoring: Scoring) -> Floats:
    return scoring.of_rows(rows[..., :3]) - scoring.of_rows(rows[..., 3:])


def _ends(
    drawn: Floats, value: float, without_one: Floats, confidence: float, lowest: float
) -> tuple[float, float]:
    """Both ends of the BCa interval at Student's levels; the whole range for a single cluster."""
    import numpy as np

    clusters = len(without_one)
    if clusters < 2:
        return lowest, 1.0
    below = (float((drawn < value).sum()) + float((drawn == value).sum()) / 2) / len(drawn)
    edge = 1 / (2 * len(drawn))
    bias = _NORMAL.inv_cdf(min(max(below, edge), 1 - edge))
    pull = without_one.mean() - without_one
    squares = float((pull**2).sum())
    acceleration = float((pull**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0
    reach = t_quantile((1 + confidence) / 2, clusters - 1)
    reach *= math.sqrt(clusters / (clusters - 1))
    levels = [_level(bias, acceleration, end) for end in (-reach, reach)]
    low, high = np.quantile(drawn, levels).tolist()
    return low, high


def _level(bias: float, acceleration: float, reach: float) -> float:
    moved = bias + reach
    shrink = 1 - acceleration * moved
    if shrink <= 0:  # further out than the correction is meant for
        return 1.0 if moved > 0 else 0.0
    return _NORMAL.cdf(bias + moved / shrink)


def paired_test(
    first: Ints, second: Ints, scoring: Scoring, draws: Draws = DEFAULT_DRAWS
) -> PairedTest:
    """The two-sided paired test of two systems; rows of both tables are clusters.

    Under the null hypothesis the two results of a cluster could be swapped, so each permutation
    swaps every cluster with probability one half. The observed order counts as one of them,
    which keeps the p-value above 0.
    """
    import numpy as np

    from truemark.resampling import swapped_sums

    _check_pairs(first, second)
    one, other = first.sum(axis=0), second.sum(axis=0)
    observed = float(scoring.of_rows(one) - scoring.of_rows(other))
    gained = swapped_sums(second - first, draws.resamples, np.random.default_rng(draws.seed))
    difference = scoring.of_rows(one + gained) - scoring.of_rows(other - gained)
    # Equal differences may come out one rounding apart.
    as_large = 1 + int((np.abs(difference) >= abs(observed) - _ROUNDING).sum())
    return PairedTest(observed, as_large / (draws.resamples + 1), draws.resamples, draws.seed)


def _check_pairs(first: Ints, second: Ints) -> None:
    if len(first) != len(second) or not len(first):
        raise ValueError(
            f"both systems must have the same groups, got {len(first)} and {len(second)}"
        )


@dataclass(frozen=True, slots=True)
class Share:
    """A share of `count` cases with its Wilson interval."""

    value: float
    low: float
    high: float
    count: int


def wilson(correct: int, count: int, confidence: float = 0.95) -> Share | None:
    """The share of correct ones with its Wilson interval; None when there are no cases."""
    if not 0 <= correct <= count:
        raise ValueError(f"correct must be between 0 and {count}, got {correct}")
    if not count:
        return None
    z = _NORMAL.inv_cdf((1 + confidence) / 2)
    share = correct / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    spread = math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    half = z * spread / (1 + z * z / count)
    # At the ends the formula gives 0 and 1 but for rounding.
    low = middle - half if correct else 0.0
    high = middle + half if correct < count else 1.0
    return Share(share, low, high, count)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p-values corrected for there being so many, by Holm's step-down method."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return tuple(adjusted)


def t_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's t with `freedom` degrees, good to 0.01 from three on."""
    if freedom == 1:
        return math.tan(math.pi * (probability - 0.5))
    if freedom == 2:
        return (2 * probability - 1) / math.sqrt(2 * probability * (1 - probability))
    z = _NORMAL.inv_cdf(probability)
    # The Cornish-Fisher expansion around the normal quantile.
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / float(freedom) ** power for power, term in enumerate(terms, start=1))


@dataclass(frozen=True, slots=True)
class Power:
    """What so many clusters could show: with 80% power the smallest true difference."""

    smallest_difference: float
    clusters: int

    def clusters_needed(self, difference: float) -> int:
        """How many clusters like these a true difference of that size would need."""
        return math.ceil(self.clusters * (self.smallest_difference / difference) ** 2)


def power_of(standard_error: float, clusters: int, *, level: float = 0.05) -> Power | None:
    """The power of a paired comparison; None where the data hold no spread to tell it from."""
    if clusters < 2 or standard_error <= 0:
        return None
    freedom = clusters - 1
    reach = t_quantile(1 - level / 2, freedom) + t_quantile(0.8, freedom)
    return Power(reach * standard_error, clusters)
