"""What is on the table, what was settled, and what was talked about last."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime

from cal_ai.events import Action, ContextEvent
from cal_ai.extractors.rules import remarks
from cal_ai.extractors.rules.activities import MEETING, Activity
from cal_ai.extractors.rules.agenda import Agenda
from cal_ai.extractors.rules.memory import FAR, NEAR, TOPICAL, Mention, Question, Topic
from cal_ai.extractors.rules.moments import Moments, names_day
from cal_ai.extractors.rules.patterns import found, pattern
from cal_ai.extractors.rules.plans import Plan, same_activity
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.reckoning import minute_of, monday_of
from cal_ai.extractors.rules.references import GENERIC, content_words, lies_in
from cal_ai.extractors.rules.setting import Setting
from cal_ai.extractors.rules.when import Saying
from cal_ai.transcript import Utterance


class Scene:
    """The plans of a conversation so far, and what is in the minds of those who talk."""

    def __init__(self, setting: Setting, agenda: Agenda) -> None:
        self.setting, self.agenda = setting, agenda
        self.plans: list[Plan] = []
        self.focus: Plan | None = None
        self.topic: Topic | None = None
        self.past: Topic | None = None
        self.aside: Plan | None = None
        self.question = Question()
        self.said: list[Reading] = []
        self.turn = 0
        self.story, self.story_ends = "", 0
        self.item = -1
        self.supposed = -FAR
        self.located: tuple[ContextEvent, int] | None = None
        self.hesitated = self.kept = -FAR
        self.last_mention = Mention()
        self.mentions: dict[int, tuple[ContextEvent, int]] = {}
        self.addressees: frozenset[str] = frozenset()
        self.last_day: date | None = None
        self.day_turn = -FAR
        self.week: date | None = None
        self.week_turn = -FAR

    def enter(self, utterance: Utterance) -> None:
        """Begins an utterance."""
        self.turn += 1
        others = self.setting.speakers - {utterance.speaker}
        self.addressees = frozenset(name for name in others if _is_called(name, utterance.words))

    def age(self, plan: Plan) -> int:
        return self.turn - plan.touched

    def near(self, window: int = NEAR) -> Plan | None:
        """The plan talked about, if that was within the last `window` utterances."""
        return self.focus if self.focus is not None and self.age(self.focus) <= window else None

    def latest(self) -> Plan | None:
        """The plan or event that "it" stands for: whichever was named last."""
        near, last = self.near(FAR), self.last_mention
        if last.event is None or self.turn - last.turn > NEAR:
            return near
        if near is not None and near.touched > last.turn:
            return near
        if near is not None and near.is_open and last.hindrance:
            return near
        return self.plan_of(last.event)

    def event_just_named(self) -> ContextEvent | None:
        """The event of the calendar that "that" stands for, named in the last utterance."""
        last, near = self.last_mention, self.near()
        other = near is not None and near.is_open and near.touched > last.turn
        return last.event if self.turn - last.turn <= 1 and not other else None

    def note_mention(self, event: ContextEvent, reading: Reading) -> None:
        """Notes that an event of the calendar was named, and nothing wanted of it."""
        self.mentions.pop(event.id, None)
        self.mentions[event.id] = (event, self.turn)
        placed = remarks.has_something(reading.text) or reading.keeps
        stated = reading.moments.names_a_time and not reading.question
        near = self.near()
        waiting = near is not None and near.is_open and near.target is not event
        told = not self.is_by_owner(reading) and found(
            r"(?:\bis|'s|\bare) (?:on|at)\b", reading.text
        )
        placed = placed or (stated and (waiting or told or bool(reading.moments.clocks)))
        self.last_mention = Mention(event, self.turn, placed, remarks.asks_who_comes(reading.text))

    def attend(self, plan: Plan, reading: Reading, *, quote: bool = True) -> None:
        """Makes `plan` the one that is talked about."""
        plan.touched = self.turn
        if plan.target is not None:
            self.mentions[plan.target.id] = (plan.target, self.turn)
        if quote:
            plan.quote(reading.utterance)
        self.focus, self.topic = plan, None

    def on_day_talked_about(
        self, events: list[ContextEvent], moments: Moments
    ) -> list[ContextEvent]:
        """Of the events named all at once, those of the day that was named just before."""
        day = self.recent_day(2)
        if moments.days or day is None:
            return events
        return [e for e in events if self.agenda.starts[e.id].date() == day]

    def is_by_owner(self, reading: Reading) -> bool:
        return reading.speaker == self.setting.owner

    def live_topic(self) -> Topic | None:
        topic = self.topic
        return topic if topic is not None and self.turn - topic.turn <= TOPICAL else None

    def plan_of(self, event: ContextEvent) -> Plan:
        """The plan that concerns an event of the calendar; new, it has nothing on the table."""
        for plan in self.plans:
            if plan.target is not None and plan.target.id == event.id:
                return plan
        plan = Plan(target=event, touched=self.turn)
        self.plans.append(plan)
        return plan

    def new_plan(self, activity: Activity | None) -> Plan:
        plan = Plan(activity=activity, touched=self.turn)
        plan.addressees = self.addressees
        topic = self.live_topic()
        vague = activity is None or (activity.weak and activity.kind is MEETING)
        if topic is not None and vague:
            plan.activity, self.topic = topic.activity, None
            plan.quote(topic.utterance)
            plan.overheard = not topic.proposed and self.turn - topic.turn > 1
            if topic.proposed:
                plan.willing.add(topic.utterance.speaker)
        plan.when.usual_day = self.recent_day(2)
        if self.turn - self.week_turn <= NEAR:
            plan.when.week = self.week
        self.plans.append(plan)
        return plan

    def point(self, plan: Plan) -> tuple[object, ...]:
        """When the plan starts, as far as that is known, and for an old event how long it takes."""
        if plan.target is None:
            return plan.when.point
        start, when = self.agenda.starts[plan.target.id], plan.when
        clock = when.clock.minute if when.clock is not None else minute_of(start)
        day = when.day or start.date()
        length = (when.until, when.length, when.longer)
        return day, (clock or 0) % 720, when.part, when.shift_minutes, when.shift_days, length

    def saying(self, plan: Plan, reading: Reading) -> Saying:
        start = self.start_of(plan)
        target = start.date() if start is not None else None
        return Saying(self.setting.now.date(), target, self.is_by_owner(reading))

    def take(self, plan: Plan, reading: Reading, moments: Moments) -> bool:
        """Whether the times named change those of the plan, which takes them over."""
        before = replace(plan.when)
        changed = plan.when.take(moments, self.saying(plan, reading))
        if plan.target is not None and changed and self.is_unchanged(plan, plan.target):
            plan.when, changed = before, False
        return changed

    def offer(self, plan: Plan, reading: Reading, *, told: bool) -> None:
        """Puts the plan as it is now on the table."""
        action: Action = "update" if plan.target is not None else "create"
        plan.offer(reading.speaker, action, asked=reading.question, told=told)
        plan.tentative = reading.tentative and not reading.question

    def start_of(self, plan: Plan) -> datetime | None:
        return self.agenda.starts[plan.target.id] if plan.target is not None else None

    def day_of(self, plan: Plan) -> date | None:
        """The day of the plan, or else that of the event which it concerns."""
        start = self.start_of(plan)
        return plan.when.day or (start.date() if start is not None else None)

    def is_asked(self, reading: Reading) -> bool:
        """Whether somebody else asked a question in the utterance before."""
        return self.turn - self.question.turn == 1 and self.question.speaker != reading.speaker

    def recent_day(self, window: int) -> date | None:
        return self.last_day if self.turn - self.day_turn <= window else None

    def counts(self, reading: Reading) -> bool:
        """Whether a bare number answers "how many?" and is no time."""
        counting = r"\bhow (?:many|much|old|far|long)\b|\bwhat (?:row|number|room|size)\b"
        sure = reading.moments.days or any(clock.certain for clock in reading.moments.clocks)
        asked = self.turn - self.question.turn <= 1 and found(counting, self.question.text)
        return reading.bare and bool(reading.moments.clocks) and asked and not sure

    def tells_when(self, reading: Reading) -> bool:
        """Whether the clause answers "when?"."""
        when = r"\b(?:what time|when|which day|what day|how early|how late)\b"
        asked = self.is_asked(reading) and found(when, self.question.text)
        named = bool(reading.moments.clocks or reading.moments.dates)
        return asked and named and reading.void in ("", "others")

    def event_named(self, reading: Reading, moments: Moments) -> ContextEvent | None:
        """The event of the calendar that the clause names; `moments` say when it is now."""
        if self.last_day is not None and any(day.offset == 0 for day in moments.days):
            that_day = tuple(replace(d, day=self.last_day, offset=None) for d in moments.days)
            moments = replace(moments, days=that_day)
        event = self.agenda.match(reading, moments)
        if event is None:
            return self._event_talked_about(reading, moments)
        day = self.recent_day(1)
        if day is not None and not moments.dates:
            return self.agenda.called_on(event.summary, frozenset({day})) or event
        return event

    def _event_talked_about(self, reading: Reading, moments: Moments) -> ContextEvent | None:
        """The event that the clause names by its kind alone, since it or its day came up before."""
        activity = reading.activity
        if activity is None:
            return None
        named, vague = content_words(activity.title), activity.weak or activity.guessed
        for event, turn in () if vague or activity.indefinite else reversed(self.mentions.values()):
            if self.turn - turn <= NEAR and named <= content_words(event.summary):
                return event
        day = self.recent_day(1)
        if day is None:
            return None
        days = moments.dates or frozenset({day})
        if activity.definite and activity.noun in GENERIC and not activity.people:
            return self.agenda.only_one_on(days)
        changes = reading.cancels or reading.drops or reading.moves
        if vague or activity.indefinite or not changes:
            return None
        return self.agenda.only_one_of(activity, days)

    def knows(self, reading: Reading) -> bool:
        """Whether the clause names something that is planned or in the calendar."""
        if self.plan_named(reading) is not None:
            return True
        return self.event_named(reading, reading.moments) is not None

    def plan_named(self, reading: Reading) -> Plan | None:
        """The plan of this conversation that the clause names by its activity."""
        activity = reading.denied or reading.activity
        if activity is None or activity.weak:
            return None
        for plan in reversed(self.plans):
            if plan.foreign:
                continue
            if plan.activity is not None and same_activity(plan.activity, activity):
                return plan
            if plan.target is not None:
                title = content_words(plan.target.summary)
                if content_words(activity.title) <= title and not activity.indefinite:
                    return plan
        return None

    def echoes(self, reading: Reading) -> bool:
        """Whether the clause repeats the day and time that are on the table."""
        plan, moments = self.near(3), reading.moments
        if plan is None or plan.when.clock is None or plan.when.clock.minute is None:
            return False
        same_time = moments.minutes == {plan.when.clock.minute % 720}
        same_time = same_time and not remarks.has_something(reading.text)
        return same_time and moments.dates <= {plan.when.day} and reading.void == ""

    def conclude(self, plan: Plan, *, sure: bool) -> None:
        """Settles what is on the table as soon as the owner and somebody else are for it.

        What the owner tells as a fact needs nobody else; what others tell as a fact about an event
        of the calendar stands unless the owner objects.
        """
        owner = self.setting.owner
        if plan.action is None or plan.foreign:
            return
        if plan.action == "create" and not plan.when.is_known:
            return
        if owner in plan.backing and plan.backing & self.setting.others:
            plan.settle(sure=True)
        elif plan.told and (owner in plan.backing or plan.target is not None):
            plan.settle(sure=sure or owner in plan.backing)

    def remember(self, reading: Reading) -> None:
        """Keeps the question and the days of a clause in mind."""
        if remarks.hesitates(reading.text):
            self.hesitated = self.turn
        self.said.append(reading)
        dated = reading.moments.names_a_time or reading.activity is not None
        tells = reading.void == "others" or (reading.void == "past" and dated)
        self.story = reading.void if tells else ""
        self.story_ends = self.turn + FAR if dated else self.turn
        if reading.question:
            self.question = Question(
                reading.text, reading.speaker, self.turn, reading.void == "past"
            )
        if reading.void in ("past", "told", "hypothetical"):
            return
        for day in reading.moments.days:
            if day.day is not None:
                self.last_day, self.day_turn = day.day, self.turn
            week = day.week or (monday_of(day.day) if day.day else None)
            if week is not None and (day.week is not None or day.vague):
                self.week, self.week_turn = week, self.turn

    def is_unchanged(self, plan: Plan, event: ContextEvent) -> bool:
        """Whether the plan only repeats when the event of the calendar is."""
        start, when = self.agenda.starts[event.id], plan.when
        clock = when.minute
        same_day = when.day is None or when.day == start.date()
        same_clock = clock is None or clock % 720 == minute_of(start) % 720
        if clock is None and when.part is not None:
            same_clock = lies_in(when.part, start.hour)
        longer = when.length is not None or when.longer or when.shift_minutes or when.shift_days
        end = event.end or event.start
        same_end = when.until is None or when.until % 720 == minute_of(end) % 720
        return same_day and same_clock and not longer and same_end

    def concerns(self, plan: Plan, reading: Reading) -> bool:
        """Whether the day and time turned down, if any, are those of the plan."""
        start, day = self.start_of(plan), self.day_of(plan)
        if reading.moments.dates and day is not None and not names_day(reading.moments, day):
            return False
        clock = plan.when.clock
        held = clock.minute if clock is not None else minute_of(start) if start else None
        return not reading.moments.minutes or held is None or held % 720 in reading.moments.minutes

    def answers_other(self, plan: Plan, reading: Reading) -> bool:
        """Whether another question was asked since the plan was last talked about."""
        asked = self.question
        return asked.speaker != reading.speaker and plan.touched < asked.turn < self.turn


def _is_called(speaker: str, words: str) -> bool:
    """Whether somebody is called by name at the start or the end of an utterance."""
    name = pattern(r"(\W)").sub(r"\\\1", speaker.split(" ")[0])
    lead = r"(?:(?:hey|hi|ok|so|and|yeah|oh|thanks),? )?"
    return bool(name) and found(rf"^\W*{lead}{name}\b\s*[,:?—-]|,\s*{name}\W*$", words)
