"""Clauses that say what is planned: proposals, details, announcements."""

from __future__ import annotations

from cal_ai.events import ContextEvent
from cal_ai.extractors.rules.patterns import found
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.references import lies_in
from cal_ai.extractors.rules.scene import Scene
from cal_ai.extractors.rules.when import When

_HAVING = r"\b(?:i have|i've|i got|i'm (?:in|at|having|doing)|we have|we've|there's|it's|that's)\b"


def is_about_a_plan(scene: Scene, reading: Reading) -> bool:
    """Whether the clause plans something, and is not just a remark with a time in it."""
    moments, activity = reading.moments, reading.activity
    if (reading.holds and not reading.proposes) or reading.is_late:
        return False
    if reading.is_circumstance and not scene.knows(reading):
        return False
    near = scene.table.near()
    if reading.is_engaged and near is not None and not near.is_agreed:
        return False
    zoned = any(clock.zone for clock in moments.clocks)
    intends = reading.intends or reading.is_fragment or zoned or scene.tells_when(reading)
    intends = intends or reading.takes_for_granted
    if not moments.names_a_time:
        if moments.lengths:
            return intends or reading.tells_length
        return intends and scene.table.lacks_activity(reading)
    if (activity is not None and not activity.weak) or _echoes(scene, reading):
        return True
    if moments.dates and moments.minutes and scene.table.has_new_topic and not reading.void:
        return True
    return intends or (reading.question and (reading.addressed or reading.shared))


def _echoes(scene: Scene, reading: Reading) -> bool:
    """Whether the clause repeats the day and time that are on the table."""
    plan, moments = scene.table.near(2), reading.moments
    if plan is None or plan.when.clock is None or plan.when.clock.minute is None:
        return False
    same_time = moments.minutes == {plan.when.clock.minute % 720}
    return same_time and moments.dates <= {plan.when.day} and reading.void == ""


def put(scene: Scene, reading: Reading) -> None:
    """Makes a plan of what the clause says, or changes the plan that it is about."""
    foreign = reading.void == "others" or _is_foreign(scene, reading)
    foreign = foreign and not scene.tells_when(reading)
    plan = _plan_for(scene, reading)
    if plan is None:
        return
    fresh, goes_on = not plan.lines, plan.touched == scene.table.turn
    if not fresh and (foreign or plan.is_between_others(reading.speaker)):
        return
    before, was_action = plan.when.point, plan.action
    changed = _fill(scene, plan, reading)
    detail = changed and plan.when.point == before and plan.action == was_action
    detail = detail or (plan.is_agreed and not reading.question and _adds_the_day(plan, before))
    if fresh:
        plan.background = foreign
    elif reading.shared or reading.invites or reading.question or _joins(scene, reading):
        plan.background = False
    # How long it takes changes nothing of what was agreed.
    if (changed and not detail) or fresh:
        plan.put_forward(reading.speaker, asked=reading.question)
    elif not reading.question:
        plan.back(reading.speaker)
    if scene.is_by_owner(reading) and not foreign:
        told = fresh and plan.activity is not None and reading.bare
        goes_on = plan.announced and (not changed or goes_on or not reading.proposes)
        settles = _announces(reading) or told or goes_on
        plan.announced = settles and not reading.question
    elif changed and not detail:
        plan.announced = False
    plan.tentative = reading.tentative and not reading.question and not reading.proposes
    if foreign and scene.table.near() is not None:
        scene.set_aside(plan, reading)
    else:
        scene.attend(plan, reading)


def _adds_the_day(plan: Plan, before: tuple[object, ...]) -> bool:
    """Whether the plan, of which the time was known, now has its day too."""
    day, minute, *_ = before
    known = plan.when.clock is not None and plan.when.clock.minute == minute
    return day is None and minute is not None and known


def _joins(scene: Scene, reading: Reading) -> bool:
    """Whether the owner makes what somebody else announced his own ("one o'clock's good")."""
    return scene.is_by_owner(reading) and reading.agrees_strongly and bool(reading.moments.clocks)


def _announces(reading: Reading) -> bool:
    """Whether the owner's clause settles the matter without anyone's consent."""
    named = reading.activity is not None and not reading.activity.weak
    complete = named and bool(reading.moments.dates and reading.moments.minutes)
    return reading.calendar or ((reading.announces or complete) and not reading.proposes)


def _is_foreign(scene: Scene, reading: Reading) -> bool:
    """Whether a speaker other than the owner tells of an appointment of his own."""
    if scene.is_by_owner(reading) or reading.question or reading.invites or reading.bare:
        return False
    if reading.shared or reading.addressed or reading.agrees or reading.proposes or reading.offers:
        return False
    return reading.own and reading.announces


