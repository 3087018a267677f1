"""Plain versions of what `benchmarks/core.py` measures: one object, unit or pair at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING

import numpy as np

from truemark.assignment import _exact_search, _whole_costs
from truemark.counts import Counts
from truemark.matching import adds_match
from truemark.places import Group
from truemark.uncertainty import Scoring

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


def match_by_scan(
    predicted: Sequence[int], expected: Sequence[int], tolerance: int
) -> list[tuple[int, int]]:
    """Match positions in a scan from left to right."""
    guesses, truths = list(map(index, predicted)), list(map(index, expected))
    order = sorted(range(len(truths)), key=truths.__getitem__)
    candidates = iter([(truths[column], column) for column in order])
    pairs = []
    truth, column = next(candidates, (None, -1))
    for row in sorted(range(len(guesses)), key=guesses.__getitem__):
        while truth is not None and truth < guesses[row] - tolerance:
            truth, column = next(candidates, (None, -1))
        if truth is not None and truth <= guesses[row] + tolerance:
            pairs.append((row, column))
            truth, column = next(candidates, (None, -1))
    return pairs


@dataclass(frozen=True, slots=True)
class PlainPoint:
    """The counts of one talk at one threshold."""

    threshold: float
    counts: Counts


def sweep_by_point(
    groups: Sequence[Group], thresholds: Sequence[float], tolerance: int
) -> list[list[PlainPoint]]:
    """Make an object per group and threshold."""
    levels = np.asarray(thresholds)
    swept = []
    for scored, expected in groups:
        matches = np.sort(scored.scores[adds_match(scored, expected, tolerance)])
        marks = np.sort(scored.scores)
        matched = (len(matches) - np.searchsorted(matches, levels, side="right")).tolist()
        predicted = (len(marks) - np.searchsorted(marks, levels, side="right")).tolist()
        swept.append(
            [
                PlainPoint(level, Counts.of(matched=a, predicted=b, expected=len(expected)))
                for level, a, b in zip(thresholds, matched, predicted, strict=True)
            ]
        )
    return swept


def permutation_by_unit(first: Ints, second: Ints, scoring: Scoring, swaps: int) -> int:
    """Flip a coin per unit and permutation; count differences as large as the observed one."""
    generator = np.random.default_rng(1)
    first_sum, second_sum = first.sum(axis=0), second.sum(axis=0)
    observed = abs(scoring(Counts(*first_sum.tolist())) - scoring(Counts(*second_sum.tolist())))
    as_large = 0
    portion = max(1, 4_000_000 // len(first))
    for start in range(0, swaps, portion):
        count = min(portion, swaps - start)
        gained = generator.integers(0, 2, (count, len(first))) @ (second - first)
        for a, b in zip((first_sum + gained).tolist(), (second_sum - gained).tolist(), strict=True):
            as_large += abs(scoring(Counts(*a)) - scoring(Counts(*b))) >= observed
    return as_large


def pair_exactly(cost: list[list[float]], allowed: list[list[bool]]) -> list[int]:
    """Search all pairs exactly, without the floating-point step before."""
    width = len(cost[0])
    return _exact_search(_whole_costs(cost, allowed, [range(width)] * len(cost)), width)
