"""Read entries from iCalendar components, and expand recurring events."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Any
from warnings import catch_warnings
from zoneinfo import ZoneInfo, available_timezones

import icalendar

from cal_ai.calendars.content import Component, Line
from cal_ai.calendars.occurrences import Budget
from cal_ai.calendars.protocol import (
    PARSER_ERRORS,
    CalendarError,
    Details,
    Entry,
    Listing,
    Moment,
)
from cal_ai.calendars.zones import in_zone, midnight
from truemark.jsontext import shown
from truemark.signature import data_hash

MARK = "X-TRUEMARK-ID"
TZID = re.compile(r';TZID=("[^"]*"|[^;:]*)', re.IGNORECASE)
_DATE = re.compile(r":(\d{8})(?:T\d{6}Z?)?$")
_DAY = timedelta(days=1)
_REPEATING = ("RRULE", "RDATE", "RECURRENCE-ID")
# The libraries may look for files and modules, too.
_PARSER_ERRORS = (*PARSER_ERRORS, OSError, ImportError)
_ZONE_NAME = re.compile(r":[A-Za-z0-9_+-]{1,40}(/[A-Za-z0-9_+-]{1,40}){0,3}$")
_ZONE_PROPERTIES = frozenset({"TZID", "DTSTART", "TZOFFSETFROM", "TZOFFSETTO", "TZNAME", "RDATE"})
_YEARLY = re.compile(
    r"RRULE:(?=.*FREQ=YEARLY)(?!.*INTERVAL=0*(;|$))(?!.*BY(SETPOS|SECOND|MINUTE)).*"
)
# Programs write this for ever; the day after it, and its time in other zones, cannot be reckoned.
_FOR_EVER = re.compile(
    r";UNTIL=9999\d{4}(T\d{6}Z?)?(?=;|$)|(?<=:)UNTIL=9999\d{4}(T\d{6}Z?)?;", re.I
)
_SHOWN = 60
_MOST_RULES = 500  # of time zones that only the calendar defines; programs write a dozen
_MOST_EVENTS = 5_000  # in a window, recurring ones included
_MOST_DATES = 10_000  # of one event, besides its rule
_MOST_PEOPLE = 1_000  # of one event; more are not read
_LONGEST_VALUE = 1_000_000  # characters of a property that is read
_MOST_CHANGES = 300  # of the clocks in a zone; older ones are dropped
_ESSENTIAL = frozenset({"DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE"})
_HEAD = ("VERSION", "PRODID", "CALSCALE")
# The properties of an event that are read; the size of others, such as attachments, is no matter.
_READ = _ESSENTIAL | {
    *("UID", "SUMMARY", "LOCATION", "DESCRIPTION", "STATUS", "ATTENDEE"),
    *("RECURRENCE-ID", "EXRULE", "SEQUENCE", MARK),
}


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the events of one VCALENDAR in the time zone of its owner.

    `head` are the properties of the calendar itself that are read. `zones` are its time zones that
    the system does not know; the library takes the rules of all others from the system. `by_uid`
    has the components of each event; code that adds or removes components must update it.
    """

    calendar: Component
    where: str
    zone: ZoneInfo | None
    head: tuple[Line, ...]
    zones: Mapping[str, Component]
    by_uid: dict[str, list[Component]]

    @classmethod
    def of(cls, calendar: Component, where: str, zone: ZoneInfo | None) -> Reader:
        by_uid: dict[str, list[Component]] = {}
        for event in _events(calendar):
            value = event.value("UID")
            uid = str(icalendar.vText.from_ical(value)) if "\\" in value else value
            by_uid.setdefault(uid.strip(), []).append(event)
        head = [line for name in _HEAD if (line := calendar.line(name)) is not None]
        zone_name = calendar.line("X-WR-TIMEZONE")
        # The library would search files and modules for any text in this property.
        if zone_name is not None and _ZONE_NAME.search(zone_name.text):
            head.append(zone_name)
        zones: dict[str, Component] = {}
        for part in calendar.components:
            if part.name != "VTIMEZONE":
                continue
            name = part.value("TZID")
            if name.strip("/") not in _system_zones():
                zones.setdefault(name, _essentials(part))
        rules = sum(len(zone.parts) for zone in zones.values())
        if rules > _MOST_RULES:
            raise CalendarError(
                f"{where}: has {rules:,} rules of time zones, expected {_MOST_RULES:,} at most"
            )
        return cls(calendar, where, zone, tuple(head), zones, by_uid)

    def coming(self, start: datetime, end: datetime, budget: Budget) -> Listing:
        """List the events that overlap the window, with a warning for each that cannot be read."""
        near = (start - 2 * _DAY).date(), (end + 2 * _DAY).date()
        entries: list[Entry] = []
        warnings: list[str] = []
        unknown: set[str] = set()  # time zones
        events: list[Component] = []
        for event in _events(self.calendar):
            if not _may_overlap(event, *near):
                continue
            if excess := _excess(event):
                title = shown(event.value("SUMMARY")[:_SHOWN])
                warnings.append(f"{self.where}: event {title} is left out: {excess}")
            else:
                events.append(event)
        if len(events) > _MOST_EVENTS:
            more = f"{len(events) - _MOST_EVENTS:,} more"
            warnings.append(
                f"{self.where}: {_MOST_EVENTS:,} events of these days are read; {more} are left out"
            )
            del events[_MOST_EVENTS:]
        for parsed in _each_series(self._readable(events, warnings)):
            problems = list(_problems(parsed))
            title = _title(parsed.subcomponents[0])
            try:
                events = [] if problems else self._occurrences(parsed, start, end, budget)
                entries += filter(None, [self._entry(event) for event in events])
                unknown.update(_unknown_zones(parsed) if events else ())
            except CalendarError as beyond:
                problems.append(f"event {title!r} is left out: {beyond}")
            except _PARSER_ERRORS:
                problems.append(f"event {title!r} is left out: its times cannot be determined")
            warnings += (f"{self.where}: {problem}" for problem in problems)
        warnings += (
            f"{self.where}: time zone {zone!r} is not known and not defined there;"
            " times in it are taken as local"
            for zone in sorted(unknown)
        )
        entries.sort(key=lambda entry: entry.details.start)
        return Listing(tuple(entries), tuple(warnings))

    def find(self, uid: str, recurrence: Moment | None, budget: Budget) -> Entry | None:
        """Find the current event, or one occurrence of it; None if it is not there."""
        events = self.by_uid.get(uid)
        if not events or not uid:
            return None
        self._expect_no_excess(events)
        parsed = self._parsed(events)
        try:
            for anchor in _anchors(parsed, recurrence):
                for event in self._occurrences(parsed, anchor - _DAY, anchor + _DAY, budget):
                    entry = self._entry(event)
                    if entry is not None and same_moment(entry.recurrence, recurrence):
                        return entry
        except (CalendarError, *_PARSER_ERRORS) as error:
            raise CalendarError(f"{self.where}: the event cannot be read: {error}") from error
        return None

    def is_shared(self, uid: str) -> bool:
        """Whether several events, and not only changed occurrences of one, have this UID."""
        events = self.by_uid.get(uid, ())
        return sum(event.line("RECURRENCE-ID") is None for event in events) > 1

    def series(self, uid: str) -> list[tuple[Component, Any]]:
        """Return the components of one event, each with its form in the icalendar library."""
        if not (events := self.by_uid.get(uid)):
            return []
        self._expect_no_excess(events)
        return list(zip(events, self._parsed(events).walk("VEVENT"), strict=True))

    def _expect_no_excess(self, events: Sequence[Component]) -> None:
        for excess in filter(None, map(_excess, events)):
            raise CalendarError(f"{self.where}: the event cannot be read: {excess}")

    def _parsed(self, events: Sequence[Component]) -> Any:
        """Parse the events, and the time zones that they name, with the icalendar library."""
        parts: list[Line | Component] = [*self.head]
        if self.zones:
            lines = (part for event in events for part in event.parts if isinstance(part, Line))
            named = {match[1].strip('"') for line in lines for match in TZID.finditer(line.text)}
            parts += (zone for name, zone in self.zones.items() if name in named)
        parts += map(_what_is_read, events)
        whole = Component("VCALENDAR", self.calendar.begin, parts, self.calendar.end)
        try:
            # It warns of each guess, such as Europe/Berlin for /example.org/Europe/Berlin.
            with catch_warnings(action="ignore"):
                return icalendar.Calendar.from_ical(whole.text())
        except _PARSER_ERRORS as error:
            raise CalendarError(f"{self.where}: cannot be read as iCalendar: {error}") from error

    def _readable(self, events: Sequence[Component], warnings: list[str]) -> Any:
        """Parse the events with the icalendar library; add a warning for each that fails."""
        try:
            return self._parsed(events)
        except CalendarError:
            self._parsed([])  # raises an error if no event is to blame
        readable = []
        for event in events:
            try:
                self._parsed([event])
                readable.append(event)
            except CalendarError:
                title = shown(event.value("SUMMARY"))
                warnings.append(f"{self.where}: event {title} is left out: it cannot be read")
        return self._parsed(readable)

    def _occurrences(
        self, series: Any, start: datetime, end: datetime, budget: Budget
    ) -> list[Any]:
        """List the occurrences in the window; the library would swap a later start with the end."""
        for event in series.walk("VEVENT"):
            length = event["DURATION"].dt if "DURATION" in event else timedelta()
            if "DTEND" in event:
                begin, close = (self._local(event[name].dt) for name in ("DTSTART", "DTEND"))
                length = close.astimezone(UTC) - begin.astimezone(UTC)
            if length < timedelta():
                raise CalendarError("it ends before it starts")
        return budget.occurrences(series, start, end)

    def _entry(self, event: Any) -> Entry | None:
        if str(event.get("STATUS", "")).upper() == "CANCELLED":
            return None
        uid = _text(event, "UID")
        texts = self.by_uid.get(uid, [])
        repeating = any(any(text.lines(*_REPEATING)) for text in texts)
        start, end = event["DTSTART"].dt, event["DTEND"].dt
        all_day = not isinstance(start, datetime)
        details = Details(
            title=_title(event),
            start=self._local(start),
            end=self._local(end),
            all_day=all_day,
            location=_text(event, "LOCATION") or None,
            description=_text(event, "DESCRIPTION"),
        )
        return Entry(
            uid,
            details,
            event["RECURRENCE-ID"].dt if repeating else None,
            people=tuple(_people(event)),
            marks=frozenset(str(mark) for mark in _all(event, MARK)),
            version=series_version(texts),
        )

    def _local(self, moment: Moment) -> datetime:
        if isinstance(moment, datetime):
            return in_zone(moment, self.zone)
        return midnight(moment, self.zone)


