"""Days named in a text, resolved against the day on which it was said."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta

from cal_ai.extractors.rules.patterns import found, small, small_pattern
from cal_ai.extractors.rules.reckoning import (
    NUMBER,
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


@dataclass(frozen=True, slots=True)
class Day:
    """A day named at text[start:end].

    `day` is None for a whole week (`week` is then its Monday), for a past day, and for a day that
    counts from another one (`offset` days after it, or its following `weekday`).
    """

    start: int
    end: int
    day: date | None = None
    last: date | None = None
    week: date | None = None
    weekday: int | None = None
    offset: int | None = None
    past: bool = False
    vague: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether nothing but the name of a weekday says which day it is."""
        named = self.weekday is not None and self.day is not None and self.offset is None
        return named and self.end - self.start <= len("wednesday")


_WD = (
    r"(?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?"
    r"|mon|tues?|weds?|thurs?|thur?|fri|(?:(?<=on )|(?<=this )|(?<=next )|(?<=for )|(?<=about )"
    r"|(?<=or )"
    r"|(?<=by )|(?<=and )|(?<=- ))(?:sat|sun)|(?:sat|sun)(?=\s*(?:at\b|@|morning|afternoon|evening"
    r"|night|\d|\?|works|or\b)))"
    r"(?![\w-]*\w)"
)
_MON = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)\.?"
)
_D = r"(?:3[01]|[12]\d|0?[1-9])"
_NOT_A_DAY = (
    r"(?!\s*(?:floor|street|st\b|ave|avenue|grade|time|place|graders?|birthday|anniversary|edition"
    r"|round"
    r"|quarter|draft|attempt|try|option|choice|row|street|&|and main|gen))"
)


def _nth_of(text: str) -> int:
    return int(text.rstrip("stndrh"))


def _iso(m: re.Match[str], today: date) -> Day | None:
    return _dated(m, calendar_day(int(m[1]), int(m[2]), int(m[3])))


def _dated(m: re.Match[str], day: date | None, last: date | None = None) -> Day | None:
    return None if day is None else Day(m.start(), m.end(), day=day, last=last)


def _month_day(m: re.Match[str], today: date) -> Day | None:
    month, nth = month_named(m["month"]), _nth_of(m["day"])
    year = m["year"]
    day = calendar_day(int(year), month, nth) if year else next_dated(today, month, nth)
    last = None
    if day is not None and m["last"]:
        last_month = month_named(m["last_month"]) if m["last_month"] else month
        last = calendar_day(day.year + (last_month < month), last_month, _nth_of(m["last"]))
    return _dated(m, day, last)


def _day_month(m: re.Match[str], today: date) -> Day | None:
    month = month_named(m["month"])
    day = next_dated(today, month, _nth_of(m["day"]))
    if day is None or not m["first"]:
        return _dated(m, day)
    return _dated(m, calendar_day(day.year, month, _nth_of(m["first"])), last=day)


def _slashed(m: re.Match[str], today: date) -> Day | None:
    first, second = int(m[1]), int(m[2])
    month, nth = (first, second) if first <= 12 else (second, first)
    if (first, second) == (24, 7) or not 1 <= month <= 12:
        return None
    if m[3]:
        year = int(m[3])
        return _dated(m, calendar_day(year + 2000 if year < 100 else year, month, nth))
    return _dated(m, next_dated(today, month, nth))


def _dotted(m: re.Match[str], today: date) -> Day | None:
    """Day and month as much of Europe writes them ("17.06.")."""
    nth, month = int(m[1]), int(m[2])
    if not 1 <= month <= 12:
        return None
    year = int(m[3]) if m[3] else None
    return _dated(m, calendar_day(year, month, nth) if year else next_dated(today, month, nth))


def _nth(m: re.Match[str], today: date) -> Day | None:
    day = next_nth(today, _nth_of(m["nth"]))
    last = None
    if day is not None and m["last"]:
        last = next_nth(day, _nth_of(m["last"]))
    if day is not None and m["next_month"]:
        day = calendar_day(*month_ahead(today, 1), day.day)
    return _dated(m, day, last)


