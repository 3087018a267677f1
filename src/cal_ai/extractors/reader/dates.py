"""Days named in a text, resolved against the day on which it was said."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

from cal_ai.extractors.reader import date_forms as forms
from cal_ai.extractors.reader.date_forms import Day
from cal_ai.extractors.reader.patterns import found, overlaps, small, small_pattern
from cal_ai.extractors.reader.reckoning import MONTH, NUMBER, calendar_day, month_ahead

_WD = (
    r"(?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|mon|tues?|weds?"
    r"|thurs?|thur?|fri|(?<!\bi )(?<!we )(?<!he )(?<!they )(?<!you )(?<!who )(?<!just )(?<!been "
    r")(?<!'ve )(?<!had )(?<!have )sat(?! (?:down|there|in|on|next|at (?:a|the)))|(?<!the )(?<!in "
    r")(?<!of )(?<!full )(?<!hot )(?<!no )sun(?! (?:is|was|cream|hat|rise|set|comes))|(?<=on "
    r")sun)(?![\w-]*\w)"
)
_D = r"(?:3[01]|[12]\d|0?[1-9])"
_NOT_A_DAY = (
    r"(?!\s*(?:floor|street|st\b|ave|avenue|grade|time|place|graders?|birthday|anniversary|edition"
    r"|round|quarter|draft|attempt|try|option|choice|row|street|&|and main|gen))"
)


_ND = rf"(?:{_D}(?:st|nd|rd|th)?)\b"
_RULES: tuple[tuple[str, Callable[[re.Match[str], date], Day | None]], ...] = (
    (
        r"\b(?:yesterday|last (?:night|week|month|year|time|weekend|summer|winter|spring|fall|"
        + _WD
        + r")|the other (?:day|night|week)|earlier (?:today|this (?:week|month|year))|this past \w+"
        r"|(?:\w+ )?(?:days?|weeks?|months?|years?|hours?|minutes?) (?:ago|back)\b|back in (?:"
        + MONTH
        + r"|\d{4}))",
        lambda m, _: Day(*m.span(), past=True),
    ),
    (
        r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b",
        lambda m, _: forms.dated(m, calendar_day(int(m[1]), int(m[2]), int(m[3]))),
    ),
    (
        rf"\b(?P<month>{MONTH}) (?:the )?(?P<day>{_ND})(?:\s?(?:-|to|through|thru|until)\s?(?:the "
        rf")?(?:(?P<last_month>{MONTH}) )?(?P<last>{_ND})(?!\s?(?::|am|pm)))?(?:,? "
        r"(?P<year>20\d\d))?",
        forms.month_day,
    ),
    (
        rf"\b(?:(?:the )?(?P<first>{_D}(?:st|nd|rd|th)?)\s?(?:-|to|until|till)\s?)?"
        rf"(?:the )?(?P<day>{_D}(?:st|nd|rd|th)?) (?:of )?(?P<month>{MONTH})\b(?! i\b)",
        forms.day_month,
    ),
    (r"(?<![\d.:])(?<!at )(\d{1,2})\.(\d{1,2})\.(\d{4}|(?!\d))", forms.numeric),
    (
        r"(?<![\d/.:-])(?!24/7)(\d{1,2})/(\d{1,2})(?:/(\d{2}|20\d\d))?(?![\d/])(?!\s*(?:of\b"
        r"|an? hour|hours?|cup))",
        forms.numeric,
    ),
    (
        rf"\b(?P<count>{NUMBER}) (?P<unit>weeks?|days?|months?|fortnights?) (?:from|after|on)"
        rf" (?P<anchor>today|now|tomorrow|{_WD})",
        forms.ahead,
    ),
    (
        rf"\bin (?P<count>{NUMBER}) (?P<unit>weeks?|days?|months?|fortnights?)\b(?P<anchor>)(?:'?"
        rf" time)?",
        forms.ahead,
    ),
    (
        r"\b(?P<side>end|beginning|start|first|last day) (?:of )?(?:the |this )?(?P<next>next"
        r" )?(?P<unit>month|week)\b",
        forms.end_of,
    ),
    (
        r"\b(?:today|tonight|this (?:morning|afternoon|evening|arvo)|later on today|eod|end of"
        r" (?:the )?day)\b",
        forms.dated,
    ),
    (
        r"\b(?:(?P<more>(?:the )?day after )?tomorrow)\b",
        lambda m, today: forms.dated(m, today + timedelta(days=2 if m["more"] else 1)),
    ),
    (
        r"\b(?:(?P<before>next week|this week|the week after next|week after next),? (?:on )?"
        rf"|(?P<how>this coming|this|next|coming|every|each|on) )?(?P<wd>{_WD})(?P<week>,? (?:of "
        r"|in )?(?:the )?(?:next week|this week|week after next)| week\b| after next\b)?",
        forms.relative_weekday,
    ),
    (r"\b(?:this|next|the|over the|this coming)? ?weekend\b", forms.weekend),
    (
        r"\b(?:the )?week after next|next week|this week|later this week|the following week\b",
        forms.week,
    ),
    (
        r"\b(?:christmas eve|christmas(?: day)?|boxing day|new year'?s eve|new year'?s(?: day)?"
        r"|valentine'?s(?: day)?|halloween|st\.? patrick'?s day|fourth of july)(?! (?:party|dinner"
        r"|shopping|tree|cards?|gifts?|presents?))",
        forms.holiday,
    ),
    (
        rf"\b(?:the |on )?(?P<nth>{_D}(?:st|nd|rd|th))\b{_NOT_A_DAY}(?:\s?(?:-|to|through|thru"
        rf"|until)\s?(?:the )?(?P<last>{_D}(?:st|nd|rd|th))\b)?(?P<next_month> of next month)?",
        forms.nth,
    ),
    (
        rf"\b(?:the (?:(?:next|following) day|day (?:after|before)|following (?P<wd>{_WD}))"
        r"|(?P<same>(?:(?:that|the) )?same (?:day|(?=morning|afternoon|evening|night))"
        r"|that (?:day|(?=morning|afternoon|evening|night))))(?:\b|(?<= ))",
        forms.offset,
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
            if overlaps(days, *match.span()):
                continue
            try:
                day = read(match, today)
            except (OverflowError, ValueError):  # past the year 9999
                continue
            if day is not None:
                days.append(day)
    days.sort(key=lambda day: day.start)
    return _agreeing(_merged(days, text), lower)


def _agreeing(days: list[Day], text: str) -> list[Day]:
    """The days without a bare number ("on 5th") that is no such weekday as is named beside it."""
    weekdays = {day.weekday for day in days if day.weekday is not None}
    return [
        day
        for day in days
        if not weekdays
        or day.day is None
        or day.day.weekday() in weekdays
        or not small_pattern(r"(?:on )?\d{1,2}(?:st|nd|rd|th)").fullmatch(text[day.start : day.end])
    ]


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
    if day.day is None or day.day.weekday() == weekday or small_pattern(MONTH).search(said):
        return day
    later = (calendar_day(*month_ahead(day.day, ahead), day.day.day) for ahead in range(1, 6))
    fitting = next((other for other in later if other and other.weekday() == weekday), None)
    return replace(day, day=fitting) if fitting is not None and "/" not in said else day
