from __future__ import annotations

import difflib
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import icalendar
import pytest
from filelock import FileLock
from tests.cal_ai.calendar_backends import BERLIN, at, vcalendar, vevent
from tests.cal_ai.calendar_texts import DENTIST, REAL_WORLD, STANDUP

from cal_ai.calendars.ics import IcsCalendar
from cal_ai.calendars.protocol import CalendarError, Details, Entry
from truemark.errors import TruemarkError

NOW = datetime(2026, 3, 22, 18, 0, tzinfo=UTC)
LUNCH = Details("Lunch", at(24, 12), at(24, 13))
STAMPS = {"DTSTAMP:20260322T180000Z", "LAST-MODIFIED:20260322T180000Z"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "calendar.ics"
    path.write_bytes(REAL_WORLD)
    return path


@pytest.fixture
def calendar(path: Path) -> IcsCalendar:
    return IcsCalendar(path, BERLIN, clock=lambda: NOW)


def coming(calendar: IcsCalendar) -> tuple[Entry, ...]:
    return calendar.coming(at(23, 0), at(31, 0)).entries


def pick(calendar: IcsCalendar, title: str) -> Entry:
    return next(entry for entry in coming(calendar) if entry.details.title == title)


def changes(path: Path) -> tuple[set[str], set[str]]:
    """The lines that the file has lost and won, without stamps and the calendar's own id."""
    before, after = (data.decode().split("\r\n") for data in (REAL_WORLD, path.read_bytes()))
    lines = [line for line in difflib.ndiff(before, after) if line[0] in "-+"]
    lost, won = ({line[2:] for line in lines if line[0] == sign} for sign in "-+")
    return lost, {line for line in won - STAMPS if not line.startswith("X-WR-RELCALID:")}


def test_a_real_world_calendar_is_read_with_its_series_changes_and_zones(
    calendar: IcsCalendar,
) -> None:
    listed = [(e.details.title, e.details.start, e.details.end) for e in coming(calendar)]
    assert listed == [
        ("Standup", at(23, 9, 15), at(23, 9, 30)),
        ("Standup (long)", at(25, 10), at(25, 11)),
        ("Zahnärztin Dr. Öztürk", at(26, 9, 30), at(26, 10, 15)),
        ("Skiing", at(27, 0), at(30, 0)),
        ("Standup", at(27, 9, 15), at(27, 9, 30)),
        ("Standup", at(30, 9, 15), at(30, 9, 30)),
    ]
    dentist = pick(calendar, "Zahnärztin Dr. Öztürk")
    assert dentist.details.location == "Hauptstraße 5, Hinterhaus"
    assert dentist.details.description.endswith("umgebrochen wurde.\nZweite Zeile.")
    assert pick(calendar, "Standup").people == ("Alice", "Novak, Jan")


def test_a_new_event_adds_lines_and_loses_none(calendar: IcsCalendar, path: Path) -> None:
    calendar.create("truemark01", replace(LUNCH, location="Luigi's, bar"), "mark1")
    lost, won = changes(path)
    assert lost == set()
    assert {
        "UID:truemark01",
        "DTSTART;TZID=Europe/Berlin:20260324T120000",
        "DTEND;TZID=Europe/Berlin:20260324T130000",
        "LOCATION:Luigi's\\, bar",
        "X-TRUEMARK-ID:mark1",
        "TZID:Europe/Berlin",
    } <= won


def test_an_update_touches_the_lines_it_is_about(calendar: IcsCalendar, path: Path) -> None:
    dentist = pick(calendar, "Zahnärztin Dr. Öztürk")
    later = replace(dentist.details, start=at(26, 14), end=at(26, 14, 45))
    calendar.update(dentist, later, "mark1")
    lost, won = changes(path)
    assert lost == {"DTSTART:20260326T083000Z", "DURATION:PT45M", "DTSTAMP:20260105T070000Z"}
    assert won == {
        "DTSTART:20260326T130000Z",
        "DTEND:20260326T134500Z",
        "SEQUENCE:1",
        "X-TRUEMARK-ID:mark1",
    }


def test_a_changed_occurrence_is_an_exception_in_the_zone_of_its_series(
    calendar: IcsCalendar, path: Path
) -> None:
    friday = next(e for e in coming(calendar) if e.details.start == at(27, 9, 15))
    calendar.update(friday, replace(friday.details, start=at(27, 11), end=at(27, 12)), "mark1")
    lost, won = changes(path)
    assert lost == set()
    assert {
        'RECURRENCE-ID;TZID="W. Europe Standard Time":20260327T091500',
        'DTSTART;TZID="W. Europe Standard Time":20260327T110000',
        'DTEND;TZID="W. Europe Standard Time":20260327T120000',
    } <= won
    exception = icalendar.Calendar.from_ical(path.read_bytes()).walk("VEVENT")[1]
    assert str(exception["X-ALT-DESC"]).endswith("please</body></html>")
    assert [alarm["X-WR-ALARMUID"] for alarm in exception.walk("VALARM")] == ["5F1C"]
    assert "RRULE" not in exception


def test_a_removed_occurrence_is_an_exclusion(calendar: IcsCalendar, path: Path) -> None:
    calendar.delete(next(e for e in coming(calendar) if e.details.start == at(27, 9, 15)))
    lost, won = changes(path)
    assert lost == {"SEQUENCE:4", "DTSTAMP:20250911T081502Z"}
    assert won == {'EXDATE;TZID="W. Europe Standard Time":20260327T091500', "SEQUENCE:5"}


def test_a_removed_exception_takes_its_component_along(calendar: IcsCalendar, path: Path) -> None:
    calendar.delete(pick(calendar, "Standup (long)"))
    lost, won = changes(path)
    assert "SUMMARY:Standup (long)" in lost
    assert 'EXDATE;TZID="W. Europe Standard Time":20260325T091500' in won
    assert pick(calendar, "Standup").details.start == at(23, 9, 15)
    assert all(e.details.start.day != 25 for e in coming(calendar))


def test_a_removed_event_leaves_everything_else(calendar: IcsCalendar, path: Path) -> None:
    calendar.delete(pick(calendar, "Zahnärztin Dr. Öztürk"))
    begin, end = REAL_WORLD.index(b"BEGIN:VEVENT\r\nDTSTAMP:20260105"), b"END:VEVENT\r\n"
    rest = REAL_WORLD[:begin] + REAL_WORLD[REAL_WORLD.index(end, begin) + len(end) :]
    assert re.sub(rb"X-WR-RELCALID:\w+\r\n", b"", path.read_bytes()) == rest


@pytest.mark.parametrize(
    ("dtstart", "rule", "exdate"),
    [
        pytest.param("DTSTART:20260302T080000Z", "", "EXDATE:20260324T080000Z", id="utc"),
        pytest.param("DTSTART:20260302T090000", "", "EXDATE:20260324T090000", id="floating"),
        pytest.param("DTSTART;VALUE=DATE:20260302", "", "EXDATE;VALUE=DATE:20260324", id="all-day"),
        pytest.param(
            "DTSTART;TZID=America/New_York:20260302T030000",
            "",
            "EXDATE;TZID=America/New_York:20260324T030000",
            id="other-zone",
        ),
        pytest.param(
            "DTSTART;TZID=Nowhere/Known:20260302T090000",
            "",
            "EXDATE;TZID=Nowhere/Known:20260324T090000",
            id="zone-that-nobody-knows",
        ),
        pytest.param(
            "DTSTART:20260302T080000Z",
            "RDATE:20260324T120000Z\r\n",
            "EXDATE:20260324T080000Z",
            id="extra-date",
        ),
    ],
)
def test_an_exclusion_has_the_form_of_the_start_it_excludes(
    tmp_path: Path, dtstart: str, rule: str, exdate: str
) -> None:
    event = f"BEGIN:VEVENT\r\nUID:x\r\n{dtstart}\r\nRRULE:FREQ=DAILY\r\n{rule}END:VEVENT\r\n"
    path = tmp_path / "calendar.ics"
    path.write_bytes(vcalendar(event).encode())
    calendar = IcsCalendar(path, BERLIN)
    entries = calendar.coming(at(24, 0), at(25, 0)).entries
    calendar.delete(entries[0])
    assert f"{exdate}\r\n" in path.read_bytes().decode()
    assert calendar.coming(at(24, 0), at(25, 0)).entries == tuple(
        replace(entry, version=calendar.get(entry.uid, entry.recurrence).version)
        for entry in entries[1:]
    )


def test_line_ends_of_a_file_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "unix.ics"
    path.write_bytes(b"\xef\xbb\xbf" + REAL_WORLD.replace(b"\r\n", b"\n"))
    IcsCalendar(path, BERLIN).create("truemark01", replace(LUNCH, title="L" * 200), "mark1")
    assert b"\r" not in path.read_bytes()
    assert path.read_bytes().startswith(b"\xef\xbb\xbfBEGIN:VCALENDAR\n")
    assert IcsCalendar(path, BERLIN).get("truemark01").details.title == "L" * 200


def test_a_missing_file_is_an_empty_calendar_until_the_first_event(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "folder" / "calendar.ics"
    calendar = IcsCalendar(path, BERLIN)
    assert coming(calendar) == ()
    assert not path.parent.exists()
    calendar.create("truemark01", LUNCH, "mark1")
    parsed = icalendar.Calendar.from_ical(path.read_bytes())
    assert (parsed["VERSION"], parsed["PRODID"]) == ("2.0", "-//Truemark//cal_ai//EN")
    assert parsed.events[0].start == at(24, 12)


def test_an_owner_without_a_named_zone_gets_utc(tmp_path: Path) -> None:
    path = tmp_path / "calendar.ics"
    entry = IcsCalendar(path, None).create("truemark01", LUNCH, "mark1")
    assert "DTSTART:20260324T110000Z\r\n" in path.read_bytes().decode()
    assert entry.details.start == LUNCH.start


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"", "is empty, expected BEGIN:VCALENDAR", id="empty"),
        pytest.param(b"\r\n \r\n", "is empty, expected BEGIN:VCALENDAR", id="blank"),
        pytest.param(
            b"<html>\n<p>Sign in</p>", ":1: is not iCalendar: found '<html>'", id="web-page"
        ),
        pytest.param(
            b'\n{"events": []}', ":2: is not iCalendar: found '{\"events\": []}'", id="json"
        ),
        pytest.param(b"\x89PNG\r\n\x1a\n", ":1: is not UTF-8 text (found byte 0x89)", id="image"),
        pytest.param(b"BEGIN:VCARD\nEND:VCARD\n", ":1: is not iCalendar: found", id="contact"),
        pytest.param(REAL_WORLD[:700], "ends inside", id="torn"),
        pytest.param(
            REAL_WORLD.replace(b"END:VALARM\r\n", b"", 1),
            "found 'END:VEVENT', expected END:VALARM",
            id="unbalanced",
        ),
        pytest.param(
            REAL_WORLD.replace(b"VERSION:2.0", b"VERSION:1.0"),
            ":2: is vCalendar 1.0, expected iCalendar 2.0",
            id="vcalendar-1",
        ),
        pytest.param(
            REAL_WORLD + b"and some more\n", "found 'and some more', expected BEGIN", id="trailer"
        ),
    ],
)
def test_a_file_that_is_not_icalendar_is_refused_and_left_alone(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "precious.ics"
    path.write_bytes(content)
    calendar = IcsCalendar(path, BERLIN)
    uses: list[Callable[[], object]] = [
        lambda: coming(calendar),
        lambda: calendar.create("truemark01", LUNCH, "mark1"),
        lambda: calendar.get("truemark01"),
    ]
    for use in uses:
        with pytest.raises(CalendarError) as refused:
            use()
        assert str(refused.value).startswith(f"{path}:")
        assert message in str(refused.value)
    assert path.read_bytes() == content


def test_a_folder_in_place_of_the_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(TruemarkError, match="is a folder, expected a file"):
        coming(IcsCalendar(tmp_path, BERLIN))


def test_events_that_cannot_be_read_are_left_out_with_a_warning_and_kept(tmp_path: Path) -> None:
    broken = vevent("b", "Broken rule", at(24, 9), at(24, 10), "FREQ=SOMETIMES")
    dateless = "BEGIN:VEVENT\r\nUID:c\r\nSUMMARY:No date\r\nDTSTART:soon\r\nEND:VEVENT\r\n"
    startless = "BEGIN:VEVENT\r\nUID:d\r\nSUMMARY:No start\r\nEND:VEVENT\r\n"
    timeless = "BEGIN:VEVENT\r\nUID:e\r\nSUMMARY:Odd\r\nDTSTART:091500\r\nEND:VEVENT\r\n"
    path = tmp_path / "calendar.ics"
    good = vevent("a", "Good", at(24, 9), at(24, 10), None)
    path.write_bytes(vcalendar(broken, good, dateless, startless, timeless).encode())
    calendar = IcsCalendar(path, BERLIN)
    listing = calendar.coming(at(23, 0), at(31, 0))
    assert [entry.uid for entry in listing.entries] == ["a"]
    rule, date, start, odd = listing.warnings
    assert rule.startswith(f"{path}: event 'Broken rule' is left out: RRULE: ")
    assert date.startswith(f"{path}: event 'No date' is left out: DTSTART: ")
    assert start == f"{path}: event 'No start' is left out: it has no start"
    assert odd == f"{path}: event 'Odd' is left out: its times cannot be determined"
    with pytest.raises(CalendarError, match="the event cannot be read"):
        calendar.get("e")
    calendar.create("truemark01", LUNCH, "mark1")
    assert broken.encode() in path.read_bytes()
    assert dateless.encode() in path.read_bytes()


def own_event(uid: str, *lines: str) -> str:
    return "\r\n".join(["BEGIN:VEVENT", f"UID:{uid}", f"SUMMARY:{uid}", *lines, "END:VEVENT", ""])


@pytest.mark.parametrize(
    ("times", "reason"),
    [
        (["DTSTART:20269920T190000Z"], "DTSTART: "),
        (["DTSTART:20260230T190000Z"], "DTSTART: "),
        (["DTSTART;VALUE=DATE:20269920"], "DTSTART: "),
        (["DTSTART:20260320T190000Z", "DTEND:20269920T190000Z"], "DTEND: "),
        (["DTSTART:20260324T190000Z", "DTEND:20260324T180000Z"], "it ends before it starts"),
        (["DTSTART:20260324T190000Z", "DTEND:20250324T180000Z"], "it ends before it starts"),
        (["DTSTART:20260324T190000Z", "DURATION:-PT1H"], "it ends before it starts"),
        (["DTSTART;VALUE=DATE:20260325", "DTEND;VALUE=DATE:20260324"], "it ends before it starts"),
    ],
)
def test_an_event_with_impossible_times_is_left_out_with_a_warning(
    tmp_path: Path, times: list[str], reason: str
) -> None:
    path = tmp_path / "calendar.ics"
    good = vevent("a", "Good", at(24, 9), at(24, 10), None)
    path.write_bytes(vcalendar(own_event("odd", *times), good).encode())
    calendar = IcsCalendar(path, BERLIN)
    listing = calendar.coming(at(23, 0), at(31, 0))
    assert [entry.uid for entry in listing.entries] == ["a"]
    [warning] = listing.warnings
    assert warning.startswith(f"{path}: event 'odd' is left out: {reason}")
    with pytest.raises(CalendarError):
        calendar.get("odd")


def test_an_event_may_end_in_the_hour_that_the_clocks_show_twice(tmp_path: Path) -> None:
    path = tmp_path / "calendar.ics"
    event = own_event("night", "DTSTART:20261025T004500Z", "DTEND:20261025T010500Z")
    path.write_bytes(vcalendar(event).encode())
    start = datetime(2026, 10, 24, tzinfo=BERLIN)
    listing = IcsCalendar(path, BERLIN).coming(start, start.replace(day=26))
    assert [entry.uid for entry in listing.entries] == ["night"]
    assert not listing.warnings


def test_a_time_zone_that_nobody_defines_is_named_once(tmp_path: Path) -> None:
    path = tmp_path / "calendar.ics"
    nowhere = "DTSTART;TZID=Nowhere/Else:20260324T1{}0000"
    known = 'DTSTART;TZID="W. Europe Standard Time":20260324T150000'
    events = [own_event(f"{hour}", nowhere.format(hour)) for hour in (1, 2)]
    path.write_bytes(vcalendar(*events, own_event("known", known)).encode())
    listing = IcsCalendar(path, BERLIN).coming(at(23, 0), at(31, 0))
    assert [entry.details.start for entry in listing.entries] == [
        at(24, 11),
        at(24, 12),
        at(24, 15),
    ]
    assert listing.warnings == (
        f"{path}: time zone 'Nowhere/Else' is not known and not defined there;"
        " times in it are taken as local",
    )


def test_a_time_zone_with_the_prefix_of_a_program_is_read_without_a_warning(
    tmp_path: Path,
) -> None:
    path = tmp_path / "calendar.ics"
    start = "DTSTART;TZID=/freeassociation.sourceforge.net/Europe/Berlin:20260324T110000"
    path.write_bytes(vcalendar(own_event("prefixed", start)).encode())
    listing = IcsCalendar(path, BERLIN).coming(at(23, 0), at(31, 0))
    assert [entry.details.start for entry in listing.entries] == [at(24, 11)]
    assert listing.warnings == ()


def test_an_event_without_a_uid_is_listed_but_cannot_be_changed(tmp_path: Path) -> None:
    path = tmp_path / "calendar.ics"
    event = vevent("x", "Anonymous", at(24, 9), at(24, 10), None).replace("UID:x\r\n", "")
    path.write_bytes(vcalendar(event).encode())
    calendar = IcsCalendar(path, BERLIN)
    (entry,) = coming(calendar)
    with pytest.raises(CalendarError, match="has no UID"):
        calendar.delete(entry)


def test_events_that_share_a_uid_are_all_listed_and_none_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "calendar.ics"
    events = (
        vevent("u1", "A", at(24, 9), at(24, 10), None),
        vevent("u1", "B", at(25, 9), at(25, 10), None),
    )
    path.write_bytes(vcalendar(*events).encode())
    calendar = IcsCalendar(path, BERLIN)
    entries = coming(calendar)
    assert [entry.details.title for entry in entries] == ["A", "B"]
    before = path.read_bytes()
    for entry in entries:
        with pytest.raises(CalendarError, match="several events have the UID 'u1'"):
            calendar.delete(entry)
        with pytest.raises(CalendarError, match="several events have the UID 'u1'"):
            calendar.update(entry, LUNCH, "mark")
    assert path.read_bytes() == before


def test_a_series_that_was_changed_from_one_day_onwards_is_left_to_other_programs(
    path: Path, calendar: IcsCalendar
) -> None:
    path.write_bytes(REAL_WORLD.replace(b"RECURRENCE-ID;", b"RECURRENCE-ID;RANGE=THISANDFUTURE;"))
    entry = next(entry for entry in coming(calendar) if entry.uid == STANDUP)
    with pytest.raises(CalendarError, match="changed from one day onwards"):
        calendar.delete(entry)


def test_two_names_of_one_file_are_one_calendar(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.ics"
    link.symlink_to(path)
    IcsCalendar(link, BERLIN).create("truemark01", LUNCH, "mark1")
    assert link.is_symlink()
    assert IcsCalendar(path, BERLIN).get("truemark01").details == LUNCH
    assert IcsCalendar(link, BERLIN).identity == IcsCalendar(path, BERLIN).identity != ""


def test_a_new_file_at_the_same_place_is_another_calendar(path: Path) -> None:
    calendar = IcsCalendar(path, BERLIN)
    assert calendar.identity == ""
    identities = set()
    for _ in range(2):
        path.write_bytes(REAL_WORLD)
        calendar.create("truemark01", LUNCH, "mark1")
        identities.add(calendar.identity)
        calendar.delete(calendar.get("truemark01"))
        identities.add(calendar.identity)
    assert len(identities) == 2


def test_a_file_that_another_run_has_locked_is_a_clear_error(path: Path) -> None:
    calendar = IcsCalendar(path, BERLIN, lock_wait_s=0.05)
    with (
        FileLock(f"{path}.lock"),
        pytest.raises(CalendarError, match=r"calendar.ics: locked by another run for 0.05 s"),
    ):
        calendar.create("truemark01", LUNCH, "mark1")
    assert path.read_bytes() == REAL_WORLD


def test_a_change_leaves_nothing_beside_the_calendar(path: Path) -> None:
    calendar = IcsCalendar(path, BERLIN)
    calendar.create("truemark01", LUNCH, "mark1")
    assert list(path.parent.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TruemarkError, match="cannot be written"):
        IcsCalendar(tmp_path / "file" / "c.ics", BERLIN).create("truemark01", LUNCH, "mark1")


WRITERS = """
import os, sys
from datetime import timedelta
from pathlib import Path
from tests.cal_ai.calendar_backends import BERLIN, at
from cal_ai.calendars.ics import IcsCalendar
from cal_ai.calendars.protocol import Details

path = Path(sys.argv[1])
for writer in range(4):
    if os.fork() == 0:
        calendar = IcsCalendar(path, BERLIN)
        for number in range(8):
            start = at(23, 8) + timedelta(hours=number)
            details = Details(f"{writer}-{number}", start, start + timedelta(minutes=30))
            calendar.create(f"truemark{writer}{number}", details, "mark")
        os._exit(0)
for _ in range(4):
    assert os.wait()[1] == 0
"""
KILLED = """
import os, random, signal, sys, time
from dataclasses import replace
from pathlib import Path
from tests.cal_ai.calendar_backends import BERLIN
from cal_ai.calendars.ics import IcsCalendar

path, uid = Path(sys.argv[1]), sys.argv[2]
dice = random.Random(5)
calendar = IcsCalendar(path, BERLIN)
seen = set()
for _ in range(30):
    child = os.fork()
    if child == 0:
        while True:
            entry = calendar.get(uid)
            number = int(entry.details.title) + 1
            calendar.update(entry, replace(entry.details, title=str(number)), str(number))
    # Mostly not before the first change is through, which takes its time on a busy machine.
    old, until = path.stat().st_ino, time.monotonic() + dice.choice((0, 10, 10))
    while path.stat().st_ino == old and time.monotonic() < until:
        time.sleep(0.001)
    time.sleep(dice.uniform(0.0, 0.05))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    entry = calendar.get(uid)
    number = int(entry.details.title)
    assert entry.marks == {str(mark) for mark in range(1, number + 1)}, "a change was lost"
    assert len(calendar.coming(entry.details.start, entry.details.end).entries) == 1
    seen.add(number)
print(len(seen), max(seen))
"""


def run_script(code: str, *arguments: str | Path) -> str:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=True, timeout=60
    ).stdout


def test_nothing_is_lost_when_several_runs_write_at_once(path: Path) -> None:
    run_script(WRITERS, path)
    uids = {f"truemark{writer}{number}" for writer in range(4) for number in range(8)}
    listed = {entry.uid for entry in coming(IcsCalendar(path, BERLIN))}
    assert listed == uids | {STANDUP, DENTIST, "holiday-1"}


def test_a_run_killed_at_any_moment_leaves_the_old_file_or_the_new(path: Path) -> None:
    calendar = IcsCalendar(path, BERLIN)
    calendar.create("truemark01", replace(LUNCH, title="0"), "0")
    calendar.delete(calendar.get("truemark01"))
    start = vevent("counter", "0", at(24, 12), at(24, 13), None)
    path.write_bytes(path.read_bytes().replace(b"BEGIN:VTODO", start.encode() + b"BEGIN:VTODO"))
    stages, changes_made = map(int, run_script(KILLED, path, "counter").split())
    assert changes_made >= stages > 5
    assert [p.name for p in path.parent.glob("*.ics")] == ["calendar.ics"]
