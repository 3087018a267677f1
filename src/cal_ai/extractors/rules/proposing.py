"""Clauses that say what is planned: proposals, details, announcements."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from itertools import pairwise

from cal_ai.extractors.rules import remarks
from cal_ai.extractors.rules.activities import CHORE
from cal_ai.extractors.rules.answering import let_owner_decide
from cal_ai.extractors.rules.choosing import plan_for
from cal_ai.extractors.rules.patterns import found
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.scene import Scene
from cal_ai.extractors.rules.times import Clock


def plans_something(scene: Scene, reading: Reading) -> bool:
    """Whether the clause plans something, and is not just a remark with a time in it."""
    moments, activity, near = reading.moments, reading.activity, scene.near()
    if _is_mere_remark(scene, reading):
        return False
    if _gives_own_time(scene, reading):
        return True
    named = activity is not None and not activity.weak
    intends = reading.intends or reading.is_fragment or any(clock.zone for clock in moments.clocks)
    intends = intends or scene.tells_when(reading) or reading.takes_for_granted or reading.offers
    if not moments.names_a_time:
        if moments.lengths:
            return intends or reading.tells_length
        return named and not reading.void and _opens(scene, reading)
    if named or scene.echoes(reading) or intends:
        return True
    event = scene.event_named(reading, moments)
    if event is not None and not scene.agenda.is_own_time(event, moments):
        return True
    if moments.dates and moments.minutes and scene.live_topic() is not None and not reading.void:
        return True
    lacks = near is not None and near.is_open and near.when.clock is None
    if lacks and moments.clocks and reading.text.count(" ") <= 5 and not reading.void:
        return True
    return reading.question and (reading.addressed or reading.shared)


def _is_mere_remark(scene: Scene, reading: Reading) -> bool:
    """Whether the clause puts off, answers something else, or tells only a circumstance."""
    if (reading.holds and not reading.proposes) or reading.is_late:
        return True
    moment = found(r"\b(?:a|one) (?:minute|second|sec|moment)\b", reading.text)
    if moment and not reading.moments.clocks:
        return True
    about_past = scene.question.past and scene.is_asked(reading)
    if reading.bare and about_past and scene.live_topic() is None:
        return True
    if reading.is_circumstance and not scene.knows(reading):
        return True
    near = scene.near()
    just = near is not None and (near.is_open or near.touched == scene.turn)
    return reading.is_engaged and just


def _opens(scene: Scene, reading: Reading) -> bool:
    """Whether an activity without a time is what the next clauses will be about."""
    near, activity = scene.near(), reading.activity
    if activity is None or activity.guessed:
        return False
    heading = remarks.is_heading(reading.text) and not remarks.has_a_verb(reading.text)
    heading = heading and reading.text.count(" ") < 8
    wanted = reading.proposes or reading.calendar or reading.invites
    if activity.kind is CHORE and near is not None and near.is_unnamed:
        return near.touched == scene.turn
    if near is None or near.is_settled:
        return wanted or heading
    if reading.proposes and reading.question and activity.kind is not CHORE:
        return True
    goes_on = remarks.goes_on_to_next(reading.text) or scene.item == scene.turn
    return goes_on and (wanted or heading)


def put(scene: Scene, reading: Reading) -> None:
    """Makes a plan of what the clause says, or changes the plan that it is about."""
    foreign = reading.void == "others" or _is_foreign(scene, reading)
    foreign = foreign and not scene.tells_when(reading)
    if _translates(scene, reading):
        return
    plan = plan_for(scene, reading)
    if plan is None or (foreign and (plan.lines or plan.target is not None)):
        return
    if plan.lines and _is_between_others(scene, reading):
        return
    if not plan.lines:
        plan.foreign = foreign
    elif reading.shared or reading.invites or reading.question:
        plan.foreign = False
    if _corrects_to_own_time(scene, plan, reading):
        plan.restore()
        return
    before, settled = scene.point(plan), plan.is_settled
    changed = _fill(scene, plan, reading)
    if plan.foreign:
        plan.touched = scene.turn
        plan.quote(reading.utterance)
        scene.aside = plan
        return
    scene.attend(plan, reading)
    # How long a new event takes, or when an old one was, changes nothing of what was agreed.
    detail = changed and scene.point(plan) == before and plan.action in ("create", "update")
    if changed and not detail:
        _offer(scene, plan, reading)
    elif detail and settled and plan.settled is not None:
        plan.settle(sure=plan.settled.sure)
    elif plan.action is not None and not reading.question:
        plan.back(reading.speaker)
        let_owner_decide(scene, plan, reading)
    scene.conclude(plan, sure=False)


def _corrects_to_own_time(scene: Scene, plan: Plan, reading: Reading) -> bool:
    """Whether the owner says that an event is when it was ("It's on Tuesday, not tomorrow")."""
    if plan.target is None or plan.action != "update" or not scene.is_by_owner(reading):
        return False
    says = found(r"\b(?:it|that)(?:'s| is) (?:still )?(?:on|at)\b", reading.text)
    stays = scene.agenda.is_own_time(plan.target, reading.moments)
    return says and stays and bool(reading.moments.dates) and not reading.question


def _gives_own_time(scene: Scene, reading: Reading) -> bool:
    """Whether the owner says what the time on the table is on her own clock."""
    plan = scene.near(2)
    says = found(
        r"^\W*(?:(?:so|ok|and|oh),? )*(?:(?:that|which|it)(?:'s|'d be| is| would be)\b"
        r"|(?<=so )\d)",
        reading.text,
    )
    if plan is None or plan.when.clock is None or not says or not scene.is_by_owner(reading):
        return False
    elsewhere = bool(plan.when.clock.zone) or found(r"\b(?:here|for me|my time)\b", reading.text)
    return elsewhere and bool(reading.moments.clocks) and not reading.moments.days


def _translates(scene: Scene, reading: Reading) -> bool:
    """Whether the clause only gives the time on the table on the owner's clock, which it takes."""
    plan = scene.near(2)
    if plan is None or not _gives_own_time(scene, reading):
        return False
    settled, plan.remote = plan.is_settled, True
    plan.when.take(replace(reading.moments, parts=()), scene.saying(plan, reading))
    scene.attend(plan, reading)
    if settled:
        plan.settle(sure=False)
    elif reading.agrees_strongly:
        plan.back(reading.speaker)
        scene.conclude(plan, sure=True)
    return True


