"""How far a number can be trusted: its interval, its score on new talks, what the grid missed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sat_bench.evaluation import EMPTY_RATIO, Measurement, boundary_scores
from sat_bench.recording import held_out
from truemark.counts import Counts, Weights
from truemark.records import Run
from truemark.summary import GroupScore, summarise
from truemark.sweep import SweepPoint
from truemark.uncertainty import Interval, Measure

if TYPE_CHECKING:
    from truemark.comparison import Versus
    from truemark.curves import Curve

SHOWN_DIGITS = 3  # scores that are equal to so many look the same wherever they are shown


@dataclass(frozen=True, slots=True)
class Missed:
    """The best of all thresholds, where it beats those that were tried.

    `own` is the model's own threshold, where that beats them too.
    """

    best: SweepPoint
    outside: bool
    own: SweepPoint | None


@dataclass(frozen=True, slots=True)
class Assessment:
    """Intervals over `clusters` talks, or blocks of consecutive sentences, and more.

    `held_out` are the counts when the threshold of each talk was chosen on the others.
    """

    intervals: Mapping[Measure, Interval]
    by_blocks: bool
    languages: tuple[GroupScore, ...] = ()
    held_out: Counts | None = None
    missed: Missed | None = None

    @property
    def clusters(self) -> int:
        return self.intervals["f1"].clusters

    @property
    def clusters_in_words(self) -> str:
        """How many of what were resampled."""
        return f"{self.clusters} {'blocks of sentences' if self.by_blocks else 'talks'}"


def assess(part: Measurement, run: Run, *, sweeps: bool) -> Assessment:
    """The assessment of one system under one condition, whose units are those of the run."""
    summary = summarise(run)
    chosen = held_out(part, run.scoring) if sweeps else None
    languages = [group for group in summary.groups if group.name == "language"]
    return Assessment(
        intervals=summary.intervals,
        by_blocks=any(unit.blocks for unit in run.units),
        languages=tuple(languages) if len(languages) > 1 else (),
        held_out=chosen.counts if chosen else None,
        missed=missed_by_the_grid(part, run.scoring.own_threshold, run.scoring.weights)
        if sweeps
        else None,
    )


def versus_first(runs: Sequence[Run]) -> tuple[Versus | None, ...]:
    """For each run how it compares with the first; nothing for the first itself."""
    if len(runs) < 2:
        return (None,) * len(runs)
    from truemark.comparison import compare

    return None, *compare(runs).against


def missed_by_the_grid(part: Measurement, own: float | None, weights: Weights) -> Missed | None:
    """The best of all thresholds where it is better than the grid's by more than rounding."""
    curves = list(part.curves.values())
    if len(curves) != 1 or not part.graded:
        return None
    [curve] = curves
    tried = part.best(weights)
    mark = _shown(tried.counts, weights)
    best = _plain_point(curve, curve.best(weights, empty=EMPTY_RATIO))
    if _shown(best.counts, weights) <= mark:
        return None
    at_own = point_at(curve, own) if own is not None else None
    better = at_own and _shown(at_own.counts, weights) > mark
    low, high = min(part.thresholds), max(part.thresholds)
    return Missed(best, not low <= best.threshold <= high, at_own if better else None)


def _shown(counts: Counts, weights: Weights) -> float:
    return round(boundary_scores(counts, weights).weighted, SHOWN_DIGITS)


def point_at(curve: Curve, threshold: float) -> SweepPoint:
    """The counts at a threshold, from the curve."""
    import numpy as np

    number = int(np.searchsorted(curve.thresholds, threshold, side="right")) - 1
    return SweepPoint(threshold, curve.point(max(0, number)).counts)


def _plain_point(curve: Curve, number: int) -> SweepPoint:
    """The point of that number, at the threshold of fewest digits that has its counts."""
    low = float(curve.thresholds[number])
    high = float(curve.thresholds[number + 1]) if number + 1 < len(curve) else math.inf
    for digits in range(2, 17):
        rounded = math.ceil(low * 10**digits) / 10**digits
        if low <= rounded < high:
            return SweepPoint(rounded, curve.point(number).counts)
    return curve.point(number)
