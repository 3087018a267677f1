"""Clauses that answer: agreeing, refusing, inviting, laughing off."""

from __future__ import annotations

from collections.abc import Iterable

from cal_ai.extractors.rules.patterns import found
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.scene import Scene
from cal_ai.extractors.rules.table import FAR, NEAR

_CONFLICT = (
    r"\b(?:i have(?! to)|i've got(?! to)|i've(?! got| had to)|i'm (?:in|at|having)|conflicts?|clash"
    r"|then)\b"
)
_JOINING = (
    r"\b(?:me too|i'm in|count me in|i'll (?:join|come|be there)|same here|room for|works for me"
    r"|also|i can (?:do|make))\b"
)


def laugh_off(scene: Scene) -> None:
    """Drops what was just said in jest."""
    plan = scene.table.near(3)
    if plan is not None and not plan.is_agreed:
        plan.dropped = True


def invite(scene: Scene, reading: Reading) -> None:
    """Opens the plan talked about to the hearers."""
    plan, aside = scene.table.near(), scene.table.aside
    if aside is not None and scene.table.age(aside) <= 1 and reading.speaker in aside.willing:
        plan = aside
    if plan is None or (plan.background and reading.speaker not in plan.willing):
        return
    plan.background = False
    plan.put_forward(reading.speaker, asked=True)
    plan.announced = False
    scene.attend(plan, reading)


def agree(scene: Scene, reading: Reading) -> None:
    """Puts the speaker behind the plan talked about, and those that came up together with it."""
    focus = scene.table.near(FAR if reading.agrees_strongly else NEAR)
    if focus is None:
        return
    if not reading.agrees_strongly and scene.answers_something_else(focus, reading):
        return
    if (
        scene.is_by_owner(reading)
        and reading.agrees_strongly
        and focus.backing == {reading.speaker}
    ):
        # The owner concludes what others wanted too ("Today? Quarter past five? I'll be there.").
        focus.announced = bool(focus.willing - focus.backing) and not focus.refused
    together = [plan for plan in scene.table.plans if plan.touched == focus.touched]
    for plan in _acceptable(scene, together, reading):
        plan.when.pick(reading.text)
        plan.back(reading.speaker)
        plan.tentative = plan.tentative or reading.tentative
        plan.place = plan.place or reading.place
        plan.quote(reading.utterance)
        focus.touched = scene.table.turn


def _acceptable(scene: Scene, plans: Iterable[Plan], reading: Reading) -> list[Plan]:
    """Of the plans on the table, those that the speaker can agree to with this clause."""
    chosen = []
    for plan in plans:
        if plan.background or plan.dropped or reading.speaker in plan.backing:
            continue
        if not plan.backing and not reading.agrees_strongly:
            continue
        late = len(plan.backing) > 1 and scene.table.age(plan) > 1 and not reading.agrees_strongly
        outside = late and reading.speaker not in plan.willing
        outside = outside or plan.is_between_others(reading.speaker)
        if not outside or found(_JOINING, reading.text):
            chosen.append(plan)
    return chosen


def refuse(scene: Scene, reading: Reading) -> None:
    """Turns down the plan talked about, or names the event of the calendar that cannot be."""
    named, open_plan = scene.table.named(reading), scene.table.near(FAR)
    event = scene.agenda.named(reading, reading.moments)
    if open_plan is None and event is None and not scene.is_by_owner(reading):
        event = scene.agenda.only_one_on(reading.moments.dates)
    settled = open_plan is None or open_plan.is_agreed or open_plan.action is None
    if event is not None and named is None and settled and not found(_CONFLICT, reading.text):
        scene.attend(scene.table.of(event), reading)
        return
    plan = named or open_plan
    if plan is None or plan.background or scene.table.age(plan) > FAR:
        return
    if reading.refuses_barely and reading.speaker in plan.backing and plan.is_agreed:
        return  # "No" to some other question
    if plan.action == "delete" and not reading.refuses_barely:
        return  # whoever cannot come does not object
    if plan.action is None and not plan.asked:
        plan.refused.add(reading.speaker)
    elif _concerns(plan, reading) and not (
        reading.refuses_barely and scene.answers_something_else(plan, reading)
    ):
        plan.refuse(reading.speaker)
        if reading.moments.dates and not reading.moments.clocks and not plan.is_agreed:
            plan.when.day = None
        scene.attend(plan, reading, quote=False)


def _concerns(plan: Plan, reading: Reading) -> bool:
    """Whether the day and time turned down, if any, are those of the plan."""
    days, minutes = reading.moments.dates, reading.moments.minutes
    if days and plan.when.day is not None and plan.when.day not in days:
        return False
    held = plan.when.clock.minute if plan.when.clock is not None else None
    return not minutes or held is None or held % 720 in minutes
