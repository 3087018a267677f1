"""What needs no resampling: intervals of shares, correction for many tests, power."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

_NORMAL = NormalDist()


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
