"""Conversations to learn from, as requests with their true events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cal_ai.events import Action, ContextEvent
from cal_ai.extractors.protocol import Request
from cal_ai.transcripts.reading import parse_transcript

DEV_SHARE = 10  # every tenth plan of conversations is kept for choosing thresholds


@dataclass(frozen=True, slots=True)
class TrueEvent:
    """An event that a reader should find; `target` is the index of its calendar event."""

    action: Action
    title: str
    start: datetime | None = None
    end: datetime | None = None
    target: int | None = None
    lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """A request and its true events."""

    id: str
    request: Request
    events: tuple[TrueEvent, ...]


def read_conversations(paths: Iterable[Path]) -> Iterator[Conversation]:
    """Read the JSON lines that `training.conversations` writes."""
    for path in sorted(paths):
        for line in path.read_text("utf-8").splitlines():
            yield conversation(json.loads(line))


def conversation(fields: dict[str, object]) -> Conversation:
    """Make a conversation from a parsed JSON line."""
    calendar: Sequence[dict[str, str]] = fields["calendar"]  # type: ignore[assignment]
    context = tuple(
        ContextEvent(
            number,
            entry["title"],
            datetime.fromisoformat(entry["start"]),
            datetime.fromisoformat(entry["end"]) if entry.get("end") else None,
            entry.get("location"),
        )
        for number, entry in enumerate(calendar, 1)
    )
    transcript: Sequence[str] = fields["transcript"]  # type: ignore[assignment]
    request = Request(
        parse_transcript("\n".join(transcript)),
        str(fields["owner"]),
        datetime.fromisoformat(str(fields["now"])),
        context,
    )
    events: Sequence[dict[str, object]] = fields["events"]  # type: ignore[assignment]
    return Conversation(str(fields["id"]), request, tuple(map(_event, events)))


def _event(fields: dict[str, object]) -> TrueEvent:
    start, end, existing = (fields.get(key) for key in ("start", "end", "existing"))
    lines: Sequence[int] = fields.get("lines", ())  # type: ignore[assignment]
    return TrueEvent(
        fields["action"],  # type: ignore[arg-type]
        str(fields["title"]),
        datetime.fromisoformat(str(start)) if start else None,
        datetime.fromisoformat(str(end)) if end else None,
        int(str(existing)) - 1 if existing is not None else None,
        tuple(number - 1 for number in lines),
    )


def is_dev(conversation: Conversation) -> bool:
    """Whether a conversation is kept out of training; variants are treated like their base."""
    digits = "".join(letter for letter in conversation.id if letter.isdigit())
    return bool(digits) and conversation.id[1:2] == "-" and int(digits) % DEV_SHARE == 0
