"""Which extracted event answers which expected one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cal_ai.benchmark.sidecar import ExpectedEvent
from cal_ai.benchmark.tolerance import Closeness, Terms, compare, expected_side, extracted_side
from cal_ai.events import Event
from truemark.matching import match_by_cost


class Pair(NamedTuple):
    """Indices of an extracted and an expected event that belong together, and how they compare."""

    extracted: int
    expected: int
    comparison: Closeness
    is_match: bool


def pair_events(
    extracted: Sequence[Event], expected: Sequence[ExpectedEvent], terms: Terms
) -> tuple[Pair, ...]:
    """One-to-one pairs, by index: most matches first, then the lowest total cost.

    Events beyond the shorter side stay without a partner; a pair that is no match is a near miss.
    """
    if not extracted or not expected:
        return ()
    want = [expected_side(event, terms) for event in expected]
    comparisons = [
        [compare(got, other, terms) for other in want]
        for got in (extracted_side(event, terms) for event in extracted)
    ]
    within = [[it.within(terms.tolerance) for it in row] for row in comparisons]
    pairs = match_by_cost([[it.cost for it in row] for row in comparisons], within)
    return tuple(
        Pair(row, column, comparisons[row][column], within[row][column]) for row, column in pairs
    )
