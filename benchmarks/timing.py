"""Times of jobs that are compared with each other."""

from __future__ import annotations

import time
from collections.abc import Callable


def fastest(jobs: dict[str, Callable[[], object]], repeat: int) -> dict[str, float]:
    """The shortest time of each job in seconds; they take turns, so that all meet the same load."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeat):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            times[name].append(time.perf_counter() - start)
    return {name: min(taken) for name, taken in times.items()}
