"""One-to-one pairing of predictions with truths, along a line or by cost."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import TYPE_CHECKING

from truemark.assignment import cheapest_columns, check_finite

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

Pair = tuple[int, int]
_MANY = 2_000  # positions from which columns of numbers pay for themselves
_LONG_BLOCK = 20  # predictions per block beyond which one scan beats many rounds
_FAR = 2**61  # twice this still fits 64 bits


def match_positions(
    predicted: Sequence[int], expected: Sequence[int], tolerance: int
) -> list[Pair]:
    """The (predicted, expected) index pairs of a largest matching within `tolerance`.

    From left to right, each prediction takes the first free truth at most `tolerance` away;
    the pairs come in that order. The order of the inputs does not matter.
    """
    if tolerance < 0:
        raise ValueError(f"tolerance must be 0 or more, got {tolerance}")
    if len(predicted) + len(expected) >= _MANY:
        columns = _as_columns(predicted), _as_columns(expected)
        if columns[0] is not None and columns[1] is not None:
            rows, found = _match_columns(columns[0], columns[1], min(tolerance, _FAR))
            return list(zip(rows.tolist(), found.tolist(), strict=True))
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


def _as_columns(positions: Sequence[int]) -> Ints | None:
    """The positions as one column; None where they are not all whole numbers of ordinary size."""
    import numpy as np

    column = np.asarray(positions)
    if column.ndim != 1 or column.dtype.kind not in "iu":
        return None
    if len(column) and (column.min() < -_FAR or column.max() > _FAR):
        return None
    return column.astype(np.int64, copy=False)


def _match_columns(predicted: Ints, expected: Ints, tolerance: int) -> tuple[Ints, Ints]:
    """The same pairs as the scan gives, found for all predictions at once."""
    import numpy as np

    rows, guesses = _ascending(predicted)
    columns, truths = _ascending(expected)
    low = np.searchsorted(truths, guesses - tolerance, side="left")
    high = np.searchsorted(truths, guesses + tolerance, side="right") - 1
    near = np.flatnonzero(low <= high)
    kept = near[_kept(low[near], high[near])]
    place = _placed(low[kept])
    return rows[kept], columns[place]


def _ascending(positions: Ints) -> tuple[Ints, Ints]:
    """Where each position stands in the input, and the positions in ascending order."""
    import numpy as np

    if (positions[1:] >= positions[:-1]).all():
        return np.arange(len(positions)), positions
    order = np.argsort(positions, kind="stable")
    return order, positions[order]


def _placed(low: Ints) -> Ints:
    """The truth each prediction takes: the first it reaches that those before have left."""
    import numpy as np

    number = np.arange(len(low))
    place: Ints = np.maximum.accumulate(low - number) + number
    return place


def _kept(low: Ints, high: Ints) -> Ints:
    """The predictions that find a free truth.

    A block begins where a prediction stands on the first truth it reaches. In each block the
    first that finds none is left out, which only moves those after it in the same block; so
    this can be done to all blocks at once, and again to what is left, until all have one or
    the blocks are so long that a plain scan of them is quicker.
    """
    import numpy as np

    unsettled = np.arange(len(low))
    settled = []
    while len(unsettled):
        place = _placed(low[unsettled])
        block = np.cumsum(place == low[unsettled]) - 1
        too_many = np.flatnonzero(place > high[unsettled])
        blocks = block[too_many]
        leading = too_many[np.flatnonzero(np.diff(blocks, prepend=-1))]
        crowded = np.zeros(block[-1] + 1, dtype=np.bool_)
        crowded[blocks] = True
        inside = crowded[block]
        settled.append(unsettled[~inside])
        inside[leading] = False
        unsettled = unsettled[inside]
        if len(leading) * _LONG_BLOCK < len(unsettled):
            settled.append(unsettled[_scanned(low[unsettled], high[unsettled])])
            break
    return np.sort(np.concatenate(settled)) if settled else unsettled


def _scanned(low: Ints, high: Ints) -> list[int]:
    """What `_kept` gives, one prediction after the other."""
    kept = []
    last = -1
    for number, (first, reach) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        place = last + 1 if last >= first else first
        if place <= reach:
            kept.append(number)
            last = place
    return kept


def match_by_cost(cost: Sequence[Sequence[float]], allowed: Sequence[Sequence[bool]]) -> list[Pair]:
    """The (row, column) pairs with the most allowed pairs and, among those, the least total cost.

    Every row or every column is paired, whichever are fewer; pairs that are not allowed fill up
    what is left. Pairs come in ascending row order, and equal inputs give equal pairs.
    """
    shape = [len(row) for row in cost]
    if shape != [len(row) for row in allowed] or len(set(shape)) > 1:
        raise ValueError(
            "cost and allowed must be tables of the same shape, got rows of unequal length"
        )
    check_finite(cost)
    if not cost or not cost[0]:
        return []
    if len(cost) <= len(cost[0]):
        return list(enumerate(cheapest_columns(cost, allowed)))
    flipped = cheapest_columns(list(zip(*cost, strict=True)), list(zip(*allowed, strict=True)))
    return sorted((row, column) for column, row in enumerate(flipped))
