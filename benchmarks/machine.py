"""The machine of a measurement: its CPU, its memory, and how much other processes use it."""

from __future__ import annotations

import os
import platform
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MOST_BY_OTHERS = 0.05
"""The share of the processor that others may take before the machine counts as busy."""

_IDLE, _WAITING, _GUEST = 3, 4, 8  # columns of /proc/stat; user time includes that of guests
_PARENT, _TIMES = 1, slice(11, 15)  # columns of /proc/PID/stat after the name
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def machine() -> str:
    """Describe the CPU, the usable cores, the system and Python in a few words."""
    return (
        f"{_processor()}, {_cores()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}"
    )


def peak_memory() -> int:
    """Return the peak memory of this process in bytes (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


@dataclass(frozen=True, slots=True)
class Moment:
    """A time, and the CPU time spent until then (Linux)."""

    at_s: float
    by_all_s: float
    by_us_s: float
    cores: int = 1

    @classmethod
    def now(cls) -> Moment:
        """Read the CPU time of the whole machine, and of this process and its descendants."""
        line = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0]
        ticks = [int(word) for word in line.split()[1:]][:_GUEST]
        busy = sum(ticks) - ticks[_IDLE] - ticks[_WAITING]
        return cls(time.perf_counter(), busy / _TICKS, _spent_s(os.getpid()), os.cpu_count() or 1)

    def available_s(self, later: Moment) -> float:
        """Return the available CPU time from this moment to a later one."""
        return (later.at_s - self.at_s) * self.cores

    def by_others(self, later: Moment) -> float:
        """Return the share of the CPU that other processes took until a later moment, 0 to 1."""
        others_s = (later.by_all_s - self.by_all_s) - (later.by_us_s - self.by_us_s)
        available_s = self.available_s(later)
        return min(1.0, max(0.0, others_s / available_s)) if available_s > 0 else 0.0


def _spent_s(root: int) -> float:
    """Return the CPU time of a process and of its descendants, ended or running."""
    spent: dict[int, int] = {}
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # the process has ended meanwhile
            # The name, in brackets, may contain anything; only numbers follow it.
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            pid = int(path.parent.name)
            parents[pid] = int(fields[_PARENT])
            spent[pid] = sum(map(int, fields[_TIMES]))
    family = {root}
    while grown := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= grown
    return sum(spent.get(pid, 0) for pid in family) / _TICKS


def _cores() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _processor() -> str:
    try:
        facts = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or "unknown processor"
    names = [line.partition(":")[2].strip() for line in facts.splitlines() if "model name" in line]
    return names[0] if names else platform.machine()
