"""Summing counts, over everything and by group; ratios come after, from the sums."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

from truemark.counts import Counts

K = TypeVar("K", bound=Hashable)


def total(counts: Iterable[Counts]) -> Counts:
    """The sum of all counts; zero counts when there are none."""
    tp = fp = fn = 0
    for one in counts:
        tp, fp, fn = tp + one.tp, fp + one.fp, fn + one.fn
    return Counts(tp, fp, fn)


def by_group(pairs: Iterable[tuple[K, Counts]]) -> dict[K, Counts]:
    """The sum of counts per group, in order of first appearance."""
    sums: dict[K, Counts] = {}
    for group, counts in pairs:
        sums[group] = sums.get(group, Counts.zero) + counts
    return sums