def series_version(events: Sequence[Component]) -> str:
    """Hash the components of one event, to notice that someone changed them."""
    return data_hash(*(event.raw() for event in events))


_system_zones = cache(available_timezones)


def _what_is_read(event: Component) -> Component:
    """Return the event without what is not read, which the library would parse too."""
    lines: list[Line | Component] = []
    people = 0
    for part in event.parts:
        if isinstance(part, Line) and (name := part.name) in _READ:
            people += name == "ATTENDEE"
            if name == "RRULE":
                part = replace(part, text=_FOR_EVER.sub("", part.text))
            if name != "ATTENDEE" or people <= _MOST_PEOPLE:
                lines.append(part)
    return Component(event.name, event.begin, lines, event.end)


def _excess(event: Component) -> str | None:
    """Tell which part of an event is too large to be read; None if none is."""
    dates = 0
    for line in event.lines(*_READ):
        if len(line.text) > _LONGEST_VALUE:
            return f"its {line.name} is longer than {_LONGEST_VALUE:,} characters"
        if line.name in ("RDATE", "EXDATE"):
            dates += 1 + line.text.count(",")
    return f"it names more than {_MOST_DATES:,} dates" if dates > _MOST_DATES else None


def _essentials(zone: Component) -> Component:
    """Return a time zone without properties that times do not depend on.

    The library rejects calendars with some properties of later standards, such as TZUNTIL of RFC
    7808. Rules that are not yearly are dropped: no real zone has them, and the library could expand
    them second by second, again for each event.
    """
    changes = list(zone.components)[-_MOST_CHANGES:]
    dates = _MOST_CHANGES
    kept: list[Line | Component] = [*zone.lines("TZID")]
    for change in changes:
        lines: list[Line | Component] = []
        for line in change.lines(*_ZONE_PROPERTIES):
            dates -= (1 + line.text.count(",")) if line.name == "RDATE" else 0
            if line.name != "RDATE" or dates >= 0:
                lines.append(line)
        rule = change.line("RRULE")
        if rule is not None and _YEARLY.fullmatch(rule.text.upper()):
            lines.append(rule)
        kept.append(Component(change.name, change.begin, lines, change.end))
    return Component(zone.name, zone.begin, kept, zone.end)


