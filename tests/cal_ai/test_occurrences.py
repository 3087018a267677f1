from __future__ import annotations

from pathlib import Path

import pytest
from tests.cal_ai.calendar_backends import BERLIN, at, vcalendar, vevent

from cal_ai.calendars.ics import IcsCalendar
from cal_ai.calendars.occurrences import MOST_OCCURRENCES
from cal_ai.calendars.protocol import CalendarError

ALL_HOURS = ",".join(map(str, range(24)))
ALL_MINUTES = ",".join(map(str, range(60)))


def rule_event(rule: str, start: str) -> str:
    return (
        f"BEGIN:VEVENT\r\nUID:bad\r\nSUMMARY:Hostile\r\nDTSTART:{start}\r\n"
        f"RRULE:{rule}\r\nEND:VEVENT\r\n"
    )


def calendar_with(tmp_path: Path, *events: str) -> IcsCalendar:
    path = tmp_path / "calendar.ics"
    path.write_bytes(
        vcalendar(vevent("good", "Good", at(24, 9), at(24, 10), None), *events).encode()
    )
    return IcsCalendar(path, BERLIN)


@pytest.mark.parametrize(
    ("rule", "start"),
    [
        ("FREQ=DAILY;INTERVAL=0", "20250101T100000Z"),
        ("FREQ=SECONDLY", "19700101T000000Z"),
        ("FREQ=MINUTELY", "20100101T000000Z"),
        ("FREQ=HOURLY", "00010101T000000Z"),
        ("FREQ=MINUTELY", "20260320T000000Z"),
        ("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "20260101T100000Z"),
        ("FREQ=DAILY;INTERVAL=7;BYDAY=MO", "20260101T100000Z"),
        (f"FREQ=DAILY;BYHOUR={ALL_HOURS};BYMINUTE={ALL_MINUTES}", "20200101T000000Z"),
        ("FREQ=DAILY;COUNT=99999999999999999999", "20260101T100000Z"),
        ("FREQ=MONTHLY;BYDAY=99MO", "20260101T100000Z"),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;UNTIL=20270101T000000Z", "20260101T100000Z"),
        ("FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30", "20260320T100000Z"),
        ("FREQ=DAILY;INTERVAL=-3", "20260101T100000Z"),
    ],
)
def test_a_rule_beyond_bounds_costs_its_own_event_alone(
    tmp_path: Path, rule: str, start: str
) -> None:
    calendar = calendar_with(tmp_path, rule_event(rule, start))
    before = (tmp_path / "calendar.ics").read_bytes()
    listing = calendar.coming(at(23, 0), at(31, 0))
    assert [entry.uid for entry in listing.entries] == ["good"]
    (warning,) = listing.warnings
    assert "event 'Hostile' is left out: " in warning
    assert (tmp_path / "calendar.ics").read_bytes() == before


def test_many_rules_that_name_no_day_leave_ordinary_ones_alone(tmp_path: Path) -> None:
    barren = rule_event("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "20260101T100000Z")
    events = [barren.replace("UID:bad", f"UID:bad{number}") for number in range(60)]
    weekly = rule_event("FREQ=WEEKLY", "20260106T100000Z").replace("UID:bad", "UID:weekly")
    listing = calendar_with(tmp_path, *events, weekly).coming(at(23, 0), at(31, 0))
    assert [entry.uid for entry in listing.entries] == ["good", "weekly"]
    assert len(listing.warnings) == 60


def test_many_rules_beyond_bounds_share_what_may_be_spent(tmp_path: Path) -> None:
    events = [
        rule_event("FREQ=SECONDLY", "19700101T000000Z").replace("UID:bad", f"UID:bad{number}")
        for number in range(60)
    ]
    listing = calendar_with(tmp_path, *events).coming(at(23, 0), at(31, 0))
    assert [entry.uid for entry in listing.entries] == ["good"]
    assert len(listing.warnings) == 60


def test_calendars_of_one_file_share_what_may_be_spent_on_an_event(tmp_path: Path) -> None:
    calendar = vcalendar(rule_event("FREQ=DAILY;BYMONTHDAY=1", "19700101T100000Z"))
    path = tmp_path / "calendar.ics"
    path.write_bytes(100 * calendar.encode())
    with pytest.raises(CalendarError, match="its rule names too many days and times"):
        IcsCalendar(path, BERLIN).get("bad", at(24, 9))


@pytest.mark.parametrize(
    ("rule", "start", "found"),
    [
        ("FREQ=DAILY", "20000101T100000Z", 8),
        ("FREQ=DAILY;UNTIL=99991231T235959Z", "20000101T100000Z", 8),
        ("UNTIL=99991231;FREQ=DAILY", "20000101T100000Z", 8),
        ("FREQ=HOURLY", "20260101T000000Z", 191),  # one hour is skipped by the clocks
        ("FREQ=WEEKLY;BYDAY=MO,WE,FR;WKST=SU", "20200106T100000Z", 4),
        ("FREQ=MONTHLY;BYDAY=-1TU", "20200106T100000Z", 0),
        ("FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=24", "19700324T100000Z", 1),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "19991231T100000Z", 0),
        ("FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR", "20100104T100000Z", 6),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "20200131T100000Z", 0),
        ("FREQ=MINUTELY;INTERVAL=60;UNTIL=20260324T000000Z", "20260323T000000Z", 25),
    ],
)
def test_rules_of_ordinary_calendars_are_expanded(
    tmp_path: Path, rule: str, start: str, found: int
) -> None:
    assert found < MOST_OCCURRENCES
    listing = calendar_with(tmp_path, rule_event(rule, start)).coming(at(23, 0), at(31, 0))
    assert sum(entry.uid == "bad" for entry in listing.entries) == found
    assert listing.warnings == ()
