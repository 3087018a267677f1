"""One call to a language model: the prompt, the answer, what it cost, and how it can fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
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

    `schema` is the JSON Schema of the answer, None for free text; `schema_name` is its name in
    requests.
    """

    system: str | None
    turns: tuple[Turn, ...]
    schema: Mapping[str, object] | None = None
    schema_name: str = "answer"

    def continued(self, answer: str, reply: str) -> Prompt:
        """Add the model's answer and our reply to it."""
        return replace(self, turns=(*self.turns, Turn("model", answer), Turn("user", reply)))


def plain_prompt(text: str, system: str | None = None) -> Prompt:
    """Make a prompt that asks for free text."""
    return Prompt(system, (Turn("user", text),))


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one or more calls; None where the provider gave none."""

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
    """Read a token count from a provider or a file; None for what cannot be a count."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < _MOST_TOKENS else None


def _sum(first: int | None, second: int | None) -> int | None:
    if first is None or second is None:
        return second if first is None else first
    return first + second


def total_usage(usages: Iterable[Usage | None]) -> Usage | None:
    """Add up the usage of several calls; None when it is unknown for all of them."""
    known = [usage for usage in usages if usage is not None]
    return sum(known[1:], known[0]) if known else None


@dataclass(slots=True)
class Tally:
    """Running totals of the calls that one answer has taken so far."""

    attempts: int = 0
    paced_s: float = 0.0
    usages: list[Usage | None] = field(default_factory=list)

    @property
    def usage(self) -> Usage | None:
        return total_usage(self.usages)


@dataclass(frozen=True, slots=True)
class LLMCallResult:
    """A language model's answer to one prompt, and the tokens that it took.

    `cut_off` is the provider's reason for an incomplete answer, such as `length`.
    """

    text: str
    usage: Usage | None = None
    cut_off: str | None = None


class CallFailed(Exception):  # noqa: N818 - an outcome of one question
    """One question was not answered; others may well be.

    Carries what the attempts cost, in tokens and time, and the last answer if there was one.
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
    """The provider refuses a request; unless it has answered others, it will refuse all of them."""


class TransientError(Exception):
    """A call that may succeed when it is made again, `retry_after_s` from now at the earliest.

    With `at_once` it is made again without a wait, because it will be a different request.
    """

    def __init__(
        self, reason: str, *, retry_after_s: float | None = None, at_once: bool = False
    ) -> None:
        super().__init__(reason)
        self.retry_after_s = retry_after_s
        self.at_once = at_once
