"""The three calendars, each with a second hand that changes it behind the first one's back."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol
from zoneinfo import ZoneInfo

from tests.cal_ai.calendar_servers import PASSWORD, USER, GoogleServer, Radicale

from cal_ai.calendars.caldav import CalDavCalendar
from cal_ai.calendars.google import GoogleCalendar
from cal_ai.calendars.google_sign_in import SignIn
from cal_ai.calendars.ics import IcsCalendar
from cal_ai.calendars.protocol import Calendar
from truemark.services.retry import CallPolicy

BERLIN = ZoneInfo("Europe/Berlin")
QUICK = CallPolicy(timeout_s=5, attempts=3, backoff_s=0.01, longest_wait_s=5)


def at(day: int, hour: int, minute: int = 0) -> datetime:
    """A moment in Berlin in March 2026; the clocks change on the 29th."""
    return datetime(2026, 3, day, hour, minute, tzinfo=BERLIN)


class Backend(Protocol):
    """A calendar, and what another program can do to it."""

    @property
    def calendar(self) -> Calendar: ...

    def seed(
        self, uid: str, title: str, start: datetime, end: datetime, rule: str | None = None
    ) -> None: ...

    def rename(self, uid: str, title: str) -> None: ...

    def remove(self, uid: str) -> None: ...


def vevent(uid: str, title: str, start: datetime, end: datetime, rule: str | None) -> str:
    """The text of an event in Berlin's time."""
    lines = [
        "BEGIN:VEVENT",
        f"UID:{uid}",
        "DTSTAMP:20260301T080000Z",
        f"SUMMARY:{title}",
        f"DTSTART;TZID=Europe/Berlin:{start:%Y%m%dT%H%M%S}",
        f"DTEND;TZID=Europe/Berlin:{end:%Y%m%dT%H%M%S}",
        *([f"RRULE:{rule}"] if rule else []),
        "END:VEVENT",
    ]
    return "".join(f"{line}\r\n" for line in lines)


def vcalendar(*events: str) -> str:
    """The text of a calendar with these events."""
    head = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Someone else//EN\r\n"
    return f"{head}{''.join(events)}END:VCALENDAR\r\n"


@dataclass(frozen=True, slots=True)
class IcsBackend:
    path: Path
    calendar: Calendar

    @classmethod
    def make(cls, folder: Path) -> IcsBackend:
        path = folder / "calendar.ics"
        return cls(path, IcsCalendar(path, BERLIN))

    def seed(
        self, uid: str, title: str, start: datetime, end: datetime, rule: str | None = None
    ) -> None:
        text = self.path.read_bytes().decode() if self.path.exists() else vcalendar()
        event = vevent(uid, title, start, end, rule)
        self._write(text.replace("END:VCALENDAR", f"{event}END:VCALENDAR"))

    def rename(self, uid: str, title: str) -> None:
        event = self._event(uid)
        renamed = re.sub("SUMMARY:.*\r\n", f"SUMMARY:{title}\r\n", event)
        self._write(self.path.read_bytes().decode().replace(event, renamed))

    def remove(self, uid: str) -> None:
        self._write(self.path.read_bytes().decode().replace(self._event(uid), ""))

    def _event(self, uid: str) -> str:
        text = self.path.read_bytes().decode()
        events: list[str] = re.findall("BEGIN:VEVENT\r\n.*?END:VEVENT\r\n", text, re.DOTALL)
        return next(event for event in events if f"UID:{uid}\r\n" in event)

    def _write(self, text: str) -> None:
        self.path.write_bytes(text.encode())


@dataclass(frozen=True, slots=True)
class CalDavBackend:
    server: Radicale
    address: str
    calendar: Calendar

    @classmethod
    def make(cls, server: Radicale, name: str) -> CalDavBackend:
        address = server.new_calendar(name)
        calendar = CalDavCalendar(address, USER, PASSWORD, BERLIN, timeout_s=5)
        return cls(server, address, calendar)

    def seed(
        self, uid: str, title: str, start: datetime, end: datetime, rule: str | None = None
    ) -> None:
        text = vcalendar(vevent(uid, title, start, end, rule))
        self.server.request("PUT", f"{self.address}{uid}.ics", text)

    def rename(self, uid: str, title: str) -> None:
        address = f"{self.address}{uid}.ics"
        text = self.server.request("GET", address)
        self.server.request("PUT", address, re.sub("SUMMARY:[^\r\n]*", f"SUMMARY:{title}", text))

    def remove(self, uid: str) -> None:
        self.server.request("DELETE", f"{self.address}{uid}.ics")


@dataclass(frozen=True, slots=True)
class GoogleBackend:
    server: GoogleServer
    calendar: Calendar
    sign_in: SignIn

    @classmethod
    def make(cls, server: GoogleServer, folder: Path) -> GoogleBackend:
        sign_in = SignIn(folder / "credentials.json", folder / "token.json")
        sign_in.token_file.write_text(json.dumps(server.token()))
        calendar = GoogleCalendar(sign_in, BERLIN, endpoint=server.url, policy=QUICK)
        return cls(server, calendar, sign_in)

    def seed(
        self, uid: str, title: str, start: datetime, end: datetime, rule: str | None = None
    ) -> None:
        zone = {"timeZone": "Europe/Berlin"}
        resource = {
            "id": uid,
            "summary": title,
            "start": {"dateTime": start.astimezone(UTC).isoformat(), **zone},
            "end": {"dateTime": end.astimezone(UTC).isoformat(), **zone},
        }
        self.server.put({**resource, "recurrence": [f"RRULE:{rule}"]} if rule else resource)

    def rename(self, uid: str, title: str) -> None:
        self.server.put({**self.server.events[uid], "summary": title})

    def remove(self, uid: str) -> None:
        self.server.put({**self.server.events[uid], "status": "cancelled"})
