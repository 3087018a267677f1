"""What a comparison could have shown: simulated from the clusters that were compared."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from truemark.resampling import flipped_sums
from truemark.uncertainty import (
    DEFAULT_SEED,
    FEWEST_FOR_VERDICT,
    LEVEL,
    Scoring,
    contributions,
    flip_p_values,
    paired_rows,
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

POWER = 0.8
_SIMULATED = 200  # comparisons per guess at the power
_FLIPS_BEYOND = 25.6  # that lie further out than a difference that is just seen
_MOST_FLIPS = 2_048
_MOST_SIMULATED = 200  # clusters; beyond, power follows the root of their number


@dataclass(frozen=True, slots=True)
class Power:
    """What a comparison could show: the smallest true difference that is seen in 80 of 100 cases.

    `clusters_needed` is how many clusters like these it takes to see the difference asked about.
    """

    smallest_difference: float
    clusters: int
    clusters_needed: int


def power_of(
    first: Ints,
    second: Ints,
    scoring: Scoring,
    worth_seeing: float = 0.02,
    level: float = LEVEL,
) -> Power | None:
    """Simulate what so many clusters can show; None where too few differ to know.

    None too where not even the largest difference would be seen in 80 of 100 cases. A difference
    is seen where p is at most `level`.
    """
    drawn = _Simulated.from_pairs(paired_rows(first, second), scoring, level)
    if drawn is None:
        return None
    count = len(first)
    smallest = drawn.smallest_difference(count)
    needed = drawn.clusters_needed(worth_seeing)
    if smallest > 1 or needed is None:
        return None
    return Power(smallest, count, needed)


def chance_to_see(first: Ints, second: Ints, scoring: Scoring, difference: float) -> float | None:
    """Simulate how often a true difference is seen; None where too few clusters differ to know."""
    drawn = _Simulated.from_pairs(paired_rows(first, second), scoring)
    return None if drawn is None else drawn.chance(len(first), difference)


@dataclass(frozen=True, slots=True)
class _Simulated:
    """Comparisons drawn from the clusters of one, the true difference taken away and another set.

    `rest` is what each cluster adds to the mean beyond its share, `size` how large it is
    compared with the mean.
    """

    rest: Floats
    size: Floats
    level: float

    @classmethod
    def from_pairs(cls, pairs: Ints, scoring: Scoring, level: float = LEVEL) -> _Simulated | None:
        added, share, _ = contributions(pairs, scoring)
        if np.isnan(added).any() or np.count_nonzero(added) < FEWEST_FOR_VERDICT:
            return None
        rest = added - added.sum() * share
        return cls(len(pairs) * rest, len(pairs) * share, level)

    def chance(self, clusters: int, difference: float) -> float:
        """Return how often it is seen, spread evenly or in a tenth, whichever is seen less.

        The tenth is of no fewer clusters than it takes to see anything.
        """
        if clusters < FEWEST_FOR_VERDICT:
            return 0.0
        if clusters > _MOST_SIMULATED:
            difference *= math.sqrt(clusters / _MOST_SIMULATED)
            clusters = _MOST_SIMULATED
        tenth = max(FEWEST_FOR_VERDICT, round(clusters / 10))
        return min(self._seen(clusters, difference, moved) for moved in (clusters, tenth))

    def _seen(self, clusters: int, difference: float, moved: int) -> float:
        generator = np.random.default_rng(DEFAULT_SEED)
        chosen = generator.integers(0, len(self.rest), (clusters, _SIMULATED))
        added = self.rest[chosen]
        added[:moved] += difference * clusters / moved * self.size[chosen[:moved]]
        added /= np.maximum(np.sqrt((added**2).sum(axis=0)), 1e-300)
        columns = np.concatenate((added, added**3), axis=1)
        flips = min(_MOST_FLIPS, round(_FLIPS_BEYOND / self.level))
        sums = flipped_sums(columns, flips, generator)
        p_values = flip_p_values(sums[:, :_SIMULATED], sums[:, _SIMULATED:])
        return float(((p_values <= self.level) & (added.sum(axis=0) > 0)).mean())

    def smallest_difference(self, clusters: int) -> float:
        """Return the difference that is seen in 80 of 100 cases; infinity where none is."""
        error = float(np.sqrt((self.rest**2).mean() / clusters))
        guesses = [2.8 * error * 2 ** (step / 8) for step in range(-8, 40)] + [math.inf]
        return guesses[_first(lambda step: self.chance(clusters, guesses[step]) >= POWER, 48)]

    def clusters_needed(self, difference: float) -> int | None:
        """Return how many clusters it takes to see the difference in 80 of 100 cases."""
        if self.chance(_MOST_SIMULATED, difference) < POWER:
            seen = self.smallest_difference(_MOST_SIMULATED)
            if math.isinf(seen):
                return None
            return math.ceil(_MOST_SIMULATED * (seen / difference) ** 2)
        most = _MOST_SIMULATED - FEWEST_FOR_VERDICT
        return FEWEST_FOR_VERDICT + _first(
            lambda more: self.chance(FEWEST_FOR_VERDICT + more, difference) >= POWER, most
        )


def _first(holds: Callable[[int], bool], last: int) -> int:
    """Return the first number up to `last` from which on it holds; `last` where it never does."""
    low, high = 0, last
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
