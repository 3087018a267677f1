"""Predicted against true boundaries: one evaluation, a sweep of thresholds, several models."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

from sat_bench.corpus.talks import CorpusError, Talk
from sat_bench.models import DEFAULT_THRESHOLD
from sat_bench.models.answers import TextSystem
from sat_bench.models.finding import ModelFiles, is_bundled
from sat_bench.models.protocol import NO_LOSS, AnyModel, Loss, TalkModel, total_loss
from sat_bench.models.systems import StoredPredictions, System, find_system
from sat_bench.running.inference import Inference
from sat_bench.running.watching import NO_EFFORT, Effort, Stopwatch
from truemark.counts import EQUAL_WEIGHTS, Counts, Scores, Weights, scores, total
from truemark.errors import TruemarkError
from truemark.sweep import Curve, CurveTally, Group, SweepPoint, best, grid, ranked, sweep_groups

if TYPE_CHECKING:
    from sat_bench.models.boundaries import Probabilities

EMPTY_RATIO = 0.0
FEW_TALKS = 10  # below this, parts of talks are resampled and not whole talks


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds where nothing else is said."""

    threshold: float = DEFAULT_THRESHOLD
    tolerance: int = 3
    weights: Weights = EQUAL_WEIGHTS
    grid: tuple[float, float, float] = (0.01, 0.20, 0.01)


DEFAULTS = Defaults()
HERE = Inference()


@dataclass(frozen=True, slots=True)
class TalkPoints:
    """The counts of one talk at each threshold, in columns: they are kept for every talk."""

    talk: str
    tp: array[int]
    fp: array[int]
    fn: array[int]
    language: str = ""
    condition: str = ""

    def counts(self, number: int) -> Counts:
        """The counts at the threshold of that number."""
        return Counts(self.tp[number], self.fp[number], self.fn[number])

    def first(self, number: int) -> TalkPoints:
        """The counts at that many thresholds."""
        return replace(self, tp=self.tp[:number], fp=self.fp[:number], fn=self.fn[:number])


@dataclass(frozen=True, slots=True, eq=False)
class ScoredTalk:
    """Where a model may have seen the ends of a talk's sentences, and where they truly are."""

    id: str
    group: Group
    condition: str = ""
    seconds: float | None = None
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Measurement:
    """The counts of every talk at every threshold of one system.

    A system without probabilities is not `graded`: it has a single point, whose threshold does not
    matter. `effort` is how long it took, where that was measured; `parts` has effort and loss by
    condition. `curves` hold the counts at all
    thresholds there are, by condition; `scored` is kept for few talks, or where it was asked for.
    """

    thresholds: tuple[float, ...]
    talks: tuple[TalkPoints, ...]
    graded: bool = True
    loss: Loss = NO_LOSS
    effort: Effort | None = field(default=None, compare=False)
    parts: Mapping[str, tuple[Effort, Loss]] = field(default_factory=dict, compare=False)
    curves: Mapping[str, Curve] = field(default_factory=dict, compare=False)
    scored: tuple[ScoredTalk, ...] = field(default=(), compare=False)

    @property
    def points(self) -> tuple[SweepPoint, ...]:
        """The counts of all talks together, in the order of the thresholds."""
        import numpy as np

        sums = np.zeros((3, len(self.thresholds)), dtype=np.int64)
        for talk in self.talks:
            sums += np.array((talk.tp, talk.fp, talk.fn))
        rows = sums.T.tolist()
        return tuple(
            SweepPoint(threshold, Counts(*row))
            for threshold, row in zip(self.thresholds, rows, strict=True)
        )

    @property
    def conditions(self) -> tuple[str, ...]:
        """What was done to the texts, in order of appearance."""
        return tuple(dict.fromkeys(talk.condition for talk in self.talks))

    def under(self, condition: str) -> Measurement:
        """What was measured under one condition."""
        effort, loss = self.parts.get(condition, (None, NO_LOSS))
        return replace(
            self,
            effort=effort if self.effort else None,
            loss=loss,
            talks=tuple(talk for talk in self.talks if talk.condition == condition),
            curves={condition: self.curves[condition]} if condition in self.curves else {},
            scored=tuple(talk for talk in self.scored if talk.condition == condition),
        )

    def evaluation_at(self, threshold: float) -> Evaluation:
        """The measurement at one of its thresholds."""
        number = self.thresholds.index(threshold)
        return Evaluation(threshold, tuple((talk.talk, talk.counts(number)) for talk in self.talks))

    def best(self, weights: Weights = DEFAULTS.weights) -> Evaluation:
        """The evaluation of highest weighted score; ties: higher F1, then lower threshold."""
        return self.evaluation_at(best(self.points, weights, empty=EMPTY_RATIO).threshold)


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
        """The micro-average: ratios of the summed counts."""
        return boundary_scores(self.counts, weights)


@dataclass(frozen=True, slots=True)
class Point(SweepPoint):
    """The counts at a threshold, and what they come to."""

    scores: Scores


@dataclass(frozen=True, slots=True)
class Measured:
    """A system that was measured."""

    model: System
    measurement: Measurement


@dataclass(frozen=True, slots=True)
class Failed:
    """A system that could not be loaded or run."""

    name: str
    reason: str


def boundary_scores(counts: Counts, weights: Weights) -> Scores:
    """Ratios of boundary counts; 0 where there is nothing to divide by."""
    return scores(counts, empty=EMPTY_RATIO, weights=weights)


