"""Calendar events: changes that a conversation makes, and events that are already planned."""

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
    """An event that is already in the calendar; `id` is a small number instead of its real id."""

    id: int
    summary: str
    start: datetime
    end: datetime | None = None
    location: str | None = None
