"""When to call a server again: timeouts, waits between attempts, a ceiling on calls per minute.

Nothing else in the project retries. Clock, sleep and random numbers are arguments.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from truemark.command import inform
from truemark.services.calls import CallFailed, Tally, TransientError
from truemark.text import counted

T = TypeVar("T")
_SOON_S = 0.05
_SECONDS = re.compile(r"\d+(?:\.\d+)?")


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

    def wait_s(self, number: int, error: TransientError, dice: float) -> float:
        """Return how long to wait after attempt `number`; raise `CallFailed` if it was the last.

        `dice`, from 0 to 1, spreads the waits out, so that calls refused together do not return
        together.
        """
        asked_s = error.retry_after_s
        if number >= self.attempts:
            raise CallFailed(f"{error}; gave up after {counted(number, 'attempt')}") from error
        if asked_s is not None and asked_s > self.longest_wait_s:
            raise CallFailed(
                f"{error}; asked to wait {asked_s:.0f} s,"
                f" longer than the {self.longest_wait_s:.0f} s allowed"
            ) from error
        if error.at_once:
            return 0.0
        longest_s = min(self.backoff_s * 2.0 ** (number - 1), self.longest_wait_s)
        # A server that asks for 0 s, or names a time in the past, gets the usual wait.
        return max(longest_s * (0.5 + 0.5 * dice), (asked_s or 0.0) * (1 + 0.1 * dice))


def model_policy(timeout_s: float | None = None) -> CallPolicy:
    """Return the policy for calls to language models."""
    return CallPolicy() if timeout_s is None else CallPolicy(timeout_s=timeout_s)


def _report_retry(number: int, error: TransientError, policy: CallPolicy, wait_s: float) -> None:
    """Say why and when a call is made again, so that users know why they wait."""
    wait = f"in {wait_s:.1f} s" if wait_s >= _SOON_S else "at once"
    inform(f"attempt {number} of {policy.attempts}: {error}; asking again {wait}")


def call_patiently(
    ask: Callable[[], T], policy: CallPolicy, sleep: Callable[[float], None] = time.sleep
) -> T:
    """Return what `ask` returns, asking again after a `TransientError` as the policy allows.

    Raise `CallFailed` with the last reason when the policy allows no more. `ask` blocks, so it has
    to limit its time itself.
    """
    number = 0
    while True:
        number += 1
        try:
            return ask()
        except TransientError as error:
            wait_s = policy.wait_s(number, error, random.random())
            _report_retry(number, error, policy, wait_s)
            sleep(wait_s)


class Caller:
    """Makes calls under one policy and one ceiling on calls per minute.

    Calls start at equal intervals: if a minute's worth could start at once, nearly twice the
    ceiling would get through in the first minute, which providers answer with 429.
    """

    def __init__(
        self,
        policy: CallPolicy | None = None,
        per_minute: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        dice: Callable[[], float] = random.random,
    ) -> None:
        if per_minute is not None and not per_minute > 0:
            raise ValueError(f"calls per minute must be more than 0, got {per_minute}")
        self._policy = policy or CallPolicy()
        self._interval_s = 0.0 if per_minute is None else 60.0 / per_minute
        self._clock = clock
        self._sleep = sleep
        self._dice = dice
        self._next_free_s = clock()

    async def call(self, ask: Callable[[], Awaitable[T]], tally: Tally) -> T:
        """Return what `ask` returns, asking again after a `TransientError` as the policy allows.

        Raise `CallFailed` with the last reason when the policy allows no more; every other error
        of `ask` passes through at once.
        """
        number = 0
        while True:
            number += 1
            tally.attempts += 1
            tally.paced_s += await self.wait_for_turn()
            try:
                return await self._within_timeout(ask)
            except TransientError as error:
                wait_s = self._policy.wait_s(number, error, self._dice())
                _report_retry(number, error, self._policy, wait_s)
                await self._sleep(wait_s)

    async def wait_for_turn(self) -> float:
        """Wait until the ceiling allows a call, and return how many seconds that took."""
        now_s = self._clock()
        turn_s = max(now_s, self._next_free_s)
        self._next_free_s = turn_s + self._interval_s
        if turn_s > now_s:
            await self._sleep(turn_s - now_s)
        return turn_s - now_s

    async def _within_timeout(self, ask: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self._policy.timeout_s):
                return await ask()
        except TimeoutError as error:
            raise TransientError(f"no answer within {self._policy.timeout_s:g} s") from error


def parse_retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Read the seconds to wait from a Retry-After header, given as seconds or an HTTP date."""
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
