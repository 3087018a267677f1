"""The results of one call of `sat-bench`, and how far each can be trusted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from sat_bench.corpus.conditions import WRITTEN
from sat_bench.evaluation import EMPTY_RATIO, Failed, Measured, Measurement, boundary_scores
from sat_bench.recording import Setup, held_out, under_condition
from truemark.counts import Counts, Weights
from truemark.records import Run
from truemark.signature import Signature
from truemark.summary import GroupScore, summarise
from truemark.sweep import SweepPoint
from truemark.uncertainty import Interval, Measure

if TYPE_CHECKING:
    from truemark.comparison import Versus
    from truemark.sweep import Curve

Mode = Literal["evaluation", "sweep", "comparison", "conditions"]
_NO_SIGNATURE = Signature(())

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


@dataclass(frozen=True, slots=True)
class ModelResult:
    """What was measured of a model, under one condition where there are several.

    Results of equal `signature` are comparable; `system` is what the model's answers depend on.
    `versus` compares it with the first model, and `f1_loss` is what F1 lost against the text as
    written.
    """

    name: str
    measurement: Measurement
    signature: Signature
    system: Signature = _NO_SIGNATURE
    condition: str = ""
    f1_loss: float | None = None
    assessment: Assessment | None = None
    versus: Versus | None = None


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A system that was measured, and the run of its units."""

    measured: Measured
    run: Run


@dataclass(frozen=True, slots=True)
class Report:
    """Everything one call of `sat-bench` has to show."""

    mode: Mode
    corpus: str
    talks: int
    truth: str
    tolerance: int
    weights: Weights
    results: tuple[ModelResult | Failed, ...]
    per_talk: bool = False

    @property
    def measured(self) -> tuple[ModelResult, ...]:
        """The results without those of models that failed."""
        return tuple(result for result in self.results if isinstance(result, ModelResult))


def results_of(
    outcomes: Sequence[MeasuredRun | Failed], setup: Setup
) -> Iterator[ModelResult | Failed]:
    """The results of each system, in order, under each condition; those that failed as they are."""
    conditions = setup.conditions or ("",)
    runs = [outcome.run for outcome in outcomes if isinstance(outcome, MeasuredRun)]
    versus = {
        condition: iter(versus_first([under_condition(run, condition) for run in runs]))
        for condition in conditions
    }
    for outcome in outcomes:
        if isinstance(outcome, Failed):
            yield outcome
            continue
        f1: dict[str, float] = {}
        for condition in conditions:
            part = outcome.measured.measurement.under(condition)
            f1[condition] = part.best(setup.weights).scores(setup.weights).f1
            run = under_condition(outcome.run, condition)
            yield ModelResult(
                outcome.measured.model.name,
                part,
                setup.signature,
                system=setup.identity(outcome.measured.model),
                condition=condition,
                f1_loss=f1[WRITTEN] - f1[condition] if condition not in ("", WRITTEN) else None,
                assessment=assess(part, run, sweeps=setup.sweeps),
                versus=next(versus[condition]),
            )


def meant(result: ModelResult, threshold: float) -> float | None:
    """The threshold, or nothing where it makes no difference."""
    return threshold if result.measurement.graded else None


def shown_threshold(threshold: float | None) -> str:
    """The threshold with three decimals, or as many as it takes to tell it from others.

    A dash stands for that of a system without probabilities.
    """
    if threshold is None:
        return "-"
    exponent = Decimal(repr(threshold)).as_tuple().exponent
    return f"{threshold:.{max(3, -int(exponent))}f}"


def shown_weights(weights: Weights) -> str:
    return f"(wp={weights.precision}, wr={weights.recall})"


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
