"""Events in Google's form: read with every field checked, and written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from cal_ai.calendars.protocol import CalendarError, Details, Entry
from cal_ai.calendars.zones import in_zone, midnight
from truemark.jsontext import Fields, UnfitError

_MARK = "truemark"
_YEARS = range(1900, 3000)
_NOTHING: dict[str, object] = {}
_NOBODY: list[object] = []


def stands(item: Mapping[str, object]) -> bool:
    """Whether the event has not been removed; Google keeps those that have."""
    return item.get("status") != "cancelled"


def read_event(item: Mapping[str, object], where: str, zone: ZoneInfo | None) -> Entry:
    """The entry of an event as the server sent it; `CalendarError` says what does not fit."""
    fields = Fields(item, "event", [])
    start, all_day = _moment(fields, "start", zone)
    end, _ = _moment(fields, "end", zone)
    details = Details(
        title=fields.optional("summary", _text, "") or "(no title)",
        start=start,
        end=end,
        all_day=all_day,
        location=fields.optional("location", _text, "") or None,
        description=fields.optional("description", _text, ""),
    )
    uid = fields.read("id", _text, "")
    private = fields.optional("extendedProperties", _object, _NOTHING).get("private")
    marks = private if isinstance(private, dict) else {}
    entry = Entry(
        uid,
        details,
        people=tuple(_people(fields)),
        marks=frozenset(key.removeprefix(_MARK) for key in marks if key.startswith(_MARK)),
        version=fields.optional("etag", _text, ""),
    )
    if fields.problems or not uid:
        found = fields.problems[0] if fields.problems else "event.id is empty"
        raise CalendarError(f"{where}: the server sent an event that cannot be read: {found}")
    return entry


def event_body(
    details: Details, before: Details | None, mark: str, zone: ZoneInfo | None
) -> dict[str, Any]:
    """The fields that differ from those before, in Google's form."""
    body: dict[str, Any] = {"extendedProperties": {"private": {f"{_MARK}{mark}": "1"}}}
    for field, own in (
        ("summary", "title"),
        ("location", "location"),
        ("description", "description"),
    ):
        value = getattr(details, own)
        if before is None or value != getattr(before, own):
            body[field] = value
    moments = (details.start, details.end, details.all_day)
    if before is None or moments != (before.start, before.end, before.all_day):
        body["start"] = _moment_body(details.start, details.all_day, zone)
        body["end"] = _moment_body(details.end, details.all_day, zone)
    return body


def _moment_body(moment: datetime, all_day: bool, zone: ZoneInfo | None) -> dict[str, str | None]:
    # A patch leaves what it does not name, so the other form is named as empty.
    if all_day:
        return {"date": moment.date().isoformat(), "dateTime": None, "timeZone": None}
    return {"date": None, "dateTime": moment.isoformat(), "timeZone": zone.key if zone else None}


def _moment(fields: Fields, key: str, zone: ZoneInfo | None) -> tuple[datetime, bool]:
    """A time of the event, and whether it is a day."""

    def convert(value: object) -> tuple[datetime, bool]:
        form = _object(value)
        day, moment = form.get("date"), form.get("dateTime")
        try:
            if isinstance(day, str):
                read: date = date.fromisoformat(day)
                if read.year in _YEARS:
                    return midnight(read, zone), True
            if isinstance(moment, str):
                read = datetime.fromisoformat(moment)
                if read.year in _YEARS:
                    return in_zone(read, zone), False
        except ValueError:
            pass
        raise UnfitError("a date or a dateTime")

    return fields.read(key, convert, (midnight(date(2000, 1, 1), zone), False))


def _people(fields: Fields) -> Iterator[str]:
    for person in fields.optional("attendees", _list, _NOBODY):
        if isinstance(person, dict) and not person.get("self"):
            named = (person.get("displayName"), person.get("email"))
            yield next((name for name in named if isinstance(name, str) and name), "")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise UnfitError("a text")
    return value.strip()


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise UnfitError("an object")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise UnfitError("a list")
    return value
