"""Predicted against true boundaries: one evaluation, a sweep of thresholds, several models."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sat_bench.corpus.talks import CorpusError, Talk
from sat_bench.models import DEFAULT_THRESHOLD
from sat_bench.models.finding import ModelFiles, find_model, is_bundled
from sat_bench.models.protocol import BoundaryModel, tagged_answers
from sat_bench.running.inference import Inference
from truemark.aggregate import total
from truemark.counts import EQUAL_WEIGHTS, Counts, Scores, Weights, scores
from truemark.errors import TruemarkError
from truemark.sweep import SweepPoint, best, grid, ranked, sweep_groups

if TYPE_CHECKING:
    from sat_bench.models.boundaries import Probabilities

EMPTY_RATIO = 0.0


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

    def counts(self, number: int) -> Counts:
        """The counts at the threshold of that number."""
        return Counts(self.tp[number], self.fp[number], self.fn[number])


@dataclass(frozen=True, slots=True)
class Measurement:
    """The counts of every talk at every threshold of one model."""

    thresholds: tuple[float, ...]
    talks: tuple[TalkPoints, ...]

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
class Measured:
    """A model that was measured."""

    model: ModelFiles
    measurement: Measurement


@dataclass(frozen=True, slots=True)
class Failed:
    """A model that could not be loaded or run."""

    name: str
    reason: str


def boundary_scores(counts: Counts, weights: Weights) -> Scores:
    """Ratios of boundary counts; 0 where there is nothing to divide by."""
    return scores(counts, empty=EMPTY_RATIO, weights=weights)


def measure(
    model: BoundaryModel,
    talks: Iterable[Talk],
    thresholds: Sequence[float],
    tolerance: int = DEFAULTS.tolerance,
) -> Measurement:
    """The counts at every threshold from one run of the model over each talk.

    Talks are read as the model needs them, and of each only its counts are kept.
    """
    return Measurement(
        tuple(thresholds),
        tuple(
            _points(talk, probabilities, thresholds, tolerance)
            for talk, probabilities in tagged_answers(model, ((talk.text, talk) for talk in talks))
        ),
    )


def evaluate(
    model: BoundaryModel,
    talks: Iterable[Talk],
    threshold: float = DEFAULTS.threshold,
    tolerance: int = DEFAULTS.tolerance,
) -> Evaluation:
    """The counts of each talk at one threshold."""
    return measure(model, talks, (threshold,), tolerance).evaluation_at(threshold)


def sweep(
    model: BoundaryModel,
    talks: Iterable[Talk],
    thresholds: Sequence[float] = grid(*DEFAULTS.grid),
    tolerance: int = DEFAULTS.tolerance,
    weights: Weights = DEFAULTS.weights,
) -> tuple[SweepPoint, ...]:
    """The summed counts at each threshold, best first: weighted score, F1, lower threshold."""
    points = measure(model, talks, thresholds, tolerance).points
    return ranked(points, weights, empty=EMPTY_RATIO)


def compare(
    names: Iterable[str],
    talks: Iterable[Talk],
    thresholds: Sequence[float] | None = None,
    tolerance: int = DEFAULTS.tolerance,
    tokenizer: Path | None = None,
    inference: Inference = HERE,
) -> Iterator[Measured | Failed]:
    """Each named model measured in turn; one that fails does not stop the others.

    Without thresholds each model is measured at its own default. The tokenizer is for models
    that are not bundled. The talks must be iterable once for each model.
    """
    for name in names:
        try:
            files = find_model(name, None if is_bundled(name) else tokenizer)
            yield Measured(files, measure_model(files, talks, thresholds, tolerance, inference))
        except CorpusError:
            raise
        except TruemarkError as error:
            yield Failed(name, str(error).removeprefix(f"{name}: "))


def measure_model(
    files: ModelFiles,
    talks: Iterable[Talk],
    thresholds: Sequence[float] | None = None,
    tolerance: int = DEFAULTS.tolerance,
    inference: Inference = HERE,
) -> Measurement:
    """The measurement of a model that is loaded for it, by default at its own threshold."""
    with inference.opened(files) as model:
        return measure(model, talks, thresholds or (default_threshold(files),), tolerance)


def default_threshold(files: ModelFiles) -> float:
    """The threshold of the model's card, else the one for all models."""
    return DEFAULTS.threshold if files.threshold is None else files.threshold


def _points(
    talk: Talk, probabilities: Probabilities, thresholds: Sequence[float], tolerance: int
) -> TalkPoints:
    from sat_bench.models.boundaries import scored_positions

    scored = scored_positions(talk.text, probabilities)
    table = sweep_groups([(scored, talk.boundaries)], thresholds, tolerance)
    matched = table.matched[0]
    columns = matched, table.predicted[0] - matched, len(talk.boundaries) - matched
    return TalkPoints(talk.id, *(array("i", column.tobytes()) for column in columns))
