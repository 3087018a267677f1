"""Calendar files as no calendar program writes them, and those that programs do write."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.cal_ai.calendar_backends import BERLIN, at, vcalendar, vevent
from tests.cal_ai.calendar_texts import REAL_WORLD
from tests.hostile.forked import complaints, run
from tests.hostile.large_calendars import large_calendar_cases

from cal_ai.calendars.ics import IcsCalendar
from cal_ai.calendars.protocol import CalendarError

GOOD = vevent("good", "Good", at(24, 9), at(24, 10), None)


def zone(*lines: str, rule: str = "FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU") -> str:
    inner = "".join(f"{line}\r\n" for line in lines)
    return (
        f"BEGIN:VTIMEZONE\r\nTZID:Here\r\n{inner}BEGIN:STANDARD\r\nDTSTART:19700101T000000\r\n"
        f"TZOFFSETFROM:+0100\r\nTZOFFSETTO:+0100\r\nRRULE:{rule}\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n"
    )


HERE = (
    "BEGIN:VEVENT\r\nUID:here\r\nSUMMARY:Here\r\nDTSTART;TZID=Here:20260324T120000\r\n"
    "DTEND;TZID=Here:20260324T130000\r\nEND:VEVENT\r\n"
)


def opened(tmp_path: Path, *parts: str) -> IcsCalendar:
    path = tmp_path / "calendar.ics"
    path.write_bytes(vcalendar(*parts).encode())
    return IcsCalendar(path, BERLIN)


@pytest.mark.parametrize(
    "line",
    [
        "TZID-ALIAS-OF:Europe/Berlin",
        "TZUNTIL:20380101T000000Z",
        "TZUNTIL:soon",
        "X-LIC-LOCATION:Europe/Berlin",
        "LAST-MODIFIED:never",
        "TZURL::::",
        "UNHEARD-OF;A=B:C",
    ],
)
def test_properties_that_are_not_known_are_kept_and_ignored(tmp_path: Path, line: str) -> None:
    calendar = opened(tmp_path, zone(line), GOOD, HERE)
    before = (tmp_path / "calendar.ics").read_bytes()
    listing = calendar.coming(at(23, 0), at(31, 0))
    assert [entry.uid for entry in listing.entries] == ["good", "here"]
    assert listing.entries[1].details.start == at(24, 12)
    assert listing.warnings == ()
    assert (tmp_path / "calendar.ics").read_bytes() == before
    assert line.encode() in before


@pytest.mark.parametrize(
    "rule", ["FREQ=SECONDLY", "FREQ=YEARLY;INTERVAL=0", "FREQ=HOURLY;INTERVAL=1", "FREQ=NEVER"]
)
def test_a_time_zone_with_an_endless_rule_is_read(tmp_path: Path, rule: str) -> None:
    listing = opened(tmp_path, zone(rule=rule), GOOD, HERE).coming(at(23, 0), at(31, 0))
    assert [entry.uid for entry in listing.entries] == ["good", "here"]


def test_a_time_zone_of_thousands_of_rules_takes_no_time(tmp_path: Path) -> None:
    rule = b"RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3\r\n"
    assert rule in REAL_WORLD
    path = tmp_path / "calendar.ics"
    path.write_bytes(REAL_WORLD)
    plain = IcsCalendar(path, BERLIN).coming(at(23, 0), at(31, 0)).entries
    path.write_bytes(REAL_WORLD.replace(rule, rule * 2_000))
    begun_s = time.process_time()
    assert IcsCalendar(path, BERLIN).coming(at(23, 0), at(31, 0)).entries == plain
    assert time.process_time() - begun_s < 3


def test_a_time_zone_of_thousands_of_changes_is_read(tmp_path: Path) -> None:
    one = zone()
    change = one[one.index("BEGIN:STANDARD") : one.index("END:VTIMEZONE")]
    calendar = opened(tmp_path, one.replace(change, change * 3_000), GOOD, HERE)
    begun_s = time.process_time()
    listing = calendar.coming(at(23, 0), at(31, 0))
    assert [entry.uid for entry in listing.entries] == ["good", "here"]
    assert time.process_time() - begun_s < 3


@pytest.mark.parametrize(
    "tzid",
    ["x" * 5_000, "../../../etc/passwd", "/", "\0", "a\\nb", "Europe"],
    ids=lambda it: it[:20],
)
def test_a_time_zone_of_an_odd_name_costs_its_event_at_most(tmp_path: Path, tzid: str) -> None:
    odd = HERE.replace("TZID=Here", f"TZID={tzid}")
    listing = opened(tmp_path, odd, GOOD).coming(at(23, 0), at(31, 0))
    assert "good" in [entry.uid for entry in listing.entries]


def test_components_nested_without_end_are_refused_in_a_line(tmp_path: Path) -> None:
    deep = "BEGIN:VEVENT\r\n" * 3_000 + "END:VEVENT\r\n" * 3_000
    with pytest.raises(CalendarError, match="expected no more than 20 components in each other"):
        opened(tmp_path, deep).coming(at(23, 0), at(31, 0))


def test_time_grows_with_the_events_of_a_day_and_not_with_their_square(tmp_path: Path) -> None:
    def seconds(events: int) -> float:
        one = [vevent(f"e{it}", f"Event {it}", at(24, 9), at(24, 10), None) for it in range(events)]
        calendar = opened(tmp_path, *one)
        begun_s = time.process_time()
        assert len(calendar.coming(at(23, 0), at(31, 0)).entries) == events
        return time.process_time() - begun_s

    seconds(10)
    assert seconds(4_000) < 10 * max(seconds(1_000), 0.05)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("folds", "c.ics: has 3,000,010 lines, expected 600,000 at most"),
        ("lines", "c.ics: has 15,000,003 lines, expected 600,000 at most"),
        ("long line", "event 'E0' is left out: its DESCRIPTION is longer than 1,000,000 char"),
        ("long list", ""),
        ("parameters", ""),
        ("attendees", ""),
        ("dates", "event 'E0' is left out: it names more than 10,000 dates"),
        ("rules", "more events of ics:c.ics cannot be read"),
        ("zones", "c.ics: has 10,000 rules of time zones, expected 500 at most"),
        ("dates of a zone", ""),
        ("events of a day", "5,000 events of these days are read; 15,000 more are left out"),
    ],
)
def test_a_calendar_that_is_large_in_one_way_is_read_within_bounds(
    tmp_path: Path, name: str, said: str
) -> None:
    cases = large_calendar_cases(Random(1), rounds=0)
    (case,) = (case for case in cases if case.name == f"{name} 300,000")
    outcome = run(case, tmp_path)
    assert complaints(case, outcome, tmp_path) == []
    assert said in outcome.err.decode()


def test_what_is_not_read_of_an_event_stays_in_the_file(tmp_path: Path) -> None:
    attachment = "ATTACH;ENCODING=BASE64;VALUE=BINARY:" + "QUJD" * 300_000
    event = GOOD.replace("END:VEVENT", f"{attachment}\r\nEND:VEVENT")
    calendar = opened(tmp_path, event)
    (entry,) = calendar.coming(at(23, 0), at(31, 0)).entries
    changed = calendar.update(entry, replace(entry.details, title="Better"), "mark")
    assert changed == calendar.get("good")
    text = (tmp_path / "calendar.ics").read_text()
    assert attachment in text
    assert "SUMMARY:Better" in text
