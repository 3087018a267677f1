"""One-to-one pairing by cost: the cheapest assignment, exact to the last digit.

Costs become whole numbers, so sums are exact and ties stay ties. Large tables are first solved in
floating point: an exact solution can only use pairs that are tight there, but for rounding, so
that the exact search walks over a few thousand pairs instead of a million.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isfinite, lcm
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

Pair = tuple[int, int]
Number = TypeVar("Number", int, float)
Costs = Sequence[Sequence[float]]
Allowed = Sequence[Sequence[bool]]
Edges = list[list[tuple[int, int]]]  # per row its columns with their costs
_LARGE = 2_500  # cells from which the floating-point search pays for itself


def match_by_cost(cost: Costs, allowed: Allowed) -> list[Pair]:
    """The (row, column) pairs with the most allowed pairs and, among those, the least total cost.

    Every row or every column is paired, whichever are fewer; pairs that are not allowed fill up
    what is left. Pairs come in ascending row order, and equal inputs give equal pairs.
    """
    shape = [len(row) for row in cost]
    if shape != [len(row) for row in allowed] or len(set(shape)) > 1:
        raise ValueError(
            "cost and allowed must be tables of the same shape, got rows of unequal length"
        )
    _check_finite(cost)
    if not cost or not cost[0]:
        return []
    if len(cost) <= len(cost[0]):
        return list(enumerate(_cheapest_columns(cost, allowed)))
    flipped = _cheapest_columns(list(zip(*cost, strict=True)), list(zip(*allowed, strict=True)))
    return sorted((row, column) for column, row in enumerate(flipped))


def _cheapest_columns(cost: Costs, allowed: Allowed) -> list[int]:
    """Per row its column: the most allowed pairs, then the least cost; needs columns enough."""
    height, width = len(cost), len(cost[0])
    if height == 1:
        return [min(range(width), key=lambda column: (not allowed[0][column], cost[0][column]))]
    if height * width >= _LARGE:
        candidates = _tight(cost, allowed)
        if candidates is not None:
            found = _assigned(_exact(cost, allowed, candidates), width)
            if found is not None:
                return found
    found = _assigned(_exact(cost, allowed, [list(range(width))] * height), width)
    assert found is not None
    return found


def _check_finite(cost: Costs) -> None:
    """Refuses costs that cannot be added up."""
    for row in cost:
        for value in row:
            if not isfinite(value):
                raise ValueError(f"cost must be a finite number, got {value}")


def _exact(cost: Costs, allowed: Allowed, candidates: Sequence[Sequence[int]]) -> Edges:
    """One whole number per candidate pair that orders as (not allowed, cost)."""
    exact = [
        [_ratio(values[column]) for column in columns]
        for values, columns in zip(cost, candidates, strict=True)
    ]
    unit = lcm(*{denominator for row in exact for _, denominator in row})
    whole = [[numerator * (unit // denominator) for numerator, denominator in row] for row in exact]
    # More than any two full pairings can differ in cost.
    penalty = 1 + 2 * sum(max(map(abs, row), default=0) for row in whole)
    return [
        [
            (column, value if fits[column] else value + penalty)
            for column, value in zip(columns, values, strict=True)
        ]
        for columns, values, fits in zip(candidates, whole, allowed, strict=True)
    ]


def _ratio(value: float) -> tuple[int, int]:
    """The value as numerator and denominator; not every number type can tell them itself."""
    if isinstance(value, (float, int)):
        return value.as_integer_ratio()
    return Fraction(value).as_integer_ratio()


def _assigned(edges: Edges, width: int) -> list[int] | None:
    """The column of each row in a cheapest assignment; None where the pairs given allow none.

    Rows join one by one; each takes the cheapest path of reassignments to a free column. Prices
    keep every step of such a path at 0 or more, so that the nearest column is final.
    """
    row_price, column_price = [0] * len(edges), [0] * width
    owner = [-1] * width
    for start in range(len(edges)):
        path = _cheapest_path(edges, start, row_price, column_price, owner)
        if path is None:
            return None
        _take(path, start, row_price, column_price, owner)
    columns = {row: column for column, row in enumerate(owner)}
    return [columns[row] for row in range(len(edges))]


@dataclass(frozen=True, slots=True)
class _Path(Generic[Number]):
    """A way from a new row to the free column `end`; -1 stands for the new row's own start."""

    end: int
    length: Number
    came_from: dict[int, int]
    visited: list[tuple[int, int, Number]]  # row, the column it owns, the length up to there


