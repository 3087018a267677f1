import random
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemark import matching
from truemark.matching import match_positions, nearest_pairs

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


@pytest.mark.parametrize("tolerance", [-1, float("nan")])
def test_a_tolerance_that_is_no_distance_is_refused(tolerance: int) -> None:
    with pytest.raises(ValueError, match=f"tolerance must be 0 or more, got {tolerance}"):
        match_positions([1], [1], tolerance)


def test_positions_between_characters_are_refused() -> None:
    with pytest.raises(TypeError):
        match_positions([1.5], [1], 1)  # type: ignore[list-item] # a float is the point


def brute_force(predicted: list[int], expected: list[int], tolerance: int) -> tuple[int, int]:
    """The most pairs, and their least total distance, over all ways to pair."""
    if not predicted:
        return 0, 0
    first, rest = predicted[0], predicted[1:]
    options = [brute_force(rest, expected, tolerance)]
    for place, truth in enumerate(expected):
        if abs(first - truth) <= tolerance:
            others = expected[:place] + expected[place + 1 :]
            pairs, distance = brute_force(rest, others, tolerance)
            options.append((pairs + 1, distance + abs(first - truth)))
    return min(options, key=lambda option: (-option[0], option[1]))


FEW = st.lists(st.integers(0, 25), unique=True, max_size=6).map(sorted)


@given(FEW, FEW, st.integers(0, 6))
def test_nearest_pairs_are_as_many_as_possible_and_as_near(
    predicted: list[int], expected: list[int], tolerance: int
) -> None:
    pairs = nearest_pairs(predicted, expected, tolerance)
    distances = [abs(predicted[row] - expected[column]) for row, column in pairs]
    assert max(distances, default=0) <= tolerance
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    assert (len(pairs), sum(distances)) == brute_force(predicted, expected, tolerance)
    assert len(pairs) == len(match_positions(predicted, expected, tolerance))


def test_an_exact_prediction_is_paired_with_its_own_truth() -> None:
    assert match_positions([10], [8, 10], 3) == [(0, 0)]
    assert nearest_pairs([10], [8, 10], 3) == [(0, 1)]
