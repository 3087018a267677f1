import itertools
import random
from fractions import Fraction
from functools import cache
from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemark import assignment, matching
from truemark.matching import match_by_cost, match_positions

POSITIONS = st.lists(st.integers(0, 40), max_size=25)
TOLERANCE = st.integers(0, 8)


def largest_matching(predicted: list[int], expected: list[int], tolerance: int) -> int:
    """Tries every way to match, and returns the most pairs any has."""

    @cache
    def most(number: int, taken: int) -> int:
        if number == len(predicted):
            return 0
        results = [most(number + 1, taken)]
        for place, truth in enumerate(expected):
            if not taken >> place & 1 and abs(predicted[number] - truth) <= tolerance:
                results.append(1 + most(number + 1, taken | 1 << place))
        return max(results)

    return most(0, 0)


def quadratic_scan(
    predicted: list[int], expected: list[int], tolerance: int
) -> list[tuple[int, int]]:
    """Each prediction in order takes the first free truth within tolerance; as positions."""
    truths, pairs = sorted(expected), []
    free = [True] * len(truths)
    for guess in sorted(predicted):
        for place, truth in enumerate(truths):
            if free[place] and abs(guess - truth) <= tolerance:
                free[place] = False
                pairs.append((guess, truth))
                break
    return pairs


def matched_positions(
    predicted: list[int], expected: list[int], tolerance: int
) -> list[tuple[int, int]]:
    pairs = match_positions(predicted, expected, tolerance)
    return [(predicted[row], expected[column]) for row, column in pairs]


@pytest.mark.parametrize(
    ("predicted", "expected", "tolerance", "pairs"),
    [
        pytest.param([], [], 3, [], id="nothing at all"),
        pytest.param([5], [], 3, [], id="no truth"),
        pytest.param([], [5], 3, [], id="no prediction"),
        pytest.param([5], [8], 3, [(0, 0)], id="at the edge of the tolerance"),
        pytest.param([5], [9], 3, [], id="one beyond the tolerance"),
        pytest.param([8], [5], 3, [(0, 0)], id="to the left"),
        pytest.param([5], [5], 0, [(0, 0)], id="exact"),
        pytest.param([5], [6], 0, [], id="off by one without tolerance"),
        pytest.param([10, 11], [10], 3, [(0, 0)], id="two predictions cannot share one truth"),
        pytest.param([10], [9, 11], 3, [(0, 0)], id="two truths cannot share one prediction"),
        pytest.param([10, 12], [7, 11], 3, [(0, 0), (1, 1)], id="the first free one is taken"),
        pytest.param([30, 10], [11, 29], 3, [(1, 0), (0, 1)], id="indices are those given"),
        pytest.param([4, 4, 4], [4, 4], 0, [(0, 0), (1, 1)], id="equal positions pair one to one"),
        pytest.param([-5], [-7], 2, [(0, 0)], id="negative positions"),
        pytest.param([10**20], [10**20 + 1], 1, [(0, 0)], id="positions of any size"),
    ],
)
def test_match_positions(
    predicted: list[int], expected: list[int], tolerance: int, pairs: list[tuple[int, int]]
) -> None:
    assert match_positions(predicted, expected, tolerance) == pairs


def test_no_matching_is_larger() -> None:
    chance = random.Random(20260220)
    for _ in range(5000):
        span = chance.choice([4, 12, 30])
        predicted = [chance.randrange(span) for _ in range(chance.randrange(8))]
        expected = [chance.randrange(span) for _ in range(chance.randrange(8))]
        tolerance = chance.randrange(6)
        found = match_positions(predicted, expected, tolerance)
        assert len(found) == largest_matching(predicted, expected, tolerance)


@given(POSITIONS, POSITIONS, TOLERANCE)
def test_the_walk_gives_what_the_quadratic_scan_gives(
    predicted: list[int], expected: list[int], tolerance: int
) -> None:
    walked = matched_positions(predicted, expected, tolerance)
    assert walked == quadratic_scan(predicted, expected, tolerance)


@given(POSITIONS, POSITIONS, TOLERANCE, st.randoms(use_true_random=False))
def test_the_order_of_the_inputs_does_not_matter(
    predicted: list[int], expected: list[int], tolerance: int, chance: random.Random
) -> None:
    before = matched_positions(predicted, expected, tolerance)
    chance.shuffle(predicted)
    chance.shuffle(expected)
    assert matched_positions(predicted, expected, tolerance) == before


