"""Records of a made-up tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from truemark.records import Run, ScoringRules, System, Unit


def made(name: str, counts: Mapping[str, Sequence[int]], **changes: Any) -> Run:
    """A run of system `name` with these counts (tp, fp, fn) per unit; none is a failure."""
    units = tuple(
        Unit(unit, own[0], own[1], own[2], group={"part": unit[0]})
        if own
        else Unit(unit, failed="timed out")
        for unit, own in counts.items()
    )
    settings: dict[str, Any] = {
        "tool": "maker",
        "version": "1",
        "started": "2026-03-01T09:00:00+00:00",
        "system": System(name),
        "signature": {"data": "d1", "rules": "r1"},
        "scoring": ScoringRules(empty=0),
        "units": units,
    }
    return Run(**settings | changes)


def many(name: str, mistakes: int, count: int = 40, **changes: Any) -> Run:
    """A run whose units vary, each with so many mistakes more than in the run with none."""
    return made(
        name,
        {f"{'ab'[n % 2]}{n:02}": (10 + n % 7, n % 3 + mistakes, n % 4) for n in range(count)},
        **changes,
    )
