"""The forms in which days are said, each read against the day of speaking."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

from cal_ai.extractors.reader.patterns import Span
from cal_ai.extractors.reader.reckoning import (
    add_months,
    calendar_day,
    coming,
    monday_of,
    month_ahead,
    month_named,
    next_dated,
    next_nth,
    number,
    weekday_named,
)

_HOLIDAYS = {"christmas eve": (12, 24), "christmas": (12, 25), "boxing": (12, 26)}
_HOLIDAYS |= {"new years eve": (12, 31), "new year": (1, 1), "valentine": (2, 14)}
_HOLIDAYS |= {"patrick": (3, 17), "fourth of july": (7, 4), "halloween": (10, 31)}


@dataclass(frozen=True, slots=True)
class Day(Span):
    """A day named at text[start:end].

    `day` is None for a whole week (`week` is then its Monday), for a past day, and for a day that
    counts from another one (`offset` days after it, or its following `weekday`).
    """

    day: date | None = None
    last: date | None = None
    week: date | None = None
    weekday: int | None = None
    offset: int | None = None
    past: bool = False


def nth_of(text: str) -> int:
    return int(text.rstrip("stndrh"))


def dated(m: re.Match[str], day: date | None, last: date | None = None) -> Day | None:
    return None if day is None else Day(*m.span(), day=day, last=last)


def month_day(m: re.Match[str], today: date) -> Day | None:
    month, nth = month_named(m["month"]), nth_of(m["day"])
    year = m["year"]
    day = calendar_day(int(year), month, nth) if year else next_dated(today, month, nth)
    last = None
    if day is not None and m["last"]:
        last_month = month_named(m["last_month"]) if m["last_month"] else month
        last = calendar_day(day.year + (last_month < month), last_month, nth_of(m["last"]))
    return dated(m, day, last)


def day_month(m: re.Match[str], today: date) -> Day | None:
    month = month_named(m["month"])
    day = next_dated(today, month, nth_of(m["day"]))
    if day is None or not m["first"]:
        return dated(m, day)
    return dated(m, calendar_day(day.year, month, nth_of(m["first"])), last=day)


def numeric(m: re.Match[str], today: date) -> Day | None:
    """Day and month in numbers: the day first before a dot ("17.06."), else what is nearer."""
    first, second = int(m[1]), int(m[2])
    orders = [(first, second)] if "/" in m[0] else []
    year = int(m[3]) + (2000 if int(m[3]) < 100 else 0) if m[3] else None
    days = [
        calendar_day(year, month, nth) if year else next_dated(today, month, nth)
        for month, nth in (*orders, (second, first))
    ]
    near = (day for day in days if day is not None)
    return dated(m, min(near, key=lambda day: (day < today, abs(day - today)), default=None))


def nth(m: re.Match[str], today: date) -> Day | None:
    day = next_nth(today, nth_of(m["nth"]))
    last = next_nth(day, nth_of(m["last"])) if day is not None and m["last"] else None
    if day is not None and m["next_month"]:
        day = calendar_day(*month_ahead(today, 1), day.day)
    return dated(m, day, last)


def ahead(m: re.Match[str], today: date) -> Day | None:
    """The day a number of days, weeks or months ahead ("two weeks from Friday")."""
    count, unit = number(m["count"]), m["unit"]
    base, anchor = today, m["anchor"]
    if anchor == "tomorrow":
        base = today + timedelta(days=1)
    elif anchor and anchor not in ("today", "now"):
        base = coming(today, weekday_named(anchor))
    if unit.startswith("month"):
        return dated(m, add_months(base, min(count, 120)))
    return dated(m, base + timedelta(days=count * {"d": 1, "w": 7, "f": 14}[unit[0]]))


def relative_weekday(m: re.Match[str], today: date) -> Day | None:
    weekday = weekday_named(m["wd"])
    how, week = m["how"] or "", (m["before"] or "") + (m["week"] or "")
    next_week = monday_of(today) + timedelta(days=7)
    if "week after next" in week:
        day = next_week + timedelta(days=7 + weekday)
    elif "next week" in week or how == "next":
        day = next_week + timedelta(days=weekday)
    elif "this week" in week or how == "this":
        day = today + timedelta(days=(weekday - today.weekday()) % 7)
    else:
        day = coming(today, weekday) + timedelta(days=7 if week else 0)
        if not week and how in ("", "on", "every", "each"):
            return Day(*m.span(), day=day, weekday=weekday)
    return Day(*m.span(), day=day)


def weekend(m: re.Match[str], today: date) -> Day | None:
    ahead = 7 if "next" in m[0] else 0
    saturday = monday_of(today) + timedelta(days=5 + ahead)
    if today.weekday() == 6 and not ahead:
        saturday = today
    return Day(*m.span(), day=saturday)


def week(m: re.Match[str], today: date) -> Day | None:
    said = m[0]
    ahead = 14 if "after next" in said else 0 if said.startswith(("this", "later")) else 7
    return Day(*m.span(), week=monday_of(today) + timedelta(days=ahead))


def end_of(m: re.Match[str], today: date) -> Day | None:
    ahead = 1 if m["next"] else 0
    start = m["side"] in ("beginning", "start", "first")
    if m["unit"] == "month":
        year, month = month_ahead(today, 1 if start else ahead)
        day = date(year, month, 1 if start else monthrange(year, month)[1])
    else:
        day = monday_of(today) + timedelta(days=7 * ahead + (0 if start else 4))
        if day < today:
            day += timedelta(days=7)
    return Day(*m.span(), day=day)


def holiday(m: re.Match[str], today: date) -> Day | None:
    said = m[0].replace("'", "")
    month, nth = next(day for name, day in _HOLIDAYS.items() if name in said)
    return dated(m, next_dated(today, month, nth))


def offset(m: re.Match[str], today: date) -> Day | None:
    if m["wd"]:
        return Day(*m.span(), weekday=weekday_named(m["wd"]), offset=0)
    if m["same"]:
        return Day(*m.span(), offset=0)
    return Day(*m.span(), offset=-1 if "before" in m[0] else 1)
