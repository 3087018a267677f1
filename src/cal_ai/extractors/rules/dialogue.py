"""The conversation followed line by line: plans are made, changed, agreed to and dropped."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from cal_ai.events import ContextEvent
from cal_ai.extractors.rules.moments import Moments, split_moved
from cal_ai.extractors.rules.patterns import found, pattern
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.reading import Reading, read_utterance
from cal_ai.extractors.rules.references import lies_in
from cal_ai.extractors.rules.table import FAR, NEAR, Agenda, Table, Topic
from cal_ai.extractors.rules.when import Saying, When
from cal_ai.transcript import Utterance

_BULK = (
    r"\b(?:everything|all|whole|entire|every|both|rest of|anything|meetings|calls|appointments)\b"
    r"|\b(?:clear|wipe|free up)\b"
)
_JOINING = (
    r"\b(?:me too|i'm in|count me in|i'll (?:join|come|be there)|same here|room for|works for me"
    r"|also|i can (?:do|make))\b"
)
_HAVING = r"\b(?:i have|i've|i got|i'm (?:in|at|having|doing)|we have|we've|there's|it's|that's)\b"
_ADDING = r"\b(?:add|invite|include|loop in|loop|bring in|cc) ((?:[A-Z]\w+(?:, | and | & )?)+)"


class Dialogue:
    """What was planned up to the last utterance heard."""

    def __init__(self, owner: str, speakers: frozenset[str], now: datetime, agenda: Agenda) -> None:
        self.owner = owner
        self.speakers = speakers
        self.now = now
        self.agenda = agenda
        self.table = Table()
        self._addressees: frozenset[str] = frozenset()
        self._last_question = ("", 0)
        self._last_asked = ("", 0)

    def hear(self, utterance: Utterance) -> None:
        """Takes in the next utterance."""
        self.table.turn += 1
        self._addressees = self._called(utterance)
        for reading in read_utterance(utterance, self.now, self.speakers, self.owner):
            self._step(reading)
            if reading.question:
                self._last_question = (utterance.speaker, self.table.turn)
                self._last_asked = (reading.text, self.table.turn)
            self.table.note_days(reading.moments)

    def _called(self, utterance: Utterance) -> frozenset[str]:
        """The speakers called by name at the start or the end of an utterance."""
        called = set()
        for speaker in self.speakers - {utterance.speaker}:
            name = pattern(r"(\W)").sub(r"\\\1", speaker.split(" ")[0])
            call = (
                rf"^\W*(?:(?:hey|hi|ok|so|and|yeah|oh|thanks),? )?{name}\b\s*[,:?—-]|,\s*{name}\W*$"
            )
            if name and found(call, utterance.words):
                called.add(speaker)
        return frozenset(called)

    def _step(self, reading: Reading) -> None:
        if self._refocus(reading) or (reading.bare and self._was_counted(reading)):
            return
        if reading.void == "sarcasm":
            self._laugh_off()
        elif reading.void == "hypothetical" and reading.refuses:
            self._refuse(reading)
        elif reading.void in ("hypothetical", "told", "past"):
            self._remember(reading)
        elif reading.cancels or (reading.drops and self._knows(reading)):
            self._cancel(reading)
        elif reading.moves and self._move(reading):
            return
        elif reading.refuses and not reading.moves:
            self._refuse(reading)
        elif self._is_content(reading) or self._echoes(reading):
            self._put(reading)
        elif reading.invites and self.table.near() is not None:
            self._invite(reading)
        elif reading.agrees and not reading.holds and not reading.question and not reading.void:
            self._agree(reading)
            if self.table.near() is None:
                self._remember(reading)
        else:
            self._note(reading)

    def _knows(self, reading: Reading) -> bool:
        """Whether the clause names something that is planned or in the calendar."""
        if self.table.named(reading) is not None:
            return True
        return self.agenda.named(reading, reading.moments) is not None

    def _refocus(self, reading: Reading) -> bool:
        """Whether the clause only leads back to an earlier plan ("about Monday: ...")."""
        if reading.activity is not None or reading.moments.clocks or reading.question:
            return False
        if not found(r"(?<!how )(?<!what )\b(?:about|regarding|re:?|as for)\b", reading.text):
            return False
        for plan in self.table.plans:
            if plan.when.day in reading.moments.dates and plan.action is not None:
                self._attend(plan, reading, quote=False)
                return True
        event = self.agenda.named(reading, reading.moments) if reading.moments.dates else None
        if event is not None:
            self._attend(self.table.of(event), reading)
        return event is not None

    # -- jokes, cancelling, moving ----------------------------------------------------------------

    def _laugh_off(self) -> None:
        plan = self.table.near(3)
        if plan is not None and not plan.is_agreed:
            plan.dropped = True

    def _cancel(self, reading: Reading) -> None:
        events = self.agenda.swept(reading, reading.moments) if found(_BULK, reading.text) else []
        plan = self.table.named(reading)
        if not events and (plan is None or plan.target is not None):
            events = self.agenda.listed(reading, reading.moments)
        for each in events:
            self._delete(self.table.of(each), reading)
        if events:
            return
        if plan is None and reading.activity is None and not reading.moments.names_a_time:
            plan = self.table.near(FAR)
        if plan is None:
            return
        if plan.target is not None:
            self._delete(plan, reading)
        elif not reading.question:
            plan.dropped = True
            self._attend(plan, reading)

    def _delete(self, plan: Plan, reading: Reading) -> None:
        plan.action = "delete"
        plan.put_forward(reading.speaker, asked=reading.question)
        plan.announced = not reading.question and not self._is_foreign_possession(reading)
        self._attend(plan, reading)

    def _is_foreign_possession(self, reading: Reading) -> bool:
        return (
            reading.speaker != self.owner and found(r"\bmy\b", reading.text) and not reading.shared
        )

    def _move(self, reading: Reading) -> bool:
        """Whether the clause moved something; False if it is to be read in another way."""
        old, new = split_moved(reading.text, reading.moments)
        if found(r"\b(?:everything|all (?:my|the|our|of)|every)\b", reading.text):
            events = self.agenda.swept(reading, old)
            for each in events:
                self._change(self.table.of(each), reading, new)
            if events:
                return True
        plan = self._moved_plan(reading, old)
        if plan is None or (reading.refuses and not new):
            return False
        self._change(plan, reading, new)
        return True

    def _moved_plan(self, reading: Reading, old: Moments) -> Plan | None:
        plan = self.table.named(reading)
        event = self.agenda.named(reading, old)
        if event is not None and (plan is None or plan.target is not None or not plan.is_agreed):
            return self.table.of(event)
        if plan is None and (reading.activity is None or reading.activity.weak):
            return self.table.near(FAR)
        return plan

    def _change(self, plan: Plan, reading: Reading, new: Moments) -> None:
        changed = plan.when.take(new, self._saying(plan, reading))
        if reading.place is not None and reading.place != plan.place:
            plan.place, changed = reading.place, True
        if reading.activity is not None and reading.denied is not None and plan.target is None:
            plan.activity, changed = reading.activity, True
        if plan.target is not None and changed:
            plan.action = "update"
        if changed:
            plan.put_forward(reading.speaker, asked=reading.question)
            plan.announced = not reading.question and not reading.proposes
        self._attend(plan, reading)

    # -- refusing ---------------------------------------------------------------------------------

    def _refuse(self, reading: Reading) -> None:
        named = self.table.named(reading)
        open_plan = self.table.near(FAR)
        event = self.agenda.named(reading, reading.moments)
        if open_plan is None and event is None and reading.speaker != self.owner:
            event = self.agenda.only_one_on(reading.moments.dates)
        if event is not None and named is None:
            settled = open_plan is None or open_plan.is_agreed or open_plan.action is None
            if settled and not self._is_conflict(reading):
                self._attend(self.table.of(event), reading)
                return
        plan = named or open_plan
        if plan is None or plan.background or self.table.age(plan) > FAR:
            return
        if plan.action is None and not plan.asked:
            plan.refused.add(reading.speaker)
            return
        if reading.refuses_barely and self._answers_something_else(plan, reading):
            return
        days, minutes = reading.moments.dates, reading.moments.minutes
        if days and plan.when.day is not None and plan.when.day not in days:
            return
        held = plan.when.clock.minute if plan.when.clock is not None else None
        if minutes and held is not None and held % 720 not in minutes:
            return
        plan.refuse(reading.speaker)
        if days and not plan.is_agreed:
            plan.when.day = None
        self._attend(plan, reading, quote=False)

    def _answers_something_else(self, plan: Plan, reading: Reading) -> bool:
        """Whether another question was asked since the plan was last talked about."""
        asker, turn = self._last_question
        return asker != reading.speaker and plan.touched < turn < self.table.turn

    def _is_conflict(self, reading: Reading) -> bool:
        """Whether an event is named only as the reason why another time does not suit."""
        return found(
            r"\b(?:i have|i've got|i've|i'm (?:in|at|having)|conflicts?|clash|then)\b", reading.text
        )

    # -- proposing, filling in, announcing ----------------------------------------------------------

    def _is_content(self, reading: Reading) -> bool:
        """Whether the clause is about a plan, and not just a remark with a time in it."""
        moments, activity = reading.moments, reading.activity
        if (reading.holds and not reading.proposes) or reading.is_late:
            return False
        zoned = any(clock.zone for clock in moments.clocks)
        intends = reading.intends or reading.is_fragment or zoned
        if not moments.names_a_time:
            if moments.lengths:
                return intends or reading.tells_length
            return intends and self.table.lacks_activity(reading)
        if activity is not None and not activity.weak:
            return True
        return intends or (reading.question and (reading.addressed or reading.shared))

    def _was_counted(self, reading: Reading) -> bool:
        """Whether a number answers "how many?" and is no time."""
        said, turn = self._last_asked
        counted = found(
            r"\bhow (?:many|much|old|far|long)\b|\bwhat (?:row|number|room|size)\b", said
        )
        sure = reading.moments.days or any(clock.certain for clock in reading.moments.clocks)
        return counted and self.table.turn - turn <= 1 and not sure

    def _echoes(self, reading: Reading) -> bool:
        """Whether the clause repeats the day and time that are on the table."""
        plan, moments = self.table.near(2), reading.moments
        if plan is None or plan.when.clock is None or plan.when.clock.minute is None:
            return False
        same_time = moments.minutes == {plan.when.clock.minute % 720}
        return same_time and moments.dates <= {plan.when.day} and reading.void == ""

    def _put(self, reading: Reading) -> None:
        foreign = reading.void == "others" or self._is_foreign(reading)
        plan = self._plan_for(reading)
        if plan is None:
            return
        fresh = not plan.lines
        goes_on = plan.touched == self.table.turn
        if foreign and not fresh:
            return
        changed = self._fill(plan, reading)
        if fresh:
            plan.background = foreign
        elif reading.shared or reading.invites or reading.question:
            plan.background = False
        if changed or fresh:
            plan.put_forward(reading.speaker, asked=reading.question)
        elif not reading.question:
            plan.back(reading.speaker)
        if reading.speaker == self.owner and not foreign:
            continued = plan.announced and (not changed or goes_on or not reading.proposes)
            told = fresh and plan.activity is not None and reading.bare and not reading.question
            plan.announced = (
                self._announces(reading) or told or (continued and not reading.question)
            )
        elif changed:
            plan.announced = False
        plan.tentative = reading.tentative and not reading.question and not reading.proposes
        self._attend(plan, reading)

    def _announces(self, reading: Reading) -> bool:
        """Whether the owner's clause settles the matter without anyone's consent."""
        if reading.question:
            return False
        named = reading.activity is not None and not reading.activity.weak
        complete = named and bool(reading.moments.dates and reading.moments.minutes)
        return reading.calendar or ((reading.announces or complete) and not reading.proposes)

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
        return reading.own and reading.announces

    def _plan_for(self, reading: Reading) -> Plan | None:
        table, activity = self.table, reading.activity
        if activity is None:
            event = (
                self.agenda.named(reading, reading.moments) if reading.asks_whether_still else None
            )
            plan = table.of(event) if event is not None else table.by_time(reading)
            opens = reading.question or reading.proposes or reading.calendar
            if plan is None and (opens or table.has_new_topic):
                plan = table.new(self._addressees, reading.activity)
            return plan
        event = self.agenda.mentioned(reading)
        if activity.definite or reading.corrects:
            event = event or self.agenda.named(reading, reading.moments)
        if self._is_hindrance(reading, event):
            return None
        if reading.denied is not None and (plan := table.named(reading)) is not None:
            plan.activity = activity
            return plan
        plan = table.same(reading) or table.with_room(reading)
        if plan is not None:
            return plan
        return (
            table.of(event) if event is not None else table.new(self._addressees, reading.activity)
        )

    def _is_hindrance(self, reading: Reading, event: ContextEvent | None) -> bool:
        """Whether the clause names an appointment only to say that another time does not suit."""
        if reading.question or reading.proposes or not found(_HAVING, reading.text):
            return False
        near = self.table.near()
        if near is not None and near.action == "create" and near.asked and not near.is_agreed:
            return reading.speaker not in near.backing or event is not None
        return event is not None

    def _fill(self, plan: Plan, reading: Reading) -> bool:
        """Takes over what the clause says; True if that changed the time of the plan."""
        activity = reading.activity
        if activity is not None and plan.target is None:
            held = plan.activity
            if held is None or (held.weak and not activity.weak):
                plan.activity = activity
            elif held.noun == activity.noun and len(activity.title) > len(held.title):
                plan.activity = activity
        if activity is not None:
            known = (*plan.people, *(plan.activity.people if plan.activity is not None else ()))
            plan.people += [name for name in activity.people if name not in known]
        if reading.place is not None:
            plan.place = reading.place
        changed = plan.when.take(reading.moments, self._saying(plan, reading))
        if plan.target is not None and changed:
            if self._is_unchanged(plan, plan.target):
                plan.when = When()
                return False
            plan.action = "update"
        times = max(len(reading.moments.days), len(reading.moments.clocks))
        plan.optional = times > 1 and found(r"\bor\b", reading.text)
        return changed

    def _is_unchanged(self, plan: Plan, event: ContextEvent) -> bool:
        start, when = self.agenda.starts[event.id], plan.when
        clock = when.clock.minute if when.clock is not None else None
        same_day = when.day is None or when.day == start.date()
        same_clock = clock is None or clock % 720 == (start.hour * 60 + start.minute) % 720
        if clock is None and when.part is not None:
            same_clock = lies_in(when.part, start.hour)
        longer = when.length is not None or when.longer or when.shift_minutes or when.shift_days
        return same_day and same_clock and not longer and when.until is None

    # -- inviting, agreeing, noting ------------------------------------------------------------------

    def _invite(self, reading: Reading) -> None:
        plan = self.table.near()
        if plan is None or (plan.background and reading.speaker not in plan.willing):
            return
        plan.background = False
        plan.put_forward(reading.speaker, asked=True)
        plan.announced = False
        self._attend(plan, reading)

    def _agree(self, reading: Reading) -> None:
        focus = self.table.near(FAR if reading.agrees_strongly else NEAR)
        if focus is None:
            return
        if not reading.agrees_strongly and self._answers_something_else(focus, reading):
            return
        together = [
            plan for plan in self.table.plans if plan is focus or plan.touched == focus.touched
        ]
        for plan in self._acceptable(together, reading):
            plan.back(reading.speaker)
            plan.tentative = plan.tentative or reading.tentative
            plan.place = plan.place or reading.place
            plan.quote(reading.utterance)
            focus.touched = self.table.turn

    def _acceptable(self, plans: Iterable[Plan], reading: Reading) -> list[Plan]:
        """Of the plans on the table, those that the speaker can agree to with this clause."""
        chosen = []
        for plan in plans:
            if plan.background or plan.dropped or reading.speaker in plan.backing:
                continue
            if not plan.backing and not reading.agrees_strongly:
                continue
            uninvited = bool(plan.addressees) and reading.speaker not in plan.addressees
            among_others = len(plan.backing) > 1 and self.table.age(plan) > 1
            among_others = among_others and not reading.agrees_strongly
            if (uninvited or among_others) and reading.speaker not in plan.willing:
                if not found(_JOINING, reading.text):
                    continue
            chosen.append(plan)
        return chosen

    def _note(self, reading: Reading) -> None:
        """Keeps what a remark without a time names: an activity to come back to, a place."""
        plan, activity = self.table.near(), reading.activity
        if activity is not None and reading.void == "":
            known = self.table.same(reading) if not activity.weak else None
            if known is not None and known.action is not None:
                self._attend(known, reading, quote=False)
            else:
                self._remember(reading)
            plan = self.table.near()
        if reading.place is None or plan is None or plan.background or reading.void:
            return
        if plan.target is not None and (reading.proposes or reading.corrects):
            self._change(plan, reading, Moments())
        elif plan.action is not None and (plan.place is None or reading.corrects):
            plan.place = reading.place
            plan.quote(reading.utterance)

    def _remember(self, reading: Reading) -> None:
        """Keeps the activity of a clause that plans nothing, for a plan that may follow."""
        activity, near = reading.activity, self.table.near()
        if activity is None or reading.void == "told":
            return
        proposed = reading.void == "" and (reading.proposes or reading.invites)
        if activity.weak and " " not in activity.title and not proposed:
            return
        past_day = any(day.past for day in reading.moments.days)
        if (
            activity.definite
            and not past_day
            and (near is None or near.is_agreed or not near.asked)
        ):
            event = self.agenda.named(reading, reading.moments)
            if event is not None:
                self._attend(self.table.of(event), reading)
                return
        self.table.raise_topic(
            Topic(
                activity,
                reading.utterance,
                self.table.turn,
                proposed=proposed,
            )
        )

    def _saying(self, plan: Plan, reading: Reading) -> Saying:
        target = self.agenda.starts[plan.target.id].date() if plan.target is not None else None
        return Saying(self.now.date(), target, reading.speaker == self.owner)

    def _attend(self, plan: Plan, reading: Reading, *, quote: bool = True) -> None:
        """Makes `plan` the one that is talked about."""
        plan.touched = self.table.turn
        if quote:
            plan.quote(reading.utterance)
        self.table.focus, self.table.topic = plan, None
