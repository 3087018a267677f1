"""One-to-one pairing of predictions with truths along a line, at one threshold or at all of them.

Predictions are in ascending order, and each reaches an unbroken run of truths `low..high`; neither
end of the run ever moves back. Placed from left to right on the first free truth, prediction i
lands on `place[i] = max(place[i - 1] + 1, low[i])` and is one too many when that exceeds `high[i]`.
It then competes with its block: everything placed since the last prediction that stands on the
first truth it reaches, because only those could make room by moving left. At one threshold it is
left out; for all thresholds at once the lowest score of the block is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush, heappushpop
from operator import index

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

Pair = tuple[int, int]
_MANY = 2_000  # positions from which arrays are quicker than lists
_LARGEST_TABLE = 1_000_000  # cells; beyond, any largest matching is taken
_FAR = 2**61  # twice this still fits 64 bits
_BEYOND = 2**62  # further than two positions lie apart, and added to one it still fits 64 bits


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPositions:
    """Positions in ascending order with a score each; infinity means always predicted."""

    positions: NDArray[np.int64]
    scores: NDArray[np.float64]

    def __post_init__(self) -> None:
        positions, scores = np.asarray(self.positions), np.asarray(self.scores)
        if positions.ndim != 1 or positions.shape != scores.shape:
            raise ValueError(
                "positions and scores must be two rows of equal length, "
                f"got shapes {positions.shape} and {scores.shape}"
            )
        if len(positions) and positions.dtype.kind not in "iu":
            raise ValueError(f"positions must be whole numbers, got {positions.dtype}")
        if (positions[1:] < positions[:-1]).any():
            raise ValueError("positions must be in ascending order, got some that go back")
        if not (scores > -math.inf).all():
            raise ValueError("scores must be numbers above minus infinity, got NaN or -inf")
        # Compared in single precision, a score of 0.3 would not be above a threshold of 0.3
        # that it exceeds in double precision.
        object.__setattr__(self, "positions", positions.astype(np.int64, copy=False))
        object.__setattr__(self, "scores", scores.astype(np.float64, copy=False))

    def __len__(self) -> int:
        return len(self.positions)

    def above(self, threshold: float) -> list[int]:
        """Return the positions whose score is above `threshold`."""
        chosen: list[int] = self.positions[self.scores > threshold].tolist()
        return chosen


def match_positions(
    predicted: Sequence[int], expected: Sequence[int], tolerance: int
) -> list[Pair]:
    """Return the (predicted, expected) index pairs of a largest matching within `tolerance`.

    From left to right, each prediction takes the first free truth at most `tolerance` away;
    the pairs come in that order. The order of the inputs does not matter.

    >>> match_positions([10, 21], [9, 20, 40], tolerance=1)
    [(0, 0), (1, 1)]
    """
    if not tolerance >= 0:
        raise ValueError(f"tolerance must be 0 or more, got {tolerance}")
    if len(predicted) + len(expected) >= _MANY:
        columns = _as_columns(predicted), _as_columns(expected)
        if columns[0] is not None and columns[1] is not None:
            rows, partners = _match_columns(columns[0], columns[1], min(tolerance, _FAR))
            return list(zip(rows.tolist(), partners.tolist(), strict=True))
    guesses, truths = list(map(index, predicted)), list(map(index, expected))
    truth_order = sorted(range(len(truths)), key=truths.__getitem__)
    candidates = iter([(truths[column], column) for column in truth_order])
    pairs: list[Pair] = []
    truth, column = next(candidates, (None, -1))
    for row in sorted(range(len(guesses)), key=guesses.__getitem__):
        guess = guesses[row]
        # A truth too far to the left of this prediction is so for all that follow.
        while truth is not None and truth < guess - tolerance:
            truth, column = next(candidates, (None, -1))
        if truth is None:
            break
        if truth <= guess + tolerance:
            pairs.append((row, column))
            truth, column = next(candidates, (None, -1))
    return pairs


def nearest_pairs(predicted: Sequence[int], expected: Sequence[int], tolerance: int) -> list[Pair]:
    """Return the index pairs of the largest matching that has the least total distance.

    Both sides are in ascending order. There are as many pairs as `match_positions` gives.

    >>> nearest_pairs([10], [8, 10], tolerance=3)
    [(0, 1)]
    """
    pairs: list[Pair] = []
    for rows, columns in _clusters(predicted, expected, tolerance):
        ours, theirs = predicted[rows], expected[columns]
        if len(ours) * len(theirs) > _LARGEST_TABLE:
            inside = match_positions(ours, theirs, tolerance)
        else:
            inside = _least_distance(ours, theirs, tolerance)
        pairs += [(rows.start + row, columns.start + column) for row, column in inside]
    return pairs


def _clusters(
    predicted: Sequence[int], expected: Sequence[int], tolerance: int
) -> Iterator[tuple[slice, slice]]:
    """Yield the stretches of both sides that are separated by gaps wider than the tolerance."""
    row = column = 0
    while row < len(predicted) and column < len(expected):
        first_row, first_column = row, column
        reached = min(predicted[row], expected[column])
        while True:
            if row < len(predicted) and predicted[row] <= reached + tolerance:
                reached = max(reached, predicted[row])
                row += 1
            elif column < len(expected) and expected[column] <= reached + tolerance:
                reached = max(reached, expected[column])
                column += 1
            else:
                break
        if first_row < row and first_column < column:
            yield slice(first_row, row), slice(first_column, column)


def _least_distance(ours: Sequence[int], theirs: Sequence[int], tolerance: int) -> list[Pair]:
    """Find the most pairs at the least distance, by dynamic programming over all prefixes.

    A matching without crossings is among the best, since uncrossing two pairs never makes them
    longer.
    """
    table = [[(0, 0)] * (len(theirs) + 1)]
    for ours_at in ours:
        above, row = table[-1], [(0, 0)]
        for column, theirs_at in enumerate(theirs):
            best = max(above[column + 1], row[column])
            distance = abs(ours_at - theirs_at)
            if distance <= tolerance:
                pairs, closeness = above[column]
                best = max(best, (pairs + 1, closeness - distance))
            row.append(best)
        table.append(row)
    backwards: list[Pair] = []
    at, place = len(ours), len(theirs)
    while at and place:
        if table[at][place] == table[at - 1][place]:
            at -= 1
        elif table[at][place] == table[at][place - 1]:
            place -= 1
        else:
            at, place = at - 1, place - 1
            backwards.append((at, place))
    return backwards[::-1]


def _as_columns(positions: Sequence[int]) -> Ints | None:
    """Return the positions as an array, or None unless all are whole numbers that fit 64 bits."""
    column = np.asarray(positions)
    if column.ndim != 1 or column.dtype.kind not in "iu":
        return None
    if len(column) and (column.min() < -_FAR or column.max() > _FAR):
        return None
    return column.astype(np.int64, copy=False)


def _match_columns(predicted: Ints, expected: Ints, tolerance: int) -> tuple[Ints, Ints]:
    """Find the same pairs as the scan, for all predictions at once."""
    rows, columns = (np.argsort(side, kind="stable") for side in (predicted, expected))
    guesses, truths = predicted[rows], expected[columns]
    low = np.searchsorted(truths, guesses - tolerance, side="left")
    high = np.searchsorted(truths, guesses + tolerance, side="right") - 1
    near = np.flatnonzero(low <= high)
    # One that is left out only moves those after it in its block, so other blocks need no scan.
    in_crowd = _crowded(low[near], high[near])
    crowded = near[in_crowd]
    scanned = crowded[_scanned(low[crowded], high[crowded])]
    kept = np.sort(np.concatenate((near[~in_crowd], scanned)))
    return rows[kept], columns[_placed(low[kept])]


def _placed(low: Ints) -> Ints:
    """Return the truth each prediction takes: the first in reach that is still free."""
    number = np.arange(len(low))
    place: Ints = np.maximum.accumulate(low - number) + number
    return place


def _scanned(low: Ints, high: Ints) -> list[int]:
    """Return the predictions that find a free truth, taken from left to right."""
    kept = []
    last = -1
    for number, (first, reach) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        place = last + 1 if last >= first else first
        if place <= reach:
            kept.append(number)
            last = place
    return kept


def adds_match(predicted: ScoredPositions, expected: Sequence[int], tolerance: int) -> Flags:
    """Return for each prediction whether it adds a match when taken in order of descending score.

    Equal scores are taken from left to right. A prediction adds a match if the largest matching of
    it and those before it is larger than without it. Sets of predictions that can all be matched
    at once form a matroid; so those that add a match are the matchable set of highest total score,
    and above any threshold there are as many of them as the largest matching there has pairs.

    >>> scored = ScoredPositions(np.array([10, 12, 40]), np.array([0.2, 0.9, 0.5]))
    >>> adds_match(scored, [11], tolerance=1).tolist()
    [False, True, False]
    """
    if not tolerance >= 0:
        raise ValueError(f"tolerance must be 0 or more, got {tolerance}")
    truths = np.sort(np.asarray(expected, dtype=np.int64))
    reach = min(tolerance, _BEYOND)
    low = np.searchsorted(truths, predicted.positions - reach, side="left")
    high = np.searchsorted(truths, predicted.positions + reach, side="right") - 1
    near = np.flatnonzero(low <= high)
    crowded = near[_crowded(low[near], high[near])]
    adds = np.zeros(len(predicted), dtype=np.bool_)
    adds[near] = True
    adds[crowded[_dropped(low[crowded], high[crowded], predicted.scores[crowded])]] = False
    return adds


def _crowded(low: Ints, high: Ints) -> Flags:
    """Return which predictions belong to a block in which one is too many."""
    place = _placed(low)
    block = np.cumsum(place == low) - 1
    crowded = np.zeros(len(low), dtype=np.bool_)
    crowded[block[place > high]] = True
    of_block: Flags = crowded[block]
    return of_block


def _dropped(low: Ints, high: Ints, scores: Floats) -> list[int]:
    """Return the indices of the predictions that give way to others of higher score."""
    dropped: list[int] = []
    # A heap of (score, minus the number): of equal scores the one furthest right goes first.
    # Members left of the wall no longer count.
    block: list[tuple[float, int]] = []
    slacks = _Slacks(low.tolist())
    place = -1
    for number, (first, last, score) in enumerate(
        zip(low.tolist(), high.tolist(), scores.tolist(), strict=True)
    ):
        if place < last:
            place = max(place + 1, first)
            if place == first:
                block.clear()
            heappush(block, (score, -number))
            slacks.append(number, place)
            continue
        loser = -heappushpop(block, (score, -number))[1]
        while loser < slacks.wall:
            loser = -heappop(block)[1]
        dropped.append(loser)
        if loser == number:
            slacks.skip(number)
        else:
            slacks.move_left_after(loser)
            slacks.append(number, place)
    return dropped


class _Slacks:
    """Keeps how far each placed prediction stands from the first truth it reaches.

    Only the low points are kept: predictions with less slack than all to their right. Each
    stores how much more slack it has than the low point before it, so that moving everything
    right of a place by one changes a single number. The first low point, the wall, has no slack.
    """

    __slots__ = ("_before", "_low", "_next", "_step", "_tail", "_tail_place", "wall")

    def __init__(self, low: list[int]) -> None:
        self.wall = -1
        self._low = low
        self._tail = -1
        self._tail_place = -1
        self._step = [0] * len(low)
        self._before = [-1] * len(low)
        self._next = list(range(len(low)))  # towards the low point at or right of each

    def append(self, number: int, place: int) -> None:
        """Place prediction `number` right of all others."""
        low = self._low
        slack = place - low[number]
        point = self._tail
        rest = self._tail_place - low[point]
        while point >= 0 and rest >= slack:
            rest -= self._step[point]
            self._next[point] = number
            point = self._before[point]
        if point >= 0:
            self._step[number] = slack - rest
            self._before[number] = point
        else:
            self.wall = number
        self._tail, self._tail_place = number, place

    def skip(self, number: int) -> None:
        """Leave prediction `number` without a place."""
        self._next[number] = number + 1

    def move_left_after(self, loser: int) -> None:
        """Take `loser` out and move everything right of it one place to the left."""
        if loser == self._tail:
            return
        self._tail_place -= 1
        point = self._low_point(loser + 1)
        self._step[point] -= 1
        if self._step[point] == 0:
            # Equal slack: the point further left is no longer a low point.
            before = self._before[point]
            self._next[before] = point
            self._step[point] = self._step[before]
            self._before[point] = self._before[before]
            if self._before[point] < 0:
                self.wall = point

    def _low_point(self, number: int) -> int:
        following = self._next
        while following[number] != number:
            following[number] = number = following[following[number]]
        return number
