from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cal_ai.extractors.reader.dates import find_days
from cal_ai.extractors.reader.lengths import find_from_now, find_lengths, find_shifts
from cal_ai.extractors.reader.spelling import plain
from cal_ai.extractors.reader.times import Clock, find_clocks, find_parts


def clocks(said: str) -> list[Clock]:
    text = plain(said)
    ends = frozenset(day.end for day in find_days(text, date(2026, 2, 20)))
    return find_clocks(text, ends)


def hour(minute: int | None) -> str:
    return "" if minute is None else f"{minute // 60}:{minute % 60:02d}"


# An hour without am or pm is kept as said; the activity decides later.
TIMES = {
    "at 3": "3:00",
    "3pm": "15:00",
    "3 p.m.": "15:00",
    "at 3 PM sharp": "15:00",
    "12am": "0:00",
    "12pm": "12:00",
    "15:00": "15:00",
    "9.30am": "9:30",
    "noon": "12:00",
    "at midday": "12:00",
    "midnight": "0:00",
    "half past two": "2:30",
    "quarter to five": "4:45",
    "a quarter past 3": "3:15",
    "at ten to six": "5:50",
    "twenty past four": "4:20",
    "half two": "2:30",
    "three thirty": "3:30",
    "ten fifteen": "10:15",
    "eleven forty": "11:40",
    "two ten on the twelfth": "2:10",
    "Wednesday, seven, here": "7:00",
    "Monday the twelfth, eight": "8:00",
    "four's fine": "4:00",
    "Eight I can do": "8:00",
    "Three on Sunday": "3:00",
    "seven in the morning": "7:00",
    "seven o'clock": "7:00",
    "eleven am": "11:00",
    "at seven": "7:00",
    "3ish": "3:00",
    "around 5": "5:00",
    "like 6": "6:00",
    "how about 4?": "4:00",
    "how about four?": "4:00",
    "4?": "4:00",
    "Four.": "4:00",
    "make it 4": "4:00",
    "4 works": "4:00",
    "let's say 5": "5:00",
    "Thursday 3": "3:00",
    "3 tomorrow": "3:00",
    "@ 2": "2:00",
    "at 7 in the evening": "19:00",
    "8 at night": "20:00",
    "7 in the morning": "7:00",
    "5p": "17:00",
    "2, fine, my stop": "2:00",
    "Saturday morning, 9?": "9:00",
    "right after them, so 11, at your gate": "11:00",
    "pick me up 0530 hours": "5:30",
    "around 1930": "19:30",
    "tomorrow 1530": "15:30",
    "too early. 1130?": "11:30",
    "730": "7:30",
    "so not 630": "6:30",
    "yes 430 tues": "4:30",
    "430 my time": "4:30",
    "half fıve": "5:30",
    "quarter past ſix": "6:15",
    "at ten fİfteen": "10:15",
    "after half 7": "7:30",
    "half-eight": "8:30",
    "half 12 at the Black Lion": "12:30",
    "sat noonish": "12:00",
    "thu 20h?": "20:00",
    "wednesday 18h": "18:00",
    "at 9h": "9:00",
    "Thursday at 14": "14:00",
    "flight 0640": "6:40",
    "615 in the MORNING": "6:15",
    "it isn't until 3": "3:00",
    "17 september 18:30": "18:30",
    "3 March 10:00": "10:00",
    "28th of august 9 oclock": "9:00",
    "mon 23, 8?": "8:00",
}


@pytest.mark.parametrize(("said", "expected"), TIMES.items(), ids=TIMES)
def test_a_clock_time_is_found(said: str, expected: str) -> None:
    assert [hour(clock.minute) for clock in clocks(said)] == [expected]


RANGES = {
    "from 2 to 4": ("2:00", "4:00"),
    "half nine till one": ("9:30", "1:00"),
    "eight to half ten": ("8:00", "10:30"),
    "8 till 9 yh?": ("8:00", "9:00"),
    "2-3:30pm": ("14:00", "15:30"),
    "11-1pm": ("11:00", "13:00"),
    "9am-5pm": ("9:00", "17:00"),
    "9 to 5pm": ("9:00", "17:00"),
    "10 till noon": ("10:00", "12:00"),
    "between 2 and 4": ("2:00", "4:00"),
    "09:00 to 12:30": ("9:00", "12:30"),
    "Friday, 10:30-12": ("10:30", "12:00"),
    "tomorrow 2-3": ("2:00", "3:00"),
    "nine to four": ("9:00", "4:00"),
    "2–4pm": ("14:00", "16:00"),
    "until 5": ("", "5:00"),
    "from 9 to midnight": ("21:00", "0:00"),
    "from 15 to 17": ("15:00", "17:00"),
    "from 17h to 19h": ("17:00", "19:00"),
    "12 to 14": ("12:00", "14:00"),
    "6:30 to 21:00": ("6:30", "21:00"),
    "tues 19 mar 8-9pm": ("20:00", "21:00"),
    "it ends at 9pm": ("", "21:00"),
}


