"""Which plan a clause is about."""

from __future__ import annotations

from cal_ai.events import ContextEvent
from cal_ai.extractors.rules import remarks
from cal_ai.extractors.rules.activities import CHORE, MEETING, Activity, kinds
from cal_ai.extractors.rules.changes import names_another
from cal_ai.extractors.rules.memory import FAR, NEAR
from cal_ai.extractors.rules.moments import names_day
from cal_ai.extractors.rules.naming import visit_with
from cal_ai.extractors.rules.patterns import found
from cal_ai.extractors.rules.plans import Plan, head_of, same_activity
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.reckoning import minute_of
from cal_ai.extractors.rules.scene import Scene


def plan_for(scene: Scene, reading: Reading) -> Plan | None:
    """The plan that the clause is about, a new one if need be, or None if it plans nothing."""
    near, activity = scene.near(), reading.activity
    event = scene.event_named(reading, reading.moments)
    if event is None and (reading.asks_whether_still or reading.takes_for_granted):
        event = scene.agenda.only_one_on(reading.moments.dates)
        if event is None and reading.asks_whether_still:
            return None
    if event is not None and _is_mention(scene, reading, event):
        if remarks.is_about(reading.text) and (near is None or not near.is_open):
            scene.attend(scene.plan_of(event), reading)
        scene.note_mention(event, reading)
        return None
    if event is not None and not _is_for_new(reading):
        return scene.plan_of(event)
    guess = activity is not None and activity.guessed and not remarks.is_taken(reading.text)
    if activity is None or activity.weak or (guess and near is not None and near.is_open):
        return _plan_without_subject(scene, reading)
    if near is not None and _is_hindrance(scene, near, reading):
        return None
    if near is not None and near.is_open and scene.echoes(reading) and not activity.definite:
        return near
    plan = same_plan(scene, reading, activity) or _with_room(scene, reading, activity)
    return plan or scene.new_plan(activity)


def _is_hindrance(scene: Scene, near: Plan, reading: Reading) -> bool:
    """Whether the clause names an appointment only to say that another time does not suit."""
    if near.is_settled or reading.proposes or not remarks.has_something(reading.text):
        return False
    return not scene.is_by_owner(reading) or reading.speaker not in near.backing


def _is_mention(scene: Scene, reading: Reading, event: ContextEvent) -> bool:
    """Whether the clause names an event of the calendar without wanting anything of it."""
    if reading.cancels or reading.moves or reading.refuses or reading.corrects:
        return False
    if names_another(reading.text):
        return True
    return scene.agenda.is_own_time(event, reading.moments)


def _is_for_new(reading: Reading) -> bool:
    """Whether a new event is wanted that only resembles one of the calendar."""
    activity = reading.activity
    if activity is None or activity.definite:
        return False
    if activity.indefinite or reading.invites:
        return True
    return found(r"\b(?:schedule|book|set up|arrange|plan|add|another|new)\b", reading.text)


def _plan_without_subject(scene: Scene, reading: Reading) -> Plan | None:
    """The plan that a clause with nothing but a time is about."""
    near, far, topic = scene.near(), scene.near(FAR), scene.live_topic()
    repeated = _plan_at(scene, reading)
    if repeated is not None and (near is None or not near.is_open):
        return repeated
    if _repeats_calendar(scene, near, reading) or _asks_about_day(scene, near, reading):
        return None
    event = _event_mentioned(scene, near, reading) or _next_alike(scene, near, reading)
    if event is None and near is None and found(r"\b(?:same time|instead)\b", reading.text):
        event = scene.agenda.of_service(service_named(scene, reading))
    named = event or (near.target if near is not None else None) or scene.last_mention.event
    if named is not None and _wants_another(reading):
        return scene.new_plan(_like(named))
    if event is not None:
        day = near.when.day if near is not None else None
        alike = scene.agenda.called_on(event.summary, frozenset({day})) if day else None
        return scene.plan_of(alike or event)
    if near is not None and not reading.moments.names_a_time:
        return near  # a duration
    opens = reading.question or reading.proposes or reading.calendar
    opens = opens and (reading.proposes or reading.moments.names_more_than_a_week)
    opens = opens or scene.tells_when(reading) or topic is not None or reading.offers
    if near is not None and not near.foreign and not near.is_settled:
        return scene.new_plan(None) if _is_replaced(scene, near) else near
    lacking = _without_time(scene, reading) if near is not None and near.when.clock else None
    if lacking is not None:
        return lacking
    if near is not None and not near.foreign and _fits_settled(scene, near, reading):
        return near
    if near is None and far is not None and not far.foreign and (reading.corrects or far.is_open):
        return far
    return scene.new_plan(None) if opens else None


