"""Calls to language models and other servers: what is said, what is answered, when to ask again.

The network hangs, breaks and asks for patience; waiting and asking again is done here alone.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal, TypeVar

from truemark.errors import TruemarkError

_MOST_TOKENS = 10**12
T = TypeVar("T")
_SECONDS = re.compile(r"\d+(?:\.\d+)?")


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


class TransientError(Exception):
    """A call that may succeed when it is made again, at the earliest after `retry_after_s`."""

    def __init__(self, reason: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after_s = retry_after_s


class RateLimiter:
    """A token bucket that holds a single token.

    A bucket that held a minute's worth would let nearly twice the ceiling through in its first
    minute, which providers answer with 429; with one token no minute ever has more.
    """

    def __init__(
        self,
        per_minute: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if per_minute is not None and not per_minute > 0:
            raise ValueError(f"calls per minute must be more than 0, got {per_minute}")
        self._interval_s = 0.0 if per_minute is None else 60.0 / per_minute
        self._clock = clock
        self._sleep = sleep
        self._next_free_s = clock()

    async def acquire(self) -> float:
        """Wait for a turn and return how many seconds that took; turns go by order of asking."""
        now_s = self._clock()
        turn_s = max(now_s, self._next_free_s)
        self._next_free_s = turn_s + self._interval_s
        if turn_s > now_s:
            await self._sleep(turn_s - now_s)
        return turn_s - now_s


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """How long to wait for an answer, and how often and how patiently to ask again."""

    timeout_s: float = 120.0
    attempts: int = 5
    backoff_s: float = 1.0
    longest_wait_s: float = 120.0

    def __post_init__(self) -> None:
        if not self.timeout_s > 0:
            raise ValueError(f"timeout must be more than 0 seconds, got {self.timeout_s}")
        if self.attempts < 1:
            raise ValueError(f"attempts must be 1 or more, got {self.attempts}")


def model_policy(timeout_s: float | None = None) -> CallPolicy:
    """How long and how often a language model is asked."""
    return CallPolicy() if timeout_s is None else CallPolicy(timeout_s=timeout_s)


@dataclass(slots=True)
class Tally:
    """What the calls for one answer have added up to so far."""

    attempts: int = 0
    paced_s: float = 0.0
    usages: list[Usage | None] = field(default_factory=list)

    @property
    def usage(self) -> Usage | None:
        return total_usage(self.usages)


@dataclass(frozen=True, slots=True)
class Caller:
    """Makes calls under one policy and one ceiling; the clock and the dice come from outside."""

    policy: CallPolicy = field(default_factory=CallPolicy)
    limiter: RateLimiter = field(default_factory=RateLimiter)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    dice: Callable[[], float] = random.random

    async def call(self, ask: Callable[[], Awaitable[T]], tally: Tally) -> T:
        """What `ask` returns, asking again after a `TransientError` while that is allowed.

        Raises `CallFailed` with the last reason when it no longer is; every other error of
        `ask` passes through at once.
        """
        number = 0
        while True:
            number += 1
            tally.attempts += 1
            tally.paced_s += await self.limiter.acquire()
            try:
                return await self._within_timeout(ask)
            except TransientError as error:
                if (reason := self._reason_to_give_up(number, error)) is not None:
                    raise CallFailed(f"{error}; {reason}") from error
                await self.sleep(self._wait_s(number, error))

    def _reason_to_give_up(self, number: int, error: TransientError) -> str | None:
        longest_s = self.policy.longest_wait_s
        if number >= self.policy.attempts:
            return "gave up after 1 attempt" if number == 1 else f"gave up after {number} attempts"
        if (asked_s := error.retry_after_s or 0.0) > longest_s:
            return f"asked to wait {asked_s:.0f} s, longer than the {longest_s:.0f} s allowed"
        return None

    async def _within_timeout(self, ask: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self.policy.timeout_s):
                return await ask()
        except TimeoutError as error:
            raise TransientError(f"no answer within {self.policy.timeout_s:g} s") from error

    def _wait_s(self, number: int, error: TransientError) -> float:
        """Spread the waits out, so that calls refused together do not come back together."""
        if error.retry_after_s is not None:
            return error.retry_after_s * (1 + 0.1 * self.dice())
        longest_s = min(self.policy.backoff_s * 2.0 ** (number - 1), self.policy.longest_wait_s)
        return longest_s * (0.5 + 0.5 * self.dice())


def parse_retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """The seconds that a Retry-After header asks for, given as seconds or an HTTP date."""
    if value is None:
        return None
    if value.isascii() and _SECONDS.fullmatch(value.strip()):
        return float(value)  # infinity for thousands of digits: longer than anyone waits
    try:
        until = parsedate_to_datetime(value)
        if until.tzinfo is None:
            until = until.replace(tzinfo=UTC)
        return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())
    except (ValueError, OverflowError):
        return None


class LanguageModelClient(ABC):
    """What the providers share; each of them says how a single call is made."""

    def __init__(self, model: str, caller: Caller) -> None:
        self._model = model
        self._caller = caller

    @property
    def model(self) -> str:
        return self._model

    @abstractmethod
    async def _call_api(self, prompt: Prompt) -> LLMCallResult:
        """The answer to one call; raises one of the errors of this module."""

    @abstractmethod
    async def close(self) -> None: ...

    async def complete(self, prompt: str) -> LLMCallResult:
        """The model's answer to free text."""
        tally = Tally()
        result = await self.ask(plain_prompt(prompt), tally)
        return LLMCallResult(result.text, tally.usage)

    async def ask(self, prompt: Prompt, tally: Tally) -> LLMCallResult:
        """The model's answer to a prompt, asked again as often as the caller has patience."""
        try:
            result = await self._caller.call(lambda: self._call_api(prompt), tally)
        except CallFailed as failure:
            tally.usages.append(failure.usage)
            raise
        tally.usages.append(result.usage)
        # Half a surrogate pair, which JSON can spell, could be neither stored nor sent back.
        return LLMCallResult(result.text.encode("utf-8", "replace").decode(), result.usage)
