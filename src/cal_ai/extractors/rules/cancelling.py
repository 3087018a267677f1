"""Clauses that call something off, or say that it stays."""

from __future__ import annotations

from cal_ai.extractors.rules import remarks
from cal_ai.extractors.rules.changes import leaves_that_out
from cal_ai.extractors.rules.moments import Moments
from cal_ai.extractors.rules.patterns import found, small_pattern, words
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.references import lies_in
from cal_ai.extractors.rules.scene import Scene
from cal_ai.extractors.rules.spans import covers


def changes_while_keeping(scene: Scene, reading: Reading) -> bool:
    """Whether one part stays and another changes ("start at 9 as planned and finish at 2")."""
    plan, moments = scene.latest(), reading.moments
    if plan is None or plan.target is None or len(moments.clocks) < 2 or reading.refuses:
        return False
    return not scene.agenda.is_own_time(plan.target, moments)


def keep(scene: Scene, reading: Reading) -> None:
    """What was to be changed stays as it is."""
    scene.kept = scene.turn
    event = scene.event_named(reading, Moments()) or scene.agenda.at(reading.moments)
    plan = scene.plan_of(event) if event is not None else scene.latest()
    topic = scene.live_topic()
    if plan is None or (event is None and topic is not None and topic.turn >= plan.touched):
        return
    if event is None and not _speaks_of(scene, plan, reading.moments):
        return
    partly = event is None and bool(reading.moments.clocks or remarks.names_a_detail(reading.text))
    if (partly and plan.action is not None) or (plan.target is None and not plan.is_open):
        return
    firm = event is not None or found(r"\b(?:don't|not|keep|as it)\b|\w+n't\b", reading.text)
    if plan.target is not None and (plan.action != "delete" or firm):
        plan.restore()
    elif plan.target is None:
        plan.withdraw()
    if plan.target is not None:
        scene.note_mention(plan.target, reading)


def _speaks_of(scene: Scene, plan: Plan, moments: Moments) -> bool:
    """Whether the day and the part of the day named, if any, are those of the plan."""
    start = scene.start_of(plan)
    days = {plan.when.day, start.date() if start is not None else None} - {None}
    if moments.dates and days and not moments.dates & days:
        return False
    parts = [part.part for part in moments.parts]
    return start is None or not parts or any(lies_in(part, start.hour) for part in parts)


def goes_on_cancelling(scene: Scene, reading: Reading) -> bool:
    near = scene.near(2)
    just = near is not None and near.action == "delete" and scene.kept <= near.touched
    return just and found(r"\b(?:too|as well|also)\b", reading.text)


def cancel(scene: Scene, reading: Reading) -> None:
    """Removes events of the calendar, or drops a plan of this conversation."""
    events = (
        scene.agenda.swept(reading, reading.moments) if remarks.means_many(reading.text) else []
    )
    events = scene.on_day_talked_about(events, reading.moments)
    if remarks.means_all_of_them(reading.text) and not reading.moments.names_a_time:
        just = [event for event, turn in scene.mentions.values() if scene.turn - turn <= 1]
        events = just if len(just) > 1 else events
    plan = scene.plan_named(reading)
    if not events and (plan is None or plan.target is not None):
        events = scene.agenda.listed(reading, reading.moments)
    for event in events:
        _delete(scene, scene.plan_of(event), reading)
    if events:
        return
    if plan is None and _may_mean_any(reading):
        plan = _meant(scene, reading.moments)
    if plan is not None and plan.days & reading.moments.dates - {plan.when.day}:
        return  # a day that was given up before
    if plan is None or (plan.target is not None and found(r"\bnever ?mind\b", reading.text)):
        return
    if plan.target is not None:
        _delete(scene, plan, reading)
    elif not reading.question:
        plan.drop()
        scene.attend(plan, reading)


def leave_out(scene: Scene, reading: Reading) -> bool:
    """Whether the event of the calendar that was just named is left out ("That's out too")."""
    event = scene.event_just_named()
    if event is None or reading.question or not leaves_that_out(reading.text):
        return False
    _delete(scene, scene.plan_of(event), reading)
    return True


_OBJECT = (
    r"\b(?:drop\w*|clear\w*|delet\w+|remov\w+|scrap\w*|skip\w*|ditch\w*|bail\w* on|forget"
    r"|get rid of|wip\w+|tak\w+)(?: out| off)? (?:(?:the|my|our|your|a|an|this|that|his|her|of) )*"
    r"(?P<object>[a-z][\w'-]*)"
)
_ANYTHING = words(
    """
    it that this them everything all one ones thing things whole meeting meetings appointment slot
    booking reservation session event plan plans entry table date time day week rest both about
    again then him her you me off out up altogether too also please if because as completely
    entirely now today tomorrow tonight next calendar diary schedule
    """
)


def _may_mean_any(reading: Reading) -> bool:
    """Whether nothing known by another name is called off ("I'll clear out the cupboard")."""
    if reading.activity is not None:
        return reading.activity.weak or reading.activity.guessed
    match = small_pattern(_OBJECT).search(reading.text.lower())
    if match is None or match["object"] in _ANYTHING:
        return True
    return covers(reading.moments.spans, *match.span("object"))


def _meant(scene: Scene, moments: Moments) -> Plan | None:
    """The plan or event talked about, if the day fits, or else the only event of the day."""
    near, focus = scene.latest(), scene.near(2)
    if not moments.names_a_time:
        again = focus is not None and focus.action == "delete" and focus.is_settled
        again = again and focus is not None and scene.last_mention.turn <= focus.touched
        return focus if again else near
    if near is not None and near.target is not None:
        day = scene.agenda.starts[near.target.id].date()
        if day in moments.dates:
            return near
    if near is not None and near.days & moments.dates:
        return near
    alike = near.target.summary if near is not None and near.target is not None else ""
    event = scene.agenda.called_on(alike, moments.dates) if alike else None
    event = event or scene.agenda.only_one_on(moments.dates)
    return scene.plan_of(event) if event is not None else None


def _delete(scene: Scene, plan: Plan, reading: Reading) -> None:
    whose = r"\byour\b" if scene.is_by_owner(reading) else r"\bmy\b"
    theirs = found(whose, reading.text) and not reading.shared
    asked = reading.question or found(r"\b(?:could|might|maybe|should|would|shall)\b", reading.text)
    if plan.action == "delete" and not asked:
        plan.back(reading.speaker)
    else:
        plan.offer(reading.speaker, "delete", asked=asked, told=not (asked or theirs))
        plan.foreign = theirs
    near = scene.near()
    if asked and near is not None and near is not plan and not near.is_settled:
        plan.touched = scene.turn  # "You could skip that one."
        return
    scene.attend(plan, reading)
    scene.conclude(plan, sure=scene.is_by_owner(reading) and not asked)
