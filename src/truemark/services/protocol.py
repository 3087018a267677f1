"""What is said to a language model, what it answers, and how it may fail to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from truemark.errors import TruemarkError

_MOST_TOKENS = 10**12


@dataclass(frozen=True, slots=True)
class Turn:
    role: Literal["user", "model"]
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A dialogue up to the point where the model is to answer.

    Where JSON is wanted, `schema` says in which form; `schema_name` is what a server calls it.
    """

    system: str | None
    turns: tuple[Turn, ...]
    schema: Mapping[str, object] | None = None
    schema_name: str = "answer"

    def continued(self, answer: str, said: str) -> Prompt:
        """The dialogue with the model's answer, and what is said to that."""
        return replace(self, turns=(*self.turns, Turn("model", answer), Turn("user", said)))


def plain_prompt(text: str, system: str | None = None) -> Prompt:
    """A prompt for free text."""
    return Prompt(system, (Turn("user", text),))


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


class CallFailed(Exception):  # noqa: N818 - an outcome of one question, reported as such
    """One question was not answered; others may well be.

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


class FatalCallError(TruemarkError):
    """The provider refuses every request, so there is no point in asking again."""


class RefusedRequestError(FatalCallError):
    """The provider refuses a request: every one as it seems, unless it has answered others."""
