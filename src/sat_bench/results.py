"""The results of one call of `sat-bench`, before they take a form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from sat_bench.assessment import Assessment, assess, versus_first
from sat_bench.corpus.conditions import WRITTEN
from sat_bench.evaluation import Failed, Measured, Measurement
from sat_bench.recording import Setup, under_condition
from truemark.counts import Weights
from truemark.records import Run
from truemark.signature import Signature

if TYPE_CHECKING:
    from truemark.comparison import Versus

Mode = Literal["evaluation", "sweep", "comparison", "conditions"]
_NO_SIGNATURE = Signature(())


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
