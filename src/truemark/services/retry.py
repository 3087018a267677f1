"""Calls over a network that hangs, breaks and asks for patience."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from truemark.services.protocol import CallFailed, Usage, total_usage

T = TypeVar("T")

_SECONDS = re.compile(r"\d+(?:\.\d+)?")


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