def _take(
    path: _Path[Any], start: int, row_price: Any, column_price: Any, owner: list[int] | Ints
) -> None:
    """Gives the columns of the path to their new rows, and moves the prices along."""
    for row, column, length in path.visited:
        row_price[row] += path.length - length
        if column >= 0:
            column_price[column] -= path.length - length
    column = path.end
    while column >= 0:
        before = path.came_from[column]
        owner[column] = owner[before] if before >= 0 else start
        column = before


def _cheapest_path(
    edges: Edges, start: int, row_price: list[int], column_price: list[int], owner: list[int]
) -> _Path[int] | None:
    row, column, length = start, -1, 0
    visited = [(row, column, length)]
    came_from: dict[int, int] = {}
    lengths: dict[int, int] = {}  # of the columns that are reached and not yet final
    final: set[int] = set()
    while True:
        offset = length - row_price[row]
        for candidate, cost in edges[row]:
            if candidate not in final:
                reached = offset + cost - column_price[candidate]
                known = lengths.get(candidate)
                if known is None or reached < known:
                    lengths[candidate] = reached
                    came_from[candidate] = column
        if not lengths:
            return None
        length = min(lengths.values())
        nearest = [candidate for candidate, known in lengths.items() if known == length]
        # A free column ends the path; of equals the first, so that equal tables pair alike.
        column = min(nearest, key=lambda candidate: (owner[candidate] >= 0, candidate))
        if owner[column] < 0:
            return _Path(column, length, came_from, visited)
        del lengths[column]
        final.add(column)
        row = owner[column]
        visited.append((row, column, length))


def _tight(cost: Costs, allowed: Allowed) -> list[list[int]] | None:
    """Per row the columns that a cheapest assignment may use; None where floats cannot tell."""
    import numpy as np

    table = np.array(cost, dtype=np.float64)
    with np.errstate(over="ignore"):
        table -= table.min()
        penalty = 1 + 2 * float(table.max(axis=1).sum())
    if not isfinite(penalty * len(table)):
        return None
    table[~np.array(allowed, dtype=np.bool_)] += penalty
    row_price, column_price = _prices(table)
    table -= row_price[:, np.newaxis]
    table -= column_price
    # Rounding adds up to a few parts in 10^16 of the longest path; this is far above it.
    rows, columns = np.nonzero(table <= penalty * len(table) * 1e-12)
    starts = np.searchsorted(rows, np.arange(len(table) + 1))
    flat = columns.tolist()
    return [flat[start:end] for start, end in pairwise(starts.tolist())]


def _prices(table: Floats) -> tuple[Floats, Floats]:
    """Prices of rows and columns under which a cheapest assignment, and no pair less, is free."""
    import numpy as np

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
        path = _float_path(table, start, row_price, column_price, owner)
        _take(path, start, row_price, column_price, owner)
    return row_price, column_price


def _float_path(
    table: Floats, start: int, row_price: Floats, column_price: Floats, owner: Ints
) -> _Path[float]:
    import numpy as np

    width = table.shape[1]
    lengths, rest = np.full(width, np.inf), np.full(width, np.inf)  # rest: of those not final
    came_from, final = np.full(width, -1), np.zeros(width, dtype=np.bool_)
    row, column, length = start, -1, 0.0
    visited = [(row, column, length)]
    while True:
        reached = table[row] - column_price
        reached += length - row_price[row]
        shorter = (reached < lengths) & ~final
        lengths[shorter] = rest[shorter] = reached[shorter]
        came_from[shorter] = column
        length = float(rest.min())
        nearest = np.flatnonzero(rest == length)
        column = int(nearest[owner[nearest].argmin()])  # a free one, if there is
        if owner[column] < 0:
            return _Path(column, length, dict(enumerate(came_from.tolist())), visited)
        row = int(owner[column])
        final[column], rest[column] = True, np.inf
        visited.append((row, column, length))