def _ahead(m: re.Match[str], today: date) -> Day | None:
    """The day a number of days, weeks or months ahead ("two weeks from Friday")."""
    count, unit = number(m["count"]), m["unit"].lower()
    base = today
    anchor = m["anchor"]
    if anchor and anchor.lower() == "tomorrow":
        base = today + timedelta(days=1)
    elif anchor and anchor.lower() not in ("today", "now"):
        base = coming(today, weekday_named(anchor))
    if unit.startswith("month"):
        return _dated(m, add_months(base, min(count, 120)))
    days = count * (7 if unit.startswith(("week", "fortnight")) else 1)
    if unit.startswith("fortnight"):
        days *= 2
    return _dated(m, base + timedelta(days=days))


def _relative_weekday(m: re.Match[str], today: date) -> Day | None:
    weekday = weekday_named(m["wd"])
    how = (m["how"] or "").lower().strip()
    week = (m["week"] or "").lower()
    before = (m["before"] or "").lower()
    next_week = monday_of(today) + timedelta(days=7)
    if "after next" in week or "after next" in before:
        day = next_week + timedelta(days=7 + weekday)
    elif "next week" in week or "next week" in before or how == "next":
        day = next_week + timedelta(days=weekday)
    elif "this week" in week or "this week" in before:
        day = monday_of(today) + timedelta(days=weekday)
        if day < today:
            day += timedelta(days=7)
    elif how == "this":
        day = today + timedelta(days=(weekday - today.weekday()) % 7)
    elif "from" in week or week.strip() == "week":
        day = coming(today, weekday) + timedelta(days=7)
    else:
        free = how in ("", "on", "every", "each") and not week and not before
        return Day(
            m.start(), m.end(), day=coming(today, weekday), weekday=weekday if free else None
        )
    return Day(m.start(), m.end(), day=day)


def _after_next_weekday(m: re.Match[str], today: date) -> Day | None:
    return _dated(m, coming(today, weekday_named(m["wd"])) + timedelta(days=7))


def _weekend(m: re.Match[str], today: date) -> Day | None:
    ahead = 7 if "next" in m[0].lower() else 0
    saturday = monday_of(today) + timedelta(days=5 + ahead)
    if today.weekday() == 6 and not ahead:
        saturday = today
    return Day(m.start(), m.end(), day=saturday, vague=True)


def _week(m: re.Match[str], today: date) -> Day | None:
    said = m[0].lower()
    ahead = 14 if "after next" in said else 0 if said.startswith(("this", "later")) else 7
    return Day(m.start(), m.end(), week=monday_of(today) + timedelta(days=ahead))


def _end_of(m: re.Match[str], today: date) -> Day | None:
    ahead = 1 if m["next"] else 0
    start = m["side"].lower() in ("beginning", "start", "first")
    if m["unit"].lower() == "month":
        year, month = month_ahead(today, ahead)
        if start and not ahead:
            year, month = month_ahead(today, 1)
        day = date(year, month, 1 if start else monthrange(year, month)[1])
    else:
        day = monday_of(today) + timedelta(days=7 * ahead + (0 if start else 4))
        if day < today:
            day += timedelta(days=7)
    return Day(m.start(), m.end(), day=day, vague=m["side"].lower() != "last day")


def _holiday(m: re.Match[str], today: date) -> Day | None:
    said = m[0].lower()
    fixed = {
        "christmas eve": (12, 24),
        "christmas": (12, 25),
        "boxing": (12, 26),
        "new year's eve": (12, 31),
        "new year": (1, 1),
        "valentine": (2, 14),
        "halloween": (10, 31),
        "patrick": (3, 17),
        "fourth of july": (7, 4),
    }
    for name, (month, nth) in fixed.items():
        if name in said:
            return _dated(m, next_dated(today, month, nth))
    return None


