"""Read, add, change and remove the events of one iCalendar text, one at a time.

A change keeps the bytes of everything else: other components, unknown properties, alarms, time
zones, folds and line ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from icalendar import vText

from cal_ai.calendars.content import Component, parse_content
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
from truemark.jsontext import shown

EMPTY = b"""\
BEGIN:VCALENDAR\r
VERSION:2.0\r
PRODID:-//Truemark//cal_ai//EN\r
CALSCALE:GREGORIAN\r
END:VCALENDAR\r
"""

_UTC_NAMES = frozenset({"UTC", "Etc/UTC", "Etc/UCT", "UCT", "Etc/Universal", "Zulu", "Etc/Zulu"})
_RULES = ("RRULE", "RDATE", "EXDATE", "EXRULE", "RECURRENCE-ID")


@dataclass(frozen=True, slots=True)
class Document:
    """An iCalendar text, with the time zone of its owner, and its name `where` in messages."""

    content: Component
    where: str
    zone: ZoneInfo | None
    readers: tuple[Reader, ...]

    @classmethod
    def parse(cls, data: bytes, where: str, zone: ZoneInfo | None) -> Document:
        """Parse the bytes; raises a `CalendarError` that says why they are not iCalendar."""
        content = parse_content(data, where)
        for calendar in content.components:
            version = calendar.line("VERSION")
            if version is not None and calendar.value("VERSION") == "1.0":
                raise CalendarError(
                    f"{where}:{version.number}: is vCalendar 1.0, expected iCalendar 2.0;"
                    " export it again from a calendar program"
                )
        readers = tuple(Reader.of(calendar, where, zone) for calendar in content.components)
        return cls(content, where, zone, readers)

    def coming(self, start: datetime, end: datetime, budget: Budget | None = None) -> Listing:
        """List the events that overlap the window, recurring ones expanded."""
        budget = budget or Budget()
        listings = [reader.coming(start, end, budget) for reader in self.readers]
        entries = [entry for listing in listings for entry in listing.entries]
        entries.sort(key=lambda entry: entry.details.start)
        warnings = tuple(line for listing in listings for line in listing.warnings)
        return Listing(tuple(entries), warnings)

    def get(self, uid: str, recurrence: Moment | None) -> Entry:
        """Return the current event; raises `EventGone`."""
        self._require_own_uid(uid)
        budget = Budget()
        for reader in self.readers:
            entry = reader.find(uid, recurrence, budget)
            if entry is not None:
                return entry
        raise EventGone(f"{self.where}: the event is no longer there")

    def add(self, uid: str, details: Details, mark: str, now: datetime) -> Entry:
        """Add an event; raises `AlreadyThere` if the uid is taken."""
        if any(uid in reader.by_uid for reader in self.readers):
            raise AlreadyThere(f"{self.where}: has an event {uid} already")
        reader = self.readers[0]
        event = reader.calendar.new_component(f"BEGIN:VEVENT\r\nUID:{uid}\r\nEND:VEVENT\r\n")
        self._set_times(reader.calendar, event, details, None)
        for name, text in _texts(details).items():
            _set_text(event, name, text)
        _stamp(event, mark, now)
        event.add(f"CREATED:{utc_stamp(now)}")
        reader.calendar.parts.append(event)
        reader.by_uid[uid] = [event]
        return Entry(uid, details, marks=frozenset({mark}), version=series_version([event]))

    def change(self, entry: Entry, details: Details, mark: str, now: datetime) -> Entry:
        """Write the details that differ; change only this occurrence of a recurring event."""
        reader, series = self._unchanged_series(entry)
        by_recurrence = [(_recurrence_of(form), event, form) for event, form in series]
        own = [part for part in by_recurrence if same_moment(part[0], entry.recurrence)]
        master = [part for part in by_recurrence if part[0] is None]
        _, event, form = (own or master)[0]
        if not own:
            event = self._new_override(reader, event, form, entry)
        old = entry.details
        if (old.start, old.end, old.all_day) != (details.start, details.end, details.all_day):
            self._set_times(reader.calendar, event, details, form["DTSTART"].dt)
        before = _texts(old)
        for name, text in _texts(details).items():
            if text != before[name]:
                _set_text(event, name, text)
        _stamp(event, mark, now)
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
                event.add(_in_form_of_start("EXDATE", entry.recurrence, event, form["DTSTART"].dt))
                _stamp(event, None, now)

    def _require_own_uid(self, uid: str) -> None:
        """Refuse an event that its UID does not tell apart: changes would meet others too."""
        if not uid:
            raise CalendarError(f"{self.where}: the event has no UID, so it cannot be told apart")
        if any(reader.is_shared(uid) for reader in self.readers):
            raise CalendarError(
                f"{self.where}: several events have the UID {shown(uid)}, so they cannot be told"
                " apart; change them in a calendar program"
            )

    def _unchanged_series(self, entry: Entry) -> tuple[Reader, list[tuple[Component, Any]]]:
        self._require_own_uid(entry.uid)
        for reader in self.readers:
            series = reader.series(entry.uid)
            if series and series_version(reader.by_uid[entry.uid]) != entry.version:
                self.get(entry.uid, entry.recurrence)  # raises EventGone, which is more exact
                raise ChangedMeanwhile(
                    f"{self.where}: {entry.details.title!r} was changed by someone else meanwhile"
                )
            moved = (line.text.upper() for e, _ in series for line in e.lines("RECURRENCE-ID"))
            if any("RANGE=THISANDFUTURE" in text for text in moved):
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
        before = form["DTSTART"].dt
        event = master.copy()
        event.drop(*_RULES)
        event.add(_in_form_of_start("RECURRENCE-ID", entry.recurrence, master, before))
        self._set_times(reader.calendar, event, entry.details, before)
        parts, series = reader.calendar.parts, reader.by_uid[entry.uid]
        parts.insert(parts.index(master) + 1, event)
        series.insert(series.index(master) + 1, event)
        return event

    def _set_times(
        self, calendar: Component, event: Component, details: Details, before: Moment | None
    ) -> None:
        """Set start and end, in the time zone of the start that the event had before, if any."""
        has_end = event.line("DTEND") or event.line("DURATION") or details.end != details.start
        event.drop("DURATION")
        moments = [("DTSTART", details.start), ("DTEND", details.end)]
        for name, moment in moments if has_end else moments[:1]:
            if details.all_day:
                text = f"{name};VALUE=DATE:{moment:%Y%m%d}"
            elif isinstance(before, datetime) and before.tzinfo is not None:
                text = _in_form_of_start(name, moment, event, before)
            elif self.zone is None or self.zone.key in _UTC_NAMES:
                text = f"{name}:{utc_stamp(moment)}"
            else:
                _ensure_zone(calendar, self.zone, moment.year)
                local = moment.astimezone(self.zone)
                text = f"{name};TZID={self.zone.key}:{local:%Y%m%dT%H%M%S}"
            event.put(name, text)


def _in_form_of_start(name: str, moment: Moment, event: Component, before: Moment) -> str:
    """Write a moment in the form of the event's DTSTART: date, floating, zoned or UTC."""
    if not isinstance(before, datetime):
        return f"{name};VALUE=DATE:{moment:%Y%m%d}"
    if isinstance(moment, datetime) and moment.tzinfo and before.tzinfo:
        moment = moment.astimezone(before.tzinfo)
    line = event.line("DTSTART")
    tzid = TZID.search(line.text) if line else None
    zone = f";TZID={tzid[1]}" if tzid else ""
    utc = "" if tzid or before.tzinfo is None else "Z"
    return f"{name}{zone}:{moment:%Y%m%dT%H%M%S}{utc}"