def measure(
    model: AnyModel,
    talks: Iterable[Talk],
    thresholds: Sequence[float],
    tolerance: int = DEFAULTS.tolerance,
    *,
    keep: bool = False,
) -> Measurement:
    """The counts at every threshold from one run of the model over each talk.

    Talks are read as the model needs them, and of each only its counts are kept, unless there are
    fewer than `FEW_TALKS` under a condition or `keep` is true. Of a model without probabilities the
    first threshold stands for all, since all give the same.
    """
    watch = Stopwatch()
    points: list[TalkPoints] = []
    scored: list[ScoredTalk] = []
    parts: dict[str, tuple[Effort, Loss]] = {}
    tallies: dict[str, CurveTally] = {}
    graded = False
    for talk, probabilities in watch.answers(model, talks):
        one = _scored(talk, probabilities)
        scored.append(one)
        points.append(_points(talk, one.group, thresholds, tolerance))
        tallies.setdefault(talk.condition, CurveTally(tolerance)).add(one.group)
        effort, loss = parts.get(talk.condition, (NO_EFFORT, NO_LOSS))
        own = Effort(nan if one.seconds is None else one.seconds, len(talk.text))
        parts[talk.condition] = effort + own, loss + probabilities.loss
        graded = graded or probabilities.graded
        if not keep and len(scored) >= FEW_TALKS * len(tallies):
            scored.clear()
    shares = watch.effort.shared({condition: effort for condition, (effort, _) in parts.items()})
    used = len(thresholds) if graded or not points else 1
    return Measurement(
        tuple(thresholds[:used]),
        tuple(talk.first(used) for talk in points),
        graded,
        total_loss(loss for _, loss in parts.values()),
        None if isinstance(model, TalkModel) else watch.effort,
        {condition: (shares[condition], loss) for condition, (_, loss) in parts.items()},
        {condition: tally.curve for condition, tally in tallies.items()},
        tuple(scored) if len(scored) == len(points) else (),
    )


def evaluate(
    model: AnyModel | System,
    talks: Iterable[Talk],
    threshold: float | None = None,
    tolerance: int = DEFAULTS.tolerance,
) -> Evaluation:
    """The counts of each talk at one threshold, by default that of the model."""
    own = getattr(model, "threshold", None) if threshold is None else threshold
    used = DEFAULTS.threshold if own is None else float(own)
    return _measured(model, talks, (used,), tolerance).evaluation_at(used)


def sweep(
    model: AnyModel | System,
    talks: Iterable[Talk],
    thresholds: Sequence[float] = grid(*DEFAULTS.grid),
    tolerance: int = DEFAULTS.tolerance,
    weights: Weights = DEFAULTS.weights,
) -> tuple[Point, ...]:
    """The summed counts at each threshold, best first: weighted score, F1, lower threshold."""
    points = _measured(model, talks, thresholds, tolerance).points
    return tuple(
        Point(point.threshold, point.counts, boundary_scores(point.counts, weights))
        for point in ranked(points, weights, empty=EMPTY_RATIO)
    )


def _measured(
    model: AnyModel | System, talks: Iterable[Talk], thresholds: Sequence[float], tolerance: int
) -> Measurement:
    if isinstance(model, ModelFiles | TextSystem | StoredPredictions):
        return measure_model(model, talks, thresholds, tolerance)
    return measure(model, talks, thresholds, tolerance)


def compare(
    names: Iterable[str],
    talks: Iterable[Talk],
    thresholds: Sequence[float] | None = None,
    tolerance: int = DEFAULTS.tolerance,
    tokenizer: Path | None = None,
    inference: Inference = HERE,
    *,
    keep: bool = False,
) -> Iterator[Measured | Failed]:
    """Each named system measured in turn; one that fails does not stop the others.

    Without thresholds each is measured at its own default. The tokenizer is for SaT models that
    are not bundled. The talks must be iterable once for each system.
    """
    for name in names:
        try:
            own = None if is_bundled(name) else tokenizer
            system = find_system(name, own, timeout_s=inference.timeout_s)
            measurement = measure_model(system, talks, thresholds, tolerance, inference, keep=keep)
            yield Measured(system, measurement)
        except CorpusError:
            raise
        except TruemarkError as error:
            yield Failed(name, str(error).removeprefix(f"{name}: "))


def measure_model(
    system: System,
    talks: Iterable[Talk],
    thresholds: Sequence[float] | None = None,
    tolerance: int = DEFAULTS.tolerance,
    inference: Inference = HERE,
    *,
    keep: bool = False,
) -> Measurement:
    """The measurement of a system that is opened for it, by default at its own threshold."""
    thresholds = thresholds or (default_threshold(system),)
    if isinstance(system, StoredPredictions):
        return measure(system, talks, thresholds, tolerance, keep=keep)
    with inference.opened(system) as model:
        found = measure(model, talks, thresholds, tolerance, keep=keep)
    # What a cache hands out tells nothing of the time that it took to make.
    return replace(found, effort=None) if inference.cache else found


def default_threshold(system: System) -> float:
    """The threshold that the system recommends, else the one for all."""
    return DEFAULTS.threshold if system.threshold is None else system.threshold


def _scored(talk: Talk, found: Probabilities) -> ScoredTalk:
    from sat_bench.models.boundaries import scored_positions

    group = scored_positions(talk.text, found), talk.boundaries
    return ScoredTalk(talk.id, group, talk.condition, found.seconds, found.replayed)


def _points(talk: Talk, group: Group, thresholds: Sequence[float], tolerance: int) -> TalkPoints:
    table = sweep_groups([group], thresholds, tolerance)
    matched = table.matched[0]
    columns = matched, table.predicted[0] - matched, len(talk.boundaries) - matched
    tp, fp, fn = (array("i", column.tobytes()) for column in columns)
    return TalkPoints(talk.id, tp, fp, fn, talk.language, talk.condition)
