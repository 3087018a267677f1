"""From counts of true and false marks to precision, recall and F1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar


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
        """The counts when `matched` of `predicted` and of `expected` items are paired."""
        return cls(matched, predicted - matched, expected - matched)

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)

    @property
    def predicted(self) -> int:
        return self.tp + self.fp

    @property
    def expected(self) -> int:
        return self.tp + self.fn


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
    """Precision, recall, F1 and weighted score of `counts`; a ratio of 0 to 0 is `empty`."""
    precision = counts.tp / counts.predicted if counts.predicted else empty
    recall = counts.tp / counts.expected if counts.expected else empty
    return Scores(
        precision, recall, _f1(counts, precision, recall), _weighted(precision, recall, weights)
    )


def _f1(counts: Counts, precision: float, recall: float) -> float:
    if counts.tp:
        # Equal to the harmonic mean, but rounded once, so equal counts give equal F1.
        return 2 * counts.tp / (counts.predicted + counts.expected)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _weighted(precision: float, recall: float, weights: Weights) -> float:
    total = weights.precision + weights.recall
    if not total:
        return 0.0
    return (weights.precision * precision + weights.recall * recall) / total
