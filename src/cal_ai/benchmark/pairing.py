"""Which extracted event answers which expected one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cal_ai.benchmark.differences import Difference, differences, remarks
from cal_ai.benchmark.sidecar import ExpectedEvent
from cal_ai.benchmark.tolerance import Terms, compare, expected_side, extracted_side
from cal_ai.events import Event
from truemark.matching import match_by_cost


@dataclass(frozen=True, slots=True)
class Pair:
    """Indices of an extracted and an expected event that belong together, and how they differ."""

    extracted: int
    expected: int
    differences: tuple[Difference, ...]
    remarks: tuple[Difference, ...] = ()

    @property
    def is_match(self) -> bool:
        return not self.differences


def pair_events(
    extracted: Sequence[Event], expected: Sequence[ExpectedEvent], terms: Terms
) -> tuple[Pair, ...]:
    """One-to-one pairs, by index: most matches first, then the lowest total cost.

    Events beyond the shorter side stay without a partner; a pair that is no match is a near miss.
    """
    if not extracted or not expected:
        return ()
    got = [extracted_side(event, terms) for event in extracted]
    want = [expected_side(event, terms) for event in expected]
    comparisons = [[compare(one, other, terms) for other in want] for one in got]
    pairs = match_by_cost(
        [[comparison.cost for comparison in row] for row in comparisons],
        [[comparison.within(terms.tolerance) for comparison in row] for row in comparisons],
    )
    return tuple(
        Pair(
            row,
            column,
            differences(got[row], want[column], comparisons[row][column], terms.tolerance),
            remarks(extracted[row], expected[column], terms),
        )
        for row, column in pairs
    )
