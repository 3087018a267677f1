"""Turn measurements into counts at thresholds, which tests compare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sat_bench.corpus.talks import Talk
from sat_bench.measure import measure_system
from sat_bench.models.protocol import Loss
from sat_bench.models.systems import System
from sat_bench.record import Measurement
from sat_bench.running.inference import Inference
from truemark.counts import EQUAL_WEIGHTS, Counts
from truemark.curve import SweepPoint


@dataclass(frozen=True, slots=True)
class CountedTalks:
    """The counts of every talk at each threshold, and of all talks together."""

    talks: tuple[tuple[str, tuple[Counts, ...]], ...]
    points: tuple[SweepPoint, ...]
    loss: Loss
    measurement: Measurement = field(compare=False)

    @property
    def graded(self) -> bool:
        return self.measurement.graded

    @property
    def seconds(self) -> list[float]:
        """How long each talk took; 0 if that is not known."""
        return [talk.seconds or 0 for talk in self.measurement.talks]

    @property
    def counts(self) -> Counts:
        """The counts of all talks, for measurements at one threshold."""
        [point] = self.points
        return point.counts

    @property
    def f1(self) -> float:
        [point] = self.points
        return point.scores.f1


def counted(measurement: Measurement, thresholds: Sequence[float]) -> CountedTalks:
    """Count the matches of a measurement at the thresholds."""
    points = measurement.sweep(thresholds, EQUAL_WEIGHTS)
    return CountedTalks(
        tuple(
            (talk.id, tuple(talk.curve.counts(point.threshold) for point in points))
            for talk in measurement.talks
        ),
        points,
        measurement.loss,
        measurement,
    )


def measured_at(
    system: System,
    talks: Iterable[Talk],
    thresholds: Sequence[float],
    *,
    inference: Inference | None = None,
) -> CountedTalks:
    """Measure a system, and count the matches at the thresholds."""
    [measured] = measure_system(system, talks, thresholds, inference=inference or Inference())
    return counted(measured.measurement, thresholds)
