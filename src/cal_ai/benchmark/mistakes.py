"""Say what went wrong with each event: its kind, and what differs, in words to act on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from cal_ai.benchmark.pairing import (
    MISSING,
    Closeness,
    Pair,
    Side,
    Terms,
    Tolerance,
    closeness,
    compared_times,
    expected_side,
    extracted_side,
    meant_event,
    texts_alike,
    time_within,
)
from cal_ai.benchmark.scoring import Scored
from cal_ai.benchmark.sidecar import ExpectedEvent
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
    "wrong event of the calendar", "off within tolerance", "other place", "people missing"
]

NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake: what was expected, what came, and the fields that differ.

    `remarks` are fields that differ and do not count.
    """

    kind: Kind
    expected: ExpectedEvent | None
    extracted: Event | None
    differences: tuple[Deviation, ...] = ()
    remarks: tuple[Deviation, ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """A true positive: by how much it is off within tolerance, and what differs and does not count.

    `kind` says which of that matters most; None where there is nothing to remark.
    """

    kind: Remark | None
    expected: ExpectedEvent
    extracted: Event
    differences: tuple[Deviation, ...]
    remarks: tuple[Deviation, ...]


def mistakes_of(result: Scored) -> tuple[Mistake, ...]:
    """List all mistakes of a sample: pairs that are nearly right, then missed events, then extra.

    A pair that is no match and has neither title, time nor calendar event in common is two
    mistakes: an event that was missed, and another that was invented.
    """
    terms = Terms.of(result.sidecar)
    expected = result.sidecar.expected_events
    nearly: list[Mistake] = []
    missed = list(result.missed)
    spurious = list(result.spurious)
    for pair in result.near_misses:
        got, wanted = result.extracted[pair.extracted], expected[pair.expected]
        if (kind := _kind(result, pair, terms)) is None:
            missed.append(wanted)
            spurious.append(got)
        else:
            sides = extracted_side(got, terms), expected_side(wanted, terms)
            differs = differences(*sides, pair.comparison, terms.tolerance)
            nearly.append(Mistake(kind, wanted, got, differs, remarks(got, wanted, terms)))
    matched = [expected[pair.expected] for pair in result.pairs if pair.is_match]
    return (
        *nearly,
        *(Mistake("missed", event, None) for event in missed),
        *(_extra_event(event, matched, terms) for event in spurious),
    )


def mistake_lines(result: Scored) -> Iterator[str]:
    """Say why a sample has less than full scores, a line per mistake: `missed: create Lunch`."""
    for mistake in mistakes_of(result):
        event = mistake.expected or mistake.extracted
        assert event is not None, "a mistake is about an event"
        title = one_line(event.title)
        if mistake.differences:
            yield f"{mistake.kind}: {title}: {'; '.join(map(_in_words, mistake.differences))}"
        else:
            yield f"{mistake.kind}: {event.action} {title}"


def _in_words(deviation: Deviation) -> str:
    """Tell a deviation as `start expected 2026-02-20 10:00, got nothing (missing)`."""
    expected, got = one_line(deviation.expected), one_line(deviation.got)
    return f"{deviation.field} expected {expected}, got {got} ({deviation.by})"


def matches_of(result: Scored) -> Iterator[Match]:
    """List all true positives of a sample."""
    terms = Terms.of(result.sidecar)
    for pair in result.pairs:
        if not pair.is_match:
            continue
        extracted = result.extracted[pair.extracted]
        expected = result.sidecar.expected_events[pair.expected]
        sides = extracted_side(extracted, terms), expected_side(expected, terms)
        off, others = drifts(*sides, pair.comparison), remarks(extracted, expected, terms)
        yield Match(_remark(off, others), expected, extracted, off, others)


def _remark(off: tuple[Deviation, ...], others: tuple[Deviation, ...]) -> Remark | None:
    fields = {deviation.field for deviation in others}
    if "existing_event_id" in fields:
        return "wrong event of the calendar"
    if off:
        return "off within tolerance"
    if "location" in fields:
        return "other place"
    return "people missing" if fields else None


def _kind(result: Scored, pair: Pair, terms: Terms) -> Kind | None:
    """Name the first thing that is wrong with a near miss; None when nothing is right."""
    got, wanted = result.extracted[pair.extracted], result.sidecar.expected_events[pair.expected]
    comparison, target = pair.comparison, result.target(pair)
    if not (target or _in_common(comparison, terms.tolerance)):
        return None
    if not comparison.same_action:
        return "wrong action"
    if target is False:
        return "wrong event of the calendar"
    if not comparison.title_within(terms.tolerance):
        return "wrong title"
    start, _ = compared_times(extracted_side(got, terms), expected_side(wanted, terms))
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
    """Whether two events may be meant to be the same: alike in title or start."""
    if comparison.title_within(tolerance):
        return True
    if comparison.start_shift is None:
        return comparison.same_action
    return time_within(comparison.start_shift, tolerance)


def _extra_event(event: Event, matched: list[ExpectedEvent], terms: Terms) -> Mistake:
    """Call an event without a partner a duplicate where it fits a matched one, else invented."""
    side = extracted_side(event, terms)
    for expected in matched:
        if _matches(side, expected, terms):
            return Mistake("duplicate", expected, event)
    return Mistake("invented", None, event)


def _matches(side: Side, expected: ExpectedEvent, terms: Terms) -> bool:
    return closeness(side, expected_side(expected, terms), terms).within(terms.tolerance)


@dataclass(frozen=True, slots=True)
class Deviation:
    """One field of a pair that differs: what was expected, what came, and by how much.

    `amount` is the same as `by` where that is a number, in `unit`.
    """

    field: str
    expected: str
    got: str
    by: str
    amount: float | None = None
    unit: str = ""


def differences(
    extracted: Side, expected: Side, comparison: Closeness, tolerance: Tolerance
) -> tuple[Deviation, ...]:
    """List the fields that keep a pair from being a true positive; empty when it is one."""
    if comparison.within(tolerance):
        return ()
    return tuple(_differences(extracted, expected, comparison, tolerance))


def _differences(
    extracted: Side, expected: Side, comparison: Closeness, tolerance: Tolerance
) -> Iterator[Deviation]:
    if not comparison.same_action:
        yield Deviation("action", expected.action, extracted.action, "another action")
    if not comparison.title_within(tolerance):
        least = tolerance.title_similarity
        needed = "" if least is None else f", at least {least:.0f} needed"
        by = "not equal" if least is None else _shown_similarity(comparison) + needed
        yield _title_difference(extracted, expected, comparison, by)
    yield from _time_differences(
        extracted, expected, comparison, lambda shift: not time_within(shift, tolerance)
    )


def drifts(extracted: Side, expected: Side, comparison: Closeness) -> tuple[Deviation, ...]:
    """List the fields of a match that are not quite as expected: within tolerance, but off."""
    times = _time_differences(extracted, expected, comparison, bool)
    if comparison.same_title:
        return tuple(times)
    by = _shown_similarity(comparison)
    return (_title_difference(extracted, expected, comparison, by), *times)


def _title_difference(extracted: Side, expected: Side, comparison: Closeness, by: str) -> Deviation:
    similarity = round(comparison.similarity, 1)
    return Deviation("title", expected.title, extracted.title, by, similarity, "% alike")


def _shown_similarity(comparison: Closeness) -> str:
    return f"similarity {comparison.similarity:.0f}"


def _time_differences(
    extracted: Side, expected: Side, comparison: Closeness, differs: Callable[[timedelta], bool]
) -> Iterator[Deviation]:
    """Yield start and end where their shift `differs`; a time that is not checked never does."""
    times = compared_times(extracted, expected)
    shifts = (comparison.start_shift, comparison.end_shift)
    for field, (got, want), shift in zip(("start", "end"), times, shifts, strict=True):
        if shift is None or not differs(shift):
            continue
        missing = shift == MISSING
        by = "missing" if missing else shown_shift(shift)
        minutes = None if missing else round(shift / timedelta(minutes=1), 1)
        unit = "" if missing else "min"
        yield Deviation(field, shown_time(want), shown_time(got), by, minutes, unit)


def remarks(extracted: Event, expected: ExpectedEvent, terms: Terms) -> tuple[Deviation, ...]:
    """List what the sidecar asked for beyond action, title and times; shown, never counted."""
    return tuple(_remarks(extracted, expected, terms))


def _remarks(extracted: Event, expected: ExpectedEvent, terms: Terms) -> Iterator[Deviation]:
    if expected.location is not None:
        got = extracted.location or ""
        if not texts_alike(got, expected.location, terms.tolerance):
            yield Deviation("location", expected.location, got or NOTHING, "another place")
    if absent := _absent(extracted.attendees, expected.attendees_contain):
        yield Deviation(
            "attendees",
            ", ".join(expected.attendees_contain),
            ", ".join(extracted.attendees) or NOTHING,
            f"without {', '.join(absent)}",
        )
    got_id, meant = extracted.existing_event_id, meant_event(expected, terms)
    known_ids = {event.id for event in terms.context}
    if meant is not None and got_id != meant.id and extracted.action != "create":
        yield Deviation("existing_event_id", str(meant.id), _shown_id(got_id), "another event")
    elif expected.existing_event_id_required and got_id not in known_ids:
        yield Deviation("existing_event_id", "one of the calendar", _shown_id(got_id), "unknown")


def _absent(came: tuple[str, ...], expected: tuple[str, ...]) -> list[str]:
    """List the expected names that are part of no name that came."""
    folded = [name.casefold() for name in came] if expected else []
    return [
        name for name in expected if not any(name.strip().casefold() in given for given in folded)
    ]


def shown_time(time: datetime | None) -> str:
    """Show a time to the minute, as `2026-02-20 10:00`."""
    return NOTHING if time is None else time.isoformat(" ", "minutes")


def shown_shift(shift: timedelta) -> str:
    """Show a shift in its two largest units, as `1 d 2 h later`."""
    minutes = round(abs(shift) / timedelta(minutes=1))
    units = (("d", minutes // 1440), ("h", minutes // 60 % 24), ("min", minutes % 60))
    parts = [f"{count} {unit}" for unit, count in units if count][:2] or ["less than 1 min"]
    return f"{' '.join(parts)} {'later' if shift > timedelta() else 'earlier'}"


def _shown_id(number: int | None) -> str:
    return NOTHING if number is None else str(number)
