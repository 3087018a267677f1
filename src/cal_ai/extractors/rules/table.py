"""The plans on the table, and which of them a clause is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from cal_ai.events import ContextEvent
from cal_ai.extractors.rules.activities import CHORE, MEETING, Activity
from cal_ai.extractors.rules.moments import Moments
from cal_ai.extractors.rules.patterns import found
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.references import (
    best_matches,
    bulk_matches,
    content_words,
    is_unspecific,
    minute_of,
)
from cal_ai.transcript import Utterance

NEAR = 4
FAR = 10
_TOPICAL = 6


@dataclass(frozen=True, slots=True)
class Agenda:
    """The calendar as it is: its events, and when they start on the owner's clock."""

    events: Sequence[ContextEvent]
    starts: dict[int, datetime]

    def named(self, reading: Reading, moments: Moments) -> ContextEvent | None:
        """The event that the clause names, going by what it says of the present time."""
        best = next(iter(best_matches(reading, moments, self.events, self.starts)), None)
        activity = reading.activity
        if best is not None or activity is None or not is_unspecific(activity):
            return best
        if activity.definite or (reading.announces and reading.own):
            return self.only_one_on(moments.dates)  # "tomorrow's appointment"
        return best

    def fully_named(self, reading: Reading) -> ContextEvent | None:
        """The event whose whole title is in the clause."""
        event = self.named(reading, reading.moments)
        if event is None or not content_words(event.summary) <= content_words(reading.named):
            return None
        return event

    def only_one_called(self, activity: Activity) -> ContextEvent | None:
        """The event whose title names the activity, if there is just one."""
        words_ = content_words(activity.title)
        events = [event for event in self.events if words_ <= content_words(event.summary)]
        return events[0] if len(events) == 1 else None

    def listed(self, reading: Reading, moments: Moments) -> list[ContextEvent]:
        """The events that the clause names one after the other ("the sync and the review")."""
        matches = best_matches(reading, moments, self.events, self.starts)
        if not matches and (event := self.named(reading, moments)) is not None:
            return [event]
        return matches if found(r"\b(?:and|both)\b|,|&", reading.text) else matches[:1]

    def swept(self, reading: Reading, moments: Moments) -> list[ContextEvent]:
        """The events that the clause names all at once ("everything on Friday")."""
        return bulk_matches(reading, moments, self.events, self.starts)

    def only_one_on(self, days: frozenset[date]) -> ContextEvent | None:
        """The event of a day that has no other."""
        events = [event for event in self.events if self.starts[event.id].date() in days]
        return events[0] if len(events) == 1 else None

    def at(self, moments: Moments) -> ContextEvent | None:
        """The only event that starts on the day and at the time named."""
        events = [
            event
            for event in self.events
            if self.starts[event.id].date() in moments.dates
            and minute_of(self.starts[event.id]) % 720 in moments.minutes
        ]
        return events[0] if len(events) == 1 else None

    def mentioned(self, reading: Reading) -> ContextEvent | None:
        """The event that the clause names together with its own day or time."""
        event = self.named(reading, reading.moments)
        if event is None:
            return None
        start = self.starts[event.id]
        days = reading.moments.dates
        minutes = reading.moments.minutes
        same_day = not days or start.date() in days
        same_time = not minutes or minute_of(start) % 720 in minutes
        return event if same_day and same_time and (days or minutes) else None


@dataclass(frozen=True, slots=True)
class Topic:
    """An activity that was named without a time; `proposed` if somebody wants to do it."""

    activity: Activity
    utterance: Utterance
    turn: int
    proposed: bool