def _each_series(parsed: Any) -> Iterator[Any]:
    """Yield a calendar per event, so that a broken event does not affect the others.

    Of several events with one UID, the library would hide all but one.
    """
    by_uid: dict[str, list[Any]] = {}
    for number, event in enumerate(parsed.walk("VEVENT")):
        by_uid.setdefault(_text(event, "UID") or f"\n{number}", []).append(event)
    for events in by_uid.values():
        masters = sum("RECURRENCE-ID" not in event for event in events)
        for series in [events] if masters <= 1 else [[event] for event in events]:
            calendar = icalendar.Calendar(parsed)
            calendar.subcomponents = series
            yield calendar


def _problems(series: Any) -> Iterator[str]:
    for event in series.subcomponents:
        for name, reason in event.errors:
            if name in _ESSENTIAL:
                yield f"event {_title(event)!r} is left out: {name}: {reason}"
        if "DTSTART" not in event and not event.errors:
            yield f"event {_title(event)!r} is left out: it has no start"


def _unknown_zones(series: Any) -> Iterator[str]:
    """Yield the time zones of starts and ends that neither the calendar nor the library knows."""
    for event in series.subcomponents:
        for value in (event.get("DTSTART"), event.get("DTEND")):
            zone = value.params.get("TZID") if value else None
            if zone and isinstance(value.dt, datetime) and value.dt.tzinfo is None:
                yield str(zone)


