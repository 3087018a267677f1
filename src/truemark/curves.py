"""Counts at every threshold where they change: all thresholds there are, from one pass."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from truemark.counts import EQUAL_WEIGHTS, Counts, Weights, best_row
from truemark.sweep import Group, SweepPoint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FINE = 2.0**16


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Counts at every threshold where they change, in ascending threshold.

    The first threshold lies just below the lowest score, so every prediction is in; the others
    are the distinct finite scores, each of which leaves out the predictions that have it.
    """

    thresholds: NDArray[np.float64]
    matched: NDArray[np.int64]
    predicted: NDArray[np.int64]
    expected: int

    def __len__(self) -> int:
        return len(self.thresholds)

    def point(self, number: int) -> SweepPoint:
        """The point at that place of the curve."""
        counts = Counts.of(
            matched=int(self.matched[number]),
            predicted=int(self.predicted[number]),
            expected=self.expected,
        )
        return SweepPoint(float(self.thresholds[number]), counts)

    def best(self, weights: Weights = EQUAL_WEIGHTS, *, empty: float) -> int:
        """The place of highest weighted score; ties: higher F1, then lower threshold."""
        return best_row(
            self.matched,
            self.predicted - self.matched,
            self.expected - self.matched,
            empty=empty,
            weights=weights,
        )


def exact_curve(groups: Iterable[Group], tolerance: int) -> Curve:
    """The counts summed over all groups at every distinct score."""
    tally = CurveTally(tolerance, most=sys.maxsize)
    for group in groups:
        tally.add(group)
    return tally.curve


class CurveTally:
    """The exact curve of groups that come one at a time, in bounded memory.

    With more than `most` distinct scores, they are rounded up to multiples of 2**-16. At those
    thresholds the counts stay exact, because a score is above one whenever its rounding is.
    """

    def __init__(self, tolerance: int, most: int = 1 << 18) -> None:
        import numpy as np

        self._tolerance, self._most = tolerance, most
        self._levels = np.empty(0)
        self._columns = np.empty((2, 0), dtype=np.int64)  # marked and found at each level
        self._always = np.zeros(2, dtype=np.int64)
        self._waiting: tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]] = ([], [])
        self._room = most
        self._expected = 0

    def add(self, group: Group) -> None:
        """Counts the group in."""
        from truemark.found import found_scores

        scored, expected = group
        self._expected += len(expected)
        self._waiting[0].append(scored.scores)
        self._waiting[1].append(found_scores(scored, expected, self._tolerance))
        self._room -= len(scored)
        if self._room < 0:
            self._merge()

    @property
    def curve(self) -> Curve:
        """The counts of all groups so far at every threshold where they change."""
        import numpy as np

        self._merge()
        lowest = np.nextafter(self._levels[:1], -np.inf) if len(self._levels) else np.zeros(1)
        # Above a level is all that lies at later levels, and what is always predicted.
        above = self._columns[:, ::-1].cumsum(axis=1)[:, ::-1]
        predicted, matched = (
            np.append(above, np.zeros((2, 1), np.int64), axis=1) + (self._always[:, None])
        )
        return Curve(np.append(lowest, self._levels), matched, predicted, self._expected)

    def _merge(self) -> None:
        import numpy as np

        scores = [np.concatenate([np.empty(0), *arrays]) for arrays in self._waiting]
        finite = [column[np.isfinite(column)] for column in scores]
        self._always += [len(all_) - len(some) for all_, some in zip(scores, finite, strict=True)]
        self._fold(np.concatenate((self._levels, *finite)), [len(column) for column in finite])
        if len(self._levels) > self._most:
            self._fold(np.ceil(self._levels * _FINE) / _FINE, [0, 0])
        self._waiting = ([], [])
        self._room = self._most

    def _fold(self, places: NDArray[np.float64], fresh: Sequence[int]) -> None:
        """Adds up what lies at equal places: the columns so far, then one per fresh score."""
        import numpy as np

        known = self._columns.shape[1]
        self._levels, number = np.unique(places, return_inverse=True)
        columns = np.zeros((2, len(self._levels)), dtype=np.int64)
        first = known
        for column, old, count in zip(columns, self._columns, fresh, strict=True):
            np.add.at(column, number[:known], old)
            column += np.bincount(number[first : first + count], minlength=len(column))
            first += count
        self._columns = columns