@pytest.mark.parametrize(("said", "expected"), RANGES.items(), ids=RANGES)
def test_a_range_has_two_ends(said: str, expected: tuple[str, str]) -> None:
    (clock,) = clocks(said)
    assert (hour(clock.minute), hour(clock.until)) == expected


@pytest.mark.parametrize(
    "said",
    [
        "3 people",
        "room 3",
        "2 hours",
        "table for 4",
        "the 5th",
        "chapter 7",
        "$5",
        "50%",
        "version 2",
        "3 of us",
        "20 minutes",
        "five dollars",
        "that one",
        "no one",
        "one of these",
        "1:1",
        "we have 3 candidates",
        "all afternoon",
        "12 main street",
        "at 430 Main Street",
        "room 430",
        "of 500, 300",
        "at 1945 words",
        "the door code 0640",
        "it's 14 a kilo",
        "at 18,750 euros",
        "for 20 euros",
        "drive for 14h",
    ],
)
def test_numbers_that_are_no_times_are_left_alone(said: str) -> None:
    assert clocks(said) == []


@pytest.mark.parametrize(
    ("said", "zone"),
    [
        ("3pm Eastern", "eastern"),
        ("3 pm ET", "et"),
        ("noon Pacific time", "pacific time"),
        ("5pm London time", "london time"),
        ("14:00 UTC", "utc"),
        ("noon my time", "my time"),
        ("7pm for me", "for me"),
    ],
)
def test_a_zone_belongs_to_the_time_before_it(said: str, zone: str) -> None:
    assert [clock.zone for clock in clocks(said)] == [zone]


LENGTHS = {
    "for an hour": 60,
    "half an hour": 30,
    "an hour and a half": 90,
    "one and a half hours": 90,
    "two and a half hours": 150,
    "1.5 hours": 90,
    "45 min": 45,
    "90 minutes": 90,
    "a 30-minute call": 30,
    "2h": 120,
    "a couple of hours": 120,
    "thirty minutes": 30,
    "two hours": 120,
    "3 days": 4320,
}


@pytest.mark.parametrize(("said", "minutes"), LENGTHS.items(), ids=LENGTHS)
def test_a_duration_is_found(said: str, minutes: int) -> None:
    assert [length.minutes for length in find_lengths(plain(said))] == [minutes]


@pytest.mark.parametrize(
    "said", ["an hour ago", "in an hour", "every 2 hours", "half an hour late"]
)
def test_a_distance_is_no_duration(said: str) -> None:
    assert find_lengths(plain(said)) == []


SHIFTS = {
    "push it back an hour": (60, 0),
    "half an hour later": (30, 0),
    "15 minutes earlier": (-15, 0),
    "move it up 30 minutes": (-30, 0),
    "push the review by 45 minutes": (45, 0),
    "move our call on Friday by an hour": (60, 0),
    "delay it by an hour": (60, 0),
    "back a week": (0, 7),
    "two days later": (0, 2),
    "a day earlier": (0, -1),
}


@pytest.mark.parametrize(("said", "expected"), SHIFTS.items(), ids=SHIFTS)
def test_a_shift_has_a_direction(said: str, expected: tuple[int, int]) -> None:
    assert [(shift.minutes, shift.days) for shift in find_shifts(plain(said))] == [expected]


def test_a_time_from_now_is_told_in_minutes() -> None:
    assert [ahead.minutes for ahead in find_from_now("in 20 minutes")] == [20]
    assert [ahead.minutes for ahead in find_from_now("in an hour and a half")] == [90]


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ("tomorrow morning", "morning"),
        ("Thursday afternoon", "afternoon"),
        ("after work", "evening"),
        ("tonight", "night"),
        ("Friday night", "night"),
        ("mon eve", "evening"),
        ("tomorrow eve", "evening"),
        ("over lunch", "lunchtime"),
        ("first thing", "morning"),
    ],
)
def test_a_part_of_the_day_is_found(said: str, part: str) -> None:
    assert [found.part for found in find_parts(plain(said))] == [part]


@pytest.mark.parametrize(
    "said", ["Good morning!", "game night", "movie night", "have a nice evening"]
)
def test_greetings_and_game_nights_are_no_parts_of_the_day(said: str) -> None:
    assert find_parts(said) == []


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(0, 23), st.integers(0, 59))
def test_every_time_of_a_24_hour_clock_is_read_back(hours: int, minutes: int) -> None:
    (clock,) = clocks(f"{hours:02d}:{minutes:02d}")
    assert clock.minute == hours * 60 + minutes


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(1, 12), st.integers(0, 59), st.sampled_from(["am", "pm", " AM", " p.m."]))
def test_every_time_of_a_12_hour_clock_is_read_back(hours: int, minutes: int, half: str) -> None:
    (clock,) = clocks(f"{hours}:{minutes:02d}{half}")
    late = "p" in half.lower()
    assert (clock.minute, clock.certain) == ((hours % 12 + 12 * late) * 60 + minutes, True)
