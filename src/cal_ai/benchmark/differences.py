"""Why a pair is not within tolerance, in words a person can act on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from cal_ai.benchmark.pairing import (
    MISSING,
    Closeness,
    Side,
    Terms,
    Tolerance,
    compared_times,
    meant_event,
    texts_alike,
    time_within,
)
from cal_ai.benchmark.sidecar import ExpectedEvent
from cal_ai.events import Event

NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Difference:
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
) -> tuple[Difference, ...]:
    """The fields that keep the pair from being a true positive; empty when it is one."""
    if comparison.within(tolerance):
        return ()
    return tuple(_differences(extracted, expected, comparison, tolerance))


def _differences(
    extracted: Side, expected: Side, comparison: Closeness, tolerance: Tolerance
) -> Iterator[Difference]:
    if not comparison.same_action:
        yield Difference("action", expected.action, extracted.action, "another action")
    if not comparison.title_within(tolerance):
        least = tolerance.title_similarity
        needed = "" if least is None else f", at least {least:.0f} needed"
        by = "not equal" if least is None else _shown_similarity(comparison) + needed
        yield _title_difference(extracted, expected, comparison, by)
    yield from _time_differences(
        extracted, expected, comparison, lambda shift: not time_within(shift, tolerance)
    )


def drifts(extracted: Side, expected: Side, comparison: Closeness) -> tuple[Difference, ...]:
    """The fields of a match that are not quite as expected: within tolerance, but off."""
    found = list(_time_differences(extracted, expected, comparison, bool))
    if not comparison.same_title:
        by = _shown_similarity(comparison)
        found.insert(0, _title_difference(extracted, expected, comparison, by))
    return tuple(found)


def _title_difference(
    extracted: Side, expected: Side, comparison: Closeness, by: str
) -> Difference:
    similarity = round(comparison.similarity, 1)
    return Difference("title", expected.title, extracted.title, by, similarity, "% alike")


def _shown_similarity(comparison: Closeness) -> str:
    return f"similarity {comparison.similarity:.0f}"


def _time_differences(
    extracted: Side, expected: Side, comparison: Closeness, differs: Callable[[timedelta], bool]
) -> Iterator[Difference]:
    """Start and end where their shift differs by enough; what is not checked does not differ."""
    times = compared_times(extracted, expected)
    shifts = (comparison.start_shift, comparison.end_shift)
    for field, (got, want), shift in zip(("start", "end"), times, shifts, strict=True):
        if shift is None or not differs(shift):
            continue
        missing = shift == MISSING
        by = "missing" if missing else shown_shift(shift)
        minutes = None if missing else round(shift / timedelta(minutes=1), 1)
        unit = "" if missing else "min"
        yield Difference(field, shown_time(want), shown_time(got), by, minutes, unit)


def remarks(extracted: Event, expected: ExpectedEvent, terms: Terms) -> tuple[Difference, ...]:
    """What the sidecar asked for beyond action, title and times; shown, but never counted."""
    return tuple(_remarks(extracted, expected, terms))


def _remarks(extracted: Event, expected: ExpectedEvent, terms: Terms) -> Iterator[Difference]:
    if expected.location is not None:
        got = extracted.location or ""
        if not texts_alike(got, expected.location, terms.tolerance):
            yield Difference("location", expected.location, got or NOTHING, "another place")
    if absent := _absent(extracted.attendees, expected.attendees_contain):
        yield Difference(
            "attendees",
            ", ".join(expected.attendees_contain),
            ", ".join(extracted.attendees) or NOTHING,
            f"without {', '.join(absent)}",
        )
    got_id, meant = extracted.existing_event_id, meant_event(expected, terms)
    if meant is not None and got_id != meant.id and extracted.action != "create":
        yield Difference("existing_event_id", str(meant.id), _shown_id(got_id), "another event")
    elif expected.existing_event_id_required and got_id not in {it.id for it in terms.context}:
        yield Difference("existing_event_id", "one of the calendar", _shown_id(got_id), "unknown")


def _absent(came: tuple[str, ...], expected: tuple[str, ...]) -> list[str]:
    """The expected names that are not part of any name that came."""
    folded = [name.casefold() for name in came] if expected else []
    return [
        name for name in expected if not any(name.strip().casefold() in other for other in folded)
    ]


def shown_time(time: datetime | None) -> str:
    """A time to the minute, as `2026-02-20 10:00`."""
    return NOTHING if time is None else time.isoformat(" ", "minutes")


def shown_shift(shift: timedelta) -> str:
    """A shift in its two largest units, as `1 d 2 h later`."""
    minutes = round(abs(shift) / timedelta(minutes=1))
    units = (("d", minutes // 1440), ("h", minutes // 60 % 24), ("min", minutes % 60))
    parts = [f"{count} {unit}" for unit, count in units if count][:2] or ["less than 1 min"]
    return f"{' '.join(parts)} {'later' if shift > timedelta() else 'earlier'}"


def _shown_id(number: int | None) -> str:
    return NOTHING if number is None else str(number)
