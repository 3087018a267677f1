"""Clauses that plan nothing, but name what the next ones are about."""

from __future__ import annotations

from dataclasses import replace

from cal_ai.extractors.rules import remarks
from cal_ai.extractors.rules.activities import CHORE, Activity
from cal_ai.extractors.rules.choosing import same_plan
from cal_ai.extractors.rules.memory import Topic
from cal_ai.extractors.rules.moments import Moments
from cal_ai.extractors.rules.moving import change
from cal_ai.extractors.rules.patterns import cased
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.proposing import fill_activity
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.scene import Scene


def note(scene: Scene, reading: Reading) -> None:
    """Keeps what a remark without a time names: an activity to come back to, a place."""
    if reading.void in ("negated", "others"):
        _note_event(scene, reading)
    if reading.void in ("others", "hypothetical", "negated", "told", "past"):
        return
    if not _note_event(scene, reading):
        _note_activity(scene, reading)
        _note_place(scene, reading)


def _note_event(scene: Scene, reading: Reading) -> bool:
    """Whether the clause names an event of the calendar, which is kept in mind."""
    if remarks.only_talks(reading.text):
        return False
    near, about = scene.near(), remarks.is_about(reading.text)
    event = scene.event_named(reading, reading.moments)
    if event is None and about:
        event = scene.agenda.only_one_on(reading.moments.dates, reading.speaker)
    if event is None:
        return False
    if about and not (near is not None and near.is_open):
        scene.attend(scene.plan_of(event), reading)
    for each in scene.agenda.listed(reading, reading.moments) if "," in reading.text else ():
        scene.note_mention(each, reading)
    scene.note_mention(event, reading)
    return True


def _note_activity(scene: Scene, reading: Reading) -> None:
    near, activity = scene.near(), reading.activity
    if activity is None or reading.holds:
        return
    if near is not None and reading.speaker in near.refused and remarks.is_taken(reading.text):
        return  # the reason for a refusal
    if near is not None and near.action is not None and _is_busy(near, reading):
        return
    known = same_plan(scene, reading, activity) if not activity.weak else None
    open_ = near is not None and near.is_open and near.is_vague and reading.question
    unnamed = near is not None and near.is_unnamed and near.action and not activity.guessed
    unnamed = unnamed and not remarks.is_handled(reading.text[: activity.start])
    done = near is not None and near.is_settled
    idle = not (reading.intends or reading.own or reading.shared or reading.addressed)
    another = done and (idle or (reading.proposes and reading.question))
    if near is not None and (open_ or unnamed) and not another:
        fill_activity(near, reading)
    elif known is not None and known.action is not None:
        scene.attend(known, reading, quote=False)
    else:
        _raise_topic(scene, reading, activity)


def _is_busy(plan: Plan, reading: Reading) -> bool:
    """Whether somebody only says what else he does, so that the time on the table is bad."""
    if reading.activity is not None and reading.activity.definite:
        return False
    own = reading.own and not (reading.shared or reading.proposes or reading.question)
    return own and reading.announces and (reading.speaker != plan.speaker or plan.is_unnamed)


def _note_place(scene: Scene, reading: Reading) -> None:
    near, place = scene.near(), reading.place
    if near is None or near.foreign or near.action == "delete":
        return
    named = cased(_PLACE).search(reading.text)
    if place is None and near.target is not None and near.refused and named is not None:
        change(scene, near, replace(reading, place=named["place"]), Moments())
    elif place is not None and near.target is not None and (reading.proposes or reading.corrects):
        change(scene, near, reading, Moments())
    elif place is not None and near.action is not None and (near.place is None or reading.corrects):
        near.place = place
        near.quote(reading.utterance)


def recall(scene: Scene, reading: Reading) -> None:
    """Keeps in mind what a story or a question about the past was about."""
    activity = reading.activity
    if activity is not None and not (activity.guessed or activity.weak):
        scene.past = Topic(activity, reading.utterance, scene.turn, proposed=False)
    if activity is not None and reading.question and not activity.guessed:
        _raise_topic(scene, reading, activity)
    event = scene.event_named(reading, Moments()) if remarks.is_about(reading.text) else None
    if event is not None:
        scene.note_mention(event, reading)


def _raise_topic(scene: Scene, reading: Reading, activity: Activity) -> None:
    """Keeps an activity in mind; one that was proposed gives way only to another such."""
    asked = reading.question and reading.text.count(" ") < 3
    proposed = reading.proposes or reading.invites or asked
    proposed = proposed or (reading.announces and activity.definite and not activity.guessed)
    passing = (activity.weak and " " not in activity.title) or activity.kind is CHORE
    passing = passing or (activity.guessed and reading.announces)
    asks_who = activity.kind is CHORE and reading.question and reading.shared
    if passing and not (proposed or asks_who):
        return
    live = scene.live_topic()
    if live is None or proposed or not live.proposed:
        scene.topic = Topic(activity, reading.utterance, scene.turn, proposed)


_PLACE = (
    r"^(?:The )?(?P<place>[A-Z][\w'-]+(?: (?:[A-Z][\w'-]+|del|de|la))+)"
    r"(?: has (?:a table|room|space)| is free|,? then|,? instead)"
)
