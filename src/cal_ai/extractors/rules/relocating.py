"""Clauses that put an event of the calendar somewhere else, at its old time."""

from __future__ import annotations

from dataclasses import replace

from cal_ai.events import ContextEvent
from cal_ai.extractors.rules.memory import FAR
from cal_ai.extractors.rules.moments import Moments
from cal_ai.extractors.rules.moving import change
from cal_ai.extractors.rules.patterns import cased, found, pattern, sentence_case, words
from cal_ai.extractors.rules.places import PLACE_KIND
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.references import content_words, place_words
from cal_ai.extractors.rules.scene import Scene
from cal_ai.extractors.rules.vocabulary import MONTHS, WEEKDAYS

_NEW_PLACE = (
    r"\b(?:will be|is|are|'s|moved|takes place|has to be|have to be|has been moved)"
    r" (?:now )?(?:at|in|to)\b(?: the (?P<place>[\w-]+(?: (?:room|hall|building|office))?))?"
)
_NAME = r"(?:[A-Z][\w'-]*|\d[\w.]*|[Rr]oom|[Hh]all|del|de|di|la)"
_NAMES = rf"{_NAME}(?: {_NAME})*"
_GOT = r"\b(?i:booked|reserved|got|found|have) (?i:us |you |me )?"
_OFFERS = (
    rf"{_GOT}(?i:a table (?:at|in) )(?P<place>{_NAMES})",
    rf"{_GOT}(?i:the )?(?P<place>{_NAMES} ?(?i:{PLACE_KIND})?(?: \w?\d[\w.]*)?)"
    r"(?= (?:on|in|for|instead)|\W*$)",
    rf"^(?P<place>(?:[Tt]he |[Rr]oom )?{_NAMES})(?: in the [a-z ]+?)?(?:'s| is)"
    r"(?: still| also)? free\b",
    rf"\b(?:[Ww]e're|[Ww]e'll be|[Ii]t's) (?:over |now |all )?(?:at|in) (?P<place>(?:the )?{_NAME}"
    rf"(?: {_NAME})*(?: {PLACE_KIND})?) instead\b",
    r"(?i:chang\w+|mov\w+|switch\w*) (?i:the (?:room|place|venue|location) )?(?i:in )?to"
    r" (?P<place>(?:[Tt]he )?(?:[Rr]oom )?(?:[A-Z]\w+|\d+\.\d+)(?: [A-Z\d]\w*)*)"
    r"(?: then| instead|\W*$)",
)
_OFFERING = r"\b(?:booked|reserved|got|found|have|free|instead|chang\w+|mov\w+|switch\w*)\b"
_NO_PLACES = words("i we you he she it that this they") | WEEKDAYS | MONTHS


def relocate(scene: Scene, reading: Reading) -> bool:
    """Whether the clause gives an event another place and nothing else."""
    _note_location(scene, reading)
    return _tells_place(scene, reading) or _offers_place(scene, reading)


def _tells_place(scene: Scene, reading: Reading) -> bool:
    """Whether the clause only tells a new place of an event ("choir will be at the town hall")."""
    if reading.question or reading.void or reading.moments.clocks:
        return False
    moved = pattern(_NEW_PLACE).search(reading.text)
    if moved is None:
        return False
    event = scene.event_named(reading, Moments())
    place = reading.place or (sentence_case(moved["place"]) if moved["place"] else None)
    if event is None or place is None or event.location == place:
        return False
    change(scene, scene.plan_of(event), replace(reading, place=place), Moments())
    return True


def _note_location(scene: Scene, reading: Reading) -> None:
    """Keeps in mind the event at a place that is named."""
    for event in scene.agenda.events:
        place = place_words(event)
        if place and place <= content_words(reading.text):
            scene.located = (event, scene.turn)


def _offers_place(scene: Scene, reading: Reading) -> bool:
    """Whether another place is offered for the event that is talked about ("4.11 is free")."""
    place = _place_offered(scene, reading)
    event = _event_in_question(scene) if place else None
    if event is None or event.location == place:
        return False
    plan = scene.plan_of(event)
    plan.place = place
    owners = scene.is_by_owner(reading) and not (reading.question or reading.proposes)
    plan.offer(reading.speaker, "update", asked=reading.question, told=owners)
    scene.attend(plan, reading)
    scene.conclude(plan, sure=False)
    return True


def _place_offered(scene: Scene, reading: Reading) -> str:
    if reading.void not in ("", "others") or not found(_OFFERING, reading.text):
        return ""
    for source in _OFFERS:
        match = cased(source).search(reading.text)
        if match is None:
            continue
        place = match["place"].removeprefix("the ").removeprefix("The ").strip()
        first = place.split(" ")[0].lower().removesuffix("'s")
        if not place or first in _NO_PLACES or first in scene.setting.names:
            continue
        if match["place"][:4].lower() == "the " or found(rf"\d|\b{PLACE_KIND}\b", place):
            return sentence_case(place)
        if "a table" in match[0]:
            return place
    return ""


def _event_in_question(scene: Scene) -> ContextEvent | None:
    """The event that lacks a place: the one talked about, or the one at the place named."""
    near, last = scene.near(), scene.last_mention
    if near is not None and near.target is not None and not near.is_settled:
        return near.target
    if last.event is not None and scene.turn - last.turn <= 2:
        return last.event
    event, turn = scene.located or (None, -FAR)
    return event if scene.turn - turn <= 4 else None
