"""Chat spelling, typos and spoken numbers rewritten to the forms that the time layer knows."""

from __future__ import annotations

import re
from functools import cache

from cal_ai.extractors.reader.numerals import in_digits
from cal_ai.extractors.reader.patterns import found, pattern

_SHORTHAND = """
    u = you; ur = your; r = are; yall y'all = you all;
    tmrw tmr tmw tmrow tomoz tomm 2moro 2morrow 2mrw = tomorrow; 2nite tonite = tonight;
    2day tdy = today; pls plz = please; k kk okay okie okey mkay = ok; ya yea yeh yah ye = yeah;
    yess yesss yas = yes; suree = sure; gonna gunna = going to; wanna = want to; gotta = got to;
    hafta = have to; lemme = let me; gimme = give me; cuz coz bc = because; w = with; b4 = before;
    l8r = later; cya = see you; def defo = definitely; prob probs prolly = probably;
    sched = schedule; resched = reschedule; mtg = meeting; mtgs = meetings; appt = appointment;
    appts = appointments; bday b-day = birthday; bfast brekkie = breakfast; min mins = minutes;
    hr = hour; hrs = hours; wknd = weekend; nxt = next; wk = week; aft arvo = afternoon;
    morn = morning; dont = don't; cant cannot = can't; wont = won't; didnt = didn't;
    doesnt = doesn't; isnt = isn't; wasnt = wasn't; couldnt = couldn't; wouldnt = wouldn't;
    shouldnt = shouldn't; havent = haven't; im = I'm; ive = I've; lets = let's; thats = that's;
    whats = what's; wat wot = what; hows = how's; youre = you're; weve = we've; theyre = they're;
    1-on-1 1on1 = 1:1; midday = noon
"""
SHORTHAND = {
    short: long.strip()
    for entry in _SHORTHAND.split(";")
    for shorts, _, long in [entry.partition("=")]
    for short in shorts.split()
}

# Only words whose near misses are hardly ever other words.
_MISSPELT = (
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    *("january", "february", "august", "september", "october", "november", "december"),
    *("tomorrow", "tonight", "afternoon", "evening", "morning", "weekend"),
    *("appointment", "meeting", "dentist", "reschedule", "cancel", "calendar", "standup"),
    *("basketball", "football", "birthday"),
    *("dinner", "lunch", "breakfast", "coffee", "definitely", "perfect", "interview"),
)
_NOT_TYPOS = {"mourning", "melting"}

_FILLER = r"\b(?:u+h+m*|u+m+|e+r+m*|h+m+|m+h*m+|a+h+)\b(?!\s*,?\s*(?:no|yes)\b),?\s*|\byou know,\s*"
_LIKE = r"\b(like|kinda|sorta|approximately|roughly)\s+(?=\d|(?:noon|one|two|three|four)\b)"
# Rewritten in this order, before single words are looked up.
_REWRITTEN = (
    (r"\b([ap])\. ?m\b\.?", r"\1m"),
    (r"\b(dr|mr|mrs|ms|st|vs|prof|approx|jr|sr)\.", r"\1"),
    (r"(?<=\d)\s?[–—]\s?(?=\d)", "-"),
    (r"(?<=\d) ?(?:clock|o clock|bells)\b", " o'clock"),
    (r"\bone[ -]on[ -]one\b", "1:1"),
    (r"\b(free|up|time|around) 4 (?=[a-z])", r"\1 for "),
    (r"^(\d{1,2})\.([0-5][05])(?=\W*$)", r"\1:\2"),
    (r"\b(make it|say|maybe|about|ok|k) (\d{1,2})\.([0-5][05])\b", r"\1 \2:\3"),
)
# Few utterances hold any of these, and the others need no closer look.
_ANY_REWRITTEN = "|".join(source for source, _ in _REWRITTEN)


def plain(words: str) -> str:
    """`words` in one spelling: straight quotes, shorthand written out, clock words as digits."""
    text = words.translate(_QUOTES)
    if found(_ANY_REWRITTEN, text):
        for source, replacement in _REWRITTEN:
            text = pattern(source).sub(replacement, text)
    text = pattern(r"[\w'-]+").sub(_respelt, text)
    text = pattern(_FILLER).sub("", text)
    text = pattern(_LIKE).sub("around ", text)
    return in_digits(" ".join(text.split()))


_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "…": "...", "\u00a0": " "})


def _respelt(match: re.Match[str]) -> str:
    word = match[0]
    lower = word.lower()
    if lower in SHORTHAND:
        return SHORTHAND[lower]
    if len(lower) >= 5 and lower.isascii() and lower.isalpha():
        return _corrected(lower) or word
    return word


@cache
def _corrected(word: str) -> str | None:
    """The known word that `word` misspells, or None; plurals and other real words stay."""
    from rapidfuzz.distance import OSA

    if word in _MISSPELT or word in _NOT_TYPOS:
        return None
    for known in _MISSPELT:
        if word[0] == known[0] and word not in (known + "s", known + "ly"):
            allowed = 1 + (len(known) >= 8)
            if len(known) <= 6 and sorted(word) != sorted(known):
                allowed = 0
            if OSA.distance(word, known, score_cutoff=allowed) <= allowed:
                return known
    return None
