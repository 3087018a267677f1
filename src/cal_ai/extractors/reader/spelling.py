"""Rewrite chat spelling, typos and spoken numbers in the forms that patterns of times know."""

from __future__ import annotations

import re
from functools import cache

from cal_ai.extractors.reader.patterns import any_of, pattern
from cal_ai.extractors.reader.reckoning import MONTH, ONE_TO_TEN

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

# Only words whose misspellings are hardly ever other words.
_MISSPELT = (
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    *("january", "february", "august", "september", "october", "november", "december"),
    *("tomorrow", "tonight", "afternoon", "evening", "morning", "weekend"),
    *("appointment", "meeting", "dentist", "reschedule", "cancel", "calendar", "standup"),
    *("dinner", "lunch", "breakfast", "coffee", "definitely", "perfect", "interview"),
)
_NOT_TYPOS = {"mourning", "melting"}

_FILLER = r"\b(?:u+h+m*|u+m+|e+r+m*|h+m+|m+h*m+|a+h+)\b(?!\s*,?\s*(?:no|yes)\b),?\s*|\byou know,\s*"
_LIKE = r"\b(like|kinda|sorta|approximately|roughly)\s+(?=\d|(?:noon|one|two|three|four)\b)"
# Rewritten in this order, before single words are looked up.
_REWRITTEN = (
    (r"\b([ap])\. ?m\b\.?", r"\1m"),
    (r"\b((?:mon|tue|wed|thu|fri|sat|sun)[a-z]*|tomorrow|tmr\w*) eve\b", r"\1 evening"),
    (r"\b(dr|mr|mrs|ms|st|vs|prof|approx|jr|sr)\.", r"\1"),
    (r"(?<=\d)\s?[–—]\s?(?=\d)", "-"),
    (r"(?<=\d) ?(?:clock|o clock|bells)\b", " o'clock"),
    (r"\bone[ -]on[ -]one\b", "1:1"),
)


def plain(words: str) -> str:
    """Unify spelling: straight quotes, shorthand written out, clock words as digits."""
    text = " ".join(words.translate(_QUOTES).split())
    for source, replacement in _REWRITTEN:
        text = pattern(source).sub(replacement, text)
    text = pattern(r"[\w'-]+").sub(_respelt, text)
    text = pattern(_FILLER).sub("", text)
    text = pattern(_LIKE).sub("around ", text)
    return _in_digits(" ".join(text.split()))


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
    """Return the known word that `word` misspells; None for plurals and other real words."""
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


# Clock times and days of the month said in words.
_HOURS = {word: hour for hour, word in enumerate((*ONE_TO_TEN, "eleven", "twelve"), 1)}
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
_FRACTIONS = {"five": 5, "quarter": 15, "a quarter": 15, "half": 30}
_MINUTES = {"ten": 10, "fifteen": 15} | _FRACTIONS | _TENS
_MINUTES |= {f"{ten}{gap}five": _TENS[ten] + 5 for ten in _TENS for gap in "- "}
_NTH_WORDS = """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
    fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
"""
_NTH = {word: nth for nth, word in enumerate(_NTH_WORDS.split(), 1)}
_NTH |= {f"twenty{gap}{word}": 20 + _NTH[word] for word in list(_NTH)[:9] for gap in "- "}
_NTH |= {"thirtieth": 30, "thirty-first": 31, "thirty first": 31}

_WORD = any_of(_HOURS)
_HOUR = rf"(?:{_WORD}|1[0-2]|[1-9])"
_TIME = rf"(?:{_WORD}|(?:1[0-2]|[1-9])(?::[0-5]\d)?)"
_DAY = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mon|tues?|weds?|thurs?|fri|today|tomorrow"
    r"|tonight|\d{1,2}(?:st|nd|rd|th))"
)
_PART = r"(?:in the (?:morning|afternoon|evening)|at night|tonight|tomorrow)"
_FINE = r"(?:a bit|fine|good|great|ok|better|best|perfect|lovely|ideal|tight|late|early|too)"
# What may follow an hour in words that nothing before it shows to be a time.
_SELF_CONTAINED = (
    rf"(?=\s*(?:$|[?.!,;]|instead|{_PART}|works|'s {_FINE}|is {_FINE}|sounds|it is|then|would|I can"
    rf"|I'm|suits|on {_DAY}|for me|(?:my|your|our|local|\w+) time\b|here\b|please|sharp|ish"
    r"|at (?:the|my|your|our|[A-Z])))"
)

