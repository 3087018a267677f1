"""Find the days named in a text, counted from the day on which it was spoken."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta

from cal_ai.extractors.reader import reckoning
from cal_ai.extractors.reader.patterns import Span, any_of, matches, overlaps
from cal_ai.extractors.reader.reckoning import MONTH, NUMBER

_HOLIDAYS = {"mas eve": (12, 24), "mas": (12, 25), "boxing": (12, 26), "nye": (12, 31)}
_HOLIDAYS |= {"new years eve": (12, 31), "new year": (1, 1), "valentine": (2, 14)}
_HOLIDAYS |= {"patrick": (3, 17), "fourth of july": (7, 4), "halloween": (10, 31)}


@dataclass(frozen=True, slots=True)
class Day(Span):
    """A day named at text[start:end].

    `day` is None for a whole week (`week` is then its Monday), for a past day, and for a day that
    counts from another one (`offset` days after it, or its following `weekday`). `weekday` is given
    where one was said; `loose` where neither its date nor its week was. `month` says whether the
    month of a date was said; None for days that are no dates.
    """

    day: date | None = None
    last: date | None = None
    week: date | None = None
    weekday: int | None = None
    loose: bool = False
    offset: int | None = None
    past: bool = False
    month: bool | None = None


def _nth_of(text: str) -> int:
    return int(text.rstrip("stndrh"))


def _dated(
    m: re.Match[str], day: date | None, last: date | None = None, *, month: bool | None = None
) -> Day | None:
    return None if day is None else Day(*m.span(), day=day, last=last, month=month)


def _month_day(m: re.Match[str], today: date) -> Day | None:
    month, nth = reckoning.month_named(m["month"]), _nth_of(m["day"])
    day = reckoning.next_dated(today, month, nth, year=int(m["year"] or 0))
    last = None
    if day is not None and m["last"]:
        last_month = reckoning.month_named(m["last_month"] or m["month"])
        year = day.year + (last_month < month)
        last = reckoning.calendar_day(year, last_month, _nth_of(m["last"]))
    return _dated(m, day, last, month=True)


def _numeric(m: re.Match[str], today: date) -> Day | None:
    """Read day and month in numbers: day first before a dot ("17.06."), else the nearer date."""
    first, second = int(m[1]), int(m[2])
    orders = [(first, second)] if "/" in m[0] else []
    year = int(m[3]) + (2000 if int(m[3]) < 100 else 0) if m[3] else 0
    days = (reckoning.next_dated(today, *order, year=year) for order in (*orders, (second, first)))
    near = (day for day in days if day is not None)
    return _dated(m, min(near, key=lambda day: (day < today, abs(day - today)), default=None))


def _nth(m: re.Match[str], today: date) -> Day | None:
    day = reckoning.next_nth(today, _nth_of(m["nth"]))
    last = reckoning.next_nth(day, _nth_of(m["last"])) if day is not None and m["last"] else None
    if day is not None and m["next_month"]:
        day = reckoning.calendar_day(*reckoning.month_ahead(today, 1), day.day)
    return _dated(m, day, last, month=bool(m["next_month"]))


def _weekday_nth(m: re.Match[str], today: date) -> Day | None:
    """Read a weekday and the number of its day ("Monday 16"); None if they do not agree."""
    weekday, day = reckoning.weekday_named(m["wd"]), reckoning.next_nth(today, int(m["nth"]))
    agree = day is not None and day.weekday() == weekday
    return Day(*m.span(), day=day, weekday=weekday, month=False) if agree else None


def _ahead(m: re.Match[str], today: date) -> Day | None:
    """Read a day some days, weeks or months ahead ("two weeks from Friday")."""
    count, unit = reckoning.number(m["count"]), m["unit"]
    base, anchor = today, m["anchor"]
    if anchor == "tomorrow":
        base = today + timedelta(days=1)
    elif anchor and anchor not in ("today", "now"):
        base = reckoning.coming(today, reckoning.weekday_named(anchor))
    if unit.startswith("month"):
        return _dated(m, reckoning.add_months(base, min(count, 120)))
    return _dated(m, base + timedelta(days=count * {"d": 1, "w": 7, "f": 14}[unit[0]]))


def _relative_weekday(m: re.Match[str], today: date) -> Day | None:
    weekday = reckoning.weekday_named(m["wd"])
    how, week = m["how"] or "", (m["before"] or "") + (m["week"] or "")
    next_week = reckoning.monday_of(today) + timedelta(days=7)
    if "week after next" in week:
        day = next_week + timedelta(days=7 + weekday)
    elif "next week" in week or how == "next":
        day = next_week + timedelta(days=weekday)
    elif "this week" in week or how == "this":
        day = today + timedelta(days=(weekday - today.weekday()) % 7)
    else:
        day = reckoning.coming(today, weekday) + timedelta(days=7 if week else 0)
    loose = not week and how in ("", "on", "every", "each")
    return Day(*m.span(), day=day, weekday=weekday, loose=loose)


def _nth_weekday(m: re.Match[str], today: date) -> Day | None:
    """Read a weekday of a month ("the first Monday of May", "the last Friday of the month")."""
    since = date(*reckoning.month_ahead(today, 1), 1) if "next month" in m[0] else today
    month = reckoning.month_named(m["month"]) if m["month"] else None
    weekday, nth = reckoning.weekday_named(m["wd"]), _WHICH[m["which"]]
    return _dated(m, reckoning.nth_weekday(since, weekday, nth, month))


def _week(m: re.Match[str], today: date) -> Day | None:
    ahead = 14 if "after next" in m[0] else 7 * ("next" in m[0] or "following" in m[0])
    return Day(*m.span(), week=reckoning.monday_of(today) + timedelta(days=ahead))


def _holiday(m: re.Match[str], today: date) -> Day | None:
    words = m[0].replace("'", "")
    month, nth = next(day for name, day in _HOLIDAYS.items() if name in words)
    return _dated(m, reckoning.next_dated(today, month, nth))


def _offset(m: re.Match[str], today: date) -> Day | None:
    if m["wd"]:
        return Day(*m.span(), weekday=reckoning.weekday_named(m["wd"]), offset=0)
    if m["same"]:
        return Day(*m.span(), offset=0)
    return Day(*m.span(), offset=-1 if "before" in m[0] else 1)


_WD = (
    r"(?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|mon|tues?|weds?"
    r"|thurs?|thur?|fri|(?<!\bi )(?<!we )(?<!he )(?<!they )(?<!you )(?<!who )(?<!just )(?<!been "
    r")(?<!'ve )(?<!had )(?<!have )sat(?! (?:down|there|in|on|next|at (?:a|the)))|(?<!the )(?<!in "
    r")(?<!of )(?<!full )(?<!hot )(?<!no )sun(?! (?:is|was|cream|hat|rise|set|comes))|(?<=on "
    r")sun)(?![\w-]*\w)"
)
_WHICH = {"last": 0, "first": 1, "second": 2, "third": 3, "fourth": 4}
_WHICH |= {"1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_D = r"(?:3[01]|[12]\d|0?[1-9])"
_NOT_A_DAY = (
    r"(?!\s*(?:floor|street|st\b|ave|avenue|grade|time|place|graders?|birthday|anniversary|edition"
    r"|round|quarter|draft|attempt|try|option|choice|row|street|&|and main|gen))"
)
_ND = rf"(?:{_D}(?:st|nd|rd|th)?)\b"
_RULES: dict[str, Callable[[re.Match[str], date], Day | None]] = {
    rf"\b(?:the )?(?P<which>{any_of(_WHICH)}) (?P<wd>{_WD})"
    rf" (?:of|in) (?:(?P<month>{MONTH})|(?:the|this|next) month)\b": _nth_weekday,
    rf"\b(?:yesterday|last (?:night|week|month|year|time|weekend|summer|winter|spring|fall|{_WD})"
    r"|the other (?:day|night|week)|earlier (?:today|this (?:week|month|year))|this past \w+"
    r"|(?:\w+ )?(?:days?|weeks?|months?|years?|hours?|minutes?) (?:ago|back)\b|back in "
    rf"(?:{MONTH}|\d{{4}}))": lambda m, _: Day(*m.span(), past=True),
    r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b": lambda m, _: _dated(
        m, reckoning.calendar_day(int(m[1]), int(m[2]), int(m[3]))
    ),
    rf"(?<![\d.:])(?<!\bat )\b(?:the )?(?P<day>{_ND})(?:\s?(?:-|to|until|till)\s?(?:the )?"
    rf"(?P<last>{_ND}))? (?:of )?(?P<month>{MONTH})(?P<last_month>)\b(?! (?:i|(?:the )?{_D}"
    r"(?:st|nd|rd|th))\b)(?:,? (?P<year>20\d\d)\b)?": _month_day,
    rf"\b(?P<month>{MONTH}) (?:the )?(?P<day>{_ND})(?![:.]\d)(?:\s?(?:-|to|through|thru|until)"
    rf"\s?(?:the )?(?:(?P<last_month>{MONTH}) )?(?P<last>{_ND})(?!\s?(?::|am|pm)))?(?:,? "
    r"(?P<year>20\d\d))?": _month_day,
    r"(?<![\d.:])(?<!\bat )(\d{1,2})\.(\d{1,2})\.(\d{4}|(?!\d))": _numeric,
    r"\b(\d{1,2})-(\d{1,2})-(20\d\d)\b": _numeric,
    r"(?<![\d/.:-])(?!24/7)(\d{1,2})/(\d{1,2})(?:/(\d{2}|20\d\d))?(?![\d/])(?!\s*(?:of\b"
    r"|an? hour|hours?|cup))": _numeric,
    rf"\b(?P<count>{NUMBER}) (?P<unit>weeks?|days?|months?|fortnights?) (?:from|after|on)"
    rf" (?P<anchor>today|now|tomorrow|{_WD})": _ahead,
    rf"\bin (?P<count>{NUMBER}) (?P<unit>weeks?|days?|months?|fortnights?)\b(?P<anchor>)(?:'?"
    rf" time)?": _ahead,
    r"\b(?:today|tonight|this (?:morning|afternoon|evening|arvo)|later on today|eod|end of"
    r" (?:the )?day)\b": _dated,
    r"\b(?:(?P<more>(?:the )?day after )?tomorrow)\b": lambda m, today: _dated(
        m, today + timedelta(days=2 if m["more"] else 1)
    ),
    rf"\b(?P<wd>{_WD}),? (?P<nth>1[3-9]|2\d|3[01])\b(?!\s?(?:[-:.h/]|to|till|until)\s?\w"
    r"| \d| ?(?:hours|o'?clock))": _weekday_nth,
    r"\b(?:(?P<before>next week|this week|the week after next|week after next),? (?:on )?"
    rf"|(?P<how>this coming|this|next|coming|every|each|on) )?(?P<wd>{_WD})(?P<week>,?"
    r" (?:of |in )?(?:the )?(?:next week|this week|week after next)| week\b"
    r"| after next\b)?": _relative_weekday,
    r"\b(?:(?:the )?week after next|(?:next|this|later this|the following) week"
    r"|(?:next|this|the) weekend)\b": _week,
    r"\b(?:(?:christ|x)mas(?: eve| day)?|boxing day|nye\b|new year'?s(?: eve| day)?"
    r"|valentine'?s(?: day)?|halloween|st\.? patrick'?s day|fourth of july)(?! (?:party|dinner"
    r"|shopping|tree|cards?|gifts?|presents?))": _holiday,
    rf"\b(?:the |on )?(?P<nth>{_D}(?:st|nd|rd|th))\b{_NOT_A_DAY}(?:\s?(?:-|to|through|thru"
    rf"|until)\s?(?:the )?(?P<last>{_D}(?:st|nd|rd|th))\b)?(?P<next_month> of next month)?": _nth,
    rf"\b(?:the (?:(?:next|following) day|day (?:after|before)|following (?P<wd>{_WD}))"
    r"|(?P<same>(?:(?:that|the) )?same (?:day|(?=morning|afternoon|evening|night))"
    r"|that (?:day|(?=morning|afternoon|evening|night))))(?:\b|(?<= ))": _offset,
}


def find_days(text: str, today: date) -> list[Day]:
    """Find the days named in `text`, in order; of overlapping readings the more specific one."""
    days: list[Day] = []
    for source, read in _RULES.items():
        for match in matches(source, text):
            if overlaps(days, *match.span()):
                continue
            try:
                day = read(match, today)
            except (OverflowError, ValueError):  # past the year 9999
                continue
            if day is not None:
                days.append(day)
    days.sort(key=lambda day: day.start)
    return _merged(days, text, today)


def _merged(days: list[Day], text: str, today: date) -> list[Day]:
    """Merge a weekday and a date beside it that name one day ("Friday the 27th")."""
    merged: list[Day] = []
    while days:
        first, last = days[0], days[:2][-1]
        dated = [day for day in days[:2] if day.day and day.weekday is None]
        named = [day.weekday for day in days[:2] if day.weekday is not None]
        is_one = len(dated) == len(named) == 1
        if is_one and text[first.end : last.start].strip(" ,(") in ("", "the", "a"):
            both = replace(dated[0], start=first.start, end=last.end, weekday=named[0])
            if both.day and both.month is False:
                day = reckoning.next_nth(today, both.day.day, named[0])
                both = replace(both, day=day or both.day)
            merged.append(both)
            days = days[2:]
        else:
            merged.append(first)
            days = days[1:]
    return merged
