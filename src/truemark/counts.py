"""Counts of true and false positives, and precision, recall and F1 from them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

CountColumn = NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Counts:
    """True positives, false positives and false negatives; adds up with `+`."""

    tp: int
    fp: int
    fn: int

    zero: ClassVar[Counts]

    def __post_init__(self) -> None:
        if self.tp < 0 or self.fp < 0 or self.fn < 0:
            raise ValueError(f"counts must be 0 or more, got {self}")

    @classmethod
    def of(cls, *, matched: int, predicted: int, expected: int) -> Counts:
        """Make counts from the numbers of matched, predicted and expected items."""
        return cls(matched, predicted - matched, expected - matched)

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)

    @property
    def predicted(self) -> int:
        return self.tp + self.fp

    @property
    def expected(self) -> int:
        return self.tp + self.fn

    @property
    def mistakes(self) -> int:
        return self.fp + self.fn


Counts.zero = Counts(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Weights:
    """How much precision and recall count in the weighted score."""

    precision: float = 1.0
    recall: float = 1.0

    def __post_init__(self) -> None:
        for name, weight in (("precision", self.precision), ("recall", self.recall)):
            if not (weight >= 0 and math.isfinite(weight)):
                raise ValueError(f"{name} weight must be a number of 0 or more, got {weight}")
        if not math.isfinite(self.precision + self.recall):
            raise ValueError(f"weights must have a finite sum, got {self}")


@dataclass(frozen=True, slots=True)
class Scores:
    """Ratios derived from counts, each between 0 and 1."""

    precision: float
    recall: float
    f1: float
    weighted: float


EQUAL_WEIGHTS = Weights()


def scores(counts: Counts, *, empty: float, weights: Weights = EQUAL_WEIGHTS) -> Scores:
    """Compute precision, recall, F1 and the weighted score; a ratio of 0 to 0 is `empty`."""
    predicted, expected = counts.predicted, counts.expected
    precision = counts.tp / predicted if predicted else empty
    recall = counts.tp / expected if expected else empty
    # The harmonic mean of both, but rounded once, so equal counts give equal F1.
    f1 = 2 * counts.tp / (predicted + expected) if predicted + expected else empty
    whole = weights.precision + weights.recall
    weighted = weights.precision * precision + weights.recall * recall
    return Scores(precision, recall, f1, weighted / whole if whole else 0.0)


def total(counts: Iterable[Counts]) -> Counts:
    """Add up the counts; zero when there are none."""
    tp = fp = fn = 0
    for count in counts:
        tp, fp, fn = tp + count.tp, fp + count.fp, fn + count.fn
    return Counts(tp, fp, fn)


def best_row(
    tp: CountColumn,
    fp: CountColumn,
    fn: CountColumn,
    *,
    empty: float,
    weights: Weights = EQUAL_WEIGHTS,
) -> int:
    """Find the row of highest weighted score; ties go to the higher F1, then the first row.

    The arithmetic is that of `scores`, operation by operation, so that ties are the same.
    """
    predicted, expected = tp + fp, tp + fn
    precision, recall, f1 = (
        np.divide(part, whole, out=np.full(len(whole), float(empty)), where=whole != 0)
        for part, whole in ((tp, predicted), (tp, expected), (2 * tp, predicted + expected))
    )
    weighted = weights.precision * precision + weights.recall * recall
    weighted /= (weights.precision + weights.recall) or 1.0
    highest = np.flatnonzero(weighted == weighted.max())
    return int(highest[np.argmax(f1[highest])])
