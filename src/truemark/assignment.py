"""One-to-one pairing by cost: the cheapest assignment, exact to the last digit."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, lcm

Pair = tuple[int, int]
Costs = Sequence[Sequence[float]]
Allowed = Sequence[Sequence[bool]]


def match_by_cost(cost: Costs, allowed: Allowed) -> list[Pair]:
    """Choose the (row, column) pairs with the most allowed ones and, among those, the least cost.

    Every row or every column is paired, whichever are fewer; pairs that are not allowed fill up
    what is left. Pairs come in ascending row order, and equal inputs give equal pairs.

    >>> match_by_cost([[1, 2], [1, 4]], [[True, True], [True, True]])
    [(0, 1), (1, 0)]
    """
    shape = [len(row) for row in cost]
    if shape != [len(row) for row in allowed] or len(set(shape)) > 1:
        raise ValueError(
            "cost and allowed must be tables of the same shape, got rows of unequal length"
        )
    for value in (value for row in cost for value in row):
        if not isfinite(value):
            raise ValueError(f"cost must be a finite number, got {value}")
    if not cost or not cost[0]:
        return []
    table = _whole_costs(cost, allowed)
    if len(cost) <= len(cost[0]):
        return list(enumerate(_cheapest_columns(table)))
    flipped = _cheapest_columns([list(column) for column in zip(*table, strict=True)])
    return sorted((row, column) for column, row in enumerate(flipped))


def _whole_costs(cost: Costs, allowed: Allowed) -> list[list[int]]:
    """Turn costs into whole numbers that order as (not allowed, cost): sums of them are exact."""
    ratios = [[float(value).as_integer_ratio() for value in row] for row in cost]
    unit = lcm(*{denominator for row in ratios for _, denominator in row})
    whole = [
        [numerator * (unit // denominator) for numerator, denominator in row] for row in ratios
    ]
    # More than any two full pairings can differ in cost.
    penalty = 1 + 2 * sum(max(map(abs, row)) for row in whole)
    return [
        [value if fits else value + penalty for value, fits in zip(values, row, strict=True)]
        for values, row in zip(whole, allowed, strict=True)
    ]


def _cheapest_columns(table: list[list[int]]) -> list[int]:
    """Give each row its column; there must be as many columns as rows, or more.

    Rows join one by one; each takes the cheapest path of reassignments to a free column. Prices
    keep every step of such a path at 0 or more, so that the nearest column is final.
    """
    width = len(table[0])
    row_price, column_price = [min(row) for row in table], [0] * width
    owner = [-1] * width
    for start in range(len(table)):
        lengths: dict[int, int] = {}
        came_from: dict[int, int] = {}
        undecided = list(range(width))
        row, column, length = start, -1, 0
        visited = [(row, column, length)]
        while True:
            offset, costs, nearest = length - row_price[row], table[row], -1
            for candidate in undecided:
                reached = offset + costs[candidate] - column_price[candidate]
                if candidate not in lengths or reached < lengths[candidate]:
                    lengths[candidate] = reached
                    came_from[candidate] = column
                reached = lengths[candidate]
                if nearest < 0 or reached < length:
                    nearest, length = candidate, reached
                elif reached == length and owner[nearest] >= 0 > owner[candidate]:
                    nearest = candidate  # a free column ends the path
            column = nearest
            if owner[column] < 0:
                break
            row = owner[column]
            undecided.remove(column)
            visited.append((row, column, length))
        for row, taken, reached in visited:
            row_price[row] += length - reached
            if taken >= 0:
                column_price[taken] -= length - reached
        while column >= 0:
            before = came_from[column]
            owner[column] = owner[before] if before >= 0 else start
            column = before
    columns = {row: column for column, row in enumerate(owner)}
    return [columns[row] for row in range(len(table))]