# The twenty-four hours as radio operators and timetables say them ("zero nine hundred").
_TEENS = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_LATE = {word: hour for hour, word in enumerate((*_TEENS, "twenty"), 13)}
_LATE |= {f"twenty{gap}{ONE_TO_TEN[ones]}": 21 + ones for ones in range(3) for gap in "- "}
_ALL_DAY = _HOURS | _LATE
_HUNDRED = (
    rf"\b(?:(?:zero|oh|o)[ -])?({any_of(_ALL_DAY)})[ -]hundred\b(?:[ -](?:hours|hrs))?"
    r"(?! (?:and|people|guests|euros?|pounds?|dollars?|metres|miles|per))"
)
_LATE_MINUTE = (
    rf"\b({any_of(_LATE)})[ -](oh[ -]five|{any_of(_MINUTES.keys() - _FRACTIONS.keys())})\b"
    r"(?! (?:people|minutes?|dollars|percent|euros|pounds))"
)
_BEFORE_DIGITS = (
    r"(^|[.!?] |\b(?:at|around|about|from|until|till?|by|to|or|is|not|do|say|make it|ok|yes|yep"
    rf"|week|{_DAY}|sat|sun|\d(?:st|nd|rd|th)) "
)
_FOUR_DIGITS = (
    rf"{_BEFORE_DIGITS}|[,;:] |\b(?=\d+ ?(?:hours|hrs)\b)"
    r"|(?<![-+#.:/\d])(?<!\d )(?<!code )(?<!room )(?<!pin )\b(?=0[1-9]\d\d\b(?! \d)))"
    r"(?!20[2-9]\d\b(?! ?(?:hours|hrs)))([01]\d|2[0-3])([0-5]\d)(?: ?(?:hours|hrs|h))?\b"
    r"(?! ?(?:euros?|pounds|dollars|people|kg|calories|steps|words))"
)
# "730" is a time only between such words: it may also be a number.
_THREE_DIGITS = (
    rf"{_BEFORE_DIGITS})([1-9])([0-5][05])(?=\W*$|[.?!,;](?!\d)| ?(?:am|pm)\b| (?:works?|instead"
    rf"|then|ok|noted|on|for me|(?:your|my|our) time|please|sharp|it is|{_PART}|{_DAY})\b)"
)

_PAST_TO = rf"\b({any_of(_MINUTES)})(?: minutes)? (past|after|to|till|before|of) ({_HOUR})\b"
_HALF_HOUR = rf"(?<!first )(?<!second )\bhalf[ -]({_HOUR})\b(?![-:.]?\d)"
_HOUR_MINUTE = (
    rf"(?<!twenty[ -])(?<!thirty[ -])\b({_WORD})[ -]"
    rf"(oh[ -]five|{any_of(word for word in _MINUTES if word not in ('half', 'five'))})\b(?!-)"
    r"(?! (?:people|minutes?|dollars|percent|bucks|years|days|pages|guests|past|to|hours?|euros"
    r"|pounds|thousand|hundred|inch|inches|miles|metres|meters|kilos))"
)
_RANGE = (
    rf"(?<!the )(?<!little )(?<!that )(?<!this )(?<![\d:])\b({_TIME}) (to|till|til|until)"
    rf" ({_TIME})\b(?! (?:people|times|of us))"
)
_LED = (
    r"\b(at|around|about|by|until|till|til|before|after|from|say,?|make it|make that|it's|to"
    r"|between|how about|what about|do|maybe|like|@|and|or|is|for|that's|not) "
    rf"({_WORD})\b(?=\s*(?:$|[?.!,;]|am\b|pm\b|o'?clock|ish|sharp|instead|works?|on\b|or\b|to\b"
    r"|and\b|today|I'm|tonight|tomorrow|in the (?:morning|afternoon|evening)|mon|tue|wed|thu|fri"
    r"|sat|sun|at night|then\b|would|is (?:good|fine|ok|better|perfect)|if|at the|for|this|next"
    r"|sounds|eastern|pacific|central|here\b|with you|(?:my|your|our) time))"
)
_AT = (
    rf"\b(at|@) ({_WORD})\b(?![- ](?:of|different|other|points?|places?|locations?|years?|months?"
    r"|weeks?|days?|hours?|minutes?|percent|times|dollars|euros|pounds|per|and a half|hundred)\b)"
)
_AFTER_DAY = rf"\b({_DAY}(?: (?:morning|afternoon|evening|night))?,? )({_WORD})\b{_SELF_CONTAINED}"
_FOLLOWED = (
    rf"()\b({_WORD})(?=\s?(?:am|pm|o'?clock|ish)\b|-ish\b|(?:[ -]?ish)? {_PART}"
    rf"|'s {_FINE}\b| (?:is|sounds|works) (?:{_FINE}|for me)\b)"
)
_ALONE = (
    r"((?:^|(?<=[.!?] ))(?!no one\b)(?:(?:ok|yes|yeah|sure|maybe|no|wait|actually|hmm|then|perfect"
    r"|great|so|exactly|right|and|say|again|well|oh|fine|lovely),? )*)"
    rf"({_WORD})\b(?! (?:would be|on the|of))(?!,? \w+ (?:is|are|was)\b){_SELF_CONTAINED}"
)
_NOT_A_DAY = (
    r"(?! (?:of (?!next)|floor|street|grade|time|place|graders?|birthday|anniversary|edition|round"
    r"|quarter|draft|attempt|try|option|choice|row|one|person|week|month|year|day|half|slot|date))"
)
_AFTER_DATE = (
    r"(?:is|was|at|works?|then|instead|from|or|and|I|I'm|I've|we|we're|if|in|for|to|would|will|as"
    r"|with|suits|till|until|it|before|after|please|free|now|also|too|not|of next month)"
)
_DATES = (
    rf"(\b{_DAY},? (?:the )?|\b{MONTH} (?:the )?|\bon the )({any_of(_NTH)})\b{_NOT_A_DAY}",
    rf"(\b(?:the )?)({any_of(_NTH)})(?= of {MONTH}\b)",
    rf"(\bthe )(?!(?:first|second|third)\b)({any_of(_NTH)})\b"
    rf"(?=\W*$|[,.;:?!]|'s\b| {_AFTER_DATE}\b){_NOT_A_DAY}",
)

