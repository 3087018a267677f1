"""Talks and a system in, curves out: one evaluation, a sweep of thresholds, several systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

from sat_bench.corpus.conditions import under_condition
from sat_bench.corpus.talks import CorpusError, Talk
from sat_bench.defaults import DEFAULTS, WRITTEN, Condition
from sat_bench.models.answers import TextSystem
from sat_bench.models.boundaries import scored_positions
from sat_bench.models.finding import ModelFiles, is_bundled
from sat_bench.models.protocol import NO_LOSS, AnyModel, Loss, TalkModel
from sat_bench.models.stored import StoredPredictions
from sat_bench.models.systems import System, find_system
from sat_bench.running.inference import Inference
from sat_bench.running.progress import Effort, Stopwatch
from truemark.counts import Counts, Scores, Weights, scores, total
from truemark.curve import Curve, SweepPoint, counts_at, curve_of, grid, ranked
from truemark.curve import sweep as sweep_curves
from truemark.errors import TruemarkError
from truemark.places import Group

EMPTY_RATIO = 0.0
ON_THIS_MACHINE = Inference()


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTalk:
    """The answer of a system to one talk; `group` has its places where a record needs them."""

    id: str
    language: str
    curve: Curve
    seconds: float | None = None
    replayed: bool = False
    group: Group | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """All talks as one system answered them.

    `loss` is what it changed in the texts; `effort` is None where time was not measured.
    """

    talks: tuple[MeasuredTalk, ...]
    loss: Loss = NO_LOSS
    effort: Effort | None = None

    @property
    def curves(self) -> tuple[Curve, ...]:
        return tuple(talk.curve for talk in self.talks)

    @property
    def graded(self) -> bool:
        """Whether thresholds make a difference; a system without probabilities has one point."""
        return any(curve.graded for curve in self.curves)

    def sweep(self, thresholds: Sequence[float], weights: Weights) -> tuple[SweepPoint, ...]:
        """Sum the counts of all talks at each threshold, or once where thresholds do not matter."""
        used = thresholds if self.graded or not self.talks else thresholds[:1]
        return sweep_curves(self.curves, used, weights, empty=EMPTY_RATIO)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The counts of each talk, by its id, at one threshold."""

    threshold: float
    talks: tuple[tuple[str, Counts], ...]

    @property
    def counts(self) -> Counts:
        """The counts of all talks together."""
        return total(counts for _, counts in self.talks)

    def scores(self, weights: Weights = DEFAULTS.weights) -> Scores:
        """Compute the micro-average: ratios of the summed counts."""
        return scores(self.counts, empty=EMPTY_RATIO, weights=weights)


@dataclass(frozen=True, slots=True)
class Measured:
    """A system that was measured under one condition, and the thresholds that were asked for.

    `seconds` is how long that took in all, from `started` on.
    """

    system: System
    condition: Condition
    thresholds: tuple[float, ...]
    measurement: Measurement
    started: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Failed:
    """A system that could not be loaded or run."""

    name: str
    reason: str


def measure(
    model: AnyModel,
    talks: Iterable[Talk],
    tolerance: int = DEFAULTS.tolerance,
    *,
    keep_places: bool = False,
) -> Measurement:
    """Run the model once over each talk; talks are read as the model needs them."""
    watch = Stopwatch()
    measured: list[MeasuredTalk] = []
    loss = NO_LOSS
    for talk, answer in watch.answers(model, talks):
        scored, truths = scored_positions(talk.text, answer), talk.boundaries
        measured.append(
            MeasuredTalk(
                talk.id,
                talk.language,
                curve_of(scored, truths, tolerance),
                answer.seconds,
                answer.replayed,
                (scored, truths) if keep_places else None,
            )
        )
        loss += answer.loss
    effort = None if isinstance(model, TalkModel) else watch.effort
    return Measurement(tuple(measured), loss, effort)


def evaluate(
    model: AnyModel | System,
    talks: Iterable[Talk],
    threshold: float | None = None,
    tolerance: int = DEFAULTS.tolerance,
) -> Evaluation:
    """Count the matches of each talk at one threshold, by default the one of the model."""
    recommended = getattr(model, "threshold", None) if threshold is None else threshold
    used = DEFAULTS.threshold if recommended is None else float(recommended)
    measurement = _measurement(model, talks, tolerance)
    return Evaluation(
        used, tuple((talk.id, counts_at([talk.curve], used)) for talk in measurement.talks)
    )


def sweep(
    model: AnyModel | System,
    talks: Iterable[Talk],
    thresholds: Sequence[float] = grid(*DEFAULTS.grid),
    tolerance: int = DEFAULTS.tolerance,
    weights: Weights = DEFAULTS.weights,
) -> tuple[SweepPoint, ...]:
    """Sum the counts at each threshold, best first: weighted score, F1, lower threshold."""
    return ranked(_measurement(model, talks, tolerance).sweep(thresholds, weights))


def _measurement(model: AnyModel | System, talks: Iterable[Talk], tolerance: int) -> Measurement:
    if isinstance(model, ModelFiles | TextSystem | StoredPredictions):
        [measured] = measure_system(model, talks, tolerance=tolerance)
        return measured.measurement
    return measure(model, talks, tolerance)


def compare(
    names: Iterable[str],
    talks: Iterable[Talk],
    thresholds: Sequence[float] | None = None,
    tolerance: int = DEFAULTS.tolerance,
    tokenizer: Path | None = None,
    inference: Inference = ON_THIS_MACHINE,
    *,
    conditions: Sequence[Condition] = (WRITTEN,),
    keep_places: bool = False,
) -> Iterator[Measured | Failed]:
    """Measure the named systems in turn under each condition; one that fails stops no other.

    Without thresholds each is measured at its own default. The tokenizer is for SaT models that
    are not bundled. The talks must be iterable once for each system and condition.
    """
    for name in names:
        try:
            system = find_system(
                name, None if is_bundled(name) else tokenizer, timeout_s=inference.timeout_s
            )
            yield from measure_system(
                system,
                talks,
                thresholds,
                tolerance,
                inference,
                conditions=conditions,
                keep_places=keep_places,
            )
        except CorpusError:
            raise
        except TruemarkError as error:
            yield Failed(name, str(error).removeprefix(f"{name}: "))


def measure_system(
    system: System,
    talks: Iterable[Talk],
    thresholds: Sequence[float] | None = None,
    tolerance: int = DEFAULTS.tolerance,
    inference: Inference = ON_THIS_MACHINE,
    *,
    conditions: Sequence[Condition] = (WRITTEN,),
    keep_places: bool = False,
) -> list[Measured]:
    """Open the system once and measure it under each condition, by default at its own threshold."""
    used = tuple(thresholds or (default_threshold(system),))
    measured = []
    started, begun_s = datetime.now(UTC), perf_counter()
    with inference.opened(system) as model:
        for condition in conditions:
            changed = (under_condition(talk, condition) for talk in talks)
            measurement = measure(model, changed, tolerance, keep_places=keep_places)
            if inference.cache:
                # What a cache hands out says nothing about the time it took to make.
                measurement = replace(measurement, effort=None)
            stamp, seconds = started.isoformat(timespec="seconds"), perf_counter() - begun_s
            measured.append(Measured(system, condition, used, measurement, stamp, seconds))
            started, begun_s = datetime.now(UTC), perf_counter()
    return measured


def default_threshold(system: System) -> float:
    """Return the threshold that the system recommends, or the one for all."""
    return DEFAULTS.threshold if system.threshold is None else system.threshold
