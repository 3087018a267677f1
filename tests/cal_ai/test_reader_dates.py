from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cal_ai.extractors.reader.dates import find_days
from cal_ai.extractors.reader.spelling import plain

FRIDAY = date(2026, 2, 20)

# Said on Friday, 20 February 2026.
DAYS = {
    "today": "2026-02-20",
    "tonight": "2026-02-20",
    "this afternoon": "2026-02-20",
    "tomorrow": "2026-02-21",
    "tmrw": "2026-02-21",
    "tommorow": "2026-02-21",
    "2moro": "2026-02-21",
    "the day after tomorrow": "2026-02-22",
    "Monday": "2026-02-23",
    "mon": "2026-02-23",
    "on tues": "2026-02-24",
    "Wensday": "2026-02-25",
    "thurs": "2026-02-26",
    "Thrusday": "2026-02-26",
    "Friday": "2026-02-27",
    "this Friday": "2026-02-20",
    "next Friday": "2026-02-27",
    "next Tuesday": "2026-02-24",
    "this coming Sunday": "2026-02-22",
    "sat at 3": "2026-02-21",
    "Tuesday next week": "2026-02-24",
    "next week on Thursday": "2026-02-26",
    "Monday the week after next": "2026-03-02",
    "a week from Monday": "2026-03-02",
    "two weeks from tomorrow": "2026-03-07",
    "Thursday week": "2026-03-05",
    "Monday after next": "2026-03-02",
    "in two weeks": "2026-03-06",
    "in 3 days": "2026-02-23",
    "in a couple of days": "2026-02-22",
    "in a month": "2026-03-20",
    "three days from now": "2026-02-23",
    "the 3rd": "2026-03-03",
    "the 20th": "2026-02-20",
    "the 25th": "2026-02-25",
    "the 31st": "2026-03-31",
    "on the fifth": "2026-03-05",
    "the 5th of next month": "2026-03-05",
    "March 3rd": "2026-03-03",
    "Mar. 3": "2026-03-03",
    "3 March": "2026-03-03",
    "the 3rd of March": "2026-03-03",
    "the third of March": "2026-03-03",
    "March third": "2026-03-03",
    "Thursday the twelfth": "2026-03-12",
    "next Thursday, the fifth of March": "2026-03-05",
    "the first Monday of March": "2026-03-02",
    "first monday of february": "2027-02-01",
    "2nd tues in april": "2026-04-14",
    "the last Friday of the month": "2026-02-27",
    "the first Friday of the month": "2026-03-06",
    "the third Wednesday of next month": "2026-03-18",
    "Monday, the twenty-third": "2026-02-23",
    "the twenty fifth, then": "2026-02-25",
    "the fifteenth is fine": "2026-03-15",
    "17.03.": "2026-03-17",
    "March 3, 2027": "2027-03-03",
    "Febuary 25th": "2026-02-25",
    "January 5": "2027-01-05",
    "Dec 31st": "2026-12-31",
    "February 29": "2028-02-29",
    "3/14": "2026-03-14",
    "14/3": "2026-03-14",
    "3/14/27": "2027-03-14",
    "1/5": "2026-05-01",
    "2026-03-14": "2026-03-14",
    "Friday the 27th": "2026-02-27",
    "Tuesday, March 3rd": "2026-03-03",
    "March 3rd, a Tuesday": "2026-03-03",
    "New Year's Eve": "2026-12-31",
    "Christmas Day": "2026-12-25",
    "new years eve": "2026-12-31",
    "new years": "2027-01-01",
    "Valentine's Day": "2026-02-14",
    "every Tuesday": "2026-02-24",
    "17 september 18:30": "2026-09-17",
    "3 March 10:00": "2026-03-03",
    "9 december 15:20": "2026-12-09",
    "the 9th of january 20:00": "2027-01-09",
    "tues 3 mar 8-9pm": "2026-03-03",
    "at 10 March 3rd": "2026-03-03",
    "17 September 2027, 18:30": "2027-09-17",
    "sat 28 feb": "2026-02-28",
    "sat 17.03.": "2026-03-17",
    "14-07-2027": "2027-07-14",
    "xmas eve": "2026-12-24",
    "xmas": "2026-12-25",
    "nye": "2026-12-31",
    "monday 23, same time": "2026-02-23",
    "Monday 16, same time": "2026-03-16",
    "monday 24": "2026-02-23",
    "monday 23 to 24": "2026-02-23",
    "the 24th, a Tuesday": "2026-02-24",
    "the 5th, a Sunday": "2026-04-05",
}