def _fixed(days: int) -> Callable[[re.Match[str], date], Day | None]:
    return lambda m, today: Day(m.start(), m.end(), day=today + timedelta(days=days))


def _past(m: re.Match[str], today: date) -> Day | None:
    return Day(m.start(), m.end(), past=True)


def _offset(m: re.Match[str], today: date) -> Day | None:
    if m["wd"]:
        return Day(m.start(), m.end(), weekday=weekday_named(m["wd"]), offset=0)
    if m["same"]:
        return Day(m.start(), m.end(), offset=0)
    return Day(m.start(), m.end(), offset=-1 if "before" in m[0].lower() else 1)


_ND = rf"(?:{_D}(?:st|nd|rd|th)?)\b"
_RULES: tuple[tuple[str, Callable[[re.Match[str], date], Day | None]], ...] = (
    (
        r"\b(?:yesterday|last (?:night|week|month|year|time|weekend|summer|winter|spring|fall|"
        + _WD
        + r")|the other (?:day|night|week)|earlier (?:today|this (?:week|month|year))|this past \w+"
        r"|(?:\w+ )?(?:days?|weeks?|months?|years?|hours?|minutes?) (?:ago|back)\b|back in (?:"
        + _MON
        + r"|\d{4}))",
        _past,
    ),
    (r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b", _iso),
    (
        rf"\b(?P<month>{_MON}) (?:the )?(?P<day>{_ND})"
        rf"(?:\s?(?:-|to|through|thru|until)\s?(?:the )?(?:(?P<last_month>{_MON})"
        rf" )?(?P<last>{_ND})(?!\s?(?::|am|pm)))?"
        r"(?:,? (?P<year>20\d\d))?",
        _month_day,
    ),
    (
        rf"\b(?:(?:the )?(?P<first>{_D}(?:st|nd|rd|th)?)\s?(?:-|to|until|till)\s?)?"
        rf"(?:the )?(?P<day>{_D}(?:st|nd|rd|th)?) (?:of )?(?P<month>{_MON})\b(?! i\b)",
        _day_month,
    ),
    (r"(?<![\d.:])(?<!at )(\d{1,2})\.(\d{1,2})\.(\d{4}|(?!\d))", _dotted),
    (
        r"(?<![\d/.:-])(\d{1,2})/(\d{1,2})(?:/(\d{2}|20\d\d))?(?![\d/])(?!\s*(?:of\b|an? hour"
        r"|hours?|cup))",
        _slashed,
    ),
    (
        rf"\b(?P<count>{NUMBER}) (?P<unit>weeks?|days?|months?|fortnights?) (?:from|after|on)"
        rf" (?P<anchor>today|now|tomorrow|{_WD})",
        _ahead,
    ),
    (
        rf"\bin (?P<count>{NUMBER}) (?P<unit>weeks?|days?|months?|fortnights?)\b(?P<anchor>)(?:'?"
        rf" time)?",
        _ahead,
    ),
    (
        r"\b(?P<side>end|beginning|start|first|last day) (?:of )?(?:the |this )?(?P<next>next"
        r" )?(?P<unit>month|week)\b",
        _end_of,
    ),
    (r"\b(?:the )?day after tomorrow\b", _fixed(2)),
    (
        r"\b(?:today|tonight|this (?:morning|afternoon|evening|arvo)|later on today|eod|end of"
        r" (?:the )?day)\b",
        _fixed(0),
    ),
    (r"\btomorrow\b", _fixed(1)),
    (rf"\b(?P<wd>{_WD}) after next\b", _after_next_weekday),
    (
        rf"\b(?:(?P<before>next week|this week|the week after next|week after next),? (?:on )?"
        rf"|(?P<how>this coming|this|next|coming|every|each|on) )?"
        rf"(?P<wd>{_WD})(?P<week>,? (?:of |in )?(?:the )?(?:next week|this week|week after next)|"
        rf" week\b)?",
        _relative_weekday,
    ),
    (r"\b(?:this|next|the|over the|this coming)? ?weekend\b", _weekend),
    (r"\b(?:the )?week after next|next week|this week|later this week|the following week\b", _week),
    (
        r"\b(?:christmas eve|christmas(?: day)?|boxing day|new year'?s eve|new year'?s(?: day)?"
        r"|valentine'?s(?: day)?"
        r"|halloween|st\.? patrick'?s day|fourth of july)(?! (?:party|dinner|shopping|tree|cards?"
        r"|gifts?|presents?))",
        _holiday,
    ),
    (
        rf"\b(?:the |on )?(?P<nth>{_D}(?:st|nd|rd|th))\b{_NOT_A_DAY}"
        rf"(?:\s?(?:-|to|through|thru|until)\s?(?:the )?(?P<last>{_D}(?:st|nd|rd"
        rf"|th))\b)?(?P<next_month> of next month)?",
        _nth,
    ),
    (
        rf"\b(?:the (?:(?:next|following) day|day (?:after|before)|following (?P<wd>{_WD}))"
        r"|(?P<same>(?:(?:that|the) )?same (?:day|(?=morning|afternoon|evening|night))"
        r"|that (?:day|(?=morning|afternoon|evening|night))))(?:\b|(?<= ))",
        _offset,
    ),
)


# Most clauses name no day at all, and need no closer look.
_ANY_DAY = (
    r"\d|day|night|morrow|week|month|year|morning|noon|evening|ago\b|back\b|last\b|past\b|arvo"
    r"|\b(?:mon|tue|wed|thu|fri|sat|sun|eod|jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)\b"
    r"|\b(?:januar|februar|march|april|june|july|august|septem|octo|novem|decem|tues|weds|thurs?\b)"
    r"|christmas|valentine|halloween|patrick|following|earlier|fourth"
)


def find_days(text: str, today: date) -> list[Day]:
    """The days named in `text`, in order; of overlapping readings the more specific one."""
    days: list[Day] = []
    if not found(_ANY_DAY, text):
        return days
    lower = small(text)
    for source, read in _RULES:
        for match in small_pattern(source).finditer(lower):
            if any(match.start() < day.end and day.start < match.end() for day in days):
                continue
            day = _read_safely(read, match, today)
            if day is not None:
                days.append(day)
    days.sort(key=lambda day: day.start)
    return _merged(days, text)


def _read_safely(
    read: Callable[[re.Match[str], date], Day | None], match: re.Match[str], today: date
) -> Day | None:
    try:
        return read(match, today)
    except OverflowError:  # past the year 9999
        return None


def _merged(days: list[Day], text: str) -> list[Day]:
    """`days` with a weekday and a date in one where they are one ("Friday the 27th")."""
    merged: list[Day] = []
    for day in days:
        before = merged[-1] if merged else None
        gap = text[before.end : day.start].strip(" ,(") if before else ""
        if before and before.weekday is not None and _is_dated(day) and gap in ("", "the"):
            merged[-1] = replace(_on_weekday(day, before.weekday, text), start=before.start)
        elif before and day.weekday is not None and _is_dated(before) and gap == "":
            merged[-1] = replace(before, end=day.end)
        else:
            merged.append(day)
    return merged


def _is_dated(day: Day) -> bool:
    return day.day is not None and day.weekday is None


def _on_weekday(day: Day, weekday: int, text: str) -> Day:
    """`day` in the next month in which it is such a weekday, if no month was named."""
    said = text[day.start : day.end]
    if day.day is None or day.day.weekday() == weekday or small_pattern(_MON).search(said):
        return day
    later = (calendar_day(*month_ahead(day.day, ahead), day.day.day) for ahead in range(1, 6))
    fitting = next((other for other in later if other and other.weekday() == weekday), None)
    return replace(day, day=fitting) if fitting is not None and "/" not in said else day
