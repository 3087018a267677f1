"""Read, add, change and remove the events of one iCalendar text, one at a time.

A change keeps the bytes of everything else: other components, unknown properties, alarms, time
zones, folds and line ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from icalendar import vText

from cal_ai.calendars.content import Component, Content, Line, parse_content
from cal_ai.calendars.occurrences import Budget
from cal_ai.calendars.protocol import (
    AlreadyThere,
    CalendarError,
    ChangedMeanwhile,
    Details,
    Entry,
    EventGone,
    Listing,
    Moment,
)
from cal_ai.calendars.reading import MARK, TZID, Reader, same_moment, series_version
from cal_ai.calendars.zones import vtimezone

EMPTY = b"""\
BEGIN:VCALENDAR\r
VERSION:2.0\r
PRODID:-//Truemark//cal_ai//EN\r
CALSCALE:GREGORIAN\r
END:VCALENDAR\r
"""

_UTC_NAMES = frozenset({"UTC", "Etc/UTC", "Etc/UCT", "UCT", "Etc/Universal", "Zulu", "Etc/Zulu"})
_RULES = ("RRULE", "RDATE", "EXDATE", "EXRULE", "RECURRENCE-ID")


@dataclass(slots=True)
class Document:
    """An iCalendar text, with the time zone of its owner, and its name `where` in messages."""

    content: Content
    where: str
    zone: ZoneInfo | None
    readers: tuple[Reader, ...]
    budget: Budget = field(default_factory=Budget)

    @classmethod
    def parse(
        cls, data: bytes, where: str, zone: ZoneInfo | None, budget: Budget | None = None
    ) -> Document:
        """Parse the bytes; raises a `CalendarError` that says why they are not iCalendar."""
        content = parse_content(data, where)
        for calendar in content.calendars:
            version = calendar.line("VERSION")
            if version is not None and version.text.partition(":")[2].strip() == "1.0":
                raise CalendarError(
                    f"{where}:{version.number}: is vCalendar 1.0, expected iCalendar 2.0;"
                    " export it again from a calendar program"
                )
        readers = tuple(Reader.of(calendar, where, zone) for calendar in content.calendars)
        return cls(content, where, zone, readers, budget or Budget())

    def raw(self) -> bytes:
        """Return the bytes of the whole text."""
        return self.content.raw()

    def coming(self, start: datetime, end: datetime) -> Listing:
        """List the events that overlap the window, recurring ones expanded."""
        listings = [reader.coming(start, end, self.budget) for reader in self.readers]
        entries = [entry for listing in listings for entry in listing.entries]
        entries.sort(key=lambda entry: entry.details.start)
        warnings = tuple(line for listing in listings for line in listing.warnings)
        return Listing(tuple(entries), warnings)

    def get(self, uid: str, recurrence: Moment | None) -> Entry:
        """Return the current event; raises `EventGone`."""
        self._require_uid(uid)
        for reader in self.readers:
            entry = reader.find(uid, recurrence, self.budget)
            if entry is not None:
                return entry
        raise EventGone(f"{self.where}: the event is no longer there")

    def add(self, uid: str, details: Details, mark: str, now: datetime) -> Entry:
        """Add an event; raises `AlreadyThere` if the uid is taken."""
        if any(uid in reader.by_uid for reader in self.readers):
            raise AlreadyThere(f"{self.where}: has an event {uid} already")
        calendar = self.content.calendars[0]
        event = self.content.new_component(f"BEGIN:VEVENT\r\nUID:{uid}\r\nEND:VEVENT\r\n")
        self._set_times(calendar, event, details, None)
        self._set_text(event, "SUMMARY", details.title)
        self._set_text(event, "LOCATION", details.location)
        self._set_text(event, "DESCRIPTION", details.description)
        self._stamp(event, mark, now)
        event.add(self.content.new_line(f"CREATED:{utc_stamp(now)}"))
        calendar.parts.append(event)
        self.readers[0].by_uid[uid] = [event]
        return Entry(uid, details, marks=frozenset({mark}), version=series_version([event]))

    def change(self, entry: Entry, details: Details, mark: str, now: datetime) -> Entry:
        """Write the details that differ; change only this occurrence of a recurring event."""
        reader, series = self._unchanged_series(entry)
        calendar = reader.calendar
        event, form = _component_of(series, entry)
        if not same_moment(_recurrence_of(form), entry.recurrence):
            event = self._new_override(reader, event, form, entry)
        old = entry.details
        if (old.start, old.end, old.all_day) != (details.start, details.end, details.all_day):
            self._set_times(calendar, event, details, form)
        for name, before, after in (
            ("SUMMARY", old.title, details.title),
            ("LOCATION", old.location, details.location),
            ("DESCRIPTION", old.description, details.description),
        ):
            if before != after:
                self._set_text(event, name, after)
        self._stamp(event, mark, now)
        version = series_version(reader.by_uid[entry.uid])
        return replace(entry.changed(details, mark), version=version)

    def remove(self, entry: Entry, now: datetime) -> None:
        """Remove the event, or only this occurrence of a recurring event."""
        reader, series = self._unchanged_series(entry)
        for event, form in series:
            recurrence = _recurrence_of(form)
            if same_moment(recurrence, entry.recurrence):
                reader.calendar.parts.remove(event)
                reader.by_uid[entry.uid].remove(event)
            elif recurrence is None and entry.recurrence is not None:
                line = self._like("EXDATE", entry.recurrence, event, form)
                event.add(line)
                self._stamp(event, None, now)

    def _require_uid(self, uid: str) -> None:
        if not uid:
            raise CalendarError(f"{self.where}: the event has no UID, so it cannot be told apart")

    def _unchanged_series(self, entry: Entry) -> tuple[Reader, list[tuple[Component, Any]]]:
        self._require_uid(entry.uid)
        for reader in self.readers:
            series = reader.series(entry.uid)
            if series and series_version(reader.by_uid[entry.uid]) != entry.version:
                self.get(entry.uid, entry.recurrence)  # raises EventGone, which is more exact
                raise ChangedMeanwhile(
                    f"{self.where}: {entry.details.title!r} was changed by someone else meanwhile"
                )
            if any("RANGE=THISANDFUTURE" in _recurrence_text(event) for event, _ in series):
                raise CalendarError(
                    f"{self.where}: {entry.details.title!r} is a series that was changed from one"
                    " day onwards; change it in a calendar program"
                )
            if series:
                return reader, series
        raise EventGone(f"{self.where}: the event is no longer there")

    def _new_override(
        self, reader: Reader, master: Component, form: Any, entry: Entry
    ) -> Component:
        assert entry.recurrence is not None
        calendar = reader.calendar
        event = master.copy()
        event.drop(*_RULES)
        event.add(self._like("RECURRENCE-ID", entry.recurrence, master, form))
        self._set_times(calendar, event, entry.details, form)
        calendar.parts.insert(calendar.parts.index(master) + 1, event)
        series = reader.by_uid[entry.uid]
        series.insert(series.index(master) + 1, event)
        return event

    def _set_times(
        self, calendar: Component, event: Component, details: Details, form: Any
    ) -> None:
        """Set start and end in the time zone that the event had before, if any."""
        has_end = event.line("DTEND") or event.line("DURATION") or details.end != details.start
        start = self._time("DTSTART", calendar, event, details, form)
        end = self._time("DTEND", calendar, event, details, form)
        event.put("DTSTART", start)
        event.drop("DURATION")
        if has_end:
            event.put("DTEND", end)

    def _time(
        self, name: str, calendar: Component, event: Component, details: Details, form: Any
    ) -> Line:
        moment = details.start if name == "DTSTART" else details.end
        if details.all_day:
            return self.content.new_line(f"{name};VALUE=DATE:{moment:%Y%m%d}")
        before = form["DTSTART"].dt if form is not None else None
        if isinstance(before, datetime) and before.tzinfo is not None:
            return self._like(name, moment, event, form)
        zone = self.zone
        if zone is None or zone.key in _UTC_NAMES:
            return self.content.new_line(f"{name}:{utc_stamp(moment)}")
        self._ensure_zone(calendar, zone, moment.year)
        local = moment.astimezone(zone)
        return self.content.new_line(f"{name};TZID={zone.key}:{local:%Y%m%dT%H%M%S}")

    def _like(self, name: str, moment: Moment, event: Component, form: Any) -> Line:
        """Make a property with the moment in the form of DTSTART: date, floating, zoned or UTC."""
        before = form["DTSTART"].dt
        if not isinstance(before, datetime):
            return self.content.new_line(f"{name};VALUE=DATE:{moment:%Y%m%d}")
        if isinstance(moment, datetime) and moment.tzinfo and before.tzinfo:
            moment = moment.astimezone(before.tzinfo)
        line = event.line("DTSTART")
        tzid = TZID.search(line.text) if line else None
        zone = f";TZID={tzid[1]}" if tzid else ""
        utc = "" if tzid or before.tzinfo is None else "Z"
        return self.content.new_line(f"{name}{zone}:{moment:%Y%m%dT%H%M%S}{utc}")

    def _ensure_zone(self, calendar: Component, zone: ZoneInfo, year: int) -> None:
        for part in calendar.components:
            tzid = part.line("TZID") if part.name == "VTIMEZONE" else None
            if tzid is not None and tzid.text.partition(":")[2].strip() == zone.key:
                return
        place = next(
            (i for i, part in enumerate(calendar.parts) if isinstance(part, Component)),
            len(calendar.parts),
        )
        calendar.parts.insert(place, self.content.new_component(vtimezone(zone, year)))

    def _set_text(self, event: Component, name: str, text: str | None) -> None:
        if text:
            value = vText(text).to_ical().decode()
            event.put(name, self.content.new_line(f"{name}:{value}"))
        else:
            event.drop(name)

    def _stamp(self, event: Component, mark: str | None, now: datetime) -> None:
        sequence = event.line("SEQUENCE")
        number = sequence.text.partition(":")[2].strip() if sequence else ""
        if event.line("DTSTAMP"):  # only a new event has none
            following = int(number) + 1 if number.isdecimal() else 1
            event.put("SEQUENCE", self.content.new_line(f"SEQUENCE:{following}"))
        for name in ("DTSTAMP", "LAST-MODIFIED"):
            event.put(name, self.content.new_line(f"{name}:{utc_stamp(now)}"))
        if mark is not None:
            event.add(self.content.new_line(f"{MARK}:{mark}"))


def _component_of(series: list[tuple[Component, Any]], entry: Entry) -> tuple[Component, Any]:
    """Return the component of this very occurrence, else the one with the rule."""
    for event, form in series:
        if same_moment(_recurrence_of(form), entry.recurrence):
            return event, form
    return next((event, form) for event, form in series if _recurrence_of(form) is None)


def _recurrence_of(form: Any) -> Moment | None:
    recurrence = form.get("RECURRENCE-ID")
    return None if recurrence is None else recurrence.dt


def _recurrence_text(event: Component) -> str:
    line = event.line("RECURRENCE-ID")
    return "" if line is None else line.text.upper()


def utc_stamp(moment: datetime) -> str:
    """Format the moment in UTC as iCalendar and CalDAV do."""
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"
