"""Calendars that are large in one way: lines, folds, dates, rules, zones, events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from random import Random

from tests.hostile.forked import Case
from tests.hostile.kinds import TRANSCRIPT

from cal_ai.cli import main as cal_ai

TOMORROW = f"{datetime.now(UTC) + timedelta(days=1):%Y%m%d}"
AT_NOON = f"DTSTART:{TOMORROW}T120000Z"
ONSET = "DTSTART:19700101T000000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0100"
ARGUMENTS = ("talk.txt", "--dry-run", "--calendar", "ics:c.ics", "--extractor", "cmd:echo []")


def event(number: int, *lines: str, start: str = AT_NOON) -> str:
    """The text of an event of one hour."""
    inner = "".join(f"{line}\r\n" for line in (start, *lines))
    return (
        f"BEGIN:VEVENT\r\nUID:u{number}\r\nSUMMARY:E{number}\r\nDURATION:PT1H\r\n"
        f"{inner}END:VEVENT\r\n"
    )


def zone(name: str, rules: int, *lines: str) -> str:
    """The text of a time zone of which no system knows, and that has so many rules."""
    rule = "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU"
    change = "\r\n".join(("BEGIN:STANDARD", ONSET, *lines, rule, "END:STANDARD\r\n"))
    return f"BEGIN:VTIMEZONE\r\nTZID:{name}\r\n{change * rules}END:VTIMEZONE\r\n"


def in_zone(number: int) -> str:
    return event(number, start=f"DTSTART;TZID=Z{number}:{TOMORROW}T120000")


def dates(count: int) -> list[str]:
    """So many dates, some of them more than once."""
    return [f"2030{1 + day % 12:02}{1 + day % 28:02}T{day % 24:02}0000Z" for day in range(count)]


def past_event(number: int, *lines: str) -> str:
    text = event(number, *lines, start="DTSTART:20200101T120000Z")
    return text.replace("DURATION:PT1H", "DTEND:20200101T130000Z")


LARGE: Mapping[str, Callable[[int], str]] = {
    "folds": lambda size: event(0, "DESCRIPTION:x" + "\r\n x" * (10 * size)),
    "lines": lambda size: "\r\n" * (50 * size),
    "components": lambda size: "BEGIN:VTODO\r\nEND:VTODO\r\n" * (4 * size),
    "alarms": lambda size: event(0, *["BEGIN:VALARM\r\nEND:VALARM"] * size),
    "long line": lambda size: event(0, "DESCRIPTION:" + "x" * (130 * size)),
    "long list": lambda size: event(0, "CATEGORIES:" + "x," * (60 * size)),
    "parameters": lambda size: event(0, "X-A" + ";P=1" * (10 * size) + ":x"),
    "parameters of a start": lambda size: event(0, start=AT_NOON.replace(":", ";P=1" * size + ":")),
    "attendees": lambda size: event(0, *["ATTENDEE;CN=A:mailto:a@x"] * size),
    "dates": lambda size: event(0, *(f"RDATE:{date}" for date in dates(size))),
    "dates in a line": lambda size: event(0, "RDATE:" + ",".join(dates(size))),
    "exceptions": lambda size: event(0, "RRULE:FREQ=DAILY", "EXDATE:" + ",".join(dates(size))),
    "rules": lambda size: "".join(event(n, "RRULE:FREQ=SECONDLY") for n in range(size // 15)),
    "rules of one": lambda size: event(0, *["RRULE:FREQ=SECONDLY"] * (size // 15)),
    "daily": lambda size: "".join(event(n, "RRULE:FREQ=DAILY") for n in range(size // 60)),
    "rule of many days": lambda size: event(0, "RRULE:FREQ=DAILY;BYDAY=MO" + ",MO" * size),
    "zones": lambda size: "".join(zone(f"Z{n}", 1) for n in range(size // 60)) + in_zone(1),
    "zones in use": lambda size: "".join(
        zone(f"Z{n}", 1) + in_zone(n) for n in range(min(240, size // 60))
    ),
    "rules of zones": lambda size: zone("Z0", size // 60) + in_zone(0),
    "dates of a zone": lambda size: zone("Z0", 1, *["RDATE:20300101T000000"] * size) + in_zone(0),
    "properties of the calendar": lambda size: "X-A:b\r\n" * size + event(0),
    "events of a day": lambda size: "".join(event(n) for n in range(size // 15)),
    "past events": lambda size: "".join(past_event(n, "LOCATION:x") for n in range(size // 5)),
    "long past events": lambda size: "".join(
        past_event(n, "DESCRIPTION:" + "d" * 600) for n in range(size // 5)
    ),
    "changed days": lambda size: (
        event(0, "RRULE:FREQ=DAILY")
        + "".join(event(0, f"RECURRENCE-ID:{date}") for date in dates(size // 15))
    ),
}
"""Each is as large as that of an attack at a size of 300,000."""


def large_calendar_cases(dice: Random, rounds: int = 1) -> Iterator[Case]:
    """Each way of being large, as large as a calendar can be made and at random sizes."""
    for name, text in LARGE.items():
        for size in (300_000, *(int(10 ** dice.uniform(2, 5.5)) for _ in range(rounds))):
            calendar = f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{text(size)}END:VCALENDAR\r\n"
            files = {"talk.txt": TRANSCRIPT.encode(), "c.ics": calendar.encode()}
            yield Case("large calendar", f"{name} {size:,}", cal_ai, ARGUMENTS, files)
