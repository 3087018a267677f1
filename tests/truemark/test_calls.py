from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truemark.services.calls import (
    CallFailed,
    FatalCallError,
    Tally,
    TransientError,
    Usage,
    total_usage,
)
from truemark.services.retry import (
    Caller,
    CallPolicy,
    call_patiently,
    parse_retry_after,
)

DETERMINISTIC = settings(derandomize=True, deadline=None)
NOW = datetime(2026, 2, 20, 10, 0, 0, tzinfo=UTC)


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.sleeps: list[float] = []

    def __call__(self) -> float:
        return self.now_s

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now_s += seconds


def outcomes(script: Sequence[str | Exception]) -> Callable[[], Awaitable[str]]:
    remaining = iter(script)

    async def ask() -> str:
        outcome = next(remaining)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return ask


def call(
    script: Sequence[str | Exception], policy: CallPolicy, dice: float = 1.0
) -> tuple[str | Exception, Tally, list[float]]:
    clock = Clock()
    tally = Tally()
    caller = Caller(policy, sleep=clock.sleep, dice=lambda: dice)
    try:
        result: str | Exception = asyncio.run(_awaited(caller.call(outcomes(script), tally)))
    except (CallFailed, FatalCallError) as error:
        result = error
    return result, tally, clock.sleeps


async def _awaited(value: Awaitable[str]) -> str:
    return await value


def test_waits_double_from_call_to_call() -> None:
    broken = [TransientError("broken")] * 4

    result, tally, sleeps = call([*broken, "fine"], CallPolicy(backoff_s=1.0))

    assert (result, tally.attempts, sleeps) == ("fine", 5, [1.0, 2.0, 4.0, 8.0])


def test_no_wait_exceeds_the_longest_allowed() -> None:
    policy = CallPolicy(attempts=5, backoff_s=10.0, longest_wait_s=25.0)

    _, _, sleeps = call([TransientError("broken")] * 5, policy)

    assert sleeps == [10.0, 20.0, 25.0, 25.0]


@DETERMINISTIC
@given(st.floats(0, 1, exclude_max=True), st.integers(1, 4))
def test_jitter_shortens_a_wait_by_half_at_most(dice: float, failures: int) -> None:
    script: list[str | Exception] = [TransientError("broken")] * failures

    _, _, sleeps = call([*script, "fine"], CallPolicy(backoff_s=1.0), dice)

    assert all(2**n / 2 <= slept <= 2**n for n, slept in enumerate(sleeps))


@DETERMINISTIC
@given(st.floats(0, 1, exclude_max=True), st.floats(0, 50))
def test_a_call_never_comes_back_before_it_was_asked_to(dice: float, asked_s: float) -> None:
    script: list[str | Exception] = [TransientError("busy", retry_after_s=asked_s), "fine"]

    _, _, (slept,) = call(script, CallPolicy(), dice)

    assert asked_s <= slept <= max(1.0, asked_s * 1.1 + 1e-9)


@pytest.mark.parametrize("header", ["0", "Wed, 01 Jan 2020 00:00:00 GMT"])
def test_a_server_that_asks_for_no_wait_does_not_switch_the_waits_off(header: str) -> None:
    busy = TransientError("busy", retry_after_s=parse_retry_after(header, NOW))

    _, _, sleeps = call([busy] * 5, CallPolicy(backoff_s=1.0))

    assert sleeps == [1.0, 2.0, 4.0, 8.0]


def test_a_request_that_is_changed_is_made_without_a_wait() -> None:
    script: list[str | Exception] = [TransientError("no temperature", at_once=True), "fine"]

    _, _, sleeps = call(script, CallPolicy())

    assert sleeps == [0.0]


def test_the_last_reason_is_told_when_all_attempts_fail() -> None:
    script = [TransientError("busy"), TransientError("broken"), TransientError("down")]

    result, tally, sleeps = call(script, CallPolicy(attempts=3))

    assert isinstance(result, CallFailed)
    assert result.reason == "down; gave up after 3 attempts"
    assert (tally.attempts, len(sleeps)) == (3, 2)


def test_a_wait_of_hours_is_not_waited_for() -> None:
    script = [TransientError("quota is used up", retry_after_s=7200)]

    result, _, sleeps = call(script, CallPolicy(longest_wait_s=60))

    assert isinstance(result, CallFailed)
    assert result.reason == "quota is used up; asked to wait 7200 s, longer than the 60 s allowed"
    assert sleeps == []


