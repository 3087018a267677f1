"""The one protocol that every extractor implements, and what passes through it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol, runtime_checkable

from cal_ai.events import ContextEvent, Event
from cal_ai.transcript import Transcript
from truemark.services.calls import CallFailed, LLMCallResult, Usage


class TooLong(Exception):  # noqa: N818  # a reason to read less at once
    """A conversation has more in it than is read at once."""


@dataclass(frozen=True, slots=True)
class Request:
    """What an extractor may know: the conversation, whose calendar, when "now" is, what is planned.

    `now` is local to the owner; it carries a time zone where one is known. `repeat` counts how
    often the same was asked before; stored answers are told apart by it, and nothing else is.
    """

    transcript: Transcript
    owner: str
    now: datetime
    context: tuple[ContextEvent, ...] = ()
    repeat: int = 0

    def halves(self) -> tuple[Request, Request]:
        """The same about the first half of the conversation, and about the second."""
        first, second = self.transcript.halves()
        return replace(self, transcript=first), replace(self, transcript=second)

    def within(self, most: int) -> Request:
        """The same, unless there are more characters to read."""
        if self.transcript.length > most:
            raise TooLong
        return self

    def refused(self, most: int) -> CallFailed:
        """What says that the conversation is more than an extractor reads."""
        length, lines = self.transcript.length, len(self.transcript.utterances)
        return CallFailed(
            f"the conversation is too long: {length:,} characters in {lines:,} lines, expected"
            f" about {most:,} at most: give a part, or take an --extractor that reads more"
        )

    def with_few_events(self, most: int) -> Request:
        """The same with the events of the calendar that are most likely spoken of, in order."""
        if len(self.context) <= most:
            return self
        spoken = set(re.findall(r"\w{3,}", self.transcript.as_text().lower()))

        def rank(event: ContextEvent) -> tuple[int, float]:
            shared = len(spoken & set(re.findall(r"\w{3,}", event.summary.lower())))
            start, now = (it.replace(tzinfo=None) for it in (event.start, self.now))
            return -shared, abs((start - now).total_seconds())

        chosen = {event.id for event in sorted(self.context, key=rank)[:most]}
        return replace(self, context=tuple(it for it in self.context if it.id in chosen))


@dataclass(frozen=True, slots=True)
class Extraction:
    """Events together with what they cost.

    `raw` is the answer as it came, for storage and replay. `latency_s` is how long the answer took
    without the waiting that `--rpm` imposes; None where the caller's own clock tells that as well.
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


@runtime_checkable
class Identified(Protocol):
    """An extractor whose answers depend on more than its name and its model."""

    @property
    def identity(self) -> Mapping[str, str]:
        """What they depend on, such as the prompt, by name."""


def identity_of(extractor: Extractor) -> dict[str, str]:
    """What the answers of an extractor depend on besides its name and its model."""
    return dict(extractor.identity) if isinstance(extractor, Identified) else {}


@runtime_checkable
class LanguageModel(Protocol):
    """An extractor that also answers free text; the reader and replay do not."""

    async def complete(self, prompt: str) -> LLMCallResult: ...