def _offer(scene: Scene, plan: Plan, reading: Reading) -> None:
    """Puts the plan as it is now on the table."""
    owners = scene.is_by_owner(reading) and not reading.question and _states(reading)
    scene.offer(plan, reading, told=owners or _tells(plan, reading))


def _tells(plan: Plan, reading: Reading) -> bool:
    """Whether somebody else tells as a fact when an event of the calendar will be."""
    fact = found(
        r"\b(?:is|are|'s|got|was|has been) (?:now|moved|pushed|at|on)\b|\bnow\b", reading.text
    )
    return plan.target is not None and fact and not (reading.question or reading.proposes)


def _states(reading: Reading) -> bool:
    """Whether the owner's clause settles the matter without anyone's consent."""
    named = reading.activity is not None and not reading.activity.weak
    complete = named and bool(reading.moments.dates and reading.moments.minutes)
    firm = reading.announces or complete or reading.agrees_strongly or reading.bare
    theirs = found(r"\byour (?:calendar|diary|schedule)\b", reading.text)
    return (reading.calendar and not theirs) or (firm and not reading.proposes)


def _is_foreign(scene: Scene, reading: Reading) -> bool:
    """Whether a speaker other than the owner tells of an appointment of his own."""
    if scene.is_by_owner(reading) or reading.question or reading.invites or reading.bare:
        return False
    if reading.shared or reading.addressed or reading.agrees or reading.proposes or reading.offers:
        return False
    return reading.own and (reading.announces or remarks.has_something(reading.text))


def _is_between_others(scene: Scene, reading: Reading) -> bool:
    """Whether somebody asks somebody else than the owner, by name, for a favour."""
    named = scene.addressees and scene.setting.owner not in scene.addressees
    if not named or scene.is_by_owner(reading):
        return False
    return reading.question and reading.addressed and not reading.shared


def _fill(scene: Scene, plan: Plan, reading: Reading) -> bool:
    """Takes over what the clause says; True if that changed the time of the plan."""
    fill_activity(plan, reading)
    plan.place = reading.place or plan.place
    changed = scene.take(plan, reading, reading.moments)
    if plan.target is not None and reading.place is not None:
        changed = changed or reading.place != plan.target.location
    if reading.moments.dates:
        plan.when.also = _further_days(scene, reading)
    times = max(len(reading.moments.days), len(reading.moments.clocks))
    plan.optional = times > 1 and found(r"\bor\b", reading.text)
    return changed


def _further_days(scene: Scene, reading: Reading) -> tuple[tuple[date, Clock | None], ...]:
    """The days named after the first one and together with it ("Tuesday and Thursday")."""
    days = [day for day in reading.moments.days if day.day is not None]
    clocks = reading.moments.clocks
    if len(days) == len(clocks) > 1 and scene.is_by_owner(reading) and reading.bare:
        chosen = not (reading.question or found(r"\bor\b", reading.text))
        pairs = zip(days[1:], clocks[1:], strict=True)
        return tuple((d.day, clock) for d, clock in pairs if d.day is not None) if chosen else ()
    gaps = (reading.text[one.end : other.start] for one, other in pairwise(days))
    if not all(found(r"^(?:,|,? (?:and|&|\+))(?: on)?(?: the)? $", gap) for gap in gaps):
        return ()
    further = (day.day for day in days[1:])
    return tuple((day, None) for day in further if day is not None and day != days[0].day)


def fill_activity(plan: Plan, reading: Reading) -> None:
    """Takes over the activity and the people of the clause, if they say more than is known."""
    activity, held = reading.activity, plan.activity
    if activity is None:
        return
    if plan.target is None:
        vague = held is None or (held.weak and not activity.weak)
        better = held is not None and (held.guessed or plan.overheard) and not activity.guessed
        fuller = held is not None and held.noun == activity.noun
        longer = held is not None and len(activity.title) > len(held.title)
        if vague or (better and not activity.weak) or (fuller and longer):
            plan.activity, plan.overheard = activity, False
            plan.people += held.people if held is not None else ()
    known = (*plan.people, *(plan.activity.people if plan.activity is not None else ()))
    plan.people += [name for name in activity.people if name not in known]
