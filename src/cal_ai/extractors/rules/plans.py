"""A plan that takes shape over the lines of a conversation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date

from cal_ai.events import Action, ContextEvent
from cal_ai.extractors.rules.activities import CHORE, Activity, Kind
from cal_ai.extractors.rules.references import content_words
from cal_ai.extractors.rules.when import When
from cal_ai.transcript import Utterance

_UNNAMED = Kind("unnamed", shared=True)


@dataclass(frozen=True, slots=True)
class Settled:
    """What was agreed to: `sure` if in words, not by silence."""

    action: Action
    when: When
    place: str | None
    sure: bool
    tentative: bool
    backers: int


@dataclass(slots=True)
class Plan:
    """Something to be put into the calendar, changed or removed.

    `action` is what the words on the table would do to the calendar, None if there are none;
    `speaker` put them there, `backing` are those who are for them; `held` is the utterance in
    which somebody wanted to think about them first. `settled` is what was agreed to
    last, and stands until it is taken back. A `foreign` plan is one that others make for
    themselves.
    """

    activity: Activity | None = None
    target: ContextEvent | None = None
    when: When = field(default_factory=When)
    place: str | None = None
    people: list[str] = field(default_factory=list)
    action: Action | None = None
    speaker: str = ""
    asked: bool = False
    told: bool = False
    tentative: bool = False
    optional: bool = False
    foreign: bool = False
    held: int | None = None
    overheard: bool = False
    given_up: bool = False
    remote: bool = False
    backing: set[str] = field(default_factory=set)
    willing: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    addressees: frozenset[str] = frozenset()
    settled: Settled | None = None
    touched: int = 0
    nodded: int = 0
    lines: list[Utterance] = field(default_factory=list)
    days: set[date] = field(default_factory=set)
    topic: str = ""

    @property
    def kind(self) -> Kind:
        """The kind of what is planned; of something unnamed, one with plain defaults."""
        return self.activity.kind if self.activity is not None else _UNNAMED

    @property
    def is_open(self) -> bool:
        """Whether words are on the table that are not settled yet."""
        return self.action is not None and not self.is_settled

    @property
    def is_settled(self) -> bool:
        held = self.settled
        return (
            held is not None and held.action == self.action and held.when.point == self.when.point
        )

    @property
    def is_unnamed(self) -> bool:
        """Whether no noun says what the plan is."""
        return self.target is None and (self.activity is None or self.activity.weak)

    @property
    def is_vague(self) -> bool:
        """Whether another name for what is planned would be better."""
        activity = self.activity
        guessed = activity is not None and (activity.guessed or self.overheard)
        chore = self.kind is CHORE
        return self.is_unnamed or ((guessed or chore) and self.target is None)

    def quote(self, utterance: Utterance) -> None:
        if utterance not in self.lines:
            self.lines.append(utterance)

    def offer(self, speaker: str, action: Action, *, asked: bool, told: bool) -> None:
        """Puts new words on the table."""
        self.action, self.speaker, self.asked, self.told = action, speaker, asked, told
        self.backing = {speaker}
        if self.when.day is not None:
            self.days.add(self.when.day)
        self.willing.add(speaker)
        self.refused.clear()
        self.given_up = False
        self.tentative, self.held = False, None

    def back(self, speaker: str) -> None:
        """Puts `speaker` behind what is on the table."""
        self.backing.add(speaker)
        self.willing.add(speaker)
        self.refused.discard(speaker)

    def settle(self, *, sure: bool) -> None:
        """Makes what is on the table what was agreed to."""
        if self.action is not None:
            held = self.settled if self.is_settled else None
            sure = sure or (held is not None and held.sure)
            backers = max(len(self.backing), held.backers if held is not None else 0)
            self.settled = Settled(
                self.action, replace(self.when), self.place, sure, self.tentative, backers
            )

    def withdraw(self) -> None:
        """Takes the words off the table; what was settled before them stands."""
        held = self.settled
        self.action = held.action if held is not None else None
        if held is not None:
            self.when = replace(held.when)
        self.backing.clear()

    def restore(self) -> None:
        """Leaves an event of the calendar as it is."""
        self.drop()
        self.when = When()

    def drop(self) -> None:
        """Gives the plan up altogether."""
        self.action = self.settled = None
        self.given_up = False
        self.backing.clear()


_LOOSE_HEADS = {"meeting", "session", "appointment", "call", "date", "party", "lunch", "thing"}


def head_of(title: str) -> str:
    """The last word of a title, which says what kind of thing it is."""
    return title.lower().split(" ")[-1]


def same_activity(one: Activity, other: Activity) -> bool:
    """Whether two activities may be the same: the words of one are among those of the other.

    "The dinner" may be the rehearsal dinner, but the rehearsal is not.
    """
    if one.kind is CHORE and other.kind is CHORE:
        return head_of(one.title) == head_of(other.title)
    if one.noun == other.noun and (one.weak or other.weak):
        return True
    longer, shorter = sorted((one.title, other.title), key=len, reverse=True)
    if not content_words(shorter) <= content_words(longer):
        return False
    if one.noun == other.noun:
        return True
    head = head_of(longer)
    return head in _LOOSE_HEADS or head == head_of(shorter)
