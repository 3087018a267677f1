"""The axes on which a page draws numbers with their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from truemark.uncertainty import Interval, PairedInterval

_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` to `high` with a tick every `step`."""

    low: float
    high: float
    step: float

    def at(self, value: float) -> str:
        """Return the place of `value` as a share of the width; values outside are clamped."""
        share = (value - self.low) / (self.high - self.low)
        return f"{100 * min(max(share, 0), 1):.2f}%"

    @property
    def ticks(self) -> tuple[float, ...]:
        count = round((self.high - self.low) / self.step)
        return tuple(round(self.low + number * self.step, 4) for number in range(count + 1))


def score_scale(shown: Iterable[Interval | PairedInterval]) -> Scale:
    """Make a scale from a round number below every interval up to 1."""
    lowest = min((interval.low for interval in shown), default=0.0)
    step = _step(1 - lowest)
    below = min(math.floor(lowest / step + 1e-9), round(1 / step) - 1)  # 1 to 1 has no width
    return Scale(max(0.0, below * step), 1.0, step)


def difference_scale(shown: Iterable[PairedInterval]) -> Scale:
    """Make a scale to both sides of 0, as far as the widest interval that is drawn, if any is."""
    differences = tuple(shown)
    widest = max(map(_reach, differences), default=0.1)
    if all(difference.whole_range for difference in differences) and differences:
        widest = 1.0
    step = _step(2 * widest)
    reach = min(1.0, max(1, math.ceil(widest / step - 1e-9)) * step)
    return Scale(-reach, reach, step)


def _reach(interval: PairedInterval) -> float:
    if interval.whole_range:
        return abs(interval.value)
    return max(abs(interval.low), abs(interval.high))


def _step(width: float) -> float:
    return next((step for step in _STEPS if width / step <= 6), _STEPS[-1])
