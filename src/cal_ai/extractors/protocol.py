"""The one protocol that every extractor implements, and what passes through it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from cal_ai.events import ContextEvent, Event
from cal_ai.transcript import Transcript
from truemark.errors import TruemarkError

_MOST_TOKENS = 10**12


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


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one or more calls; None where the provider did not say."""

    prompt: int | None = None
    output: int | None = None
    thinking: int | None = None
    total: int | None = None

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _sum(self.prompt, other.prompt),
            _sum(self.output, other.output),
            _sum(self.thinking, other.thinking),
            _sum(self.total, other.total),
        )


def token_count(value: object) -> int | None:
    """A count that a provider or a file states; None for one that cannot be."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < _MOST_TOKENS else None


def _sum(first: int | None, second: int | None) -> int | None:
    if first is None or second is None:
        return second if first is None else first
    return first + second


def total_usage(usages: Iterable[Usage | None]) -> Usage | None:
    """What the calls cost together; None when no call said what it cost."""
    known = [usage for usage in usages if usage is not None]
    return sum(known[1:], known[0]) if known else None


@dataclass(frozen=True, slots=True)
class LLMCallResult:
    """What a language model said to one prompt, and the tokens that took."""

    text: str
    usage: Usage | None = None


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
    """Turns a conversation into events, or raises an error of `cal_ai.extractors.protocol`."""

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
    """An extractor that also answers free text; the rules and replay extractors do not."""

    async def complete(self, prompt: str) -> LLMCallResult: ...


class ExtractionFailed(Exception):  # noqa: N818 - an outcome of one sample, reported as such
    """One conversation could not be extracted; others may well be.

    Carries what the attempt cost nonetheless, tokens and time, and the last answer if there was
    one.
    """

    def __init__(
        self, reason: str, *, usage: Usage | None = None, attempts: int = 0, raw: str | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.usage = usage
        self.attempts = attempts
        self.raw = raw
        self.latency_s: float | None = None


class FatalExtractorError(TruemarkError):
    """The provider refuses every request, so there is no point in asking again."""


class RefusedRequestError(FatalExtractorError):
    """The provider refuses a request: every one as it seems, unless it has answered others."""
