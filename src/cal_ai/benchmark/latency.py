"""How long the extractions took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Latency:
    """Wall times of extractions in seconds; `total_s` adds up calls that ran side by side."""

    total_s: float
    mean_s: float
    p50_s: float
    p95_s: float


def summarise_latency(seconds: Sequence[float]) -> Latency | None:
    """Total, mean, median and 95th percentile; None when nothing was timed."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    total = sum(ordered)
    return Latency(
        total_s=total,
        mean_s=total / len(ordered),
        p50_s=_percentile(ordered, 0.50),
        p95_s=_percentile(ordered, 0.95),
    )


def _percentile(ordered: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie, on a line between the two nearest ranks."""
    rank = share * (len(ordered) - 1)
    below = int(rank)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (rank - below)
