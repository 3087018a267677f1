"""A ceiling on calls per minute, shared by all calls in flight."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable


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
