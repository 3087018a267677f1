"""Clauses that cancel or move something."""

from __future__ import annotations

from dataclasses import replace

from cal_ai.events import ContextEvent
from cal_ai.extractors.rules.moments import Moments, split_moved
from cal_ai.extractors.rules.patterns import cased, found, pattern, sentence_case
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.references import GENERIC
from cal_ai.extractors.rules.scene import Scene
from cal_ai.extractors.rules.table import FAR

_ALL = r"\b(?:everything|all (?:my|the|our|of)|every)\b"
_MANY = (
    r"\b(?:everything|all|whole|entire|every|both|rest of|anything|meetings|calls|appointments)\b"
    r"|\b(?:clear|wipe|free up)\b"
)


def cancel(scene: Scene, reading: Reading) -> None:
    """Removes events of the calendar, or drops a plan of this conversation."""
    moments = reading.moments
    events = scene.agenda.swept(reading, moments) if found(_MANY, reading.text) else []
    plan = scene.table.named(reading)
    if not events and (plan is None or plan.target is not None):
        events = scene.agenda.listed(reading, moments)
    for each in events:
        _delete(scene, scene.table.of(each), reading)
    if events:
        return
    if plan is None and reading.activity is None:
        plan = _meant(scene, moments)
    if plan is None:
        return
    if plan.target is not None:
        _delete(scene, plan, reading)
    elif not reading.question:
        plan.dropped = True
        scene.attend(plan, reading)


def take_back(scene: Scene) -> bool:
    """Whether a change that was talked about is off, so that the event stays as it is."""
    plan = scene.table.near(FAR)
    if (
        plan is None
        or plan.target is None
        or plan.action != "update"
        or plan.when.until is not None
    ):
        return False
    plan.dropped = True
    return True


def _meant(scene: Scene, moments: Moments) -> Plan | None:
    """The plan or event talked about, if the day fits, or else the only event of the day."""
    near = scene.table.near(FAR)
    if not moments.names_a_time:
        return near
    if near is not None and near.target is not None:
        day = scene.agenda.starts[near.target.id].date()
        return near if day in moments.dates else None
    event = scene.agenda.only_one_on(moments.dates)
    return scene.table.of(event) if event is not None else None


def _delete(scene: Scene, plan: Plan, reading: Reading) -> None:
    somebody_elses = not scene.is_by_owner(reading) and found(r"\bmy\b", reading.text)
    plan.action = "delete"
    plan.put_forward(reading.speaker, asked=reading.question)
    plan.announced = not reading.question and (reading.shared or not somebody_elses)
    scene.attend(plan, reading)


def move(scene: Scene, reading: Reading) -> bool:
    """Whether the clause moved something; False if it is to be read in another way."""
    old, new = split_moved(reading.text, reading.moments)
    if found(_ALL, reading.text):
        events = scene.agenda.swept(reading, old)
        for each in events:
            change(scene, scene.table.of(each), reading, new)
        if events:
            return True
    plan = _moved(scene, reading, old)
    if plan is None or (reading.refuses and not new):
        return False
    change(scene, plan, reading, new)
    return True


def _moved(scene: Scene, reading: Reading, old: Moments) -> Plan | None:
    plan = scene.table.named(reading)
    event = scene.agenda.named(reading, old) or _on_day_just_named(scene, reading)
    if event is not None and (plan is None or plan.target is not None or not plan.is_agreed):
        return scene.table.of(event)
    if plan is None and (reading.activity is None or reading.activity.weak):
        return scene.table.near(FAR)
    return plan


def _on_day_just_named(scene: Scene, reading: Reading) -> ContextEvent | None:
    """The only event of the day named in the clause before, if this one says just "appointment"."""
    activity, table = reading.activity, scene.table
    if activity is None or not activity.definite or activity.noun not in GENERIC:
        return None
    if table.last_day is None or table.day_turn != table.turn:
        return None
    return scene.agenda.only_one_on(frozenset({table.last_day}))


_ADDING = (
    r"\b(?i:add|added|invite|invited|include|loop in|bring in|cc) "
    r"(?P<names>[A-Z]\w+(?:(?:, | and | & )[A-Z]\w+)*)(?= (?:to|in|on|for)\b|\W*$)"
)


def add_people(scene: Scene, reading: Reading) -> bool:
    """Whether the clause adds people to an event ("invite Dana to the review")."""
    added = cased(_ADDING).search(reading.text)
    if added is None or reading.void or reading.moments.clocks:
        return False
    event = scene.agenda.named(reading, reading.moments)
    plan = scene.table.of(event) if event is not None else scene.table.near()
    if plan is None or plan.background:
        return False
    plan.people += pattern(r", | and | & ").split(added["names"])
    if plan.target is not None:
        plan.action = plan.action or "update"
        plan.put_forward(reading.speaker, asked=reading.question)
        plan.announced = not reading.question
    scene.attend(plan, reading)
    return True


_NEW_PLACE = (
    r"\b(?:will be|is|are|'s|moved|takes place|has to be|have to be|has been moved)"
    r" (?:now )?(?:at|in|to)\b(?: the (?P<place>[\w-]+(?: (?:room|hall|building|office))?))?"
)


def relocate(scene: Scene, reading: Reading) -> bool:
    """Whether the clause only tells a new place of an event ("choir will be at the town hall")."""
    moved = pattern(_NEW_PLACE).search(reading.text)
    if moved is None or reading.question or reading.void or reading.moments.clocks:
        return False
    event = scene.agenda.named(reading, Moments())
    place = reading.place or (sentence_case(moved["place"]) if moved["place"] else None)
    if event is None or place is None or event.location == place:
        return False
    change(scene, scene.table.of(event), replace(reading, place=place), Moments())
    return True


def change(scene: Scene, plan: Plan, reading: Reading, new: Moments) -> None:
    """Takes over the new time, place or activity of a plan."""
    plan.keep()
    if found(r"\b(?:extend|lengthen|stretch|run until|go until)", reading.text):
        new = new.as_ends()
    changed = plan.when.take(new, scene.saying(plan, reading))
    if reading.place is not None and reading.place != plan.place:
        plan.place, changed = reading.place, True
    if reading.activity is not None and reading.denied is not None and plan.target is None:
        plan.activity, changed = reading.activity, True
    if plan.target is not None and changed:
        plan.action = "update"
    if changed:
        plan.put_forward(reading.speaker, asked=reading.question)
        plan.announced = not reading.question and not reading.proposes
    scene.attend(plan, reading)
