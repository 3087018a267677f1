"""How much of a number, or of a difference between two, is chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from truemark.aggregate import total
from truemark.counts import EQUAL_WEIGHTS, Counts, Weights, scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Measure = Literal["precision", "recall", "f1", "weighted"]

DEFAULT_SEED = 20260220
_CELLS_AT_ONCE = 4_000_000
_ROUNDING = 1e-12


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


@dataclass(frozen=True, slots=True)
class Interval:
    """A score with the range that resampled groups give, and what it takes to redo it."""

    value: float
    low: float
    high: float
    confidence: float
    resamples: int
    seed: int


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The difference first minus second, and how often chance alone gives one as large."""

    difference: float
    p_value: float
    permutations: int
    seed: int


def bootstrap_interval(
    groups: Sequence[Counts],
    scoring: Scoring,
    *,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = DEFAULT_SEED,
) -> Interval:
    """The score of the summed counts and its percentile interval over resampled groups."""
    import numpy as np

    if not groups:
        raise ValueError("groups must not be empty, got none")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    _check_draws("resamples", resamples)
    # Groups with equal counts are drawn together: the same distribution, from far fewer numbers.
    kinds, sizes = np.unique(_table(groups), axis=0, return_counts=True)
    generator = np.random.default_rng(seed)
    drawn = [
        scoring(counts)
        for size in _portions(resamples, len(kinds))
        for counts in _counts(generator.multinomial(len(groups), sizes / len(groups), size) @ kinds)
    ]
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2]).tolist()
    return Interval(scoring(total(groups)), low, high, confidence, resamples, seed)


def permutation_test(
    first: Sequence[Counts],
    second: Sequence[Counts],
    scoring: Scoring,
    *,
    permutations: int = 10_000,
    seed: int = DEFAULT_SEED,
) -> PairedTest:
    """The two-sided paired test of two systems on the same groups.

    Under the null hypothesis the two results of a group could be swapped, so each permutation
    swaps every group with probability one half. The observed order counts as one of them, which
    keeps the p-value above 0.
    """
    import numpy as np

    if len(first) != len(second) or not first:
        raise ValueError(
            f"both systems must have the same groups, got {len(first)} and {len(second)}"
        )
    _check_draws("permutations", permutations)
    one, other = _table(first), _table(second)
    generator = np.random.default_rng(seed)
    observed = scoring(total(first)) - scoring(total(second))
    as_large = 1
    for size in _portions(permutations, len(first)):
        gained = generator.integers(0, 2, size=(size, len(first))) @ (other - one)
        swapped = _counts(one.sum(axis=0) + gained), _counts(other.sum(axis=0) - gained)
        # Equal differences may come out one rounding apart.
        as_large += sum(
            abs(scoring(a) - scoring(b)) >= abs(observed) - _ROUNDING
            for a, b in zip(*swapped, strict=True)
        )
    return PairedTest(observed, as_large / (permutations + 1), permutations, seed)


def _counts(rows: NDArray[np.int64]) -> list[Counts]:
    return [Counts(*row) for row in rows.tolist()]


def _table(groups: Sequence[Counts]) -> NDArray[np.int64]:
    import numpy as np

    return np.array([(one.tp, one.fp, one.fn) for one in groups], dtype=np.int64)


def _portions(draws: int, groups: int) -> Iterator[int]:
    """Sizes that add up to `draws`, each small enough to hold its table of draws in memory."""
    portion = max(1, _CELLS_AT_ONCE // groups)
    while draws > 0:
        yield min(portion, draws)
        draws -= portion


def _check_draws(name: str, draws: int) -> None:
    if draws < 1:
        raise ValueError(f"{name} must be 1 or more, got {draws}")
