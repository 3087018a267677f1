"""Measure what a command costs in a separate process, as users run it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.timing import undisturbed

_KEPT_FROM_USERS = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")


@dataclass(frozen=True, slots=True)
class Cost:
    """Time and memory of one run of a command, including the start of the interpreter."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def cost_of(
    arguments: Sequence[str],
    settings: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Cost:
    """Measure the cost of Python with these arguments, undisturbed by other processes."""
    return undisturbed(lambda: _cost(arguments, settings, folder), " ".join(arguments))


def _cost(
    arguments: Sequence[str], settings: Mapping[str, str] | None, folder: Path | None
) -> Cost:
    begun_s = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=plain_environment() | dict(settings or {}),
        cwd=folder,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.perf_counter() - begun_s
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)}: failed with status {process.returncode}")
    return Cost(wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def plain_environment() -> dict[str, str]:
    """Return the environment without the setting that stops Python from caching bytecode."""
    return {name: value for name, value in os.environ.items() if name not in _KEPT_FROM_USERS}
