"""What those who talk keep in mind, and for how many utterances."""

from __future__ import annotations

from dataclasses import dataclass

from cal_ai.events import ContextEvent
from cal_ai.extractors.rules.activities import Activity
from cal_ai.transcript import Utterance

NEAR = 4
FAR = 10
TOPICAL = 6


@dataclass(frozen=True, slots=True)
class Question:
    """The last question asked, by whom and in which utterance."""

    text: str = ""
    speaker: str = ""
    turn: int = -FAR
    past: bool = False


@dataclass(frozen=True, slots=True)
class Mention:
    """The event of the calendar named last without anything being wanted of it.

    A `hindrance` was named only because of its time.
    """

    event: ContextEvent | None = None
    turn: int = -FAR
    hindrance: bool = False
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Topic:
    """An activity that was named without a time; `proposed` if somebody wants to do it."""

    activity: Activity
    utterance: Utterance
    turn: int
    proposed: bool
