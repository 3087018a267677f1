"""Assess each event: the kind of mistake, and which fields differ by how much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from cal_ai.benchmark.pairing import (
    MISSING,
    TOLERANCES,
    Closeness,
    Pair,
    Tolerance,
    compare_events,
    meant_event,
    texts_alike,
    time_within,
)
from cal_ai.benchmark.scoring import Scored
from cal_ai.benchmark.sidecar import ExpectedEvent, Sidecar
from cal_ai.events import Event
from truemark.text import one_line

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
    "wrong event of the calendar", "off within tolerance", "other place", "people missing", ""
]
"""A remark on a match; empty if there is none."""

NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Assessment:
    """The assessment of one event: a mistake, or a match, exact or within tolerance.

    `kind` is what matters most; `remarks` are differences that do not count.
    """

    kind: Kind | Remark
    expected: ExpectedEvent | None
    extracted: Event | None
    differences: tuple[Deviation, ...] = ()
    remarks: tuple[Deviation, ...] = ()
    is_mistake: bool = True


def mistakes_of(result: Scored) -> tuple[Assessment, ...]:
    """List all mistakes of a sample: pairs that are nearly right, then missed and extra events.

    A pair that is no match and has neither title, time nor calendar event in common is two
    mistakes: a missed event and an invented one.
    """
    sidecar = result.sidecar
    nearly: list[Assessment] = []
    missed = list(result.missed)
    spurious = list(result.spurious)
    for pair in result.near_misses:
        extracted = result.extracted[pair.extracted]
        expected = sidecar.expected_events[pair.expected]
        if (kind := _kind(result, pair)) is None:
            missed.append(expected)
            spurious.append(extracted)
        else:
            tolerance = TOLERANCES[sidecar.tolerance]
            differing = differences(extracted, expected, pair.comparison, tolerance)
            others = remarks(extracted, expected, sidecar)
            nearly.append(Assessment(kind, expected, extracted, differing, others))
    matched = [sidecar.expected_events[pair.expected] for pair in result.pairs if pair.is_match]
    return (
        *nearly,
        *(Assessment("missed", event, None) for event in missed),
        *(_extra_event(event, matched, sidecar) for event in spurious),
    )


def mistake_lines(result: Scored) -> Iterator[str]:
    """Describe each mistake of a sample in a line: `missed: create Lunch`."""
    for mistake in mistakes_of(result):
        event = mistake.expected or mistake.extracted
        assert event is not None, "a mistake is about an event"
        title = one_line(event.title)
        if mistake.differences:
            yield f"{mistake.kind}: {title}: {'; '.join(map(in_words, mistake.differences))}"
        else:
            yield f"{mistake.kind}: {event.action} {title}"


def in_words(deviation: Deviation) -> str:
    """Describe a deviation: `start expected 2026-02-20 10:00, got nothing (missing)`."""
    expected, got = one_line(deviation.expected), one_line(deviation.got)
    return f"{deviation.field} expected {expected}, got {got} ({deviation.by})"


def matches_of(result: Scored) -> Iterator[Assessment]:
    """Assess all true positives of a sample."""
    for pair in result.pairs:
        if not pair.is_match:
            continue
        extracted = result.extracted[pair.extracted]
        expected = result.sidecar.expected_events[pair.expected]
        off = differences(extracted, expected, pair.comparison)
        others = remarks(extracted, expected, result.sidecar)
        yield Assessment(_remark(off, others), expected, extracted, off, others, is_mistake=False)


def _remark(off: tuple[Deviation, ...], others: tuple[Deviation, ...]) -> Remark:
    fields = {deviation.field for deviation in others}
    if "existing_event_id" in fields:
        return "wrong event of the calendar"
    if off:
        return "off within tolerance"
    if "location" in fields:
        return "other place"
    return "people missing" if fields else ""


def _kind(result: Scored, pair: Pair) -> Kind | None:
    """Name the first thing that is wrong with a near miss; None if nothing is right."""
    comparison, target = pair.comparison, result.target(pair)
    tolerance = TOLERANCES[result.sidecar.tolerance]
    if not (target or _in_common(comparison, tolerance)):
        return None
    if not comparison.same_action:
        return "wrong action"
    if target is False:
        return "wrong event of the calendar"
    if not comparison.title_within(tolerance):
        return "wrong title"
    shift, (_, expected) = comparison.start_shift, comparison.start
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
    """Whether two events may be meant to be the same: similar in title or start."""
    if comparison.title_within(tolerance):
        return True
    if comparison.start_shift is None:
        return comparison.same_action
    return time_within(comparison.start_shift, tolerance)


def _extra_event(event: Event, matched: list[ExpectedEvent], sidecar: Sidecar) -> Assessment:
    """Assess an extra event: a duplicate if it fits a matched expected event, else invented."""
    for expected in matched:
        if compare_events(event, expected, sidecar).within(TOLERANCES[sidecar.tolerance]):
            return Assessment("duplicate", expected, event)
    return Assessment("invented", None, event)


@dataclass(frozen=True, slots=True)
class Deviation:
    """A field that differs: the expected and the extracted value, and in words by how much.

    `amount`, in `unit`, is the difference as a number where it is one.
    """

    field: str
    expected: str
    got: str
    by: str
    amount: float | None = None
    unit: str = ""


def differences(
    extracted: Event,
    expected: ExpectedEvent,
    comparison: Closeness,
    tolerance: Tolerance | None = None,
) -> tuple[Deviation, ...]:
    """List the fields that differ by more than the tolerance, or without one all that differ.

    A time that is not checked is left out.
    """
    deviations: list[Deviation] = []
    if not comparison.same_action:
        deviations.append(Deviation("action", expected.action, extracted.action, "another action"))
    by = f"similarity {comparison.similarity:.0f}"
    same_title = comparison.same_title
    if tolerance is not None:
        same_title = comparison.title_within(tolerance)
        least = tolerance.title_similarity
        by = "not equal" if least is None else f"{by}, at least {least:.0f} needed"
    if not same_title:
        similarity = round(comparison.similarity, 1)
        title = Deviation("title", expected.title, extracted.title, by, similarity, "% alike")
        deviations.append(title)
    for field, (got, time), shift in (
        ("start", comparison.start, comparison.start_shift),
        ("end", comparison.end, comparison.end_shift),
    ):
        if not shift or (tolerance is not None and time_within(shift, tolerance)):
            continue
        missing = shift == MISSING
        by = "missing" if missing else shown_shift(shift)
        minutes = None if missing else round(shift / timedelta(minutes=1), 1)
        unit = "" if missing else "min"
        deviations.append(Deviation(field, shown_time(time), shown_time(got), by, minutes, unit))
    return tuple(deviations)


def remarks(extracted: Event, expected: ExpectedEvent, sidecar: Sidecar) -> tuple[Deviation, ...]:
    """List differences in place, people and calendar event, which are shown but not counted."""
    deviations: list[Deviation] = []
    if expected.location is not None:
        got, place = extracted.location or "", expected.location
        if not texts_alike(got, place, TOLERANCES[sidecar.tolerance]):
            deviations.append(Deviation("location", place, got or NOTHING, "another place"))
    people = [name.casefold() for name in extracted.attendees]
    absent = [
        name
        for name in expected.attendees_contain
        if not any(name.strip().casefold() in person for person in people)
    ]
    if absent:
        deviations.append(
            Deviation(
                "attendees",
                ", ".join(expected.attendees_contain),
                ", ".join(extracted.attendees) or NOTHING,
                f"without {', '.join(absent)}",
            )
        )
    meant, got_id = meant_event(expected, sidecar), extracted.existing_event_id
    shown_id = NOTHING if got_id is None else str(got_id)
    if meant is not None and got_id != meant.id and extracted.action != "create":
        deviations.append(Deviation("existing_event_id", str(meant.id), shown_id, "another event"))
    elif expected.existing_event_id_required and got_id not in {
        event.id for event in sidecar.calendar_context
    }:
        deviations.append(
            Deviation("existing_event_id", "one of the calendar", shown_id, "unknown")
        )
    return tuple(deviations)


def shown_time(time: datetime | None) -> str:
    """Format a time to the minute: `2026-02-20 10:00`."""
    return NOTHING if time is None else time.isoformat(" ", "minutes")


def shown_span(start: datetime | None, end: datetime | None) -> str:
    """Format a span: `2026-02-20 10:00 to 11:00`; the end has a date if it is on another day."""
    if end is None:
        return shown_time(start)
    same_day = start is not None and start.date() == end.date() and start.tzinfo == end.tzinfo
    until = end.time().isoformat("minutes") if same_day else shown_time(end)
    return f"{shown_time(start)} to {until}"


def shown_shift(shift: timedelta) -> str:
    """Format a shift in its two largest units: `1 d 2 h later`."""
    minutes = round(abs(shift) / timedelta(minutes=1))
    units = (("d", minutes // 1440), ("h", minutes // 60 % 24), ("min", minutes % 60))
    parts = [f"{count} {unit}" for unit, count in units if count][:2] or ["less than 1 min"]
    return f"{' '.join(parts)} {'later' if shift > timedelta() else 'earlier'}"
