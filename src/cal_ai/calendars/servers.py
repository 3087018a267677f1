"""Timeouts and retries for calendar servers."""

from __future__ import annotations

import time

from truemark.command import note
from truemark.services.retry import CallPolicy

TIMEOUT_S = 30.0
_WORTH_NOTING_S = 3.0


def calendar_policy(timeout_s: float | None = None) -> CallPolicy:
    return CallPolicy(
        timeout_s=timeout_s or TIMEOUT_S, attempts=3, backoff_s=0.5, longest_wait_s=60.0
    )


def wait_for_server(seconds: float) -> None:
    """Sleep between two attempts; tell the user about longer waits."""
    if seconds >= _WORTH_NOTING_S:
        note(f"the calendar server is busy; trying again in {seconds:.0f} s")
    time.sleep(seconds)
