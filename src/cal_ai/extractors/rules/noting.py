"""Clauses that plan nothing, but name what the next ones are about."""

from __future__ import annotations

from cal_ai.extractors.rules.activities import CHORE
from cal_ai.extractors.rules.changing import change
from cal_ai.extractors.rules.moments import Moments
from cal_ai.extractors.rules.patterns import found
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.scene import Scene
from cal_ai.extractors.rules.table import Topic


def refocus(scene: Scene, reading: Reading) -> bool:
    """Whether the clause only leads back to an earlier plan ("about Monday: ...")."""
    if reading.activity is not None or reading.moments.clocks or reading.question or reading.void:
        return False
    if not found(r"(?<!how )(?<!what )\b(?:about|regarding|re:?|as for)\b", reading.text):
        return False
    for plan in scene.table.plans:
        if plan.when.day in reading.moments.dates and plan.action is not None:
            scene.attend(plan, reading, quote=False)
            return True
    event = scene.agenda.named(reading, reading.moments) if reading.moments.dates else None
    event = event or scene.agenda.only_one_on(reading.moments.dates)
    if event is not None:
        scene.attend(scene.table.of(event), reading)
    return event is not None


def note(scene: Scene, reading: Reading) -> None:
    """Keeps what a remark without a time names: an activity to come back to, a place."""
    if reading.void:
        return
    activity = reading.activity
    if activity is not None:
        known = scene.table.same(reading) if not activity.weak else None
        if known is not None and known.action is not None:
            scene.attend(known, reading, quote=False)
        else:
            remember(scene, reading)
    plan = scene.table.near()
    if reading.place is None or plan is None or plan.background:
        return
    if plan.target is not None and (reading.proposes or reading.corrects):
        change(scene, plan, reading, Moments())
    elif plan.action is not None and (plan.place is None or reading.corrects):
        plan.place = reading.place
        plan.quote(reading.utterance)


def remember(scene: Scene, reading: Reading) -> None:
    """Keeps the activity of a clause that plans nothing, for a plan that may follow."""
    activity, near = reading.activity, scene.table.near()
    if activity is None or reading.void in ("told", "negated"):
        return
    asked = reading.question and reading.text.count(" ") < 3
    proposed = reading.void == "" and (reading.proposes or reading.invites or asked)
    passing = (activity.weak and " " not in activity.title) or activity.kind is CHORE
    passing = passing or (activity.guessed and reading.announces)
    if passing and not proposed:
        return
    free = near is None or near.is_agreed or not near.asked
    told = reading.void == "past" and not reading.question
    if free and not told and not any(day.past for day in reading.moments.days):
        event = scene.agenda.fully_named(reading)
        if activity.definite:
            event = event or scene.agenda.named(reading, reading.moments)
        if event is not None:
            scene.attend(scene.table.of(event), reading)
            return
    scene.table.raise_topic(Topic(activity, reading.utterance, scene.table.turn, proposed))
