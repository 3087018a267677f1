"""What speakers and owner have in mind while the conversation goes on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cal_ai.extractors.rules.patterns import found, pattern
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.setting import Setting
from cal_ai.extractors.rules.table import Agenda, Table
from cal_ai.extractors.rules.when import Saying
from cal_ai.transcript import Utterance


@dataclass(frozen=True, slots=True)
class Question:
    """The last question asked, by whom and in which utterance."""

    text: str = ""
    speaker: str = ""
    turn: int = 0


@dataclass(slots=True)
class Scene:
    """The plans on the table, the calendar, whom the speaker addresses, and the last question.

    `story` is why the last clause planned nothing, if that holds for a bare time after it too.
    """

    setting: Setting
    agenda: Agenda
    table: Table = field(default_factory=Table)
    addressees: frozenset[str] = frozenset()
    question: Question = Question()
    story: str = ""

    def enter(self, utterance: Utterance) -> None:
        """Begins an utterance."""
        self.table.turn += 1
        called = (
            speaker
            for speaker in self.setting.speakers - {utterance.speaker}
            if _is_called(speaker, utterance.words)
        )
        self.addressees = frozenset(called)

    def heard(self, reading: Reading) -> Reading:
        """`reading` as part of the story being told ("We had lunch. At one.")."""
        tells = reading.is_fragment or reading.bare
        if self.story and tells and not (reading.question or reading.void or reading.agrees):
            return replace(reading, void=self.story)
        return reading

    def leave(self, reading: Reading) -> None:
        """Ends a clause: its question and its days stay in mind."""
        dated = reading.moments.names_a_time or reading.activity is not None
        self.story = reading.void if reading.void in ("past", "others") and dated else ""
        if reading.question:
            self.question = Question(reading.text, reading.speaker, self.table.turn)
        self.table.note_days(reading.moments)

    def is_by_owner(self, reading: Reading) -> bool:
        return reading.speaker == self.setting.owner

    def attend(self, plan: Plan, reading: Reading, *, quote: bool = True) -> None:
        """Makes `plan` the one that is talked about."""
        plan.touched = self.table.turn
        if quote:
            plan.quote(reading.utterance)
        self.table.focus, self.table.topic = plan, None

    def set_aside(self, plan: Plan, reading: Reading) -> None:
        """Keeps what others do in mind, while the plan talked about stays the same."""
        plan.touched = self.table.turn
        plan.quote(reading.utterance)
        self.table.aside = plan

    def saying(self, plan: Plan, reading: Reading) -> Saying:
        """The circumstances under which the clause names a time of `plan`."""
        target = self.agenda.starts[plan.target.id].date() if plan.target is not None else None
        return Saying(self.setting.now.date(), target, self.is_by_owner(reading))

    def knows(self, reading: Reading) -> bool:
        """Whether the clause names something that is planned or in the calendar."""
        if self.table.named(reading) is not None:
            return True
        return self.agenda.named(reading, reading.moments) is not None

    def goes_on_cancelling(self, reading: Reading) -> bool:
        """Whether the clause adds one more to what was just cancelled ("dinner too")."""
        near = self.table.near(2)
        just_cancelled = near is not None and near.action == "delete"
        return just_cancelled and found(r"\b(?:too|as well|also)\b", reading.text)

    def answers_something_else(self, plan: Plan, reading: Reading) -> bool:
        """Whether another question was asked since the plan was last talked about."""
        asked = self.question
        return asked.speaker != reading.speaker and plan.touched < asked.turn < self.table.turn

    def counts(self, reading: Reading) -> bool:
        """Whether a bare number answers "how many?" and is no time."""
        asked = self.question
        counting = r"\bhow (?:many|much|old|far|long)\b|\bwhat (?:row|number|room|size)\b"
        sure = reading.moments.days or any(clock.certain for clock in reading.moments.clocks)
        just_asked = self.table.turn - asked.turn <= 1 and found(counting, asked.text)
        return reading.bare and bool(reading.moments.clocks) and just_asked and not sure

    def tells_when(self, reading: Reading) -> bool:
        """Whether the clause answers "when?"."""
        asked = self.question
        when = r"\b(?:what time|when|which day|what day|how early|how late)\b"
        just_asked = self.table.turn - asked.turn <= 1 and found(when, asked.text)
        named = bool(reading.moments.clocks or reading.moments.dates)
        told = reading.void in ("", "others")
        return just_asked and named and asked.speaker != reading.speaker and told


def _is_called(speaker: str, words: str) -> bool:
    """Whether somebody is called by name at the start or the end of an utterance."""
    name = pattern(r"(\W)").sub(r"\\\1", speaker.split(" ")[0])
    lead = r"(?:(?:hey|hi|ok|so|and|yeah|oh|thanks),? )?"
    return bool(name) and found(rf"^\W*{lead}{name}\b\s*[,:?—-]|,\s*{name}\W*$", words)
