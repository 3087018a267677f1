"""Compute when an event starts and ends from the times that are linked to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from cal_ai.events import ContextEvent
from cal_ai.extractors.protocol import Request
from cal_ai.extractors.reader.activities import Kind, kinds, noun_pattern
from cal_ai.extractors.reader.mentions import Dialogue, Mention
from cal_ai.extractors.reader.patterns import matches
from cal_ai.extractors.reader.reckoning import minute_of, monday_of
from cal_ai.extractors.reader.times import Clock, minutes_ahead

_PART_HOURS = {"morning": 9, "lunchtime": 12, "afternoon": 14, "evening": 18, "night": 19}
_DAY = 1440
_BY_DAY = range(420, 1260)  # from 7 am to 9 pm; an event is hardly moved out of these hours


@dataclass(frozen=True, slots=True)
class Slot:
    """Start and end of an event on the owner's clock, and what was assumed."""

    start: datetime
    end: datetime
    assumptions: tuple[str, ...] = ()


def kind_of(title: str) -> Kind:
    """Return the kind of the last activity that a title names."""
    nouns = [match["noun"] for match in matches(noun_pattern(), title)]
    return kinds()[nouns[-1]] if nouns else Kind()


def new_span(
    talk: Dialogue, when: Mention | None, day: Mention | None, title: str, *, late: bool = False
) -> Slot | None:
    """Return the span of a new event; either the time or the day may be unknown.

    `late` means that a clock time without am or pm is after noon.
    """
    kind = kind_of(title)
    if when is None:
        return _on_day(day, kind)
    if when.clock is None:
        hour = _PART_HOURS[str(when.value)]
        usual = hour if kind.hour is None else kind.hour
        minute = 60 * (usual if hour - 3 <= usual < hour + 4 else hour)
    else:
        named = when.clock.minute or 0
        minute = named if when.clock.certain else named % 720 + 720 * late
        minute += _zone_shift(talk, when.clock, day)
    now = talk.now
    date_ = day.value if day else now.date() + timedelta(days=minute <= minute_of(now))
    assert isinstance(date_, date)
    start = _at(date_, minute)
    end = _named_end(talk, start, when)
    length = timedelta(minutes=60 if kind.all_day else kind.minutes)
    return Slot(start, end or start + length, _assumptions(when, day, end))


def _assumptions(when: Mention, day: Mention | None, end: datetime | None) -> tuple[str, ...]:
    known = {
        "no day was said: it is the next such time": day is not None,
        "only a part of the day was said": when.kind != "part",
        "neither am nor pm was said": when.clock is None or when.clock.certain,
        "no end was said: it is given the usual length": end is not None,
    }
    return tuple(assumed for assumed, is_known in known.items() if not is_known)


def _on_day(day: Mention | None, kind: Kind) -> Slot | None:
    if day is None:
        return None
    assert isinstance(day.value, date)
    if kind.all_day or day.last:
        return Slot(_at(day.value, 0), _at(day.last or day.value, _DAY))
    start = _at(day.value, 60 * (9 if kind.hour is None else kind.hour))
    length = timedelta(minutes=kind.minutes)
    return Slot(start, start + length, ("no time of day was said: it is given the usual hour",))


def changed_span(
    talk: Dialogue, event: ContextEvent, when: Mention | None, day: Mention | None
) -> Slot:
    """Return the span of a calendar event after it was moved or its length was changed."""
    start, length = _present(event, talk.request)
    date_, minute = start.date(), minute_of(start)
    if day is not None:
        assert isinstance(day.value, date)
        date_ = day.value
        in_week = monday_of(start.date()) + timedelta(days=date_.weekday())
        if day.kind == "week":
            date_ += timedelta(days=start.weekday())
        elif day.loose and in_week > talk.now.date():
            date_ = min(in_week, date_, key=lambda near: abs(near - start.date()))
    shift = timedelta()
    if when is not None:
        minute, shift, length = _moved(talk, when, day, minute, length)
    begins = _at(date_, minute) + shift
    return Slot(begins, (when and _clock_end(begins, when.clock)) or begins + length)


def _moved(
    talk: Dialogue, when: Mention, day: Mention | None, minute: int, length: timedelta
) -> tuple[int, timedelta, timedelta]:
    """Return the minute of the day, a shift to add to it, and the length."""
    match when.kind, when.value:
        case "clock", _:
            return _clock_near(talk, when, day, minute), timedelta(), length
        case "part", str(part):
            return _PART_HOURS[part] * 60, timedelta(), length
        case "shift", (int(minutes), int(days)):
            return minute, timedelta(minutes=minutes, days=days), length
        case "length", (int(minutes), int(added)):
            return minute, timedelta(), timedelta(minutes=minutes) + length * added
    return minute, timedelta(), length


def _present(event: ContextEvent, request: Request) -> tuple[datetime, timedelta]:
    moments = [event.start, event.end or event.start + timedelta(hours=1)]
    zone = request.now.tzinfo
    local = (moment.astimezone(zone) if zone and moment.tzinfo else moment for moment in moments)
    start, end = (moment.replace(tzinfo=None) for moment in local)
    return start, max(end - start, timedelta())


def _clock_near(talk: Dialogue, when: Mention, day: Mention | None, before: int) -> int:
    """Return the minute of the day when an event at `before` is moved to a clock time."""
    clock = when.clock
    assert clock is not None
    minute = clock.minute or 0
    if not clock.certain:
        halves = [minute % 720, minute % 720 + 720]
        if before in _BY_DAY:
            halves = [half for half in halves if half in _BY_DAY]
        minute = min(halves, key=lambda half: abs(half - before))
    return minute + _zone_shift(talk, clock, day)


def _zone_shift(talk: Dialogue, clock: Clock, day: Mention | None) -> int:
    date_ = day.value if day and isinstance(day.value, date) else talk.now.date()
    return minutes_ahead(talk.request.now.tzinfo, clock.zone, date_)


def _named_end(talk: Dialogue, start: datetime, when: Mention) -> datetime | None:
    """Return the end by the clock, else by the nearest length, at most a line away."""
    lengths = [
        (abs(mention.line - when.line), abs(mention.start - when.start), mention.value[0])
        for mention in talk.mentions
        if mention.kind == "length" and isinstance(mention.value, tuple) and not mention.value[1]
    ]
    lines, _, minutes = min(lengths, default=(2, 0, 0))
    by_length = start + timedelta(minutes=minutes) if lines <= 1 else None
    return _clock_end(start, when.clock) or by_length


def _clock_end(start: datetime, clock: Clock | None) -> datetime | None:
    """Return the first time after `start` at which the clock shows the named end."""
    if clock is None or clock.until is None:
        return None
    step = _DAY if clock.certain else 720
    end = _at(start.date(), clock.until % step)
    while end <= start:
        end += timedelta(minutes=step)
    return end


def _at(day: date, minute: int) -> datetime:
    return datetime.combine(day, time()) + timedelta(minutes=minute)
