"""Places named in a text."""

from __future__ import annotations

from cal_ai.extractors.rules.patterns import cased, pattern, sentence_case, words
from cal_ai.extractors.rules.spans import Spans
from cal_ai.extractors.rules.vocabulary import MONTHS, STOPS, WEEKDAYS

PLACE_KIND = (
    r"(?:office|room|conference room|boardroom|cafe|café|restaurant|bar|pub|park|house|place|gym"
    r"|library|lobby|cafeteria|studio|church|school|hospital|clinic|airport|station|mall|museum"
    r"|theater|theatre|beach|building|diner|bistro|bakery|market|hotel|club|center|centre|hall"
    r"|courts?|stadium|arena|gallery|garden|brewery|pizzeria|steakhouse|spot|joint|plaza|pool"
    r"|campus|kitchen|patio)"
)
_ONLINE = (
    r"\b(?:on|over|via|through|by|using) (?P<place>zoom|teams|google meet|skype|slack|webex"
    r"|facetime|discord|phone|the phone|video)\b"
)
_ROOM = (
    r"\b(?:in|to|at) (?:the )?(?P<place>(?:[Cc]onference |[Mm]eeting |[Bb]oard )?[Rr]oom "
    r"(?:[A-Z]?\d+\w*|[A-Z]\b|[A-Z]\w+)|[A-Z]\w+ (?:conference )?[Rr]oom|(?:[Bb]uilding|[Ss]uite)"
    r" \w+)"
)
_NAMED = (
    r"(?:\bat|\bin|@|\bover at|\bto) (?:the )?(?P<place>[A-Z][\w'&.-]*"
    r"(?:(?: (?:of|on|and|&|the|de|la))? [A-Z0-9][\w'&-]*){0,4}"
    r"(?: (?:st|street|ave|avenue|cafe|place|office|room|park|bar|grill|library)\b)?)"
)
_COMMON = (
    r"(?:\bat|\bin) (?P<place>(?:the|my|your|our|that|his|her|their|\w+'s) "
    rf"(?:(?:new|old|little|usual|main|big) )?(?:[\w'&-]+ ){{0,2}}?{PLACE_KIND})\b"
)
_INSTEAD = (
    r"(?i:how about|what about|let's (?:go to|do|try|meet at)|go to|try) (?:the )?"
    r"(?P<place>[A-Z][\w'&.-]*(?:(?: (?:of|on|and|&|the))? [A-Z][\w'&-]*){0,3})(?= instead|\W*$)"
)
_SEARCHES = (
    (_ONLINE, pattern),
    (_ROOM, cased),
    (_NAMED, cased),
    (_COMMON, pattern),
    (_INSTEAD, cased),
)
_NOT_PLACES = words("i noon eastern pacific central am pm q1 q2 q3 q4 christmas")
_NOT_PLACES |= STOPS | WEEKDAYS | MONTHS


def find_place(text: str, moments: Spans, names: frozenset[str]) -> str | None:
    """The place named in `text`, if any; people, days and times are none."""
    for source, compiled in _SEARCHES:
        for match in compiled(source).finditer(text):
            start, end = match.span("place")
            cut = min([end, *(s for s, e in moments if start < e and s < end)])
            place = text[start:cut].strip(" ,.'")
            first = place.split(" ")[0].lower().removesuffix("'s")
            if place and first not in _NOT_PLACES and place.lower() not in names:
                return _tidy(place)
    return None


def _tidy(place: str) -> str:
    if place.lower() in ("phone", "the phone"):
        return "Phone"
    return sentence_case(place[4:] if place.lower().startswith("the ") else place)
