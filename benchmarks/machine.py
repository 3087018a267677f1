"""The machine that a measurement was taken on, and the memory it took."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def machine() -> str:
    """Processor, cores that may be used, system and Python in a few words."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (
        f"{_processor()}, {cores} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}"
    )


def peak_memory() -> int:
    """The most bytes of memory that this process has held (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def _processor() -> str:
    try:
        facts = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or "unknown processor"
    names = [line.partition(":")[2].strip() for line in facts.splitlines() if "model name" in line]
    return names[0] if names else platform.machine()
