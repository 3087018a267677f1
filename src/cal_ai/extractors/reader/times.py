"""Clock times, parts of the day, durations and shifts named in a text."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from cal_ai.extractors.reader.patterns import found, overlaps, small, small_pattern
from cal_ai.extractors.reader.zones import OWN_ZONE, ZONE

Part = Literal["morning", "lunchtime", "afternoon", "evening", "night"]


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day at text[start:end], in minutes after midnight.

    `certain` is False where am or pm was not said; `minute` is None where only the end was
    ("until 5"). `joint` is the word between the two ends of a range.
    """

    start: int
    end: int
    minute: int | None
    certain: bool = True
    until: int | None = None
    until_certain: bool = True
    joint: str = ""
    approximate: bool = False
    zone: str = ""


@dataclass(frozen=True, slots=True)
class DayPart:
    start: int
    end: int
    part: Part
    whole: bool = False


_UNITS = (
    r"(?!\d|[:/%$]\d|\.\d|%|(?:st|nd|rd|th)\b|\s*-?\s*(?:people|persons?|ppl|of (?:us|them|you|my"
    r"|the)|guys|folks|pax|minutes?"
    r"|hours?|h\b|days?|weeks?|months?|years?|yrs?|times\b|percent|bucks|dollars|grand|k\b|miles?"
    r"|km|blocks?|x\b|more|other|things?"
    r"|items?|slides?|pages?|options?|kids|tickets|seats|points?|guests|friends|questions|tasks"
    r"|tables?|rooms?|beers"
    r"|drinks|candidates|(?:main|oak|elm|park|first|second|third)\b|[a-z]+ (?:st|street|ave|avenue"
    r"|road|rd|blvd|lane)\b|star|stars"
    r"|episodes?|chapters?|seasons?|rounds?|sets?|laps|reps|team|teams|new\b|big\b|different"
    r"|separate|a[ -]side|-\d+ (?:people|days|weeks)))"
)
_MERIDIEM = r"(?:\s?(?:am|pm)\b|[ap]\b)"
_HOUR = r"(?:2[0-3]|1\d|0?\d)"
# "17.30" is a time only where one is expected: it may be a room as well.
_DOT = (
    r"(?:(?<=at )|(?<=from )|(?<=to )|(?<=till )|(?<=until )|(?<=by )|(?<=day )|(?<=, )|(?<=-)"
    r"|(?<=@))"
)
_FIRM = (
    rf"(?:(?:{_HOUR}[:h]|{_DOT}{_HOUR}\.|(?:1[3-9]|2[0-3])\.|{_HOUR}\.(?=\d\d ?[ap]m))[0-5]\d"
    rf"(?!\d|\.\d|\s?(?:percent|%)){_MERIDIEM}?|(?:1[0-2]"
    rf"|0?[1-9]){_MERIDIEM}|(?:1[0-2]|[1-9])\s?o'?clock\b|\bnoon\b|\bmidnight\b)"
)
_LOOSE = rf"(?:1[0-2]|[1-9]){_UNITS}"
_ANY = rf"(?:{_FIRM}|{_LOOSE})"
_IN_PART = r"(?:\s(?:in the|at|this|that) (?P<part>morning|afternoon|evening|night)\b)"
_TAIL = (
    rf"(?:\s?-?(?P<ish>ish)\b)?(?: sharp| on the dot)?{_IN_PART}?(?:\s\(?(?P<zone>{ZONE}"
    rf"|{OWN_ZONE})\)?)?"
)
_RANGE = (
    rf"(?P<lead>\b(?:from|between|at|around)\s+)?(?<![\d:.$#/+-])(?P<a>{_ANY})\s?(?P<joint>-|to"
    rf"|till?|'til|until|through|and)\s?"
    rf"(?:around |about )?(?P<b>{_ANY}){_TAIL}"
)
_ABOUT = (
    r"(?P<about>around|about|circa|approximately|roughly|after|before|by|past|ish|-ish"
    r"|sometime around|no later than)"
)
_UNTIL = (
    rf"\b(?:until|till?|'til|ends? (?:at|by|around)|done (?:at|by|around)|finish(?:es|ed)?"
    rf" (?:at|by|around)|wrap(?:s|ped)? up (?:at|by|around)"
    rf"|(?<!come )(?<!coming )(?<!pop )(?<!head )(?<!go )over (?:at"
    rf"|by))\s(?P<a>{_ANY}){_TAIL}"
)
_FIRM_TIME = rf"(?:\b{_ABOUT}\s)?(?<![\w:.$#/])(?<!\d-)(?P<a>{_FIRM}){_TAIL}"
_LED = (
    r"(?:\bat|@|\baround|\babout|\bby|\bbefore|\bafter|\bfrom|\bsay|\bmake (?:it|that)|\bdo|\bhow"
    r" about|\bwhat about|\bmaybe|\bto"
    r"|(?<!table )(?<!tickets )(?<!seats )\bfor (?=\d{1,2}(?:\s|$|[?.!,])(?!people))"
    r"|\bit's|\bis|\bat about|\bat around|\bat maybe"
    r"|\bstarts?|\bwas thinking|\bmean|\bor|\bprefer|\bcan|\bsharp|\bonly do|\btake(?="
    r" \d{1,2}\W*$)|\boffered|\bsuggested|\btell (?:him|her|them))"
)
_LED_TIME = rf"(?P<lead>{_LED})\s?(?:(?P<about>around|about)\s)?(?P<a>{_LOOSE}){_TAIL}"
_FOLLOWED = (
    rf"(?<![\d:.$#/+-])\b(?P<a>{_LOOSE})(?P<ish>\s?-?ish\b)?(?=\s*(?:works?\b|(?:is|'s)"
    rf" (?:good|fine|ok|great|better|perfect|too|a bit|best|when|tight|lovely|ideal)"
    rf"|I (?:can|could)\b|instead\b|sharp\b"
    r"|on (?:the dot|mon|tue|wed|thu|fri|sat|sun)|sounds\b|tomorrow\b|tonight\b|today\b|this"
    r" (?:after|even|morn)|in the (?:morning|afternoon|evening)|at night"
    r"|then\b|it is\b|would (?:be|work)|(?:eastern|pacific|central|mountain|et|pt|est|pst)\b"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|or \d|ok\b|for (?:lunch|dinner|drinks|coffee"
    r"|brunch|breakfast)))"
    rf"{_IN_PART}?(?:\s(?P<zone>{ZONE}|{OWN_ZONE}))?(?P<about>)"
)
_ALONE = (
    r"^\W*(?:(?:and|so|ok|yes|yeah|yep|yup|sure|perfect|great|cool|no|nope|wait|sorry|actually"
    r"|maybe|then|let's say|say|well|oh|make it|i mean|"
    rf"probably|fine|hm+|rather|or|lunch|dinner|coffee"
    rf"|drinks)\W+)*(?<![$#€£])(?P<a>{_LOOSE})(?P<ish>\s?-?ish\b)?(?=,?\s+at (?!\d)|\W*(?:$|(?:then"
    rf"|please|pls|if"
    rf"|so|for me"
    rf"|for you|instead|thanks|though|\w+)\W*$))"
    r"(?P<part>)(?P<zone>)(?P<about>)"
)
_AFTER_DAY = r"(?P<a>" + _LOOSE + r")(?P<ish>\s?-?ish\b)?(?P<part>)(?P<zone>)(?P<about>)"

_WHOLE = r"\b(?P<whole>(?:all|the whole|entire) )?"
_PARTS: tuple[tuple[str, Part], ...] = (
    (r"\b(?:lunch ?time|over lunch|around lunch)\b", "lunchtime"),
    (rf"{_WHOLE}mornings?\b|\bfirst thing\b|\bbefore lunch\b", "morning"),
    (rf"{_WHOLE}afternoons?\b|\bafter lunch\b", "afternoon"),
    (rf"{_WHOLE}evenings?\b|\bafter work\b|\bafter dinner\b|\bafter school\b", "evening"),
    (r"\btonight\b|(?<=day )nights?\b|(?<=tomorrow )night\b|\b(?:at|this) night\b", "night"),
)
# Most clauses name no part of the day, and need no closer look.
_ANY_PART = r"morning|noon|evening|night|lunch|first thing|after (?:work|dinner|school)"
_GREETING = r"\b(?:good|nice|great|lovely) $"


def clock_minutes(said: str) -> tuple[int, bool]:
    """Minutes after midnight, and whether am or pm is beyond doubt."""
    text = said.strip()
    if text.startswith("noon"):
        return 720, True
    if text.startswith("midnight"):
        return 0, True
    match = small_pattern(rf"({_HOUR})(?:[:.h]([0-5]\d))?\s?([ap])?").match(text)
    if match is None:
        return 0, False
    hour, minute = int(match[1]), int(match[2] or 0)
    if match[3] and hour <= 12:
        return (hour % 12 + (12 if match[3] == "p" else 0)) * 60 + minute, True
    return hour * 60 + minute, hour > 12 or hour == 0 or (
        match[1].startswith("0") and bool(match[2])
    )


def find_clocks(text: str, day_ends: frozenset[int]) -> list[Clock]:
    """The clock times in `text`; a bare number counts only where its neighbours make it a time.

    `day_ends` are the positions at which day names end: a number right after one is a time.
    """
    clocks: list[Clock] = []
    if not found(r"\d|noon|midnight", text):
        return clocks
    text = small(text)

    def add(clock: Clock | None) -> None:
        if clock and not overlaps(clocks, clock.start, clock.end):
            clocks.append(clock)

    for match in small_pattern(_RANGE).finditer(text):
        add(_range(match, text, day_ends))
    for match in small_pattern(_UNTIL).finditer(text):
        if found(r"\b(?:i|i'm|i'll be|i get|i am|we|we're)\s*$", text[: match.start()]):
            continue  # when somebody has time, not when something ends
        minute, certain = clock_minutes(match["a"])
        add(
            _in_part(
                Clock(match.start(), match.end(), None, until=minute, until_certain=certain), match
            )
        )
    for source in (_FIRM_TIME, _LED_TIME, _FOLLOWED, _ALONE):
        for match in small_pattern(source).finditer(text):
            add(_single(match, text))
    for end in sorted(day_ends):
        match_after = small_pattern(r"\s?,?\s?(?:at |@ ?)?" + _AFTER_DAY).match(text, end)
        if match_after:
            add(_single(match_after, text))
    return sorted(clocks, key=lambda clock: clock.start)


def _single(match: re.Match[str], text: str) -> Clock | None:
    minute, certain = clock_minutes(match["a"])
    if found(
        r"\b(?:room|table|chapter|version|level|gate|platform|page|step|number|suite|unit|apt"
        r"|building|terminal|line|bus|highway|route)\s*$",
        text[: match.start("a")],
    ):
        return None
    lead = (match.groupdict().get("lead") or "").strip()
    if lead == "for" and found(
        r"\b(?:table|party|dinner|lunch|brunch|reservation|room|seats?)\s*$", text[: match.start()]
    ):
        return None  # a table for 4
    about = bool(match["about"] or match["ish"]) or lead in (
        "around",
        "about",
        "by",
        "before",
        "after",
    )
    clock = Clock(match.start("a"), match.end(), minute, certain, approximate=about)
    return _in_part(clock, match)


def _in_part(clock: Clock, match: re.Match[str]) -> Clock:
    """`clock` with am or pm decided by "in the morning" and the like, and with its zone."""
    part = match["part"] or ""
    zone = match["zone"] or ""
    clock = replace(clock, zone=zone)
    if not part or clock.minute is None or clock.certain:
        return clock
    hour = clock.minute // 60 % 12
    late = part in ("afternoon", "evening") or (part == "night" and hour >= 5)
    return replace(clock, minute=(hour + 12 * late) * 60 + clock.minute % 60, certain=True)


def _range(match: re.Match[str], text: str, day_ends: frozenset[int]) -> Clock | None:
    joint = match["joint"]
    lead = (match["lead"] or "").strip()
    if joint == "and" and lead != "between":
        return None
    firm = found(_FIRM, match["a"]) or found(_FIRM, match["b"])
    after_day = any(end <= match.start("a") <= end + 2 for end in day_ends)
    if (
        not firm
        and not lead
        and not after_day
        and joint not in ("-", "till", "til", "'til", "until")
        and not found(
            r"^\s*(?:$|[?.!,;)]|on\b|today|tomorrow|tonight|\w+day\b|I\b|then\b|works"
            r"|(?:'s|is) \w+)",
            text[match.end() :],
        )
    ):
        return None
    start, certain = clock_minutes(match["a"])
    until, until_certain = clock_minutes(match["b"])
    if until_certain and not certain:
        # "2-4pm" and "11-1pm": the same half of the day if the start then precedes the end.
        same = start % 720 + (720 if until >= 720 else 0)
        start, certain = (same if same < until else start % 720), True
    clock = Clock(
        match.start(), match.end(), start, certain, until, until_certain or certain, joint=joint
    )
    if certain and not until_certain:
        later = [m for m in (until % 720, until % 720 + 720) if m > start]
        clock = replace(clock, until=later[0] if later else until, until_certain=True)
    part = match["part"] or ""
    if part and not certain:
        half = 0 if part == "morning" else 720
        clock = replace(
            clock,
            minute=start % 720 + half,
            certain=True,
            until=until % 720 + half,
            until_certain=True,
        )
    return replace(clock, zone=match["zone"] or "")


def find_parts(text: str) -> list[DayPart]:
    """Parts of the day ("Thursday morning", "after work"); greetings are none."""
    parts: list[DayPart] = []
    if not found(_ANY_PART, text):
        return parts
    text = small(text)
    for source, part in _PARTS:
        for match in small_pattern(source).finditer(text):
            if found(_GREETING, text[: match.start()]):
                continue
            if not overlaps(parts, *match.span()):
                whole = bool(match.groupdict().get("whole"))
                parts.append(DayPart(match.start(), match.end(), part, whole))
    return sorted(parts, key=lambda part: part.start)
