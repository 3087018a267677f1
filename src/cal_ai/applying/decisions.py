"""Decide what extracted events change in a calendar, and which of them are held back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cal_ai.calendars.protocol import Details, Entry
from cal_ai.calendars.zones import in_zone, later, midnight, oddity
from cal_ai.events import Confidence, Event

DEFAULT_LENGTH = timedelta(hours=1)

DEFAULT_APPLY: Confidence = "medium"
_Span = tuple[datetime, datetime, bool]
"""Start, end (which may be before the start if the conversation says so), and all day or not."""
_RANK: dict[Confidence, int] = {"low": 0, "medium": 1, "high": 2}


@dataclass(frozen=True, slots=True)
class Decision:
    """One calendar change in full.

    `target` is the calendar event to change, and `details` is what the calendar will say (None for
    a removal, and where no start is known). `held_back` is the reason not to apply the change, and
    `apply` the level of --apply that would apply it.
    """

    event: Event
    target: Entry | None
    details: Details | None
    assumptions: tuple[str, ...] = ()
    held_back: str | None = None
    apply: Confidence | None = None


def decide(
    event: Event,
    target: Entry | None,
    now: datetime,
    zone: ZoneInfo | None,
    apply: Confidence = DEFAULT_APPLY,
) -> Decision:
    """Decide what `event` changes in `target`, or in the calendar if there is no target.

    The change is held back if the confidence is below `apply`.
    """
    held_back = _reason_to_hold_back(event, apply)
    if event.action == "delete":
        return Decision(event, target, None, event.assumptions, held_back)
    if event.action == "create":
        target = None
    assumptions = list(event.assumptions)
    if target is not None:
        span: _Span | None = _changed_span(event, target.details, zone, assumptions)
    else:
        span = _new_span(event, zone, assumptions)
    if span is None:
        return Decision(event, target, None, event.assumptions, "no start time was found")
    start, end, all_day = span
    keeps_title = target is not None and same_title(event.title, target.details.title)
    details = Details(
        title=target.details.title if target and keeps_title else event.title,
        start=start,
        end=end,
        all_day=all_day,
        location=event.location or (target.details.location if target else None),
        description=_description(event, target),
    )
    would_apply = event.confidence if held_back and event.action == "create" else None
    if end < start:
        held_back = f"it would end at {end:%Y-%m-%d %H:%M}, before it starts"
        would_apply = None
    moved = target is None or target.details.start != start
    if moved and end < now:
        assumptions.append("it lies in the past")
    return Decision(event, target, details, tuple(assumptions), held_back, would_apply)


def admits(apply: Confidence, confidence: Confidence) -> bool:
    """Whether --apply at this level applies events of this confidence."""
    return _RANK[confidence] >= _RANK[apply]


def _reason_to_hold_back(event: Event, apply: Confidence) -> str | None:
    # A wrong new event can be deleted; a wrong change or removal loses something.
    needed = apply if event.action == "create" else "high"
    if admits(needed, event.confidence):
        return None
    enough = "medium or high" if needed == "medium" else needed
    article = "an" if event.action == "update" else "a"
    return f"confidence is {event.confidence}, and {article} {event.action} needs {enough}"


def same_title(first: str, second: str) -> bool:
    """Whether two titles are equal apart from spaces and capitals."""
    return first.casefold().split() == second.casefold().split()


def _description(event: Event, target: Entry | None) -> str:
    """Add a line to the description with the people whom the event does not name yet.

    They are not entered as attendees, because these need addresses, and servers invite them.
    """
    before = target.details.description if target else ""
    people = target.people if target else ()
    known = " ".join((before, target.details.title if target else "", *people)).casefold()
    new = [name for name in event.attendees if name.casefold() not in known]
    lines = [before] if before else []
    return "\n".join([*lines, f"With: {', '.join(new)}"] if new else lines)


def _new_span(event: Event, zone: ZoneInfo | None, assumptions: list[str]) -> _Span | None:
    """Return the span of a new event, and note assumptions; None if no start is known."""
    if event.start_time is None:
        return None
    start = _local(event.start_time, zone, assumptions)
    end = _end(event, start, zone, assumptions) or start
    if _begins_day(start) and end == start:
        assumptions.append("no time of day was said: it is entered as an all-day event")
        return start, midnight(start.date() + timedelta(days=1), zone), True
    if _begins_day(start) and _begins_day(end) and end > start:
        return start, end, True
    if end == start:
        return _one_hour(start, assumptions)
    return start, end, False


def _changed_span(
    event: Event, old: Details, zone: ZoneInfo | None, assumptions: list[str]
) -> _Span:
    """Return the span after a change; start or end stay as they are if no new one is known."""
    start = _local(event.start_time, zone, assumptions) if event.start_time else old.start
    end = _end(event, start, zone, assumptions)
    if end is None and event.start_time is None:
        return old.start, old.end, old.all_day
    if end is not None and end != start:
        return start, end, old.all_day and _begins_day(start) and _begins_day(end)
    if old.all_day and not _begins_day(start):
        return _one_hour(start, assumptions)
    if old.all_day:
        days = old.end.date() - old.start.date()
        return start, midnight(start.date() + days, zone), True
    if _begins_day(start) and not _begins_day(old.start):
        start = _local(datetime.combine(start.date(), old.start.time()), zone, assumptions)
        assumptions.append(f"no time of day was said: it stays at {start:%H:%M}")
    length = old.end.astimezone(UTC) - old.start.astimezone(UTC)
    assumptions.append(f"no end was said: it keeps its length of {_length(length)}")
    return start, later(start, length), False


def _end(
    event: Event, start: datetime, zone: ZoneInfo | None, assumptions: list[str]
) -> datetime | None:
    """Return the end that was said; if the clocks skip the start alone, the length is kept."""
    said = event.end_time
    if said is None:
        return None
    end, begin = _local(said, zone, assumptions), event.start_time
    if begin is None or begin.tzinfo or said.tzinfo or begin >= said or start < end:
        return end
    assumptions.append(f"it keeps its length of {_length(said - begin)}")
    return later(start, said - begin)


def _one_hour(start: datetime, assumptions: list[str]) -> _Span:
    assumptions.append("no end was said: it is entered for one hour")
    return start, later(start, DEFAULT_LENGTH), False


def _local(moment: datetime, zone: ZoneInfo | None, assumptions: list[str]) -> datetime:
    if odd := oddity(moment, zone):
        assumptions.append(odd)
    return in_zone(moment, zone)


def _begins_day(moment: datetime) -> bool:
    return (moment.hour, moment.minute, moment.second) == (0, 0, 0)


def _length(length: timedelta) -> str:
    hours, minutes = divmod(round(length.total_seconds() / 60), 60)
    parts = [f"{hours} h" if hours else "", f"{minutes} min" if minutes or not hours else ""]
    return " ".join(filter(None, parts))
