"""Can confidence be trusted: accuracy per level, reliability per bin, two summary numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class LevelAccuracy:
    """How many predictions claimed this level of confidence and how many of them were right."""

    level: str
    count: int
    correct: int

    @property
    def accuracy(self) -> float | None:
        return self.correct / self.count if self.count else None


@dataclass(frozen=True, slots=True)
class Bin:
    """The predictions with a probability from `lower` up to, not including, `upper`."""

    lower: float
    upper: float
    count: int
    correct: int
    probability_sum: float

    @property
    def accuracy(self) -> float | None:
        return self.correct / self.count if self.count else None

    @property
    def mean_probability(self) -> float | None:
        return self.probability_sum / self.count if self.count else None


def per_level(
    claims: Iterable[tuple[str, bool]], levels: Sequence[str]
) -> tuple[LevelAccuracy, ...]:
    """The accuracy at each of `levels`, in that order, from (claimed level, was right) pairs."""
    counts = dict.fromkeys(levels, 0)
    correct = dict.fromkeys(levels, 0)
    for level, right in claims:
        if level not in counts:
            raise ValueError(f"level must be one of {', '.join(levels)}, got {level!r}")
        counts[level] += 1
        correct[level] += right
    return tuple(LevelAccuracy(level, counts[level], correct[level]) for level in counts)


def binned(probabilities: ArrayLike, outcomes: ArrayLike, bins: int = 15) -> tuple[Bin, ...]:
    """Reliability in `bins` bins of equal width from 0 to 1; the last one includes 1."""
    import numpy as np

    if bins < 1:
        raise ValueError(f"bins must be 1 or more, got {bins}")
    claimed, right = _checked(probabilities, outcomes)
    edges = np.arange(bins + 1) / bins
    place = np.minimum(np.searchsorted(edges, claimed, side="right") - 1, bins - 1)
    columns = (
        np.bincount(place, minlength=bins).tolist(),
        np.bincount(place[right], minlength=bins).tolist(),
        np.bincount(place, weights=claimed, minlength=bins).tolist(),
    )
    return tuple(map(Bin, edges[:-1].tolist(), edges[1:].tolist(), *columns))


def expected_calibration_error(
    probabilities: ArrayLike, outcomes: ArrayLike, bins: int = 15
) -> float:
    """The mean distance between probability and accuracy of a bin, weighted by its count."""
    filled = [part for part in binned(probabilities, outcomes, bins) if part.count]
    if not filled:
        raise ValueError("probabilities must not be empty, got none")
    distance = sum(abs(part.probability_sum - part.correct) for part in filled)
    return distance / sum(part.count for part in filled)


def brier_score(probabilities: ArrayLike, outcomes: ArrayLike) -> float:
    """The mean squared distance between probability and outcome (1 for right, 0 for wrong)."""
    claimed, right = _checked(probabilities, outcomes)
    if not len(claimed):
        raise ValueError("probabilities must not be empty, got none")
    return float(((claimed - right) ** 2).mean())


def _checked(
    probabilities: ArrayLike, outcomes: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    import numpy as np

    claimed = np.asarray(probabilities, dtype=np.float64)
    right = np.asarray(outcomes, dtype=np.bool_)
    if claimed.ndim != 1 or claimed.shape != right.shape:
        raise ValueError(
            "probabilities and outcomes must be two rows of equal length, "
            f"got shapes {claimed.shape} and {right.shape}"
        )
    if not ((claimed >= 0) & (claimed <= 1)).all():
        raise ValueError("probabilities must be between 0 and 1, got others")
    return claimed, right