def same_moment(first: Moment | None, second: Moment | None) -> bool:
    """Whether two recurrence ids mean the same occurrence.

    If either has no time zone, only the wall clock is compared.
    """
    if not (isinstance(first, datetime) and isinstance(second, datetime)):
        return first == second
    if first.tzinfo is None or second.tzinfo is None:
        return first.replace(tzinfo=None) == second.replace(tzinfo=None)
    return first == second


def _events(calendar: Component) -> Iterator[Component]:
    return (part for part in calendar.components if part.name == "VEVENT")


def _may_overlap(event: Component, first: date, last: date) -> bool:
    """Whether the event may be in the window; only its text is examined, as parsing is slow."""
    if any(event.lines(*_REPEATING, "DURATION")):
        return True
    start = _day(event.line("DTSTART"))
    end = _day(event.line("DTEND") or event.line("DTSTART"))
    if not (start and end):
        return True
    return start <= f"{last:%Y%m%d}" and max(start, end) >= f"{first:%Y%m%d}"


def _day(line: Line | None) -> str:
    """Return the day in the line as YYYYMMDD; an empty text if no such day exists."""
    match = _DATE.search(line.text) if line else None
    day = match[1] if match else ""
    try:
        date.fromisoformat(day)
    except ValueError:
        return ""
    return day


def _anchors(parsed: Any, recurrence: Moment | None) -> Iterator[datetime]:
    """Yield times near the occurrence: where it was moved to, then where its rule puts it."""
    for event in parsed.walk("VEVENT"):
        moved = event.get("RECURRENCE-ID")
        if "DTSTART" in event and same_moment(moved and moved.dt, recurrence):
            yield _aware(event["DTSTART"].dt)
    if recurrence is not None:
        yield _aware(recurrence)


def _aware(moment: Moment) -> datetime:
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _title(event: Any) -> str:
    return _text(event, "SUMMARY") or "(no title)"


def _text(event: Any, name: str) -> str:
    values = _all(event, name)
    return str(values[0]).strip() if values else ""


def _all(event: Any, name: str) -> list[Any]:
    value = event.get(name, [])
    return value if isinstance(value, list) else [value]


def _people(event: Any) -> Iterator[str]:
    for attendee in _all(event, "ATTENDEE"):
        named = attendee.params.get("CN")
        yield str(named or str(attendee).partition(":")[2] or attendee)
