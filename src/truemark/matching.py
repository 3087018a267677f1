"""One-to-one pairing of predictions with truths, along a line or by cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, lcm
from operator import index

Pair = tuple[int, int]


def match_positions(
    predicted: Sequence[int], expected: Sequence[int], tolerance: int
) -> list[Pair]:
    """The (predicted, expected) index pairs of a largest matching within `tolerance`.

    From left to right, each prediction takes the first free truth at most `tolerance` away;
    the pairs come in that order. The order of the inputs does not matter.
    """
    if tolerance < 0:
        raise ValueError(f"tolerance must be 0 or more, got {tolerance}")
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


def match_by_cost(cost: Sequence[Sequence[float]], allowed: Sequence[Sequence[bool]]) -> list[Pair]:
    """The (row, column) pairs with the most allowed pairs and, among those, the least total cost.

    Every row or every column is paired, whichever are fewer; pairs that are not allowed fill up
    what is left. Pairs come in ascending row order, and equal inputs give equal pairs.
    """
    weights = _combined(cost, allowed)
    if not weights or not weights[0]:
        return []
    if len(weights) <= len(weights[0]):
        return sorted(enumerate(_assign(weights)))
    flipped = [list(column) for column in zip(*weights, strict=True)]
    return sorted((row, column) for column, row in enumerate(_assign(flipped)))


def _combined(
    cost: Sequence[Sequence[float]], allowed: Sequence[Sequence[bool]]
) -> list[list[int]]:
    """One whole number per pair that orders as (not allowed, cost); exact, so ties stay ties."""
    shape = [len(row) for row in cost]
    if shape != [len(row) for row in allowed] or len(set(shape)) > 1:
        raise ValueError(
            "cost and allowed must be tables of the same shape, got rows of unequal length"
        )
    for row in cost:
        for value in row:
            if not isfinite(value):
                raise ValueError(f"cost must be a finite number, got {value}")
    exact = [[_ratio(value) for value in row] for row in cost]
    unit = lcm(*{denominator for row in exact for _, denominator in row})
    whole = [[numerator * (unit // denominator) for numerator, denominator in row] for row in exact]
    # More than any two full pairings can differ in cost.
    penalty = 1 + 2 * sum(max(map(abs, row), default=0) for row in whole)
    return [
        [value if fits else value + penalty for value, fits in zip(values, fit, strict=True)]
        for values, fit in zip(whole, allowed, strict=True)
    ]


def _ratio(value: float) -> tuple[int, int]:
    """The value as numerator and denominator; not every number type can tell them itself."""
    if isinstance(value, (float, int)):
        return value.as_integer_ratio()
    return Fraction(value).as_integer_ratio()


def _assign(cost: list[list[int]]) -> list[int]:
    """The column of each row in a cheapest assignment; needs at least as many columns as rows.

    Rows join one by one; each takes the cheapest path of reassignments to a free column. Prices
    keep every step of such a path at 0 or more, so that the nearest column is final.
    """
    if len(cost) == 1:
        return [cost[0].index(min(cost[0]))]
    width = len(cost[0])
    row_price, column_price = [0] * len(cost), [0] * width
    owner = [-1] * width
    for start in range(len(cost)):
        path = _cheapest_path(cost, start, row_price, column_price, owner)
        for row, column, length in path.visited:
            row_price[row] += path.length - length
            if column >= 0:
                column_price[column] -= path.length - length
        column = path.end
        while column >= 0:
            before = path.came_from[column]
            owner[column] = owner[before] if before >= 0 else start
            column = before
    columns = {row: column for column, row in enumerate(owner)}
    return [columns[row] for row in range(len(cost))]


@dataclass(frozen=True, slots=True)
class _Path:
    """A way from a new row to the free column `end`; -1 stands for the new row's own start."""

    end: int
    length: int
    came_from: list[int]
    visited: list[tuple[int, int, int]]  # row, the column it owns, the length up to there


def _cheapest_path(
    cost: list[list[int]],
    start: int,
    row_price: list[int],
    column_price: list[int],
    owner: list[int],
) -> _Path:
    row, column, length = start, -1, 0
    visited = [(row, column, length)]
    open_columns = list(range(len(owner)))
    lengths: list[int | None] = [None] * len(owner)
    came_from = [-1] * len(owner)
    while True:
        costs, offset = cost[row], length - row_price[row]
        shortest, nearest = None, -1
        for candidate in open_columns:
            known = lengths[candidate]
            reached = offset + costs[candidate] - column_price[candidate]
            if known is None or reached < known:
                lengths[candidate] = known = reached
                came_from[candidate] = column
            if shortest is None or known < shortest:
                shortest, nearest = known, candidate
        assert shortest is not None
        column, length = nearest, shortest
        if owner[column] < 0:
            return _Path(column, length, came_from, visited)
        open_columns.remove(column)
        row = owner[column]
        visited.append((row, column, length))