@pytest.mark.parametrize(("said", "expected"), DAYS.items(), ids=DAYS)
def test_a_day_is_resolved_against_the_day_of_speaking(said: str, expected: str) -> None:
    found = [day.day for day in find_days(plain(said), FRIDAY) if day.day is not None]
    assert found[:1] == [date.fromisoformat(expected)]


@pytest.mark.parametrize(
    "said",
    [
        "he sat down",
        "in the sun",
        "may I come in",
        "march on",
        "the first time",
        "the 5th floor",
        "on 5th street",
        "open 24/7",
        "half of it",
        "1/2 hour",
        "99/99",
        "2026-02-30",
        "the second option",
    ],
)
def test_words_that_only_look_like_days_are_none(said: str) -> None:
    assert find_days(plain(said), FRIDAY) == []


@pytest.mark.parametrize(
    "said",
    ["yesterday", "last Friday", "two days ago", "last night", "the other day", "a week ago"],
)
def test_past_days_are_marked_as_past(said: str) -> None:
    assert [day.past for day in find_days(said, FRIDAY)] == [True]


def test_a_range_of_days_has_a_last_day() -> None:
    (day,) = find_days("March 3rd to 5th", FRIDAY)
    assert (day.day, day.last) == (date(2026, 3, 3), date(2026, 3, 5))
    (day,) = find_days("March 30 to April 2", FRIDAY)
    assert (day.day, day.last) == (date(2026, 3, 30), date(2026, 4, 2))


def test_a_range_of_days_may_precede_its_month() -> None:
    (day,) = find_days("3rd-5th March", FRIDAY)
    assert (day.day, day.last) == (date(2026, 3, 3), date(2026, 3, 5))


def test_a_range_of_hours_after_a_date_is_no_range_of_days() -> None:
    (day,) = find_days("March 3-5pm", FRIDAY)
    assert (day.day, day.last) == (date(2026, 3, 3), None)


@pytest.mark.parametrize(
    ("said", "monday"),
    [
        ("sometime next week", 23),
        ("this weekend", 16),
        ("over the weekend", 16),
        ("next weekend", 23),
    ],
)
def test_a_week_is_its_monday(said: str, monday: int) -> None:
    (day,) = find_days(said, FRIDAY)
    assert (day.day, day.week) == (None, date(2026, 2, monday))


@pytest.mark.parametrize("weekday", ["Monday", "Tuesday", "Wednesday", "Thursday", "Sunday"])
@settings(max_examples=30, deadline=None, derandomize=True)
@given(today=st.dates(date(2000, 1, 1), date(2100, 1, 1)))
def test_weekdays_lie_within_the_coming_week_and_next_ones_in_the_next(
    weekday: str, today: date
) -> None:
    (day,) = find_days(weekday, today)
    (following,) = find_days(f"next {weekday}", today)
    assert day.day is not None
    assert following.day is not None
    assert 1 <= (day.day - today).days <= 7
    assert day.day.strftime("%A") == following.day.strftime("%A") == weekday
    weeks = following.day.isocalendar()[:2] > today.isocalendar()[:2]
    assert weeks
    assert (following.day - today).days <= 13


def test_a_day_past_the_last_year_is_none() -> None:
    assert find_days("in 120 months", date(9999, 12, 31)) == []


@pytest.mark.parametrize(
    ("said", "days"),
    [
        ("Thursday the 26th", ["2026-02-26"]),
        ("on 3rd then", ["2026-03-03"]),
        ("Thursday, or the 3rd?", ["2026-02-26", "2026-03-03"]),
    ],
)
def test_a_weekday_and_a_number_are_one_day_unless_they_are_apart(
    said: str, days: list[str]
) -> None:
    found = [day.day for day in find_days(plain(said), FRIDAY) if day.day is not None]
    assert found == [date.fromisoformat(day) for day in days]
