"""One clause, read: what it does, and what it says about time, activity, people and place."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cal_ai.extractors.rules import speech
from cal_ai.extractors.rules.activities import kinds
from cal_ai.extractors.rules.clauses import Clause, clauses
from cal_ai.extractors.rules.moments import Moments, find_moments
from cal_ai.extractors.rules.patterns import cased, found, pattern
from cal_ai.extractors.rules.spelling import plain
from cal_ai.extractors.rules.titles import Activity, find_activities, find_place
from cal_ai.transcript import Utterance


@dataclass(frozen=True, slots=True)
class Reading:
    """What a clause means; the flags are independent, and the dialogue decides which one counts."""

    text: str
    utterance: Utterance
    question: bool
    moments: Moments
    activity: Activity | None
    place: str | None
    void: str
    cancels: bool
    moves: bool
    refuses: bool
    agrees: bool
    agrees_strongly: bool
    holds: bool
    tentative: bool
    proposes: bool
    invites: bool
    announces: bool
    calendar: bool
    corrects: bool
    bare: bool

    @property
    def speaker(self) -> str:
        return self.utterance.speaker

    @property
    def shared(self) -> bool:
        return found(speech.SHARED, self.text)

    @property
    def own(self) -> bool:
        return found(speech.OWN, self.text)

    @property
    def addressed(self) -> bool:
        """Whether the hearer is spoken to ("you", "your")."""
        return found(r"\b(?:you|your|you're|you'll|you've)\b", self.text)


_BARE_WORDS = (
    r"\b(?:ok|yes|yeah|yep|sure|no|wait|actually|maybe|then|so|at|on|around|about|by|the|in|it's"
    r"|it|is|let's|say|make|for|and|or|please"
    r"|just|how|what|sorry|perfect|great|good|cool|fine|from|until|instead|i|mean|meant|like"
    r"|probably|sharp|sometime|after|before|of|well|oh|hmm|rather|better|thanks|think|starting"
    r"|anytime|any|time|between)\b"
)


def read_utterance(utterance: Utterance, now: datetime, names: frozenset[str]) -> list[Reading]:
    """The clauses of an utterance, read in order."""
    text = pattern(r'"[^"]{12,}"').sub(" ", plain(utterance.words))
    parts = clauses(text)
    joking = speech.is_sarcastic(text) if len(parts) > 1 else False
    return [_read(clause, utterance, now, names, joking) for clause in parts]


def _read(
    clause: Clause, utterance: Utterance, now: datetime, names: frozenset[str], joking: bool
) -> Reading:
    text = clause.text
    moments = find_moments(text, now)
    activities = find_activities(text, moments.spans, names)
    strong = speech.agrees_strongly(text)
    bare = bool(moments) and not found(r"[a-z]{2,}", _remainder(text, moments))
    return Reading(
        text=text,
        utterance=utterance,
        question=clause.question,
        moments=moments,
        activity=_main(activities),
        place=find_place(text, moments.spans, names),
        void=_void(clause, moments, names, joking),
        cancels=found(speech.CANCEL, text)
        and not found(
            r"\b(?:don't|do not|won't|not|never|didn't) (?:\w+ )?(?:cancel|delete|remove|drop|skip"
            r"|forget)\b",
            text,
        ),
        moves=found(speech.MOVE, text),
        refuses=speech.refuses(text),
        agrees=strong or speech.agrees(text),
        agrees_strongly=strong,
        holds=found(speech.HOLD, text),
        tentative=found(speech.TENTATIVE, text),
        proposes=found(speech.PROPOSAL, text),
        invites=found(speech.INVITATION, text),
        announces=found(speech.ANNOUNCEMENT, text),
        calendar=found(speech.CALENDAR, text),
        corrects=found(speech.CORRECTION, text),
        bare=bare,
    )


def _remainder(text: str, moments: Moments) -> str:
    letters = list(text)
    for start, end in moments.spans:
        letters[start:end] = " " * (end - start)
    return pattern(_BARE_WORDS).sub(" ", "".join(letters))


def _main(activities: list[Activity]) -> Activity | None:
    """The activity that the clause is about: the first that is named by a noun of its own."""
    return activities[0] if activities else None


def _void(clause: Clause, moments: Moments, names: frozenset[str], joking: bool) -> str:
    """Why the clause plans nothing: "sarcasm", "hypothetical", "reported", "past", "others", or ""."""
    text = clause.text
    if joking or speech.is_sarcastic(text):
        return "sarcasm"
    if found(speech.REPORTED, text):
        return "reported"
    if found(speech.HYPOTHETICAL, text):
        return "hypothetical"
    if any(day.past for day in moments.days) or (speech.is_past(text) and not clause.question):
        return "past"
    return "others" if is_about_others(text, names) else ""


_SUBJECT = (
    r"(?P<who>he|she|they|(?:[Mm]y|[Hh]is|[Hh]er|[Tt]heir|[Yy]our) (?:\w+ )?\w+?|[A-Z]\w+(?:"
    r" (?:and|&) (?:[A-Z]\w+|(?:his|her) \w+))?"
    r"|(?:[Tt]he|[Oo]ur|[Tt]hose) (?:kids|boys|girls|neighbou?rs|guys|interns|twins|Smiths|other"
    r" team|sales team|\w+s))"
    r"(?:'s|'re|'ll|'d| is| are| has| have| will| wants?| got| just| needs?| said| says| and|,"
    r" who) "
)


def is_about_others(text: str, names: frozenset[str]) -> bool:
    """Whether the clause tells what people other than speaker and hearers do."""
    if found(r"\b(?:we|we're|we'll|us|our|let's|you|your|me|with me|i|i'm|i'll|i've)\b", text):
        return False
    opening = pattern(speech.OTHERS).match(text)
    match = cased(_SUBJECT).match(text, opening.end() if opening else 0)
    if match is None:
        return found(r"^\W*(?:he|she|they)(?:'s|'re|'ll)?\b", text)
    who = match["who"].lower()
    last = who.split(" ")[-1]
    if last in kinds() or who.removesuffix("s") in kinds() or last in _NOT_PEOPLE:
        return False
    if who.startswith("my ") and found(
        r"\b(?:visiting|coming (?:over|to)|staying|arriv\w+|land(?:s|ing))\b", text
    ):
        return False
    return not found(
        rf"^\W*(?:{who})\W+(?:works|is (?:fine|good|ok|great|perfect|free|available))", text
    )


_NOT_PEOPLE = frozenset(
    [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "tomorrow",
        "today",
        "noon",
        "it",
        "that",
        "there",
        "this",
        "what",
        "everything",
        "everyone",
        "here",
        "how",
        "who",
        "when",
        "where",
        "which",
        "why",
        "time",
        "date",
        "place",
        "appointment",
        "calendar",
        "schedule",
        "someone",
        "anyone",
        "everybody",
        "day",
        "week",
        "afternoon",
        "morning",
        "evening",
        "slot",
        "train",
        "bus",
        "flight",
        "plan",
        "one",
        "traffic",
        "weather",
        "yes",
        "no",
        "ok",
    ]
)