_LOOKALIKES = str.maketrans("\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}ıſ\N{KELVIN SIGN}", "IisK")


def _in_digits(text: str) -> str:
    """Write clock times and days of the month that are said in words as digits."""
    for source in (_FOUR_DIGITS, _THREE_DIGITS):
        text = pattern(source).sub(r"\1\2:\3", text)
    for source in _DATES:
        text = pattern(source).sub(lambda m: f"{m[1]}{_ordinal(_NTH[_small(m[2])])}", text)
    text = pattern(_HUNDRED).sub(lambda m: f"{_ALL_DAY[_small(m[1])]:02d}:00", text)
    text = pattern(_LATE_MINUTE).sub(_hour_minute, text)
    text = pattern(_PAST_TO).sub(_past_or_to, text)
    text = pattern(_HALF_HOUR).sub(lambda m: f"{_digits(m[1])}:30", text)
    text = pattern(_HOUR_MINUTE).sub(_hour_minute, text)
    text = pattern(_RANGE).sub(lambda m: f"{_digits(m[1])} {m[2]} {_digits(m[3])}", text)
    for source in (_FOLLOWED, _AFTER_DAY):
        text = pattern(source).sub(lambda m: f"{m[1]}{_digits(m[2])}", text)
    # Twice: in "two or three" the second word follows one that the first match ended with.
    for source in (_LED, _LED, _AT):
        text = pattern(source).sub(lambda m: f"{m[1]} {_digits(m[2])}", text)
    return pattern(_ALONE).sub(lambda m: f"{m[1]}{_digits(m[2])}", text)


def _small(text: str) -> str:
    """Lower the text, with ASCII for the few other letters that match it when case is ignored."""
    return text.translate(_LOOKALIKES).lower()


def _digits(hour: str) -> str:
    return str(_HOURS.get(_small(hour), hour))


def _ordinal(nth: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(nth % 10, "th") if nth not in (11, 12, 13) else "th"
    return f"{nth}{ending}"


def _past_or_to(match: re.Match[str]) -> str:
    minutes = _MINUTES[_small(match[1])]
    word, side = _small(match[3]), _small(match[2])
    hour = _HOURS.get(word) or int(word)
    if side in ("past", "after"):
        return f"{hour}:{minutes:02d}"
    quarter = _small(match[1]) in ("quarter", "a quarter", "twenty", "twenty-five", "twenty five")
    before = match.string[: match.start()].rstrip().lower()
    if not quarter and not before.endswith(("at", "by", "around", "about", "until", "till")):
        return match[0]  # "five to six people", "from ten to six"
    return f"{(hour - 2) % 12 + 1}:{60 - minutes:02d}"


def _hour_minute(match: re.Match[str]) -> str:
    minute = _small(match[2])
    return f"{_ALL_DAY[_small(match[1])]}:{5 if minute.startswith('oh') else _MINUTES[minute]:02d}"
