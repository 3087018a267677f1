"""The one protocol that every extractor implements."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from cal_ai.events import ContextEvent, Event
from cal_ai.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Request:
    """What an extractor may know: the conversation, whose calendar it is, when "now" is, what is planned."""

    transcript: Transcript
    owner: str
    now: datetime
    context: tuple[ContextEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one or more calls; None where the provider did not say."""

    prompt: int | None = None
    output: int | None = None
    thinking: int | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """Events together with what they cost; `raw` is the answer as it came, for storage and replay."""

    events: tuple[Event, ...]
    usage: Usage | None
    attempts: int
    raw: str


class Extractor(Protocol):
    """Turns a conversation into events; raises an error of `cal_ai.extractors.errors` when it cannot."""

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str | None: ...

    async def extract(self, request: Request) -> Extraction: ...

    async def close(self) -> None: ...
