"""The conversation followed line by line: which plans are made, changed, agreed to and dropped."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from cal_ai.events import ContextEvent
from cal_ai.extractors.rules.moments import split_moved
from cal_ai.extractors.rules.patterns import found, pattern
from cal_ai.extractors.rules.plans import Plan, When
from cal_ai.extractors.rules.reading import Reading, read_utterance
from cal_ai.extractors.rules.references import best_match, bulk_matches
from cal_ai.transcript import Utterance

_RECENT = 4
_MEMORY = 10


class Dialogue:
    """What was planned up to the last utterance heard."""

    def __init__(
        self,
        owner: str,
        speakers: frozenset[str],
        now: datetime,
        context: Sequence[ContextEvent],
        starts: dict[int, datetime],
    ) -> None:
        self.owner = owner
        self.speakers = speakers
        self.now = now
        self.context = context
        self.starts = starts
        self.names = frozenset(name.lower() for name in speakers) | frozenset(
            name.lower().split(" ")[0] for name in speakers if name
        )
        self.plans: list[Plan] = []
        self.focus: Plan | None = None
        self.turn = 0
        self.last_day: date | None = None
        self.week: date | None = None
        self.addressees: frozenset[str] = frozenset()

    def hear(self, utterance: Utterance) -> None:
        """Takes in the next utterance."""
        self.turn += 1
        self.addressees = self._addressed(utterance)
        for reading in read_utterance(utterance, self.now, self.names):
            self._step(reading)

    def _addressed(self, utterance: Utterance) -> frozenset[str]:
        """The speakers called by name at the start or the end of an utterance."""
        called = set()
        for speaker in self.speakers:
            name = speaker.split(" ")[0]
            if name and speaker != utterance.speaker:
                escaped = pattern(r"(\W)").sub(r"\\\1", name)
                if found(
                    rf"^\W*(?:(?:hey|hi|ok|so|and|yeah|oh|thanks) ,?)?{escaped}\b\s*[,:?—-]"
                    rf"|,\s*{escaped}\W*$",
                    utterance.words,
                ):
                    called.add(speaker)
        return frozenset(called)

    def _step(self, reading: Reading) -> None:
        if reading.void == "sarcasm":
            self._laugh_off(reading)
        elif reading.void in ("hypothetical", "reported", "past"):
            return
        elif reading.cancels and not (reading.question and reading.refuses):
            self._cancel(reading)
        elif reading.moves and self._move(reading):
            return
        elif reading.refuses:
            self._refuse(reading)
        elif self._is_content(reading):
            self._put(reading)
        elif reading.invites and self.focus is not None and self._is_recent(self.focus):
            self._invite(reading)
        elif reading.agrees and not reading.holds and not reading.question:
            self._agree(reading)
        elif reading.place and self.focus is not None and self._is_recent(self.focus):
            self._place(reading)

    # -- what a clause does ------------------------------------------------------------------

    def _laugh_off(self, reading: Reading) -> None:
        plan = self.focus
        if plan is None or not self._is_recent(plan, 3) or self._is_agreed(plan):
            return
        plan.dropped = True

    def _cancel(self, reading: Reading) -> None:
        asked = reading.question
        bulk = found(
            r"\b(?:everything|all|whole|entire|every|both|rest of|any(?:thing)?)\b"
            r"|\b(?:clear|wipe|free up)\b",
            reading.text,
        )
        if bulk and (events := bulk_matches(reading, self.context, self.starts)):
            for each in events:
                self._delete(each, reading, asked=asked)
            return
        plan = self._named_plan(reading)
        event = best_match(reading, reading.moments, self.context, self.starts)
        if event is not None and (plan is None or plan.target is not None or plan.activity is None):
            self._delete(event, reading, asked=asked)
            return
        if plan is None and reading.activity is None and not reading.moments.names_a_time:
            plan = (
                self.focus
                if self.focus is not None and self._is_recent(self.focus, _MEMORY)
                else None
            )
        if plan is None:
            return
        plan.quote(reading.utterance)
        if plan.target is not None:
            plan.action = "delete"
            plan.put_forward(reading.speaker, asked=asked)
            plan.announced = not asked
        elif not asked:
            plan.dropped = True
        plan.touched = self.turn

    def _delete(self, event: ContextEvent, reading: Reading, *, asked: bool) -> None:
        plan = self._plan_of(event)
        plan.action = "delete"
        plan.put_forward(reading.speaker, asked=asked)
        plan.announced = not asked
        self._attend(plan, reading)

    def _plan_of(self, event: ContextEvent) -> Plan:
        for plan in self.plans:
            if plan.target is not None and plan.target.id == event.id:
                return plan
        plan = Plan(None, target=event)
        self.plans.append(plan)
        return plan

    def _move(self, reading: Reading) -> bool:
        """Whether the clause moved something; False if it is to be read in another way."""
        old, new = split_moved(reading.text, reading.moments)
        plan = self._named_plan(reading)
        event = best_match(reading, old, self.context, self.starts)
        if event is None and reading.activity is None and plan is None:
            focus = self.focus
            plan = focus if focus is not None and self._is_recent(focus, _MEMORY) else None
        if event is not None and (
            plan is None or plan.target is not None or not self._is_agreed(plan)
        ):
            plan = self._plan_of(event)
        if plan is None:
            return False
        if reading.refuses and not new:
            return False
        changed = plan.when.take(new, today=self.now.date(), base=self._base(plan))
        if reading.place and reading.place != plan.place:
            plan.place, changed = reading.place, True
        added = self._added_people(reading)
        if added:
            plan.people += added
            changed = True
        if plan.target is not None and changed:
            plan.action = "update"
        if changed:
            plan.put_forward(reading.speaker, asked=reading.question)
            plan.announced = not reading.question and not reading.proposes
        self._attend(plan, reading)
        return True

    def _added_people(self, reading: Reading) -> list[str]:
        return []

    def _refuse(self, reading: Reading) -> None:
        event = None
        if reading.activity is not None and reading.activity.definite:
            event = best_match(reading, reading.moments, self.context, self.starts)
        if event is not None and self._named_plan(reading) is None:
            self._attend(self._plan_of(event), reading)
            return
        plan = self._named_plan(reading) or self.focus
        if plan is None or not self._is_recent(plan, _MEMORY) or plan.background:
            return
        day = next((d.day for d in reading.moments.days if d.day is not None), None)
        if day is not None and plan.when.day is not None and day != plan.when.day:
            return
        minute = next((c.minute for c in reading.moments.clocks if c.minute is not None), None)
        held = plan.when.clock.minute if plan.when.clock else None
        if minute is not None and held is not None and minute % 720 != held % 720:
            return
        if (
            reading.speaker == self.owner
            or len(self.speakers) == 2
            or not plan.backing - {reading.speaker}
        ):
            plan.backing.discard(reading.speaker)
        plan.refused.add(reading.speaker)
        plan.backing.discard(reading.speaker)
        if day is not None and self._is_open(plan):
            plan.when.day = None
        plan.touched = self.turn
        self.focus = plan

    def _is_content(self, reading: Reading) -> bool:
        """Whether the clause says something about a plan, and not just something with a time in it."""
        if reading.holds and not reading.proposes:
            return False
        moments = reading.moments
        if not (moments or reading.activity):
            return False
        intends = (
            reading.proposes or reading.announces or reading.calendar or reading.corrects
            or reading.agrees_strongly or reading.bare or reading.invites
        )  # fmt: skip
        if (
            reading.activity is not None
            and not reading.activity.weak
            and (moments.names_a_time or reading.question)
        ):
            return True
        if reading.activity is not None and intends:
            return True
        if moments.names_a_time or moments.lengths:
            return bool(intends or (reading.question and (reading.addressed or reading.shared)))
        return False

    def _put(self, reading: Reading) -> None:
        plan = self._plan_for(reading)
        if plan is None:
            return
        foreign = reading.void == "others" or self._is_foreign(reading)
        fresh = not plan.lines
        if foreign and not fresh:
            return
        changed = self._fill(plan, reading)
        plan.background = (
            foreign if fresh else plan.background and not (reading.shared or reading.invites)
        )
        if reading.invites:
            plan.background = False
        statement = not reading.question and not reading.proposes
        if changed or fresh:
            plan.put_forward(reading.speaker, asked=reading.question)
        elif not reading.question:
            plan.back(reading.speaker)
        if reading.speaker == self.owner and not foreign:
            plan.announced = self._announces(reading, statement) or (plan.announced and not changed)
        elif changed:
            plan.announced = False
        plan.tentative = reading.tentative and not reading.question and plan.tentative
        self._attend(plan, reading)

    def _announces(self, reading: Reading, statement: bool) -> bool:
        if reading.calendar and not reading.question:
            return True
        return statement and reading.announces and not (reading.agrees and reading.proposes)

    def _is_foreign(self, reading: Reading) -> bool:
        """Whether a speaker other than the owner tells of an appointment of his own."""
        if reading.speaker == self.owner or reading.question or reading.invites:
            return False
        if (
            reading.shared
            or reading.addressed
            or reading.agrees
            or reading.bare
            or reading.proposes
        ):
            return False
        return (
            reading.own
            and reading.announces
            and reading.activity is not None
            and not reading.activity.weak
        )

    def _invite(self, reading: Reading) -> None:
        plan = self.focus
        if plan is None:
            return
        plan.background = False
        plan.put_forward(reading.speaker, asked=True)
        plan.announced = False
        self._attend(plan, reading)

    def _agree(self, reading: Reading) -> None:
        window = _MEMORY if reading.agrees_strongly else _RECENT
        focus = self.focus
        if focus is None or not self._is_recent(focus, window):
            return
        last_turn = focus.touched
        for plan in self.plans:
            together = plan is focus or plan.touched == last_turn
            if not together or plan.background or plan.dropped or reading.speaker in plan.backing:
                continue
            if (
                plan.addressees
                and reading.speaker not in plan.addressees
                and reading.speaker not in plan.willing
            ):
                if not found(
                    r"\b(?:me too|i'm in|count me in|i'll (?:join|come|be there)|same"
                    r" here|room for)\b",
                    reading.text,
                ):
                    continue
            if not plan.backing and not reading.agrees_strongly:
                continue
            plan.back(reading.speaker)
            plan.tentative = plan.tentative or reading.tentative
            if reading.place and not plan.place:
                plan.place = reading.place
            plan.quote(reading.utterance)
            plan.touched = self.turn if plan is focus else plan.touched

    def _place(self, reading: Reading) -> None:
        plan = self.focus
        if plan is None or plan.background or plan.action is None:
            return
        if reading.place and (plan.place is None or reading.corrects):
            plan.place = reading.place
            plan.quote(reading.utterance)

    # -- which plan a clause is about ---------------------------------------------------------

    def _named_plan(self, reading: Reading) -> Plan | None:
        """The plan of this conversation that the clause names by its activity or its time."""
        activity = reading.activity
        if activity is not None:
            for plan in reversed(self.plans):
                if (
                    plan.activity is not None
                    and plan.activity.noun == activity.noun
                    and not plan.background
                ):
                    return plan
            return None
        days = {day.day for day in reading.moments.days if day.day}
        clocks = {
            clock.minute % 720 for clock in reading.moments.clocks if clock.minute is not None
        }
        for plan in reversed(self.plans):
            if plan.background or not reading.cancels:
                continue
            clock = plan.when.clock
            if days and plan.when.day in days:
                return plan
            if (
                clocks
                and clock is not None
                and clock.minute is not None
                and clock.minute % 720 in clocks
            ):
                return plan
        return None

    def _plan_for(self, reading: Reading) -> Plan | None:
        activity, focus = reading.activity, self.focus
        recent = focus if focus is not None and self._is_recent(focus, _MEMORY) else None
        near = focus if focus is not None and self._is_recent(focus, _RECENT) else None
        if activity is None:
            return self._by_time(reading, near, recent)
        same = self._same_activity(reading)
        if same is not None:
            return same
        if near is not None and not near.dropped and self._can_take(near, reading):
            return near
        if (
            activity.weak
            and near is not None
            and near.action is not None
            and not reading.moments.days
        ):
            return near
        event = None
        if activity.definite or reading.corrects:
            event = best_match(reading, reading.moments, self.context, self.starts)
        if event is None and not reading.question:
            event = self._known(reading)
        if event is not None:
            return self._plan_of(event)
        return self._new(reading)

    def _known(self, reading: Reading) -> ContextEvent | None:
        """The calendar's event that the clause merely mentions, at its own day and time."""
        event = best_match(reading, reading.moments, self.context, self.starts)
        if event is None:
            return None
        start = self.starts[event.id]
        days = [day.day for day in reading.moments.days if day.day]
        clocks = [clock.minute for clock in reading.moments.clocks if clock.minute is not None]
        same_day = not days or start.date() in days
        same_clock = not clocks or any(
            m % 720 == (start.hour * 60 + start.minute) % 720 for m in clocks
        )
        return event if same_day and same_clock and (days or clocks) else None

    def _by_time(self, reading: Reading, near: Plan | None, recent: Plan | None) -> Plan | None:
        if near is not None and not near.background:
            return near
        if (
            recent is not None
            and not recent.background
            and (reading.corrects or self._is_open(recent))
        ):
            return recent
        if near is not None and (reading.bare or not reading.proposes):
            return near
        for plan in reversed(self.plans):
            if plan.when.day is not None and any(
                day.day == plan.when.day for day in reading.moments.days
            ):
                return None if plan.background else plan
        if reading.question or reading.proposes or reading.calendar:
            return self._new(reading)
        return None

    def _same_activity(self, reading: Reading) -> Plan | None:
        activity = reading.activity
        if activity is None:
            return None
        for plan in reversed(self.plans):
            if plan.activity is None or plan.activity.noun != activity.noun:
                continue
            days = {day.day for day in reading.moments.days if day.day}
            other_day = bool(days) and plan.when.day is not None and plan.when.day not in days
            other_people = (
                bool(activity.people and plan.activity.people)
                and activity.people != plan.activity.people
            )
            again = activity.indefinite or found(
                r"\b(?:another|also|too|as well|second|plus|and"
                r" then)\b",
                reading.text,
            )
            if other_people or (
                other_day and again and self._is_agreed(plan) and not reading.corrects
            ):
                continue
            if (
                other_day
                and self._is_agreed(plan)
                and not self._is_recent(plan, _MEMORY)
                and not reading.corrects
            ):
                continue
            return plan
        return None

    def _can_take(self, plan: Plan, reading: Reading) -> bool:
        """Whether a plan that is talked about has room for the activity of the clause."""
        activity = reading.activity
        if activity is None or plan.background or plan.target is not None or plan.action is None:
            return False
        days = {day.day for day in reading.moments.days if day.day}
        if days and plan.when.day is not None and plan.when.day not in days:
            return plan.activity is None and self._is_open(plan)
        if plan.activity is None:
            return True
        if plan.activity.weak and not activity.weak:
            return self._is_open(plan) or not reading.moments.names_a_time
        if plan.activity.kind.name == activity.kind.name == "meeting" and not activity.indefinite:
            return not reading.moments.clocks
        return False

    def _new(self, reading: Reading) -> Plan:
        plan = Plan("create", touched=self.turn)
        plan.addressees = self.addressees
        self.plans.append(plan)
        return plan

    # -- bookkeeping ---------------------------------------------------------------------------

    def _fill(self, plan: Plan, reading: Reading) -> bool:
        activity = reading.activity
        if activity is not None and plan.target is None:
            if plan.activity is None or (plan.activity.weak and not activity.weak):
                plan.activity = activity
            elif activity.people and not plan.activity.people:
                plan.people += [name for name in activity.people if name not in plan.people]
        if reading.place:
            plan.place = reading.place
        if plan.when.week is None and plan.when.day is None:
            plan.when.week = self.week
        changed = plan.when.take(reading.moments, today=self.now.date(), base=self._base(plan))
        if plan.target is not None and changed:
            if self._same_as_target(plan, plan.target):
                plan.when = When()
                return False
            plan.action = "update"
        plan.optional = found(r"\bor\b", reading.text) and (
            len(reading.moments.days) > 1 or len(reading.moments.clocks) > 1
        )
        return changed

    def _same_as_target(self, plan: Plan, event: ContextEvent) -> bool:
        start, when = self.starts[event.id], plan.when
        clock = when.clock.minute if when.clock else None
        same_day = when.day is None or when.day == start.date()
        same_clock = clock is None or clock % 720 == (start.hour * 60 + start.minute) % 720
        return (
            same_day
            and same_clock
            and when.length is None
            and not when.longer
            and not when.shift_minutes
        )

    def _base(self, plan: Plan) -> date | None:
        if plan.target is not None:
            return self.starts[plan.target.id].date()
        return self.last_day

    def _attend(self, plan: Plan, reading: Reading) -> None:
        """Makes `plan` the one that is talked about."""
        plan.touched = self.turn
        plan.quote(reading.utterance)
        if plan.when.day is not None:
            self.last_day = plan.when.day
        for day in reading.moments.days:
            self.week = day.week or None
        self.focus = plan

    def _is_recent(self, plan: Plan, window: int = _RECENT) -> bool:
        return self.turn - plan.touched <= window

    def _is_open(self, plan: Plan) -> bool:
        return not self._is_agreed(plan)

    def _is_agreed(self, plan: Plan) -> bool:
        return plan.announced or len(plan.backing) > 1
