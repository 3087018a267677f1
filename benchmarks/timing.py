"""Time jobs that are compared with each other, on a machine that may be shared.

A call during which other processes took more than a twentieth of the CPU is repeated. With the
environment variable BENCHMARK_BUSY every call counts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

from benchmarks.machine import MOST_BY_OTHERS, Moment

BUSY = "BENCHMARK_BUSY"
TRIES = 8
PAUSE_S = 2.0
REST_S = 0.1
"""Between two jobs: onnxruntime's threads look out for more work for half of that."""
LEAST_S = 0.02
"""What others may always take: the kernel counts their time in ticks of a hundredth of a second."""

T = TypeVar("T")


def fastest(jobs: dict[str, Callable[[], object]], repeat: int) -> dict[str, float]:
    """Return the shortest time of each job in seconds; jobs run in turns, under the same load."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeat):
        for name, job in jobs.items():
            time.sleep(REST_S)
            times[name].append(undisturbed(lambda job=job: seconds(job), name))  # type: ignore[misc]
    return {name: min(taken) for name, taken in times.items()}


def seconds(job: Callable[[], object]) -> float:
    """Time the job in seconds."""
    begun_s = time.perf_counter()
    job()
    return time.perf_counter() - begun_s


def undisturbed(
    work: Callable[[], T],
    name: str,
    *,
    now: Callable[[], Moment] = Moment.now,
    pause: Callable[[float], None] = time.sleep,
) -> T:
    """Repeat the work until no other process disturbs it, and return its result."""
    for number in range(1, TRIES + 1):
        begun = now()
        result = work()
        ended = now()
        if BUSY in os.environ or is_quiet(begun, ended):
            return result
        pause(number * PAUSE_S)
    raise SystemExit(
        f"{name}: others took {begun.by_others(ended):.0%} of the processor the last of {TRIES} "
        f"times, expected at most {MOST_BY_OTHERS:.0%}; run it again when the machine is idle"
    )


def is_quiet(begun: Moment, ended: Moment) -> bool:
    """Whether other processes took little CPU between two moments."""
    share = begun.by_others(ended)
    return share <= MOST_BY_OTHERS or share * begun.available_s(ended) <= LEAST_S
