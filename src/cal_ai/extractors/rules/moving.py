"""Clauses that move something: to another time, another place, to more people."""

from __future__ import annotations

from cal_ai.extractors.rules import remarks
from cal_ai.extractors.rules.choosing import service_named
from cal_ai.extractors.rules.moments import Moments, split_moved
from cal_ai.extractors.rules.patterns import cased, found, pattern
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.scene import Scene


def move(scene: Scene, reading: Reading) -> bool:
    """Whether the clause moved something; False if it is to be read in another way."""
    old, new = split_moved(reading.text, reading.moments)
    if _is_their_own(scene, reading):
        return True
    if remarks.means_all(reading.text) and (old.days or old.parts):
        events = scene.on_day_talked_about(scene.agenda.swept(reading, old), old)
        for event in events:
            change(scene, scene.plan_of(event), reading, new)
        if events:
            return True
    plan = _moved(scene, reading, old)
    if plan is None or (reading.refuses and not new):
        return False
    change(scene, plan, reading, new)
    return True


def _is_their_own(scene: Scene, reading: Reading) -> bool:
    """Whether somebody else tells what he does with his own calendar."""
    if scene.is_by_owner(reading) or not found(r"\bmy (?:own )?\w+", reading.text):
        return False
    return not (reading.question or reading.shared or reading.addressed or reading.proposes)


def _moved(scene: Scene, reading: Reading, old: Moments) -> Plan | None:
    plan = scene.plan_named(reading)
    event = scene.event_named(reading, old)
    if event is None and found(r"\bthe one (?:on|at|for)\b", reading.text):
        event = scene.agenda.only_one_on(reading.moments.dates, reading.speaker)
    if event is None and old.clocks and (reading.activity is None or reading.activity.weak):
        day = scene.recent_day(0)
        event = scene.agenda.at_clock(old, frozenset({day} if day is not None else ()))
    if event is not None and (plan is None or plan.target is not None or not plan.settled):
        return scene.plan_of(event)
    if plan is None and (
        reading.activity is None or reading.activity.weak or reading.activity.guessed
    ):
        own = scene.agenda.of_service(service_named(scene, reading))
        return scene.latest() or (scene.plan_of(own) if own is not None else None)
    return plan or _unnamed_before(scene, reading)


def _unnamed_before(scene: Scene, reading: Reading) -> Plan | None:
    """The one plan settled before that had no name until now ("The training has to move")."""
    activity = reading.activity
    unnamed = [plan for plan in scene.plans if plan.is_unnamed and plan.settled is not None]
    if activity is None or not activity.definite or len(unnamed) != 1:
        return None
    unnamed[0].activity = activity
    return unnamed[0]


def change(scene: Scene, plan: Plan, reading: Reading, new: Moments) -> None:
    """Takes over the new time or place of a plan."""
    if found(r"\b(?:extend|lengthen|stretch|run until|go until|longer)", reading.text):
        new = new.as_ends()
    changed = scene.take(plan, reading, new)
    if reading.place is not None and reading.place != plan.place:
        plan.place, changed = reading.place, True
    if changed:
        scene.offer(plan, reading, told=not (reading.question or reading.proposes))
    near = scene.near()
    if not changed and reading.question and near is not None and not near.is_settled:
        return  # "Could you move that?"
    scene.attend(plan, reading)
    scene.conclude(plan, sure=False)


def add_people(scene: Scene, reading: Reading) -> bool:
    """Whether the clause adds people to an event ("invite Dana to the review")."""
    added = cased(_ADDING).search(reading.text)
    if added is None or reading.void or reading.moments.clocks:
        return False
    event = scene.event_named(reading, reading.moments)
    plan = scene.plan_of(event) if event is not None else scene.near()
    if plan is None or plan.foreign:
        return False
    plan.people += pattern(r", | and | & ").split(added["names"])
    if plan.target is not None:
        asked = reading.question
        plan.offer(reading.speaker, plan.action or "update", asked=asked, told=not asked)
    scene.attend(plan, reading)
    scene.conclude(plan, sure=False)
    return True


_ADDING = (
    r"\b(?i:add|added|invite|invited|include|loop in|bring in|cc) "
    r"(?P<names>[A-Z]\w+(?:(?:, | and | & )[A-Z]\w+)*)(?= (?:to|in|on|for)\b|\W*$)"
)
