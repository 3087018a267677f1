"""Count days, weekdays and months."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, datetime, timedelta

from cal_ai.extractors.reader.patterns import any_of

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
ONE_TO_TEN = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER = {word: value for value, word in enumerate(ONE_TO_TEN, 1)}
_NUMBER |= {"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "forty-five": 45, "ninety": 90}
_NUMBER |= {"a": 1, "an": 1, "a couple": 2, "a couple of": 2, "couple of": 2, "a few": 3}
MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?"
)
NUMBER = rf"(?:\d{{1,3}}|{any_of(_NUMBER)})"


def number(words: str) -> int:
    """Return the number that `words`, matched by NUMBER, stand for."""
    return int(words) if words.isdecimal() else _NUMBER[words.lower()]


def weekday_named(word: str) -> int:
    return _WEEKDAYS.index(word[:3].lower())


def month_named(word: str) -> int:
    return _MONTHS.index(word[:3].lower()) + 1


def monday_of(day: date) -> date:
    return day - timedelta(days=day.weekday())


def coming(today: date, weekday: int) -> date:
    """Return the next such weekday after today."""
    return today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)


def calendar_day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def next_dated(today: date, month: int, day: int, *, year: int = 0) -> date | None:
    """Return the next such date, or this year's if it is at most a month ago."""
    if year:
        return calendar_day(year, month, day)
    this_year = calendar_day(today.year, month, day)
    if this_year is not None and this_year >= today - timedelta(days=31):
        return this_year
    # 29 February may be up to eight years away.
    return next((d for y in range(1, 9) if (d := calendar_day(today.year + y, month, day))), None)


def next_nth(today: date, nth: int, weekday: int | None = None) -> date | None:
    """Return the next day of a month with this number, today included, that is such a weekday."""
    for ahead in range(3):
        day = calendar_day(*month_ahead(today, ahead), nth)
        if day is not None and day >= today and weekday in (None, day.weekday()):
            return day
    return None


def nth_weekday(today: date, weekday: int, nth: int, month: int | None = None) -> date:
    """Return the next day that is the nth such weekday (0: the last) of that or any month."""
    for ahead in range(14):
        year, number = month_ahead(today, ahead)
        first = coming(date(year, number, 1) - timedelta(days=1), weekday)
        days = [first + timedelta(weeks=week) for week in range(5)]
        day = [day for day in days if day.month == number][nth - 1]
        if day >= today and month in (None, number):
            break
    return day


def add_months(day: date, months: int) -> date:
    year, month = month_ahead(day, months)
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def month_ahead(day: date, ahead: int) -> tuple[int, int]:
    """Return year and month `ahead` months after `day`."""
    year, month = divmod(day.year * 12 + day.month - 1 + ahead, 12)
    return year, month + 1


def minute_of(moment: datetime) -> int:
    """Return the minutes since midnight."""
    return moment.hour * 60 + moment.minute