def _ensure_zone(calendar: Component, zone: ZoneInfo, year: int) -> None:
    zones = (part for part in calendar.components if part.name == "VTIMEZONE")
    if any(part.value("TZID") == zone.key for part in zones):
        return
    place = next(
        (i for i, part in enumerate(calendar.parts) if isinstance(part, Component)),
        len(calendar.parts),
    )
    calendar.parts.insert(place, calendar.new_component(vtimezone(zone, year)))


def _texts(details: Details) -> dict[str, str | None]:
    return {
        "SUMMARY": details.title,
        "LOCATION": details.location,
        "DESCRIPTION": details.description,
    }


def _set_text(event: Component, name: str, text: str | None) -> None:
    if text:
        event.put(name, f"{name}:{vText(text).to_ical().decode()}")
    else:
        event.drop(name)


def _stamp(event: Component, mark: str | None, now: datetime) -> None:
    if event.line("DTSTAMP"):  # only a new event has none
        number = event.value("SEQUENCE")
        following = int(number) + 1 if number.isdecimal() else 1
        event.put("SEQUENCE", f"SEQUENCE:{following}")
    for name in ("DTSTAMP", "LAST-MODIFIED"):
        event.put(name, f"{name}:{utc_stamp(now)}")
    if mark is not None:
        event.add(f"{MARK}:{mark}")


def _recurrence_of(form: Any) -> Moment | None:
    recurrence = form.get("RECURRENCE-ID")
    return None if recurrence is None else recurrence.dt


def utc_stamp(moment: datetime) -> str:
    """Format the moment in UTC as iCalendar and CalDAV do."""
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"
