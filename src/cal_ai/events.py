"""What a calendar event, its context and an extraction are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Action = Literal["create", "update", "delete"]
Confidence = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class Event:
    """One calendar change that the owner agreed to."""

    action: Action
    title: str
    start_time: datetime | None = None
    end_time: datetime | None = None
    location: str | None = None
    attendees: tuple[str, ...] = ()
    confidence: Confidence = "medium"
    reasoning: str = ""
    assumptions: tuple[str, ...] = ()
    existing_event_id: int | None = None


@dataclass(frozen=True, slots=True)
class ContextEvent:
    """An event that is in the calendar already; `id` is the small integer shown in its place."""

    id: int
    summary: str
    start: datetime
    end: datetime | None = None
    location: str | None = None


def event_fields(event: Event) -> dict[str, object]:
    """The event in the JSON form of an answer, every field present."""
    return {
        "action": event.action,
        "title": event.title,
        "start_time": _iso(event.start_time),
        "end_time": _iso(event.end_time),
        "location": event.location,
        "attendees": list(event.attendees),
        "confidence": event.confidence,
        "reasoning": event.reasoning,
        "assumptions": list(event.assumptions),
        "existing_event_id": event.existing_event_id,
    }


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
