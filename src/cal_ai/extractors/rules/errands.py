"""Things that somebody has done or comes to do, named by a verb and its object."""

from __future__ import annotations

from cal_ai.extractors.rules.activities import Activity, kinds
from cal_ai.extractors.rules.patterns import any_of, sentence_case, small, small_pattern, words
from cal_ai.extractors.rules.vocabulary import FILLERS, NOBODY, STOPS

_DONE = {
    "serviced": "service",
    "checked": "check",
    "looked at": "check",
    "seen to": "check",
    "repaired": "repair",
    "fixed": "repair",
    "mended": "repair",
    "cleaned": "cleaning",
    "tested": "test",
    "inspected": "inspection",
    "installed": "installation",
    "fitted": "fitting",
    "measured": "measuring",
    "painted": "painting",
    "delivered": "delivery",
    "valued": "valuation",
    "swept": "sweep",
}
_DOING = {
    "service": "service",
    "repair": "repair",
    "inspect": "inspection",
    "measure": "measuring",
    "measure up": "measuring",
    "install": "installation",
    "fit": "fitting",
    "test": "test",
    "deliver": "delivery",
    "value": "valuation",
    "sweep": "sweep",
    "tune": "tuning",
}
_OWNED = r"(?:the|my|our|your|his|her|their|an?|new|old)"
_THING = r"(?P<what>[a-z][\w-]+(?: [a-z][\w-]+)?)"
_HAVE_DONE = (
    rf"\b(?:ha(?:ve|s|d|ving)|get(?:s|ting)?|got|want|need)(?: {_OWNED})+ {_THING}"
    rf" (?P<how>{any_of(_DONE)})\b"
)
_COME_AND_DO = (
    rf"\b(?:com(?:e|ing)(?: (?:round|by|over|out|up|down|in))?|here|there|need|want|like|able"
    rf"|could|can|will|'ll|you|me|us)"
    rf"(?: and| to)? (?P<how>{any_of(_DOING)})(?: {_OWNED})+ {_THING}"
)
_SEE_HOME = (
    r"\b(?:show (?:you|me|us|him|her|them)(?: (?:round|around))?|see|view"
    r"|look (?:at|round|around))"
    rf"(?: {_OWNED}| that)+ "
    r"(?P<what>(?:\w+ )?(?:flat|house|apartment|room|studio|cottage|unit|flatshare|premises))\b"
)
_NO_THINGS = STOPS | NOBODY | FILLERS | words("hair kids boys girls time money")
_VISIT = kinds()["appointment"]


def find_errand(text: str) -> Activity | None:
    """What is to be done to a thing ("have the boiler serviced"), titled as its owner would."""
    lower = small(text)
    for source, nouns in ((_HAVE_DONE, _DONE), (_COME_AND_DO, _DOING), (_SEE_HOME, {})):
        match = small_pattern(source).search(lower)
        if match is None:
            continue
        thing = [word for word in match["what"].split(" ") if word.lower() not in FILLERS]
        if thing and thing[-1].lower() in _NO_THINGS:
            thing.pop()
        if not thing or {word.lower() for word in thing} & _NO_THINGS:
            continue
        noun = nouns[match["how"]] if nouns else "viewing"
        if thing[-1].lower() in ("eye", "eyes"):
            thing[-1] = "eye"
        title = sentence_case(f"{' '.join(thing)} {noun}")
        kind = kinds().get(noun, _VISIT)
        return Activity(match.start(), match.end(), noun, title, kind)
    return None