def service_named(scene: Scene, reading: Reading) -> str:
    """What an appointment with the speaker is called, "" if it is the owner or offers none."""
    return "" if scene.is_by_owner(reading) else visit_with([reading.speaker], scene.setting)


def _plan_at(scene: Scene, reading: Reading) -> Plan | None:
    """The plan for the day and time that the clause repeats."""
    moments = reading.moments
    for plan in reversed(scene.plans):
        clock = plan.when.minute
        if plan.foreign or plan.action is None or clock is None or plan.action == "delete":
            continue
        if plan.when.day in moments.dates and moments.minutes == {clock % 720}:
            return plan
    return None


def _without_time(scene: Scene, reading: Reading) -> Plan | None:
    """The plan of several people that still lacks the time of day which the clause names."""
    moments = reading.moments
    if not (moments.clocks and reading.shared) or moments.dates or reading.moves:
        return None
    for plan in reversed(scene.plans):
        lacks = plan.when.day is not None and plan.when.clock is None and plan.target is None
        shared = plan.action == "create" and len(plan.willing) > 1 and not plan.foreign
        if lacks and shared and scene.age(plan) <= FAR:
            return plan
    return None


def _is_replaced(scene: Scene, plan: Plan) -> bool:
    """Whether something else came up since the plan was given up."""
    topic = scene.live_topic()
    if topic is None or plan.action is not None:
        return False
    later = topic.turn > plan.touched and plan.refused and not topic.activity.weak
    return topic.proposed or bool(later)


def _asks_about_day(scene: Scene, near: Plan | None, reading: Reading) -> bool:
    """Whether the clause asks what becomes of another day ("And Friday?" after a "cancelled")."""
    moments = reading.moments
    if near is None or near.is_open or not reading.question:
        return False
    if near.action != "delete" and not near.refused:
        return False
    if not moments.dates or moments.clocks or moments.parts:
        return False
    events = scene.agenda.on_days(moments.dates)
    if near.target is None:
        events = [event for event in events if scene.agenda.names_partner(event)]
    if len(events) == 1:
        scene.note_mention(events[0], reading)
    return bool(events) and near.target not in events


def _next_alike(scene: Scene, near: Plan | None, reading: Reading) -> ContextEvent | None:
    """The event of the day named that is of the same kind as the one just called off."""
    if near is None or near.target is None or near.action != "delete" or not near.is_settled:
        return None
    kind = head_of(near.target.summary)
    gone = [plan.target for plan in scene.plans if plan.action == "delete"]
    events = scene.agenda.on_days(reading.moments.dates)
    alike = [event for event in events if head_of(event.summary) == kind]
    return alike[0] if len(alike) == 1 and alike[0] not in gone else None


def _like(event: ContextEvent) -> Activity:
    """The activity that an event of the calendar is about."""
    head = head_of(event.summary)
    return Activity(0, 0, head, event.summary, kinds().get(head, MEETING))


def _wants_another(reading: Reading) -> bool:
    """Whether the clause asks for one more event of the kind that was just named."""
    return found(
        r"\b(?:add|book|schedule|have|do) (?:us |me )?(?:one|another)\b"
        r"|\bbook (?:us|me|in)\b.* (?:as well|too|also)\b",
        reading.text,
    )


def _repeats_calendar(scene: Scene, near: Plan | None, reading: Reading) -> bool:
    """Whether the clause only says when an event of the calendar is."""
    if near is not None and not near.is_settled and scene.kept != scene.turn:
        return False
    asks = reading.proposes or reading.offers or reading.moves
    asks = asks or any(clock.zone for clock in reading.moments.clocks)
    event = None if asks else scene.agenda.at(reading.moments)
    last = scene.last_mention
    if event is None and reading.moments.clocks and scene.turn - last.turn <= 2:
        own = last.event is not None and scene.agenda.is_own_time(last.event, reading.moments)
        event = last.event if own else None
    if event is not None:
        scene.note_mention(event, reading)
    return event is not None


