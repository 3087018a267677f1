import itertools
import random
from fractions import Fraction
from operator import itemgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemark.assignment import match_by_cost

Table = list[list[float]]


def cheapest_by_trying_all(cost: Table, allowed: list[list[bool]]) -> tuple[int, float]:
    """The most allowed pairs of any full pairing, and the least cost with that many."""
    few, many = sorted((len(cost), len(cost[0])))
    orders = itertools.permutations(range(many), few)
    if len(cost) == few:
        pairings = (list(enumerate(order)) for order in orders)
    else:
        pairings = ([(row, column) for column, row in enumerate(order)] for order in orders)
    return min(
        (sum(not allowed[r][c] for r, c in pairs), sum(cost[r][c] for r, c in pairs))
        for pairs in pairings
    )


@pytest.mark.parametrize(
    ("cost", "allowed", "pairs"),
    [
        pytest.param([], [], [], id="no rows"),
        pytest.param([[], []], [[], []], [], id="no columns"),
        pytest.param([[7]], [[True]], [(0, 0)], id="one pair"),
        pytest.param([[7]], [[False]], [(0, 0)], id="a pair that is not allowed is still a pair"),
        pytest.param(
            [[1, 2], [1, 4]], [[True] * 2] * 2, [(0, 1), (1, 0)], id="the cheapest total wins"
        ),
        pytest.param(
            [[0, 900], [900, 0]],
            [[False, True], [True, False]],
            [(0, 1), (1, 0)],
            id="allowed pairs come before cost",
        ),
        pytest.param(
            [[0, 5], [5, 9]],
            [[True, True], [True, False]],
            [(0, 1), (1, 0)],
            id="two allowed pairs beat one at no cost",
        ),
        pytest.param(
            [[5], [1], [3]], [[True], [False], [True]], [(2, 0)], id="more rows than columns"
        ),
        pytest.param([[5, 1, 3]], [[True, False, True]], [(0, 2)], id="more columns than rows"),
        pytest.param([[1] * 3] * 3, [[True] * 3] * 3, [(0, 0), (1, 1), (2, 2)], id="all equal"),
        pytest.param(
            [[-3.5, 0.0], [-3.0, -9.0]],
            [[True] * 2] * 2,
            [(0, 0), (1, 1)],
            id="costs may be negative",
        ),
    ],
)
def test_match_by_cost(
    cost: Table, allowed: list[list[bool]], pairs: list[tuple[int, int]]
) -> None:
    assert match_by_cost(cost, allowed) == pairs


@pytest.mark.parametrize("levels", [2, 5, 1000], ids="{} costs".format)
def test_no_pairing_is_better(levels: int) -> None:
    chance = random.Random(levels)
    for _ in range(700):
        height, width = chance.randrange(1, 6), chance.randrange(1, 6)
        cost = [[chance.randrange(levels) / 4 for _ in range(width)] for _ in range(height)]
        likely = chance.random()
        allowed = [[chance.random() < likely for _ in range(width)] for _ in range(height)]
        pairs = match_by_cost(cost, allowed)
        misses = sum(not allowed[row][column] for row, column in pairs)
        total = sum(cost[row][column] for row, column in pairs)
        assert (misses, total) == cheapest_by_trying_all(cost, allowed)


@pytest.mark.parametrize("kind", ["random", "levels", "equal", "none allowed", "wide", "huge"])
def test_large_tables_cost_the_same_from_both_sides(kind: str) -> None:
    chance = random.Random(kind)
    height, width = (60, 60) if kind != "wide" else (50, 90)
    levels = {"levels": 3, "equal": 1}.get(kind, 10**9)
    scale = 1e298 if kind == "huge" else 0.1
    cost = [[chance.randrange(levels) * scale for _ in range(width)] for _ in range(height)]
    share = 0.0 if kind == "none allowed" else 0.2
    allowed = [[chance.random() < share for _ in range(width)] for _ in range(height)]
    found = match_by_cost(cost, allowed)
    flipped = match_by_cost(list(zip(*cost, strict=True)), list(zip(*allowed, strict=True)))
    assert worth(found, cost, allowed) == worth([(r, c) for c, r in flipped], cost, allowed)
    assert len({column for _, column in found}) == height


def worth(
    pairs: list[tuple[int, int]], cost: Table, allowed: list[list[bool]]
) -> tuple[int, Fraction]:
    misses = sum(not allowed[row][column] for row, column in pairs)
    return misses, sum((Fraction(cost[row][column]) for row, column in pairs), Fraction(0))


@given(st.integers(0, 12), st.integers(0, 12), st.randoms(use_true_random=False))
def test_every_row_or_every_column_is_paired_once(
    height: int, width: int, chance: random.Random
) -> None:
    cost = [[chance.random() for _ in range(width)] for _ in range(height)]
    allowed = [[chance.random() < 0.3 for _ in range(width)] for _ in range(height)]
    pairs = match_by_cost(cost, allowed)
    assert len(pairs) == min(height, width)
    assert len(set(map(itemgetter(0), pairs))) == len(set(map(itemgetter(1), pairs))) == len(pairs)
    assert pairs == sorted(pairs)


def test_costs_that_differ_in_the_last_digit_are_told_apart() -> None:
    # 0.1 + 0.2 is larger than 0.3 by one rounding step; a penalty added as a float would hide it.
    cost = [[0.1 + 0.2, 0.3], [1e6, 1e6]]
    assert match_by_cost(cost, [[False] * 2] * 2) == [(0, 1), (1, 0)]


@pytest.mark.parametrize(
    ("cost", "allowed"),
    [
        ([[1, 2], [3]], [[True, True], [True]]),
        ([[1, 2]], [[True]]),
        ([[1, 2]], []),
    ],
    ids=["ragged", "narrower", "shorter"],
)
def test_tables_of_another_shape_are_refused(cost: Table, allowed: list[list[bool]]) -> None:
    with pytest.raises(ValueError, match="same shape"):
        match_by_cost(cost, allowed)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_costs_that_cannot_be_added_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match=f"cost must be a finite number, got {value}"):
        match_by_cost([[1.0, value]], [[True, True]])
