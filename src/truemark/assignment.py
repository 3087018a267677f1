"""One-to-one pairing by cost: the cheapest assignment, exact to the last digit.

Costs become whole numbers, so that sums are exact and ties stay ties. A large table is solved in
floating point first: the exact solution uses only pairs that are nearly free at the prices found
there, so the exact search has a few thousand pairs to look at instead of a million.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from math import isfinite, lcm

import numpy as np
from numpy.typing import NDArray

Pair = tuple[int, int]
Costs = Sequence[Sequence[float]]
Allowed = Sequence[Sequence[bool]]
Floats = NDArray[np.float64]
_LARGE = 2_500  # cells above which the search in floating point saves time
# Rounding adds up to a few parts in 10^16 of the longest path; this is far above it.
_ROUNDING = 1e-12


def match_by_cost(cost: Costs, allowed: Allowed) -> list[Pair]:
    """Choose the (row, column) pairs with the most allowed ones and, among those, the least cost.

    Every row or every column is paired, whichever are fewer; pairs that are not allowed fill
    the rest. Pairs come in ascending row order, and equal inputs give equal pairs.

    >>> match_by_cost([[1, 2], [1, 4]], [[True, True], [True, True]])
    [(0, 1), (1, 0)]
    """
    shape = [len(row) for row in cost]
    if shape != [len(row) for row in allowed] or len(set(shape)) > 1:
        raise ValueError(
            "cost and allowed must be tables of the same shape, got rows of unequal length"
        )
    for value in chain.from_iterable(cost):
        if not isfinite(value):
            raise ValueError(f"cost must be a finite number, got {value}")
    if not cost or not cost[0]:
        return []
    if len(cost) <= len(cost[0]):
        return list(enumerate(_cheapest_columns(cost, allowed)))
    flipped = _cheapest_columns(list(zip(*cost, strict=True)), list(zip(*allowed, strict=True)))
    return sorted((row, column) for column, row in enumerate(flipped))


def _cheapest_columns(cost: Costs, allowed: Allowed) -> list[int]:
    """Assign a column to each row; there must be at least as many columns as rows."""
    height, width = len(cost), len(cost[0])
    candidates: list[Iterable[int]] = [range(width)] * height
    if height * width >= _LARGE:
        candidates = _nearly_free(np.array(cost, dtype=np.float64), np.array(allowed, np.bool_))
    return _exact_search(_whole_costs(cost, allowed, candidates), width)


def _whole_costs(
    cost: Costs, allowed: Allowed, candidates: Sequence[Iterable[int]]
) -> list[dict[int, int]]:
    """Turn the costs of candidates into whole numbers that order as (not allowed, cost)."""
    ratios = [
        {column: float(values[column]).as_integer_ratio() for column in columns}
        for values, columns in zip(cost, candidates, strict=True)
    ]
    unit = lcm(*{denominator for row in ratios for _, denominator in row.values()})
    whole = [
        {column: above * (unit // below) for column, (above, below) in row.items()}
        for row in ratios
    ]
    # More than any two full pairings can differ in cost.
    penalty = 1 + 2 * sum(max(map(abs, row.values())) for row in whole)
    return [
        {column: value if fits[column] else value + penalty for column, value in row.items()}
        for row, fits in zip(whole, allowed, strict=True)
    ]


def _exact_search(table: Sequence[dict[int, int]], width: int) -> list[int]:
    """Assign one of its columns to each row, at the least total cost.

    Rows join one by one; each takes the cheapest path of reassignments to a free column. Prices
    keep every step of such a path at 0 or more, so that the nearest column is final.
    """
    row_price, column_price = [min(row.values()) for row in table], [0] * width
    owner = [-1] * width
    for start in range(len(table)):
        lengths: dict[int, int] = {}  # of paths to the columns that are not yet final
        came_from: dict[int, int] = {}
        row, column, length = start, -1, 0
        visited = [(row, column, length)]
        final = set()
        while True:
            offset = length - row_price[row]
            for candidate, cost in table[row].items():
                reached = offset + cost - column_price[candidate]
                if candidate in final or reached >= lengths.get(candidate, reached + 1):
                    continue
                lengths[candidate] = reached
                came_from[candidate] = column
            length = min(lengths.values())
            nearest = [candidate for candidate, reached in lengths.items() if reached == length]
            # A free column ends the path; ties go to the first, so that equal tables pair alike.
            column = min(nearest, key=lambda candidate: (owner[candidate] >= 0, candidate))
            if owner[column] < 0:
                break
            row = owner[column]
            final.add(column)
            del lengths[column]
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


def _nearly_free(table: Floats, allowed: NDArray[np.bool_]) -> list[Iterable[int]]:
    """List the columns of each row that a cheapest assignment may use."""
    height = len(table)
    table /= np.abs(table).max() or 1.0
    penalty = 1.0 + 2.0 * height
    table[~allowed] += penalty
    row_price, column_price = _float_prices(table)
    table -= row_price[:, np.newaxis]
    table -= column_price
    return [np.flatnonzero(row).tolist() for row in table <= penalty * height * _ROUNDING]


def _float_prices(table: Floats) -> tuple[Floats, Floats]:
    """Search as `_exact_search` does, all columns at once, and return the prices it ends with."""
    width = table.shape[1]
    row_price, column_price = table.min(axis=1), np.zeros(width)
    owner = np.full(width, -1)
    waiting = []
    for row, column in enumerate(table.argmin(axis=1).tolist()):
        if owner[column] < 0:
            owner[column] = row
        else:
            waiting.append(row)
    for start in waiting:
        lengths = np.full(width, np.inf)  # of paths to the columns that are not yet final
        came_from = np.full(width, -1)
        prices = column_price.copy()
        row, column, length = start, -1, 0.0
        rows, columns, reached_at = [row], [], [length]
        while True:
            reached = table[row] - prices
            reached += length - row_price[row]
            shorter = np.flatnonzero(reached < lengths)
            lengths[shorter] = reached[shorter]
            came_from[shorter] = column
            length = float(lengths.min())
            nearest = np.flatnonzero(lengths == length)
            column = int(nearest[owner[nearest].argmin()])  # a free one, if any
            row = int(owner[column])
            if row < 0:
                break
            lengths[column], prices[column] = np.inf, -np.inf  # final: not to be reached again
            rows.append(row)
            columns.append(column)
            reached_at.append(length)
        row_price[rows] += length - np.array(reached_at)
        column_price[columns] -= length - np.array(reached_at[1:])
        while column >= 0:
            before = int(came_from[column])
            owner[column] = owner[before] if before >= 0 else start
            column = before
    return row_price, column_price
