"""Statistical power: what a comparison could have shown, simulated from its clusters."""

from __future__ import annotations

import math
from bisect import bisect_left
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
_SIMULATED = 200  # comparisons per estimate of the power
_FLIPS_BEYOND = 25.6  # flips expected beyond a difference that is just significant
_MOST_FLIPS = 2_048
_MOST_SIMULATED = 200  # clusters; beyond, power follows the square root of their number


@dataclass(frozen=True, slots=True)
class Power:
    """What a comparison could show: the smallest true difference that is seen in 80 of 100 cases.

    `clusters_needed` is about how many clusters like these it takes to see the difference asked
    about, rounded up: from 200 simulated comparisons, a power of 80% is known to within 3%.
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
    """Simulate what these clusters can show.

    Return None where too few of them differ to know, or where no difference that is possible from
    the second system's score would be seen in 80 of 100 cases. A difference is seen if its p-value
    is at most `level`.
    """
    drawn = _Simulated.from_pairs(paired_rows(first, second), scoring, level)
    if drawn is None:
        return None
    count = len(first)
    smallest = drawn.smallest_difference(count)
    needed = drawn.clusters_needed(worth_seeing)
    score = float(scoring.of_rows(second.sum(axis=0)))
    if smallest > max(score, 1 - score) or needed is None:
        return None
    rounded = _rounded_up(needed)
    return Power(smallest, count, rounded if needed > count else min(rounded, count))


def _rounded_up(count: int) -> int:
    """Round up to a multiple of five, beyond a hundred to two digits."""
    step = 5 if count < 100 else 10 ** (len(str(count)) - 2)
    return math.ceil(count / step) * step


def chance_to_see(first: Ints, second: Ints, scoring: Scoring, difference: float) -> float | None:
    """Simulate how often a true difference is seen; None where too few clusters differ to know."""
    drawn = _Simulated.from_pairs(paired_rows(first, second), scoring)
    return None if drawn is None else drawn.chance(len(first), difference)


def concentrated_share(clusters: int, difference: float) -> float:
    """Return the share of clusters over which a concentrated difference is spread.

    It is a tenth, but at least eight clusters, because fewer than six show nothing, and enough of
    them that none loses more than half.
    """
    return min(1.0, max(0.1, 8 / clusters, 2 * difference))


@dataclass(frozen=True, slots=True)
class _Simulated:
    """Simulates comparisons from the clusters of a real one, with another true difference.

    `rest` is what each cluster adds to the mean beyond its share, `items` how many items it has.
    """

    rest: Floats
    items: Floats
    level: float

    @classmethod
    def from_pairs(cls, pairs: Ints, scoring: Scoring, level: float = LEVEL) -> _Simulated | None:
        added, share, items = contributions(pairs, scoring)
        if np.count_nonzero(added) < FEWEST_FOR_VERDICT:
            return None
        rest = added - added.sum() * share
        return cls(len(pairs) * rest, items * share, level)

    def chance(self, clusters: int, difference: float) -> float:
        """Return how often a difference is seen: spread evenly, or over few clusters if rarer."""
        if clusters < FEWEST_FOR_VERDICT:
            return 0.0
        if clusters > _MOST_SIMULATED:
            difference *= math.sqrt(clusters / _MOST_SIMULATED)
            clusters = _MOST_SIMULATED
        shares = (1.0, concentrated_share(len(self.rest), difference))
        return min(self._seen(clusters, difference, share) for share in shares)

    def _seen(self, clusters: int, difference: float, share: float) -> float:
        generator = np.random.default_rng(DEFAULT_SEED)
        chosen = generator.integers(0, len(self.rest), (clusters, _SIMULATED))
        chance = min(1.0, difference / share) * (generator.random(chosen.shape) < share)
        # Items are lost by chance too, and in pairs: one missed, one invented.
        items = self.items[chosen]
        pairs = np.maximum(1, np.rint(items / 2)).astype(np.int64)
        lost = items * generator.binomial(pairs, chance) / pairs
        added = self.rest[chosen] + lost / self.items.mean()
        added /= np.maximum(np.sqrt((added**2).sum(axis=0)), 1e-300)
        columns = np.concatenate((added, added**3), axis=1)
        flips = min(_MOST_FLIPS, round(_FLIPS_BEYOND / self.level))
        sums = flipped_sums(columns, flips, generator)
        p_values = flip_p_values(sums[:, :_SIMULATED], sums[:, _SIMULATED:])
        return float(((p_values <= self.level) & (added.sum(axis=0) > 0)).mean())

    def smallest_difference(self, clusters: int) -> float:
        """Return the difference that is seen in 80 of 100 cases; infinity where none is."""
        error = float(np.sqrt((self.rest**2).mean() / clusters))
        guesses = [2.8 * error * 2 ** (step / 8) for step in range(-8, 40)]
        seen = bisect_left(guesses, POWER, key=lambda guess: self.chance(clusters, guess))
        return [*guesses, math.inf][seen]

    def clusters_needed(self, difference: float) -> int | None:
        """Return how many clusters it takes to see the difference in 80 of 100 cases."""
        if self.chance(_MOST_SIMULATED, difference) < POWER:
            seen = self.smallest_difference(_MOST_SIMULATED)
            return (
                None if math.isinf(seen) else math.ceil(_MOST_SIMULATED * (seen / difference) ** 2)
            )
        counts = range(FEWEST_FOR_VERDICT, _MOST_SIMULATED)
        return counts.start + bisect_left(
            counts, POWER, key=lambda count: self.chance(count, difference)
        )
