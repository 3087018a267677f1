"""The conversation followed clause by clause."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cal_ai.extractors.rules import remarks
from cal_ai.extractors.rules.agenda import Agenda
from cal_ai.extractors.rules.answering import (
    agree,
    answers,
    hinders,
    hold,
    invite,
    is_given_away,
    laugh_off,
    puts_off,
    refuse,
    stay_away,
    take_back_jests,
)
from cal_ai.extractors.rules.cancelling import (
    cancel,
    changes_while_keeping,
    goes_on_cancelling,
    keep,
    leave_out,
)
from cal_ai.extractors.rules.hearing import heard
from cal_ai.extractors.rules.memory import Mention, Topic
from cal_ai.extractors.rules.moving import add_people, move
from cal_ai.extractors.rules.noting import note, recall
from cal_ai.extractors.rules.patterns import found
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.proposing import plans_something, put
from cal_ai.extractors.rules.reader import read_utterance
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.relocating import relocate
from cal_ai.extractors.rules.scene import Scene
from cal_ai.extractors.rules.setting import Setting
from cal_ai.transcript import Utterance


def follow(utterances: Iterable[Utterance], setting: Setting, agenda: Agenda) -> list[Plan]:
    """The plans that came up, in that order, as they stand after the last utterance."""
    scene = Scene(setting, agenda)
    for utterance in utterances:
        scene.enter(utterance)
        for reading in read_utterance(utterance, setting):
            understood = heard(scene, reading)
            _take_in(scene, understood)
            scene.remember(understood)
    stay_away(scene)
    return scene.plans


def _take_in(scene: Scene, reading: Reading) -> None:
    """Does what the clause does; of several readings the first that fits counts."""
    _turn_to_next_matter(scene, reading)
    if scene.counts(reading) or _plans_nothing(scene, reading) or relocate(scene, reading):
        return
    if _changes_something(scene, reading) or _objects(scene, reading):
        return
    if add_people(scene, reading) or _answers(scene, reading):
        return
    if plans_something(scene, reading):
        put(scene, reading)
        return
    if reading.agrees and not (reading.holds or reading.question or reading.void):
        agree(scene, reading)
    note(scene, reading)


def _turn_to_next_matter(scene: Scene, reading: Reading) -> None:
    """Closes what was settled where the talk goes on to the next point, or comes back to one."""
    if remarks.counts_items(reading.text):
        scene.item = scene.turn
        scene.last_mention = Mention()
        if scene.focus is not None and not scene.focus.is_open:
            scene.focus = None
    if remarks.turns_earnest(reading.text):
        take_back_jests(scene)
    if scene.past is not None and reading.proposes and _comes_back(scene, scene.past, reading):
        scene.topic = replace(scene.past, turn=scene.turn, proposed=True)


def _comes_back(scene: Scene, past: Topic, reading: Reading) -> bool:
    """Whether what was, or never was, is to be done now ("We never had that coffee.")."""
    if found(r"\bagain\b", reading.text):
        return True
    missed = found(r"\b(?:never|didn't|haven't|still)\b", past.utterance.words)
    idle = scene.focus is None or not scene.focus.is_open
    return missed and idle and scene.turn - past.turn <= 2 and reading.moments.names_a_time


def _plans_nothing(scene: Scene, reading: Reading) -> bool:
    """Whether the clause is a joke, a story or a wish, or leaves all as it is."""
    if reading.void == "sarcasm":
        laugh_off(scene)
    elif reading.void in ("told", "past"):
        recall(scene, reading)
    elif reading.keeps and not (reading.question or changes_while_keeping(scene, reading)):
        keep(scene, reading)
    elif reading.void in ("hypothetical", "negated"):
        if reading.refuses:
            refuse(scene, reading)
        else:
            note(scene, reading)
    else:
        return False
    return True


def _changes_something(scene: Scene, reading: Reading) -> bool:
    """Whether the clause calls something off or moves it."""
    drops = reading.drops or goes_on_cancelling(scene, reading)
    if leave_out(scene, reading):
        return True
    if reading.holds and not reading.question and (reading.cancels or drops):
        return False  # "I might have to cancel"
    if reading.cancels or (drops and (scene.knows(reading) or remarks.means_all(reading.text))):
        cancel(scene, reading)
        return True
    return reading.moves and move(scene, reading)


def _objects(scene: Scene, reading: Reading) -> bool:
    """Whether the clause is against what is on the table."""
    if reading.holds and not (reading.proposes or reading.question):
        hold(scene, reading)
        if scene.is_by_owner(reading) and puts_off(scene):
            return True
    if reading.refuses and not reading.moves:
        refuse(scene, reading)
        return not (reading.refuses_barely and reading.moments.names_a_time)
    return hinders(scene, reading)


def _answers(scene: Scene, reading: Reading) -> bool:
    """Whether the clause agrees to what somebody just said, gives it away or opens it to all."""
    if reading.void == "others" and is_given_away(scene, reading):
        return True
    if reading.agrees_strongly and answers(scene, reading):
        agree(scene, reading)
        return True
    return reading.invites and not reading.moments and invite(scene, reading)