def _event_mentioned(scene: Scene, near: Plan | None, reading: Reading) -> ContextEvent | None:
    """The event of the calendar that was just named, if the clause can be about it."""
    last, topic = scene.last_mention, scene.live_topic()
    if last.event is None or scene.turn - last.turn > (2 if near is not None else NEAR):
        return None
    named = not last.hindrance and (topic is None or topic.activity.weak)
    if not reading.moments.names_a_time:
        return last.event if named and (near is None or near.touched < last.turn) else None
    if near is not None and near.target is last.event and near.action == "delete":
        return None
    if _ends_anew(scene, last.event, reading):
        return last.event
    if not (named or reading.corrects):
        return None
    done = near is not None and near.is_settled and near.touched <= last.turn
    if near is None or (done and not _completes(scene, near, reading)):
        return last.event
    return None


def _ends_anew(scene: Scene, event: ContextEvent, reading: Reading) -> bool:
    """Whether the clause repeats when the event starts, and says until when it will be."""
    moments = reading.moments
    starts = moments.minutes == {minute_of(scene.agenda.starts[event.id]) % 720}
    ends = any(clock.until is not None for clock in moments.clocks)
    return starts and ends and not scene.agenda.is_own_time(event, moments)


def _completes(scene: Scene, plan: Plan, reading: Reading) -> bool:
    """Whether the clause adds the time that a settled plan still lacks, or repeats it."""
    if plan.action == "delete":
        return False
    lacks = plan.target is None and plan.when.clock is None and bool(reading.moments.clocks)
    return lacks or scene.echoes(reading)


def _fits_settled(scene: Scene, plan: Plan, reading: Reading) -> bool:
    """Whether a clause with nothing but a time is about the plan that was just settled."""
    moments, when = reading.moments, plan.when
    if scene.topic is not None and scene.topic.turn >= plan.touched:
        return False
    other = bool(moments.dates) and not moments.dates & {when.day}
    if other and reading.question and reading.asks_availability and not reading.corrects:
        return False  # "Are you free on Sunday?"
    lacks = plan.target is None and when.clock is None
    plainly = scene.question.text.count(" ") < 4 and scene.question.turn - plan.touched <= 1
    if reading.corrects or reading.moves or (scene.tells_when(reading) and (lacks or plainly)):
        return True
    if plan.action == "delete" and plan.target is not None:
        again = found(r"\bsame (?:time|place|day)\b", reading.text)
        theirs = plan.speaker != scene.setting.owner or again
        return scene.age(plan) <= 3 and reading.activity is None and theirs
    if lacks and moments.clocks and scene.age(plan) <= 2:
        return True
    day, clock = scene.day_of(plan), when.minute
    same_day = not moments.dates or day is None or names_day(moments, day)
    same_clock = not moments.minutes or (clock is not None and clock % 720 in moments.minutes)
    if same_day and (same_clock or when.clock is None):
        return True
    changes = reading.bare or reading.question or reading.proposes or plan.target is None
    changes = changes or reading.starts_with_time
    return scene.age(plan) <= 1 and changes and (same_day or same_clock)


def same_plan(scene: Scene, reading: Reading, activity: Activity) -> Plan | None:
    """The plan for the same activity, unless the clause speaks of another occasion."""
    days = reading.moments.dates
    again = activity.indefinite or found(
        r"\b(?:another|also|too|as well|second|plus|and then)\b", reading.text
    )
    for plan in reversed(scene.plans):
        if plan.activity is None or not same_activity(plan.activity, activity):
            continue
        held = plan.when.day
        other_day = bool(days) and held is not None and not names_day(reading.moments, held)
        theirs, ours = set(plan.activity.people), set(activity.people)
        other_people = bool(theirs and ours) and not theirs & ours
        settled = plan.settled is not None and not reading.corrects
        if other_people or (other_day and settled and (again or scene.age(plan) > NEAR)):
            continue
        return plan
    return None


def _with_room(scene: Scene, reading: Reading, activity: Activity) -> Plan | None:
    """The plan talked about, if it lacks an activity or has only a vague one."""
    plan = scene.near()
    if plan is None or plan.foreign or plan.target is not None:
        return None
    if activity.kind is CHORE and not (plan.is_unnamed and plan.touched == scene.turn):
        return None
    days = reading.moments.dates
    other_day = bool(days) and plan.when.day is not None and plan.when.day not in days
    lacks = plan.when.clock is None and bool(reading.moments.clocks) and activity.indefinite
    if lacks and not other_day and scene.age(plan) <= 1 and plan.action is not None:
        return plan
    turns = reading.proposes or remarks.goes_on_to_next(reading.text)
    if other_day or not plan.is_vague or (plan.is_settled and turns):
        return None
    if plan.settled is not None and reading.moments.names_a_time and not scene.echoes(reading):
        return None
    return plan
