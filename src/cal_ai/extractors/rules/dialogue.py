"""The conversation followed line by line: plans are made, changed, agreed to and dropped."""

from __future__ import annotations

from collections.abc import Iterable

from cal_ai.extractors.rules.answering import agree, invite, laugh_off, refuse
from cal_ai.extractors.rules.changing import add_people, cancel, move, relocate, take_back
from cal_ai.extractors.rules.noting import note, refocus, remember
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.proposing import is_about_a_plan, put
from cal_ai.extractors.rules.reading import Reading, read_utterance
from cal_ai.extractors.rules.scene import Scene
from cal_ai.extractors.rules.setting import Setting
from cal_ai.extractors.rules.table import Agenda
from cal_ai.transcript import Utterance


def follow(utterances: Iterable[Utterance], setting: Setting, agenda: Agenda) -> list[Plan]:
    """The plans that came up, in that order, as they stand after the last utterance."""
    scene = Scene(setting, agenda)
    for utterance in utterances:
        scene.enter(utterance)
        for reading in map(scene.heard, read_utterance(utterance, setting)):
            _take_in(scene, reading)
            scene.leave(reading)
    return scene.table.plans


def _take_in(scene: Scene, reading: Reading) -> None:
    """Does what the clause does; of several readings the first that fits counts."""
    if refocus(scene, reading) or scene.counts(reading):
        return
    if reading.void == "sarcasm":
        laugh_off(scene)
    elif reading.void in ("hypothetical", "negated") and reading.refuses:
        refuse(scene, reading)
    elif reading.void in ("hypothetical", "negated", "told", "past"):
        remember(scene, reading)
    elif reading.cancels or (
        (reading.drops or scene.goes_on_cancelling(reading)) and scene.knows(reading)
    ):
        cancel(scene, reading)
    elif (reading.keeps and take_back(scene)) or (reading.moves and move(scene, reading)):
        return
    elif reading.refuses and not reading.moves:
        refuse(scene, reading)
    elif add_people(scene, reading) or relocate(scene, reading):
        return
    elif reading.invites and not reading.moments and scene.table.is_about_focus(reading):
        invite(scene, reading)
    elif is_about_a_plan(scene, reading):
        put(scene, reading)
    elif reading.agrees and not (reading.holds or reading.question or reading.void):
        agree(scene, reading)
        if scene.table.near() is None:
            remember(scene, reading)
    else:
        note(scene, reading)
