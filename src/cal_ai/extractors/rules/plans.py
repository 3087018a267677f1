"""A plan that takes shape over the lines of a conversation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cal_ai.events import Action, ContextEvent
from cal_ai.extractors.rules.activities import Activity
from cal_ai.extractors.rules.when import When
from cal_ai.transcript import Utterance


@dataclass(slots=True)
class Plan:
    """Something to be put into the calendar, changed or removed, and who stands behind it.

    `backing` are the speakers who agreed to what the plan says now, `willing` those who ever did.
    `overheard` means that nobody proposed the activity, it only came up some lines before.
    `settled` is the plan as it was agreed to before somebody wanted it otherwise.
    """

    action: Action | None
    activity: Activity | None = None
    when: When = field(default_factory=When)
    place: str | None = None
    people: list[str] = field(default_factory=list)
    target: ContextEvent | None = None
    backing: set[str] = field(default_factory=set)
    willing: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    addressees: frozenset[str] = frozenset()
    announced: bool = False
    asked: bool = False
    background: bool = False
    tentative: bool = False
    optional: bool = False
    overheard: bool = False
    dropped: bool = False
    touched: int = 0
    quoted_before: Utterance | None = None
    lines: list[Utterance] = field(default_factory=list)
    settled: Plan | None = None
    topic: str = ""

    def quote(self, utterance: Utterance) -> None:
        if utterance not in self.lines:
            self.lines.append(utterance)

    def keep(self) -> None:
        """Keeps the plan as it is, if it is agreed to, before it is changed."""
        if self.is_agreed and self.action is not None:
            self.settled = replace(
                self,
                when=replace(self.when),
                backing=set(self.backing),
                willing=set(self.willing),
                refused=set(self.refused),
                settled=None,
            )

    def put_forward(self, speaker: str, *, asked: bool) -> None:
        """Notes that the content of the plan is now what `speaker` says."""
        self.backing = {speaker}
        self.willing.add(speaker)
        self.refused.clear()
        self.asked = asked
        self.dropped = False

    @property
    def is_agreed(self) -> bool:
        return self.announced or len(self.backing) > 1

    @property
    def is_timeless(self) -> bool:
        """Whether a new event has no time of day, and is not of the kind that needs none."""
        timed = self.when.clock is not None or self.when.part is not None
        whole = self.activity is not None and self.activity.kind.all_day
        return self.target is None and not timed and not whole

    @property
    def is_vague(self) -> bool:
        """Whether another name for what is planned would be better."""
        guessed = self.activity is not None and (self.activity.guessed or self.overheard)
        return self.is_unnamed or (guessed and self.target is None)

    @property
    def is_unnamed(self) -> bool:
        """Whether no noun says what the plan is."""
        vague = self.activity is None or self.activity.weak
        return vague and self.target is None

    def is_between_others(self, speaker: str) -> bool:
        """Whether the plan was made with somebody called by name, and the speaker is not in it."""
        return bool(self.addressees) and speaker not in self.addressees | self.willing

    def refuse(self, speaker: str) -> None:
        self.backing.discard(speaker)
        self.refused.add(speaker)
        self.announced = False

    def back(self, speaker: str) -> None:
        self.backing.add(speaker)
        self.willing.add(speaker)
        self.refused.discard(speaker)