def test_the_longest_wait_allowed_is_waited_for() -> None:
    script: list[str | Exception] = [TransientError("busy", retry_after_s=60), "fine"]

    result, _, sleeps = call(script, CallPolicy(longest_wait_s=60), dice=0.5)

    assert result == "fine"
    assert sleeps == pytest.approx([63])


@pytest.mark.parametrize("error", [FatalCallError("no key"), CallFailed("blocked")])
def test_other_errors_are_not_tried_again(error: Exception) -> None:
    result, tally, sleeps = call([error, "fine"], CallPolicy())

    assert (result, tally.attempts, sleeps) == (error, 1, [])


def test_a_call_without_an_answer_is_given_up_in_time() -> None:
    async def never() -> str:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    caller = Caller(CallPolicy(timeout_s=0.02, attempts=2, backoff_s=0.001))

    with pytest.raises(CallFailed, match=r"^no answer within 0\.02 s; gave up after 2"):
        asyncio.run(_awaited(caller.call(never, Tally())))


def test_a_blocking_call_waits_and_gives_up_like_the_others() -> None:
    script: list[str | Exception] = [TransientError("busy", retry_after_s=2), "fine"]
    remaining, sleeps = iter(script), list[float]()

    def ask() -> str:
        outcome = next(remaining)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    assert call_patiently(ask, CallPolicy(), sleeps.append) == "fine"
    assert 2 <= sleeps[0] <= 2.2

    def broken() -> str:
        raise TransientError("down")

    with pytest.raises(CallFailed, match=r"^down; gave up after 3 attempts$"):
        call_patiently(broken, CallPolicy(attempts=3), sleeps.append)
    assert len(sleeps) == 3


@pytest.mark.parametrize("values", [{"timeout_s": 0}, {"timeout_s": float("nan")}, {"attempts": 0}])
def test_a_policy_that_could_never_succeed_is_refused(values: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        CallPolicy(**values)  # type: ignore[arg-type]  # attempts is a whole number here


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        ("120", 120.0),
        (" 1.5 ", 1.5),
        ("Fri, 20 Feb 2026 10:02:00 GMT", 120.0),
        ("Fri, 20 Feb 2026 09:00:00 GMT", 0.0),
        ("Fri, 20 Feb 2026 10:02:00 -0000", 120.0),
        ("-5", None),
        ("inf", None),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(
    header: str | None, seconds: float | None
) -> None:
    assert parse_retry_after(header, NOW) == seconds


def turns(per_minute: float, asked_at: Sequence[float]) -> list[float]:
    """When each of these calls would start, by an independent run of the caller."""
    clock = Clock()
    caller = Caller(None, per_minute, clock=clock, sleep=_no_sleep)

    async def ask() -> list[float]:
        starts = []
        for at_s in asked_at:
            clock.now_s = at_s
            starts.append(at_s + await caller.wait_for_turn())
        return starts

    return asyncio.run(ask())


async def _no_sleep(_: float) -> None:
    return None


@DETERMINISTIC
@given(
    st.integers(1, 120),
    st.lists(st.floats(0, 30, allow_nan=False), min_size=1, max_size=150).map(sorted),
)
def test_no_minute_ever_has_more_calls_than_allowed(per_minute: int, asked_at: list[float]) -> None:
    starts = turns(per_minute, asked_at)

    for first in starts:
        # A hair less than a minute: sums of floating point steps are not exact.
        assert sum(first <= start < first + 60 - 1e-6 for start in starts) <= per_minute
    assert all(start >= asked for start, asked in zip(starts, asked_at, strict=True))


def test_an_idle_caller_lets_a_call_through_at_once() -> None:
    assert turns(60, [0.0, 5.0, 5.2]) == [0.0, 5.0, 6.0]


def test_without_a_ceiling_nothing_waits() -> None:
    clock = Clock()
    caller = Caller(clock=clock, sleep=clock.sleep)

    async def ask() -> list[float]:
        return [await caller.wait_for_turn() for _ in range(100)]

    assert asyncio.run(ask()) == [0.0] * 100


@pytest.mark.parametrize("per_minute", [0, -1, float("nan")])
def test_a_ceiling_that_lets_nothing_through_is_refused(per_minute: float) -> None:
    with pytest.raises(ValueError, match="more than 0"):
        Caller(None, per_minute)


def test_usage_adds_up_and_stays_unknown_where_nobody_told() -> None:
    assert total_usage([]) is None
    assert total_usage([None, None]) is None
    assert total_usage([Usage(10, 2, None, 12), None, Usage(5, 1, 3, 9)]) == Usage(15, 3, 3, 21)
    assert Usage(1, 2, None, 3) + Usage(1, 2, None, 3) == Usage(2, 4, None, 6)
