"""Dates in front of the lines of a conversation say what its "tomorrow" counts from."""

from __future__ import annotations

from datetime import datetime

import pytest
from tests.cal_ai.sample_folders import CommandLine

from cal_ai.transcripts.dates import DAY_FIRST, Dating, dating_line
from cal_ai.transcripts.reading import parse_transcript

LUNCH = (
    "05/03/26, 19:01 - Dana: Can we do lunch tomorrow at 12:30?\n"
    "05/03/26, 19:02 - Tom: Yes, lunch tomorrow at 12:30 works.\n"
    "05/03/26, 19:03 - Dana: Great, booked.\n"
)
PLANNED = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\n"
    "DTSTAMP:20260101T000000Z\r\nDTSTART:20260307T090000\r\nDTEND:20260307T100000\r\n"
    "SUMMARY:Dentist\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)
RUN = ("run", "wa.txt", "--owner", "Dana", "--dry-run", "--extractor", "reader")


@pytest.mark.parametrize(
    ("stamps", "last", "assumed"),
    [
        pytest.param(["05/03/26, 19:03 - "], "2026-03-05T19:03", DAY_FIRST, id="unclear"),
        pytest.param(["12/31/25, 10:01 PM - "], "2025-12-31T22:01", None, id="month first"),
        pytest.param(["12/31/25, 12:01 am - "], "2025-12-31T00:01", None, id="after midnight"),
        pytest.param(["[31.12.2025, 22:01:15] "], "2025-12-31T22:01", None, id="day first"),
        pytest.param(
            ["13/03/26, 9:00 - ", "05/03/26, 9:00 - "], "2026-03-05T09:00", None, id="above 12"
        ),
        pytest.param(
            ["02/03/26, 9:00 - ", "03/02/26, 9:00 - "], "2026-03-02T09:00", None, id="ascending"
        ),
        pytest.param(
            ["02/01/26, 9:00 - ", "01/02/26, 9:00 - "], "2026-02-01T09:00", None, id="only one way"
        ),
        pytest.param(["03/03/26, 9:00 - "], "2026-03-03T09:00", None, id="the same either way"),
        pytest.param(["[2026-03-05 19:03] "], "2026-03-05T19:03", None, id="year first"),
        pytest.param(["2026/3/5 19:03 "], "2026-03-05T19:03", None, id="no brackets"),
    ],
)
def test_the_last_message_says_when_a_conversation_was(
    stamps: list[str], last: str, assumed: str | None
) -> None:
    dating = parse_transcript("".join(f"{stamp}Dana: Hello\n" for stamp in stamps)).dating
    assert dating is not None
    assert (dating.last, dating.assumed) == (datetime.fromisoformat(last), assumed)


def test_a_notice_is_no_message() -> None:
    dating = parse_transcript(
        "28/02/26, 22:01 - Bob: Lunch tomorrow?\n28/02/26, 22:02 - Alice: Yes.\n"
        "09/03/26, 08:00 - Bob changed the group description\n"
    ).dating
    assert dating == Dating(datetime(2026, 2, 28, 22, 1), datetime(2026, 2, 28, 22, 2))


def test_the_last_day_of_a_chat_begins_with_its_first_message() -> None:
    dating = parse_transcript(
        "28/02/26, 22:01 - Bob: Lunch tomorrow?\n28/02/26, 22:02 - Alice: Yes.\n"
        "09/03/26, 08:00 - Bob: Hello\n09/03/26, 08:01 - Alice: Hi.\n"
    ).dating
    assert dating is not None
    assert dating.last_day == 3


def test_a_notice_that_fits_no_order_of_the_messages_is_no_reason_to_fail() -> None:
    lines = "13/03/26, 9:00 - Bob: Hi\n", "03/13/26, 9:01 - Bob changed the description\n"
    for text in ("".join(lines), "".join(reversed(lines))):
        dating = parse_transcript(text).dating
        assert dating is not None
        assert dating.last == datetime(2026, 3, 13, 9)


def test_a_notice_shows_in_which_order_dates_are() -> None:
    dating = parse_transcript(
        "05/03/26, 9:00 - Bob: Hello\n05/03/26, 9:01 - Alice: Hi.\n"
        "13/03/26, 08:00 - Bob changed the group description\n"
    ).dating
    assert dating is not None
    assert (dating.last, dating.assumed) == (datetime(2026, 3, 5, 9, 1), None)


def test_a_chat_that_was_copied_from_teams_has_its_dates() -> None:
    dating = parse_transcript(
        "[11/19/2025 10:01 AM] Bob\nLunch tomorrow?\n\n[11/19/2025 10:02 AM] Alice\nYes.\n"
    ).dating
    assert dating is not None
    assert dating.last == datetime(2025, 11, 19, 10, 2)


def test_a_chat_of_several_days_says_that_older_messages_count_from_the_last_one_too() -> None:
    first, last = datetime(2026, 3, 2, 9), datetime(2026, 3, 5, 9)
    assert dating_line(Dating(first, last)) == (
        "dates count from 2026-03-05 09:00, the time of the last message; "
        'so does "tomorrow" in older messages (since 2026-03-02): remove those that are over'
    )
    assert "older" not in dating_line(Dating(last, last.replace(hour=23)))


@pytest.mark.parametrize(
    "text",
    [
        "[Dana]: On 05/03/26, 19:03",
        "[10:01] Dana: Hello",
        "Dana: Hello",
        "99/99/26, 9:00 - A: x",
    ],
)
def test_without_dates_nothing_is_said_of_when_it_was(text: str) -> None:
    assert parse_transcript(text).dating is None


def test_tomorrow_counts_from_the_last_message(cal_ai: CommandLine) -> None:
    (cal_ai.folder / "wa.txt").write_text(LUNCH)
    (cal_ai.folder / "own.ics").write_bytes(PLANNED.encode())
    ran = cal_ai(*RUN, "--calendar", "ics:own.ics", "-v")
    assert "Fri 2026-03-06 12:30 - 13:30" in ran.out
    assert ran.said.splitlines()[1] == (
        "wa.txt: dates count from 2026-03-05 19:03, the time of the last message,"
        " read as day/month/year; if that is wrong, say when it was with --now DATETIME"
    )
    assert "Dentist" in ran.err


def test_now_overrides_the_dates_of_a_conversation(cal_ai: CommandLine) -> None:
    (cal_ai.folder / "wa.txt").write_text(LUNCH)
    cal_ai.set(TIMEZONE="Europe/Berlin")
    ran = cal_ai(*RUN, "--now", "2026-05-03T23:30Z")
    assert "Tue 2026-05-05 12:30 - 13:30" in ran.out
    assert "dates count from" not in ran.err
    assert "Mon 2026-05-04 12:30" in cal_ai(*RUN, "--now", "2026-05-03").out


@pytest.mark.parametrize("given", ["yesterday", "0001-01-01", "9999-12-31"])
def test_now_has_to_be_a_date_time(cal_ai: CommandLine, given: str) -> None:
    ran = cal_ai(*RUN, "--now", given)
    assert ran.status == 2
    assert f"{given!r} is not an ISO 8601 date-time such as 2026-03-05T19:03" in ran.err
