"""The protocol that every extractor implements, and the values that pass through it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from cal_ai.events import ContextEvent, Event
from cal_ai.transcripts.conversation import Transcript
from truemark.services.calls import Usage


@dataclass(frozen=True, slots=True)
class Request:
    """What an extractor is given: the conversation, the owner, the time "now", and the calendar.

    `now` is the owner's local time, with a time zone if it is known. `repeat` counts how often the
    same was asked before; it only tells stored answers apart.
    """

    transcript: Transcript
    owner: str
    now: datetime
    context: tuple[ContextEvent, ...] = ()
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Extraction:
    """Events together with what they cost.

    `raw` is the unchanged answer, for storage and replay. `latency_s` is how long the answer took
    without the waits for `--rpm`; None if the caller may measure it.
    """

    events: tuple[Event, ...]
    usage: Usage | None
    attempts: int
    raw: str
    latency_s: float | None = None


class Extractor(Protocol):
    """Turns a conversation into events, or raises an error of `truemark.services.calls`."""

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str | None: ...

    async def extract_events(self, request: Request) -> Extraction: ...

    async def close(self) -> None: ...


async def extract_and_close(extractor: Extractor, request: Request) -> Extraction:
    """Extract the events of one request, then close the extractor."""
    try:
        return await extractor.extract_events(request)
    finally:
        await extractor.close()


def identity_of(extractor: Extractor) -> dict[str, str]:
    """Return what an extractor's answers depend on besides its name and its model.

    Extractors whose answers depend on more, such as a prompt, have the attribute `identity`.
    """
    return dict(getattr(extractor, "identity", {}))
