"""One clause, read: what it does, and what it says about time, activity, people and place."""

from __future__ import annotations

from dataclasses import dataclass

from cal_ai.extractors.rules import agreement, changes, doubts, intents
from cal_ai.extractors.rules.activities import Activity
from cal_ai.extractors.rules.lazy import lazy
from cal_ai.extractors.rules.moments import Moments
from cal_ai.extractors.rules.patterns import found, pattern
from cal_ai.extractors.rules.spans import blanked
from cal_ai.transcript import Utterance


@dataclass(frozen=True)
class Reading:
    """What a clause means; the flags are independent, and the dialogue decides which one counts.

    `named` is the text without what it names only in passing. Most flags are never asked for:
    they are found when they are.
    """

    text: str
    utterance: Utterance
    question: bool
    contrasted: bool
    moments: Moments
    activity: Activity | None
    denied: Activity | None
    place: str | None
    void: str
    named: str

    @property
    def speaker(self) -> str:
        return self.utterance.speaker

    @lazy
    def cancels(self) -> bool:
        return changes.cancels(self.text)

    @lazy
    def moves(self) -> bool:
        return changes.moves(self.text)

    @lazy
    def refuses(self) -> bool:
        regrets = self.contrasted and agreement.regrets(self.text)
        return regrets or self._turns_down

    @lazy
    def _turns_down(self) -> bool:
        """Whether the clause alone refuses, whatever it answers."""
        return agreement.refuses(self.text)

    @lazy
    def agrees(self) -> bool:
        return self.agrees_strongly or (agreement.agrees_weakly(self.text) and not self._turns_down)

    @lazy
    def agrees_strongly(self) -> bool:
        return agreement.agrees_strongly(self.text) and not self._turns_down

    @lazy
    def holds(self) -> bool:
        return agreement.holds(self.text)

    @lazy
    def tentative(self) -> bool:
        return agreement.hedges(self.utterance.words)

    @lazy
    def proposes(self) -> bool:
        return intents.proposes(self.text)

    @lazy
    def invites(self) -> bool:
        return intents.invites(self.text)

    @lazy
    def announces(self) -> bool:
        return intents.announces(self.text)

    @lazy
    def calendar(self) -> bool:
        return intents.names_the_calendar(self.text)

    @lazy
    def corrects(self) -> bool:
        return intents.corrects(self.text)

    @lazy
    def bare(self) -> bool:
        """Whether the clause says nothing but a time."""
        if not self.moments:
            return False
        return not found(r"[a-z]{2,}", _remainder(self.text, self.moments, self.place))

    @lazy
    def shared(self) -> bool:
        return intents.speaks_for_all(self.text)

    @lazy
    def own(self) -> bool:
        return intents.speaks_of_self(self.text)

    @lazy
    def addressed(self) -> bool:
        """Whether the hearer is spoken to ("you", "your")."""
        return intents.speaks_to_hearer(self.text)

    @property
    def intends(self) -> bool:
        """Whether the clause does anything about a plan."""
        return (
            self.proposes
            or self.announces
            or self.calendar
            or self.corrects
            or self.agrees_strongly
            or self.bare
            or self.invites
        )

    @property
    def starts_with_time(self) -> bool:
        return min((start for start, _ in self.moments.spans), default=1) == 0

    @property
    def is_fragment(self) -> bool:
        """Whether the clause starts with a day or time and names both."""
        return self.starts_with_time and bool(self.moments.dates and self.moments.minutes)

    @property
    def tells_length(self) -> bool:
        return found(
            r"\b(?:takes?|lasts?|enough|plenty|long|should do|wants?|needs?|allow|reckon|set aside"
            r"|(?:that|it)(?:'ll be|'s| is| will be))\b",
            self.text,
        )

    @property
    def is_late(self) -> bool:
        """Whether somebody only says that he will come late."""
        return found(r"\b(?:be|running|bit|little|minutes) late\b", self.text)

    @lazy
    def keeps(self) -> bool:
        return changes.keeps(self.text)

    @lazy
    def offers(self) -> bool:
        """Whether the speaker names times at which he could ("I've got Tuesday at 4")."""
        return found(_HAVING, self.text) or (
            self.moments.names_a_time and found(_BEING_ABLE, self.text)
        )

    @property
    def is_circumstance(self) -> bool:
        """Whether the clause only tells what some thing does."""
        return not (self.question or self.proposes) and doubts.is_a_circumstance(self.text)

    @property
    def is_engaged(self) -> bool:
        """Whether somebody only says until when or from when he has to be elsewhere."""
        return found(
            r"\bi(?:'ve got| have|'ve)(?: got)? to (?:be|leave|go|run|get|pick|collect)\b"
            r"|\bi (?:leave|go in|work (?:till|until)|start work|finish|teach|knock off"
            r"|get (?:off|out|home|back))\b",
            self.text,
        )

    @lazy
    def drops(self) -> bool:
        """Whether something is left out, which cancels it if it is a thing of the calendar."""
        return changes.leaves_out(self.text)

    @property
    def refuses_barely(self) -> bool:
        """Whether nothing but a "no" refuses."""
        return self.refuses and not agreement.refuses_in_words(self.text)

    @property
    def asks_whether_still(self) -> bool:
        return self.question and found(
            r"\b(?:are|is|'re) (?:we|you|it|that) (?:all |both )?still\b"
            r"|\b(?:you|we)'re (?:all )?still\b|\bstill (?:on|good|happening|up)\b",
            self.text,
        )

    @lazy
    def takes_for_granted(self) -> bool:
        """Whether the clause speaks of a day as one on which something is known to be."""
        return found(r"\b(?:all|still|we|you|everything) (?:set|good|ok|on|fine) for\b", self.text)

    @property
    def asks_availability(self) -> bool:
        return found(
            r"\b(?:free|available|busy|have time|any time|doing|you around|around\W*$)", self.text
        )


_HAVING = (
    r"\b(?:have|'ve got|got|there's) (?:still |only |also )?"
    r"(?:(?:an? )?(?:\w+ )?(?:opening|slot|gap|cancellation)|room|something|\w+day\b|the \d|\d)"
)
_BEING_ABLE = (
    r"\b(?:can|could)(?: only| also)?"
    r" (?:come|do|talk|meet|see|start|make|be (?:here|there))\b"
)
_BARE_WORDS = (
    r"\b(?:ok|yes|yeah|yep|sure|no|wait|actually|maybe|then|so|at|on|around|about|by|the|in|it's"
    r"|it|is|let's|say|make|for|and|or|please"
    r"|just|how|what|sorry|perfect|great|good|cool|fine|from|until|instead|i|mean|meant|like"
    r"|probably|sharp|sometime|after|before|of|well|oh|hmm|rather|better|thanks|think|starting"
    r"|anytime|any|time|between|every|each|same|usual|place|everybody|everyone|guys|team|folks|people"
    r"|all|right|one|max|tops|most|come|over)\b"
)


def _remainder(text: str, moments: Moments, place: str | None) -> str:
    left = blanked(text, moments.spans).lower()
    if place:
        left = left.replace(place.lower(), " ")
    return pattern(_BARE_WORDS).sub(" ", left)