class Table:
    """Plans in the order in which they came up, and the one that is being talked about."""

    def __init__(self) -> None:
        self.plans: list[Plan] = []
        self.focus: Plan | None = None
        self.aside: Plan | None = None
        self.turn = 0
        self.last_day: date | None = None
        self.topic: Topic | None = None
        self.day_turn = 0
        self.week: date | None = None
        self.week_turn = -NEAR

    def note_days(self, moments: Moments) -> None:
        """Keeps the day and the week talked about, in which later weekdays are understood."""
        for day in moments.days:
            if day.day is not None:
                in_week = self.week is not None and self.turn - self.week_turn <= NEAR
                if in_week and self.week is not None and day.weekday is not None:
                    self.last_day = self.week + timedelta(days=day.weekday)
                else:
                    self.last_day = day.day
                self.day_turn = self.turn
            week = day.week or (day.day - timedelta(days=day.day.weekday()) if day.day else None)
            if week is not None and (day.week is not None or day.vague):
                self.week, self.week_turn = week, self.turn

    def near(self, window: int = NEAR) -> Plan | None:
        """The plan talked about, if that was within the last `window` utterances."""
        return self.focus if self.focus is not None and self.age(self.focus) <= window else None

    @property
    def has_new_topic(self) -> bool:
        """Whether an activity has been named since the plan talked about was last touched."""
        topic = self.live_topic
        held = self.focus.activity if self.focus is not None else None
        return topic is not None and (held is None or not same_activity(held, topic.activity))

    @property
    def has_proposed_topic(self) -> bool:
        topic = self.live_topic
        return topic is not None and topic.proposed

    @property
    def live_topic(self) -> Topic | None:
        topic = self.topic
        return topic if topic is not None and self.turn - topic.turn <= _TOPICAL else None

    def raise_topic(self, topic: Topic) -> None:
        """Keeps an activity in mind; one that was proposed gives way only to another such."""
        live = self.live_topic
        if live is None or topic.proposed or not live.proposed:
            self.topic = topic

    def age(self, plan: Plan) -> int:
        return self.turn - plan.touched

    def of(self, event: ContextEvent) -> Plan:
        """The plan that concerns an event of the calendar; it has no action before it gets one."""
        for plan in self.plans:
            if plan.target is not None and plan.target.id == event.id:
                return plan
        plan = Plan(None, target=event, touched=self.turn)
        self.plans.append(plan)
        return plan

    def new(self, addressees: frozenset[str], activity: Activity | None) -> Plan:
        """A plan of what was just said, for the activity that was named before if none was now."""
        plan = Plan("create", touched=self.turn, addressees=addressees)
        topic = self.live_topic
        vague = activity is None or (activity.weak and activity.kind is MEETING)
        if topic is not None and vague:
            plan.activity, self.topic = topic.activity, None
            plan.quoted_before = topic.utterance
            plan.overheard = not topic.proposed and self.turn - topic.turn > 1
            if topic.proposed:
                plan.willing.add(topic.utterance.speaker)
        if self.turn - self.day_turn <= 2:
            plan.when.usual_day = self.last_day
        if self.turn - self.week_turn <= NEAR:
            plan.when.week = self.week
        self.plans.append(plan)
        return plan

    def named(self, reading: Reading) -> Plan | None:
        """The plan that the clause names by its activity, or, to cancel it, by its day or time."""
        activity = reading.denied or reading.activity
        if activity is not None and not activity.weak:
            for plan in reversed(self.plans):
                if (
                    plan.activity is not None
                    and same_activity(plan.activity, activity)
                    and not plan.background
                ):
                    return plan
            return None
        if not reading.cancels:
            return None
        for plan in reversed(self.plans):
            if not plan.background and plan.action is not None and self._at(plan, reading.moments):
                return plan
        return None

    def _at(self, plan: Plan, moments: Moments) -> bool:
        clock = plan.when.clock.minute if plan.when.clock is not None else None
        by_day = plan.when.day in moments.dates
        return by_day or (clock is not None and clock % 720 in moments.minutes)

    def same(self, reading: Reading) -> Plan | None:
        """The plan for the same activity, unless the clause speaks of another occasion."""
        activity = reading.activity
        if activity is None:
            return None
        days = reading.moments.dates
        again = activity.indefinite or found(
            r"\b(?:another|also|too|as well|second|plus|and then)\b", reading.text
        )
        for plan in reversed(self.plans):
            if plan.activity is None or not same_activity(plan.activity, activity):
                continue
            other_day = bool(days) and plan.when.day is not None and plan.when.day not in days
            theirs, ours = set(plan.activity.people), set(activity.people)
            other_people = bool(theirs and ours) and not theirs & ours
            settled = plan.is_agreed and not reading.corrects
            if other_people or (other_day and settled and (again or self.age(plan) > NEAR)):
                continue
            if activity.weak and self.age(plan) > NEAR:
                continue
            return plan
        return None

    def by_time(self, reading: Reading) -> Plan | None:
        """The plan that a clause without activity is about: the one talked about, if it fits."""
        near, far = self.near(), self.near(FAR)
        if near is not None and not reading.moments.names_a_time:
            return near  # a duration
        asks_anew = reading.question and not reading.corrects and reading.asks_availability
        settled = near is not None and (near.is_agreed or near.action is None)
        moving = near is not None and near.target is not None and not near.is_agreed
        other_topic = self.has_new_topic and (self.has_proposed_topic or not moving)
        if settled and (asks_anew or other_topic):
            return None
        number = reading.bare and reading.question and not reading.moments.days
        if near is not None and near.is_agreed and number and self.age(near) > 1:
            return None  # "Eight?" is about something else by now
        if (
            near is not None
            and near.is_agreed
            and reading.agrees_strongly
            and reading.moments.dates
        ):
            return near if self._at_or_undated(near, reading) else self._on_day(reading.moments)
        if near is not None and not near.background:
            return near
        if far is not None and not far.background and (reading.corrects or not far.is_agreed):
            return far
        if near is not None and (reading.bare or not reading.proposes):
            return near
        return self._on_day(reading.moments)

    def _on_day(self, moments: Moments) -> Plan | None:
        for plan in reversed(self.plans):
            if plan.when.day is not None and plan.when.day in moments.dates:
                return None if plan.background else plan
        return None

    def _at_or_undated(self, plan: Plan, reading: Reading) -> bool:
        """Whether a farewell ("see you on Friday") can be meant for the plan."""
        farewell = found(r"\b(?:see|talk to|catch) (?:you|ya)\b", reading.text)
        undated = plan.when.day is None and plan.target is None
        return not farewell or undated or plan.when.day in reading.moments.dates

    def is_about_focus(self, reading: Reading) -> bool:
        """Whether the clause can be about the plan talked about: it names no other activity."""
        near, activity = self.near(), reading.activity
        if self.aside is not None and self.age(self.aside) == 0:
            near = self.aside
        if near is None or activity is None or activity.weak:
            return near is not None
        if near.target is not None:
            return bool(content_words(activity.title) & content_words(near.target.summary))
        if near.activity is None:
            return True
        return same_activity(near.activity, activity)

    def lacks_activity(self, reading: Reading) -> bool:
        """Whether the plan talked about waits for an activity such as the clause names."""
        plan, activity = self.near(), reading.activity
        if plan is None or activity is None or plan.background or plan.target is not None:
            return False
        if activity.kind is CHORE:
            return False
        held = plan.activity
        return held is None or (held.weak and not activity.weak and not activity.guessed)

    def at_same_time(self, reading: Reading) -> Plan | None:
        """The plan talked about, if the clause repeats its time under a better name."""
        plan = self.near()
        if plan is None or not plan.is_vague or plan.when.clock is None:
            return None
        same_day = reading.moments.dates <= {plan.when.day}
        same_time = reading.moments.minutes == {(plan.when.clock.minute or 0) % 720}
        return plan if same_day and same_time else None

    def with_room(self, reading: Reading) -> Plan | None:
        """The plan talked about, if it lacks an activity or has only a vague one."""
        plan, activity = self.near(), reading.activity
        if plan is None or activity is None or plan.dropped or plan.background:
            return None
        if plan.target is not None or plan.action is None:
            return None
        days = reading.moments.dates
        other_day = bool(days) and plan.when.day is not None and plan.when.day not in days
        if plan.activity is None:
            return plan if not (other_day and plan.is_agreed) else None
        if other_day:
            return None
        if activity.weak:
            return plan if activity.kind is MEETING and not reading.moments.days else None
        if plan.activity.weak:
            return plan if not plan.is_agreed or not reading.moments.names_a_time else None
        generic = plan.activity.kind.name == "meeting" and activity.kind.name in (
            "meeting",
            "call",
            "sync",
        )
        return plan if generic and not activity.indefinite and not reading.moments.clocks else None


_LOOSE_HEADS = {"meeting", "session", "appointment", "call", "date", "party", "lunch", "thing"}


def same_activity(one: Activity, other: Activity) -> bool:
    """Whether two activities may be the same: the words of one are among those of the other.

    "The dinner" may be the rehearsal dinner, but the rehearsal is not.
    """
    if one.kind is CHORE and other.kind is CHORE:
        return one.title.split(" ")[-1].lower() == other.title.split(" ")[-1].lower()
    if one.noun == other.noun and (one.weak or other.weak):
        return True
    longer, shorter = sorted((one.title, other.title), key=len, reverse=True)
    if not content_words(shorter) <= content_words(longer):
        return False
    if one.noun == other.noun:
        return True
    head = longer.lower().split(" ")[-1]
    return head in _LOOSE_HEADS or head == shorter.lower().split(" ")[-1]
