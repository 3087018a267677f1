"""Find clock times, with their zones, and parts of the day in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cal_ai.extractors.reader.patterns import (
    Span,
    any_of,
    matches,
    occurs,
    overlaps,
    small,
    small_pattern,
)

Part = Literal["morning", "lunchtime", "afternoon", "evening", "night"]


@dataclass(frozen=True, slots=True)
class Clock(Span):
    """A time of day at text[start:end], in minutes after midnight.

    `certain` is False where am or pm was not said; `minute` is None where only the end was
    ("until 5").
    """

    minute: int | None
    certain: bool = True
    until: int | None = None
    zone: str = ""


@dataclass(frozen=True, slots=True)
class DayPart(Span):
    part: Part


_ZONES = {
    "America/New_York": "eastern, et, est, edt, east coast, new york, nyc, boston, toronto,"
    " atlanta",
    "America/Chicago": "central, ct, cst, cdt, chicago, austin, dallas, houston",
    "America/Denver": "mountain, mt, mst, mdt, denver, boulder",
    "America/Los_Angeles": "pacific, pt, pst, pdt, west coast, sf, san francisco, seattle, la,"
    " los angeles, california, portland",
    "UTC": "utc, gmt, zulu",
    "Europe/London": "bst, uk, london, british",
    "Europe/Paris": "cet, cest, central european, berlin, paris, madrid, amsterdam, munich, rome",
    "Asia/Kolkata": "ist, india, bangalore, mumbai, delhi",
    "Asia/Tokyo": "jst, tokyo, japan",
    "Asia/Singapore": "sgt, singapore",
    "Australia/Sydney": "aest, aedt, sydney, melbourne",
}
_ZONE_OF = {name: zone for zone, names in _ZONES.items() for name in names.split(", ")}
_ZONE = (
    rf"(?:{any_of(_ZONE_OF)})(?: standard| daylight)?(?: time)?\b"
    r"|(?:(?:my|our|your|local) time(?: zone)?|(?:for|over) (?:me|you)\b(?! to)|(?:my|your) end)"
)
_UNITS = (
    r"(?!\d|[:/%$]\d|\.\d|,\d{3}|%|(?:st|nd|rd|th)\b|\s*-?\s*(?:people|persons?|ppl|of (?:us|them"
    r"|you|my|the)|guys|folks|pax|minutes?|hours?|h\b|days?|weeks?|months?|years?|yrs?|times\b"
    r"|percent|bucks|dollars|grand|k\b|miles?|km|blocks?|x\b|more|other|things?|items?|slides?|pages?"
    r"|options?|kids|tickets|seats|points?|guests|friends|questions|tasks|tables?|rooms?|beers"
    r"|drinks|candidates|(?:main|oak|elm|park|first|second|third)\b|[a-z]+ (?:st|street|ave|avenue"
    r"|road|rd|blvd|lane)\b|star|stars|episodes?|chapters?|seasons?|rounds?|sets?|laps|reps|team"
    r"|teams|new\b|big\b|different|separate|a[ -]side|-\d+ (?:people|days|weeks)))"
)
_MERIDIEM = r"(?:\s?(?:am|pm)\b|[ap]\b)"
_HOUR = r"(?:2[0-3]|1\d|0?\d)"
# "17.30" is a time only after such a word: it may also be a room.
_DOT = (
    r"(?:(?<=at )|(?<=from )|(?<=to )|(?<=till )|(?<=until )|(?<=by )|(?<=day )|(?<=, )|(?<=-)"
    r"|(?<=@))"
)
_FIRM = (
    rf"(?:(?:{_HOUR}[:h]|{_DOT}{_HOUR}\.|(?:1[3-9]|2[0-3])\.|{_HOUR}\.(?=\d\d ?[ap]m))[0-5]\d"
    rf"(?!\d|\.\d|\s?(?:percent|%)){_MERIDIEM}?|(?:1[0-2]"
    rf"|0?[1-9]){_MERIDIEM}|(?:1[0-2]|[1-9])\s?o'?clock\b|(?<!for )(?<!in )(?:1[3-9]|2[0-3])h\b"
    rf"|(?:(?<=at )|(?<=day )|(?<=from )){_HOUR}h\b|\b(?:noon|midnight)(?=\b|ish\b))"
)
_LOOSE = rf"(?:2[0-3]|1\d|[1-9]){_UNITS}"
_ANY = rf"(?:{_FIRM}|{_LOOSE})"
_IN_PART = r"(?:\s(?:in the|at|this|that) (?P<part>morning|afternoon|evening|night)\b)"
_TAIL = rf"(?:\s?-?ish\b)?(?: sharp| on the dot)?{_IN_PART}?(?:\s\(?(?P<zone>{_ZONE})\)?)?"
_RANGE = (
    rf"(?P<lead>\b(?:from|between|at|around)\s+)?(?<![\d:.$#/+-])(?P<a>{_ANY})\s?(?P<joint>-|to"
    rf"|till?|'til|until|through|and)\s?(?:around |about )?(?P<b>{_ANY}){_TAIL}"
)
_UNTIL = (
    r"\b(?:until|till?|'til|ends? (?:at|by|around)|done (?:at|by|around)|finish(?:es|ed)? (?:at|by"
    r"|around)|wrap(?:s|ped)? up (?:at|by|around)|(?<!come )(?<!coming )(?<!pop )(?<!head )"
    rf"(?<!go )over (?:at|by))\s(?P<a>{_ANY}){_TAIL}"
)
_FIRM_TIME = rf"(?<![\w:.$#/])(?<!\d-)(?P<a>{_FIRM}){_TAIL}"
_LED = (
    r"(?:\bat|@|\baround|\babout|\bby|\bbefore|\bafter|\bfrom|\bsay|\bmake (?:it|that)|\bdo|\bhow "
    r"about|\bwhat about|\bmaybe|\bto|(?<!table )(?<!tickets )(?<!seats )\bfor (?=(?:1[0-2]|\d)"
    r"(?:\s|$|[?.!,])(?!people))|\b(?:it's|is)(?= (?:1[0-2]|\d)\b)|\bstarts?|\bwas thinking"
    r"|\bmean|\bor|\bso|\bprefer|\bcan|\bsharp|\bonly do|\btake(?= \d{1,2}\W*$)|\boffered"
    r"|\bsuggested|\btell (?:him|her|them))"
)
_LED_TIME = rf"(?P<lead>{_LED})\s?(?:(?:around|about)\s)?(?P<a>{_LOOSE}){_TAIL}"
_FOLLOWED = (
    rf"(?<![\d:.$#/+-])\b(?P<a>{_LOOSE})(?:\s?-?ish\b)?(?=\s*(?:works?\b|(?:is|'s) (?:good|fine|ok"
    r"|great|better|perfect|too|a bit|best|when|tight|lovely|ideal)|I (?:can|could)\b|instead\b"
    r"|sharp\b|on (?:the dot|mon|tue|wed|thu|fri|sat|sun)|sounds\b|tomorrow\b|tonight\b|today\b"
    r"|this (?:after|even|morn)|in the (?:morning|afternoon|evening)|at night|then\b|it is\b"
    r"|would (?:be|work)|(?:eastern|pacific|central|mountain|et|pt|est|pst)\b|(?:mon|tues|wednes"
    r"|thurs|fri|satur|sun)day|or \d|ok\b|for (?:lunch|dinner|drinks|coffee|brunch"
    rf"|breakfast))){_IN_PART}?(?:\s(?P<zone>{_ZONE}))?"
)
_ALONE = (
    rf"(?:^\W*|,\s+(?=\d{{1,2}}\s?\?))(?:(?:and|so|ok|yes|yeah|yep|yup|sure|perfect|great|cool|no"
    r"|nope|wait|sorry|actually|maybe|then|let's say|say|well|oh|make it|i mean|probably|fine|hm+"
    rf"|rather|or|lunch|dinner|coffee|drinks)\W+)*(?<![$#€£])(?P<a>{_LOOSE})(?:\s?-?ish\b)?"
    r"(?=,?\s+at (?!\d)|,\s+[^\d\s]|\s+no,|\W*(?:\w+|for me|for you)?\W*$)(?P<part>)(?P<zone>)"
)
_AFTER_DAY = rf"\s?,?\s?(?:at |@ ?)?(?P<a>{_LOOSE})(?:\s?-?ish\b)?(?P<part>)(?P<zone>)"
_AFTER_RANGE = (
    r"^\s*(?:$|[?.!,;)]|on\b|today|tomorrow|tonight|\w+day\b|I\b|then\b|works|(?:'s|is) \w+)"
)
_NUMBERED = (
    r"\b(?:room|table|chapter|version|level|gate|platform|page|step|number|suite|unit|apt"
    r"|building|terminal|line|bus|highway|route)\s*$"
)
_FOR_SO_MANY = r"\b(?:table|party|dinner|lunch|brunch|reservation|room|seats?)\s*$"

_WHOLE = r"(?:\b(?:all|the whole|entire) )?"
_PARTS: tuple[tuple[str, Part], ...] = (
    (r"\b(?:lunch ?time|over lunch|around lunch)\b", "lunchtime"),
    (rf"{_WHOLE}\bmornings?\b|\bfirst thing\b|\bbefore lunch\b", "morning"),
    (rf"{_WHOLE}\bafternoons?\b|\bafter lunch\b", "afternoon"),
    (rf"{_WHOLE}\bevenings?\b|\bafter (?:work|dinner|school)\b", "evening"),
    (r"\btonight\b|(?<=day )nights?\b|(?<=tomorrow )night\b|\b(?:at|this) night\b", "night"),
)
# The hours by the clock that a part of the day has, and what may stand between the two.
_HOURS: dict[Part, range] = {"morning": range(5, 12), "lunchtime": range(3), "afternoon": range(7)}
_HOURS |= {"evening": range(5, 12), "night": range(6, 12)}
_BESIDE = (
    r"^(?:\W|\b(?:at|around|about|by|from|say|maybe|starting|for|on|the|then|so|in|this|that|of"
    r"|tomorrow|\w+day|\d{1,2}(?:st|nd|rd|th))\b)*$"
)
_GREETING = r"\b(?:good|nice|great|lovely) $"


def clock_minutes(text: str) -> tuple[int, bool]:
    """Return minutes after midnight, and whether am or pm is certain."""
    if text.startswith(("noon", "midnight")):
        return 720 if text == "noon" else 0, True
    match = small_pattern(rf"({_HOUR})(?:[:.h]([0-5]\d))?\s?([ap])?").match(text)
    assert match is not None
    hour, minute = int(match[1]), int(match[2] or 0)
    if match[3] and hour <= 12:
        return (hour % 12 + (12 if match[3] == "p" else 0)) * 60 + minute, True
    in_full = match[1].startswith("0") and bool(match[2])
    return hour * 60 + minute, hour > 12 or hour == 0 or in_full


def find_clocks(text: str, day_ends: frozenset[int]) -> list[Clock]:
    """Find the clock times in `text`; a bare number counts only if its neighbours make it one.

    `day_ends` are the positions at which day names end: a number right after one is a time.
    """
    clocks: list[Clock] = []
    if occurs(r"\d|noon|midnight", text):
        for clock in _readings(text, day_ends):
            if clock and not overlaps(clocks, clock.start, clock.end):
                clocks.append(clock)
    return sorted(clocks, key=lambda clock: clock.start)


def _readings(text: str, day_ends: frozenset[int]) -> Iterator[Clock | None]:
    """Yield what may be a clock time; where two overlap, the first one counts."""
    for match in matches(_RANGE, text):
        yield _range(match, text, day_ends)
    for match in matches(_UNTIL, text):
        # "I have time until 5" says nothing about the end of an event.
        if occurs(r"(?:n't|\bnot)\s*$", text[: match.start()]):
            yield _single(match, text)
        elif not occurs(r"\b(?:i|i'm|i'll be|i get|i am|we|we're)\s*$", text[: match.start()]):
            until, certain = clock_minutes(match["a"])
            yield Clock(*match.span(), None, certain, until, match["zone"] or "")
    for source in (_FIRM_TIME, _LED_TIME, _FOLLOWED, _ALONE):
        for match in matches(source, text):
            yield _single(match, text)
    for end in sorted(day_ends):
        if after_day := small_pattern(_AFTER_DAY).match(small(text), end):
            yield _single(after_day, text)


def _single(match: re.Match[str], text: str) -> Clock | None:
    led_by_for = (match.groupdict().get("lead") or "").strip() == "for"
    if occurs(_NUMBERED, text[: match.start("a")]) or (
        led_by_for and occurs(_FOR_SO_MANY, text[: match.start()])
    ):
        return None
    minute, certain = clock_minutes(match["a"])
    if (part := match["part"]) and not certain:
        late = part != "morning" and (part != "night" or minute % 720 >= 300)
        minute, certain = minute % 720 + 720 * late, True
    return Clock(match.start("a"), match.end(), minute, certain, zone=match["zone"] or "")


def _range(match: re.Match[str], text: str, day_ends: frozenset[int]) -> Clock | None:
    joint, lead = match["joint"], (match["lead"] or "").strip()
    if joint == "and" and lead != "between":
        return None
    if not (
        lead
        or joint in ("-", "till", "til", "'til", "until")
        or any(end <= match.start("a") <= end + 2 for end in day_ends)
        or any(occurs(_FIRM, match[end]) for end in "ab")
        or occurs(_AFTER_RANGE, text[match.end() :])
    ):
        return None
    start, certain = clock_minutes(match["a"])
    until, until_certain = clock_minutes(match["b"])
    if until_certain and not certain and not occurs(r"^(?:1[3-9]|2\d)", match["b"]):
        # "2-4pm" and "11-1pm": the same half of the day if the start then precedes the end.
        ends = until or 1440  # midnight
        same = start % 720 + (720 if ends >= 720 else 0)
        start = same if same < ends else start % 720
    elif certain and not until_certain:
        until = _first_after(start, until)
    elif match["part"] and not certain:
        half = 0 if match["part"] == "morning" else 720
        start, until = start % 720 + half, until % 720 + half
    certain = certain or until_certain or bool(match["part"])
    return Clock(*match.span(), start, certain, until, match["zone"] or "")


def _first_after(start: int, until: int) -> int:
    """Return the half of the day in which a clock time without am or pm is after the start."""
    early = until % 720
    return early + 720 if early <= start < early + 720 else early


def find_parts(text: str) -> list[DayPart]:
    """Find parts of the day ("Thursday morning", "after work"), except in greetings."""
    parts: list[DayPart] = []
    for source, part in _PARTS:
        for match in matches(source, text):
            greeting = occurs(_GREETING, text[: match.start()])
            if not greeting and not overlaps(parts, *match.span()):
                parts.append(DayPart(*match.span(), part))
    return sorted(parts, key=lambda part: part.start)


def in_part(clock: Clock, parts: Sequence[DayPart], text: str) -> Clock:
    """Give a clock time without am or pm the half of the day that is named right beside it.

    Examples are "Friday evening at seven" and "at nine tomorrow morning".
    """
    minute = clock.minute
    for part in () if clock.certain or minute is None else parts:
        first, second = sorted((part, clock), key=lambda span: span.start)
        is_beside = occurs(_BESIDE, text[first.end : second.start])
        if is_beside and minute is not None and minute // 60 % 12 in _HOURS[part.part]:
            start = minute % 720 + 720 * (part.part != "morning")
            until = None if clock.until is None else _first_after(start, clock.until)
            return replace(clock, minute=start, certain=True, until=until)
    return clock


def minutes_ahead(local: tzinfo | None, named: str, day: date) -> int:
    """Return how many minutes local time is ahead of the named zone on a day."""
    zone = _ZONE_OF.get(small_pattern(r"(?: standard| daylight)?(?: time)?$").sub("", named))
    if zone is None or local is None:
        return 0
    try:
        there = datetime(day.year, day.month, day.day, 12, tzinfo=ZoneInfo(zone))
        here = there.astimezone(local)
    except (ZoneInfoNotFoundError, OverflowError):
        return 0
    shift = (here.utcoffset() or timedelta()) - (there.utcoffset() or timedelta())
    return int(shift.total_seconds() // 60)