def _plan_for(scene: Scene, reading: Reading) -> Plan | None:
    """The plan that the clause is about, a new one if need be, or None if it plans nothing."""
    if reading.activity is None:
        return _plan_without_activity(scene, reading)
    table, activity = scene.table, reading.activity
    event = scene.agenda.mentioned(reading)
    if activity.definite or reading.corrects:
        event = event or scene.agenda.named(reading, reading.moments)
    if activity.definite and not activity.guessed:
        event = event or scene.agenda.only_one_called(activity)
    if _is_hindrance(scene, reading, event):
        return table.of(event) if event is not None and table.near() is None else None
    if reading.denied is not None and (denied := table.named(reading)) is not None:
        denied.activity = activity
        return denied
    plan = table.same(reading)
    if plan is None and event is not None:
        plan = table.of(event)
    plan = plan or table.with_room(reading) or table.at_same_time(reading)
    return plan or table.new(scene.addressees, activity)


def _plan_without_activity(scene: Scene, reading: Reading) -> Plan | None:
    event = _expected(scene, reading)
    if event is not None:
        return scene.table.of(event)
    plan = scene.table.by_time(reading)
    opens = reading.question or reading.proposes or reading.calendar
    opens = opens and (reading.proposes or reading.moments.names_more_than_a_week)
    opens = opens or scene.tells_when(reading)
    topic = scene.table.live_topic
    if plan is None and topic is not None and (reading.moves or reading.corrects):
        event = scene.agenda.only_one_called(topic.activity)
        plan = scene.table.of(event) if event is not None else None
    if plan is None and (opens or scene.table.has_new_topic):
        plan = scene.table.new(scene.addressees, None)
    return plan


def _expected(scene: Scene, reading: Reading) -> ContextEvent | None:
    """The event of the calendar that the clause takes for granted ("all set for Thursday?")."""
    if reading.asks_whether_still:
        event = scene.agenda.named(reading, reading.moments)
        if event is not None:
            return event
    new = reading.moves or reading.proposes or reading.offers
    at_start = scene.agenda.at(reading.moments) if not new else None
    if at_start is not None:
        return at_start
    if reading.takes_for_granted and scene.table.near() is None:
        return scene.agenda.only_one_on(reading.moments.dates)
    return None


def _is_hindrance(scene: Scene, reading: Reading, event: ContextEvent | None) -> bool:
    """Whether the clause names an appointment only to say that another time does not suit."""
    if reading.question or reading.proposes or not found(_HAVING, reading.text):
        return False
    near = scene.table.near()
    if event is not None or near is None:
        return event is not None
    if not scene.is_by_owner(reading):
        return not reading.shared
    if reading.speaker in near.refused:
        return True
    return near.asked and not near.is_agreed and reading.speaker not in near.backing


def _fill(scene: Scene, plan: Plan, reading: Reading) -> bool:
    """Takes over what the clause says; True if that changed the time of the plan."""
    plan.keep()
    _fill_activity(plan, reading)
    plan.place = reading.place or plan.place
    changed = plan.when.take(reading.moments, scene.saying(plan, reading))
    if plan.target is not None and changed:
        if _is_unchanged(scene, plan, plan.target):
            plan.when = When()
            return False
        plan.action = "update"
    times = max(len(reading.moments.days), len(reading.moments.clocks))
    plan.optional = times > 1 and found(r"\bor\b", reading.text)
    return changed


def _fill_activity(plan: Plan, reading: Reading) -> None:
    activity, held = reading.activity, plan.activity
    if activity is None:
        return
    if plan.target is None:
        vague = held is None or (held.weak and not activity.weak)
        better = held is not None and (held.guessed or (plan.overheard and not activity.guessed))
        vague = vague or (better and bool(reading.moments.clocks))
        fuller = held is not None and held.noun == activity.noun
        if vague or (fuller and held is not None and len(activity.title) > len(held.title)):
            plan.activity, plan.overheard = activity, False
    known = (*plan.people, *(plan.activity.people if plan.activity is not None else ()))
    plan.people += [name for name in activity.people if name not in known]


def _is_unchanged(scene: Scene, plan: Plan, event: ContextEvent) -> bool:
    """Whether the plan only repeats when the event of the calendar is."""
    start, when = scene.agenda.starts[event.id], plan.when
    clock = when.clock.minute if when.clock is not None else None
    same_day = when.day is None or when.day == start.date()
    same_clock = clock is None or clock % 720 == (start.hour * 60 + start.minute) % 720
    if clock is None and when.part is not None:
        same_clock = lies_in(when.part, start.hour)
    longer = when.length is not None or when.longer or when.shift_minutes or when.shift_days
    end = event.end or event.start
    same_end = when.until is None or when.until % 720 == (end.hour * 60 + end.minute) % 720
    return same_day and same_clock and not longer and same_end
