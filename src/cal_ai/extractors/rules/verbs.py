"""Verbs that name an activity where no noun does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from cal_ai.extractors.rules.activities import MEETING, Kind, kinds


@dataclass(frozen=True, slots=True)
class Verb:
    """A way to speak of an activity with a verb; `{what}` in the title is what the verb names."""

    source: str
    title: str
    kind: Kind


_CALL = kinds()["call"]
_SYNC = kinds()["sync"]
_SPORT = Kind("exercise", 90, None, 8)

VERBS = (
    Verb(r"\b(?i:hop|jump|get) on (?:a|the) (?:quick )?(?:call|zoom|phone)\b", "Call", _CALL),
    Verb(
        r"\b(?i:I'll|I can|I will|can you|could you|you can|will you|let me|please|should I|can I"
        r"|to)"
        r" (?:call|ring|phone|facetime|dial)\b(?! (?:twice|the (?:bell|door)|it\b))",
        "Call",
        _CALL,
    ),
    Verb(r"(?i:\bcatch(?:ing)? up\b(?! on))", "Catch-up", MEETING),
    Verb(r"(?i:\bsync(?:ing)?(?: up)?\b)", "Sync", _SYNC),
    Verb(r"(?i:\bpair(?:ing)?(?: up)? (?:on|program))", "Pairing session", MEETING),
    Verb(r"(?i:\b(?:have|grab) a (?:quick )?(?:word|talk)\b)", "Meeting", MEETING),
    Verb(r"(?i:\bcelebrat(?:e|ing)\b)", "Celebration", kinds()["dinner"]),
    Verb(r"(?i:\btouch(?:ing)? base\b)", "Check-in", MEETING),
    Verb(
        r"(?i:\b(?:hang(?:ing)? out|get(?:ting)? together)\b)",
        "Hangout",
        Kind("hangout", 120, None, 10, shared=True),
    ),
    Verb(r"(?i:\bwork(?:ing)? out\b)(?! (?:for|if|that|the))", "Workout", _SPORT),
    Verb(r"(?i:\bstudy(?:ing)?\b)", "Study session", Kind("class", 120, None, 8)),
    Verb(
        r"(?i:\bplay(?:ing)?) (?P<what>tennis|golf|soccer|basketball|squash|badminton|pickleball"
        r"|cards"
        r"|football|volleyball|chess)\b",
        "{what}",
        _SPORT,
    ),
    Verb(
        r"(?i:\bfly(?:ing)?(?: out)? to) (?P<what>[A-Z]\w+(?: (?!\w+day\b)[A-Z]\w+)?)",
        "Flight to {what}",
        kinds()["flight"],
    ),
    Verb(
        r"(?i:\bgo(?:ing)?) (?P<what>(?:(?!to|for|out|on|home|back|the)[A-Za-z]+ )?"
        r"(?:hiking|climbing|bowling|swimming|running|camping|skiing"
        r"|fishing"
        r"|sailing|kayaking|dancing|shopping|biking|cycling|skating|surfing|riding|sledging))\b",
        "{what}",
        Kind("outing", 120, None, 8),
    ),
    Verb(
        r"(?i:\binterview(?:ing)?(?: (?:a|the|our))? )(?P<what>[\w-]+(?: candidate)?)",
        "{what} interview",
        kinds()["interview"],
    ),
    Verb(
        r"(?i:\b(?:book|reserve|get|booked|reserved|got) (?:us |me )?a table\b)",
        "Dinner",
        Kind("dinner", 120, 19, 12),
    ),
    Verb(
        r"(?i:\b(?:getting|get) married\b)",
        "Wedding",
        Kind("daytime", 300, 14, 9),
    ),
    Verb(r"(?i:\bdeliver(?:ing)?\b)", "Delivery", Kind("delivery", 60, None, 8)),
    Verb(r"(?i:\bmeet(?:ing)?(?: up)?\b)", "Meeting", MEETING),
    Verb(
        r"(?i:\b(?:look (?:at|over)|go through|walk through|run through|review)\b)",
        "Review",
        Kind("work", 60, None, 7, shared=True),
    ),
    Verb(
        r"(?i:\b(?:talk(?:ed)?|chat|discuss(?:ed)?|go over|speak|connect|sit down)\b)(?! to (?:him"
        r"|her|them))",
        "Meeting",
        MEETING,
    ),
)


@cache
def any_verb() -> str:
    """A pattern that finds something in a text wherever one of the verbs does."""
    sources = "|".join(verb.source for verb in VERBS)
    return sources.replace("(?P<what>", "(?:").replace("(?i:", "(?:")