@given(POSITIONS, POSITIONS, TOLERANCE)
def test_each_index_is_used_once_and_within_tolerance(
    predicted: list[int], expected: list[int], tolerance: int
) -> None:
    pairs = match_positions(predicted, expected, tolerance)
    for side in (0, 1):
        assert len({pair[side] for pair in pairs}) == len(pairs)
    assert all(abs(predicted[row] - expected[column]) <= tolerance for row, column in pairs)


@given(POSITIONS, POSITIONS, TOLERANCE)
def test_a_wider_tolerance_never_loses_a_match(
    predicted: list[int], expected: list[int], tolerance: int
) -> None:
    narrow = match_positions(predicted, expected, tolerance)
    assert len(match_positions(predicted, expected, tolerance + 1)) >= len(narrow)


@given(POSITIONS, POSITIONS, TOLERANCE)
def test_swapping_sides_keeps_the_number_of_matches(
    predicted: list[int], expected: list[int], tolerance: int
) -> None:
    forward = match_positions(predicted, expected, tolerance)
    assert len(match_positions(expected, predicted, tolerance)) == len(forward)


@given(POSITIONS, POSITIONS, st.one_of(TOLERANCE, st.just(10**30)))
def test_matching_in_columns_gives_the_pairs_of_the_scan(
    predicted: list[int], expected: list[int], tolerance: int
) -> None:
    scanned = match_positions(predicted, expected, tolerance)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(matching, "_MANY", 0)
        assert match_positions(predicted, expected, tolerance) == scanned


@pytest.mark.parametrize("tolerance", [0, 1, 5, 50, 10**6])
@pytest.mark.parametrize("span", [300, 5_000, 60_000], ids=["crowded", "close", "sparse"])
def test_many_positions_are_matched_as_few_are(span: int, tolerance: int) -> None:
    generator = np.random.default_rng(span + tolerance)
    predicted = generator.integers(-span, span, 3_000).tolist()
    expected = generator.integers(-span, span, 2_500).tolist()
    many = match_positions(predicted, expected, tolerance)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(matching, "_MANY", 10**9)
        assert match_positions(predicted, expected, tolerance) == many


def test_positions_of_any_size_are_matched_however_many_there_are() -> None:
    far = [10**30 + number for number in range(1_500)]
    assert match_positions(far, far[::-1], 0) == [(n, 1_499 - n) for n in range(1_500)]
    edge = [2**63 - 1 - number for number in range(1_500)]
    assert len(match_positions(edge, edge, 2**62)) == 1_500
    with pytest.raises(TypeError):
        match_positions([0.5] * 2_000, [1], 1)  # type: ignore[list-item] # a float is the point


def test_a_negative_tolerance_is_refused() -> None:
    with pytest.raises(ValueError, match="tolerance must be 0 or more, got -1"):
        match_positions([1], [1], -1)


def test_positions_between_characters_are_refused() -> None:
    with pytest.raises(TypeError):
        match_positions([1.5], [1], 1)  # type: ignore[list-item] # a float is the point


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


@pytest.mark.parametrize("levels", [2, 5, 1000], ids="{} costs".format)
def test_searching_in_floats_first_changes_no_result(
    levels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assignment, "_LARGE", 2)
    test_no_pairing_is_better(levels)


@pytest.mark.parametrize("kind", ["random", "levels", "equal", "none allowed", "wide", "huge"])
def test_large_tables_cost_what_the_exact_search_finds(kind: str) -> None:
    chance = random.Random(kind)
    height, width = (60, 60) if kind != "wide" else (50, 90)
    levels = {"levels": 3, "equal": 1}.get(kind, 10**9)
    scale = 1e298 if kind == "huge" else 0.1
    cost = [[chance.randrange(levels) * scale for _ in range(width)] for _ in range(height)]
    share = 0.0 if kind == "none allowed" else 0.2
    allowed = [[chance.random() < share for _ in range(width)] for _ in range(height)]
    found = match_by_cost(cost, allowed)
    everything = [list(range(width))] * height
    exact = assignment._assigned(assignment._exact(cost, allowed, everything), width)
    assert exact is not None
    assert worth(found, cost, allowed) == worth(list(enumerate(exact)), cost, allowed)
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
