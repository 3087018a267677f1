"""What went wrong with each event, by kind: the same word for the same sort of mistake."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from cal_ai.benchmark.differences import Difference, drifts
from cal_ai.benchmark.pairing import (
    MISSING,
    Closeness,
    Pair,
    Side,
    Terms,
    Tolerance,
    compare,
    compared_times,
    expected_side,
    extracted_side,
    time_within,
)
from cal_ai.benchmark.scoring import Scored
from cal_ai.benchmark.sidecar import ExpectedEvent
from cal_ai.events import Event

Kind = Literal[
    "wrong action",
    "wrong event of the calendar",
    "wrong title",
    "wrong day",
    "wrong time",
    "wrong length",
    "duplicate",
    "missed",
    "invented",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

Remark = Literal[
    "wrong event of the calendar", "off within tolerance", "other place", "people missing"
]


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake: what was expected, what came, and the fields that differ.

    `remarks` are fields that differ and do not count.
    """

    kind: Kind
    expected: ExpectedEvent | None
    extracted: Event | None
    differences: tuple[Difference, ...] = ()
    remarks: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """A true positive: by how much it is off within tolerance, and what differs and does not count.

    `kind` says which of that matters most; None where there is nothing to remark.
    """

    kind: Remark | None
    expected: ExpectedEvent
    extracted: Event
    differences: tuple[Difference, ...]
    remarks: tuple[Difference, ...]


def mistakes_of(result: Scored) -> tuple[Mistake, ...]:
    """All mistakes of a sample: pairs that are nearly right, then what is missing, then too much.

    A pair that is no match and has neither title, time nor calendar event in common is two
    mistakes: an event that was missed, and another that was invented.
    """
    terms = Terms.of(result.sidecar)
    expected = result.sidecar.expected_events
    nearly: list[Mistake] = []
    missed = list(result.missed)
    spurious = list(result.spurious)
    for pair in result.near_misses:
        one, other = result.extracted[pair.extracted], expected[pair.expected]
        if (kind := _kind(result, pair, terms)) is None:
            missed.append(other)
            spurious.append(one)
        else:
            differs, remarks = result.differences(pair), result.remarks(pair)
            nearly.append(Mistake(kind, other, one, differs, remarks))
    found = [expected[pair.expected] for pair in result.pairs if pair.is_match]
    return (
        *nearly,
        *(Mistake("missed", event, None) for event in missed),
        *(_too_much(event, found, terms) for event in spurious),
    )


def matches_of(result: Scored) -> Iterator[Match]:
    """All true positives of a sample."""
    terms = Terms.of(result.sidecar)
    for pair in result.pairs:
        if not pair.is_match:
            continue
        extracted = result.extracted[pair.extracted]
        expected = result.sidecar.expected_events[pair.expected]
        sides = extracted_side(extracted, terms), expected_side(expected, terms)
        off, others = drifts(*sides, pair.comparison), result.remarks(pair)
        yield Match(_remark(off, others), expected, extracted, off, others)


def _remark(off: tuple[Difference, ...], others: tuple[Difference, ...]) -> Remark | None:
    fields = {it.field for it in others}
    if "existing_event_id" in fields:
        return "wrong event of the calendar"
    if off:
        return "off within tolerance"
    if "location" in fields:
        return "other place"
    return "people missing" if fields else None


def _kind(result: Scored, pair: Pair, terms: Terms) -> Kind | None:
    """The first thing that is wrong with a pair that is no match; None when nothing is right."""
    one, other = result.extracted[pair.extracted], result.sidecar.expected_events[pair.expected]
    comparison, target = pair.comparison, result.target(pair)
    if not (target or _in_common(comparison, terms.tolerance)):
        return None
    if not comparison.same_action:
        return "wrong action"
    if target is False:
        return "wrong event of the calendar"
    if not comparison.title_within(terms.tolerance):
        return "wrong title"
    start, _ = compared_times(extracted_side(one, terms), expected_side(other, terms))
    return _wrong_time(start, comparison, terms.tolerance)


def _wrong_time(
    start: tuple[datetime | None, datetime | None], comparison: Closeness, tolerance: Tolerance
) -> Kind:
    shift, (_, expected) = comparison.start_shift, start
    if time_within(shift, tolerance):
        return "wrong length"
    assert shift is not None, "a start that is not checked is within every tolerance"
    assert expected is not None, "a start that is checked is expected"
    return "wrong day" if shift != MISSING and _on_another_day(expected, shift) else "wrong time"


def _on_another_day(moment: datetime, shift: timedelta) -> bool:
    try:
        return (moment + shift).date() != moment.date()
    except OverflowError:  # beyond the years that have a number
        return True


def _in_common(comparison: Closeness, tolerance: Tolerance) -> bool:
    """Whether two events may be meant to be the same: alike in title or in start."""
    if comparison.title_within(tolerance):
        return True
    if comparison.start_shift is None:
        return comparison.same_action
    return time_within(comparison.start_shift, tolerance)


def _too_much(event: Event, found: list[ExpectedEvent], terms: Terms) -> Mistake:
    """An event that nothing asks for; a duplicate where one that was found already does."""
    side = extracted_side(event, terms)
    for expected in found:
        if _matches(side, expected, terms):
            return Mistake("duplicate", expected, event)
    return Mistake("invented", None, event)


def _matches(side: Side, expected: ExpectedEvent, terms: Terms) -> bool:
    return compare(side, expected_side(expected, terms), terms).within(terms.tolerance)
