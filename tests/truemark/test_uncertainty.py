import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truemark.aggregate import total
from truemark.counts import Counts, Weights
from truemark.uncertainty import (
    DEFAULT_SEED,
    Interval,
    Scoring,
    bootstrap_interval,
    permutation_test,
)

F1 = Scoring("f1", empty=0.0)
RECALL = Scoring("recall", empty=0.0)
GROUPS = st.lists(st.builds(Counts, *[st.integers(0, 30)] * 3), min_size=1, max_size=8)
TALKS = [Counts(40, 10, 5), Counts(30, 2, 20), Counts(55, 9, 9), Counts(12, 12, 3)]


def test_a_scoring_is_the_named_score_of_the_counts() -> None:
    assert Scoring("precision", empty=0.0)(Counts(3, 1, 5)) == 0.75
    assert Scoring("weighted", empty=0.0, weights=Weights(1, 0))(Counts(3, 1, 5)) == 0.75
    assert Scoring("f1", empty=1.0)(Counts.zero) == 1.0


def test_an_interval_says_what_it_takes_to_redo_it() -> None:
    interval = bootstrap_interval(TALKS, F1, resamples=500)
    assert interval == bootstrap_interval(TALKS, F1, resamples=500, seed=interval.seed)
    assert (interval.seed, interval.resamples, interval.confidence) == (DEFAULT_SEED, 500, 0.95)


def test_another_seed_draws_other_resamples() -> None:
    assert bootstrap_interval(TALKS, F1, seed=1) != bootstrap_interval(TALKS, F1, seed=2)


@settings(max_examples=30)
@given(GROUPS)
def test_the_value_is_that_of_the_summed_counts(groups: list[Counts]) -> None:
    interval = bootstrap_interval(groups, F1, resamples=50)
    assert interval.value == F1(total(groups))
    assert interval.low <= interval.high


def test_equal_groups_leave_no_doubt() -> None:
    interval = bootstrap_interval([Counts(8, 2, 2)] * 5, F1, resamples=200, seed=3)
    assert interval == Interval(0.8, 0.8, 0.8, 0.95, 200, 3)


def test_a_higher_confidence_gives_a_wider_interval() -> None:
    narrow = bootstrap_interval(TALKS, F1, confidence=0.5)
    wide = bootstrap_interval(TALKS, F1, confidence=0.99)
    assert wide.low < narrow.low <= narrow.value <= narrow.high < wide.high


def test_the_interval_agrees_with_all_resamples_there_are() -> None:
    drawn = sorted(RECALL(total(draw)) for draw in itertools.product(TALKS, repeat=len(TALKS)))
    low, high = drawn[round(len(drawn) * 0.025)], drawn[round(len(drawn) * 0.975)]
    interval = bootstrap_interval(TALKS, RECALL)
    assert interval.low == pytest.approx(low, abs=0.01)
    assert interval.high == pytest.approx(high, abs=0.01)


def exact_p_value(first: list[Counts], second: list[Counts]) -> float:
    observed = abs(F1(total(first)) - F1(total(second)))
    swaps = list(itertools.product([False, True], repeat=len(first)))
    as_large = 0
    for swap in swaps:
        pairs = [(b, a) if s else (a, b) for a, b, s in zip(first, second, swap, strict=True)]
        left, right = zip(*pairs, strict=True)
        as_large += abs(F1(total(left)) - F1(total(right))) >= observed - 1e-12
    return as_large / len(swaps)


def test_the_p_value_agrees_with_all_swaps_there_are() -> None:
    better = [Counts(9, 1, 1), Counts(8, 2, 1), Counts(7, 1, 3), Counts(9, 2, 2), Counts(6, 1, 1)]
    worse = [Counts(8, 3, 2), Counts(8, 2, 1), Counts(5, 4, 5), Counts(9, 3, 2), Counts(5, 3, 2)]
    test = permutation_test(better, worse, F1, permutations=20_000)
    assert test.difference == F1(total(better)) - F1(total(worse))
    assert test.p_value == pytest.approx(exact_p_value(better, worse), abs=0.01)


def test_a_system_does_not_differ_from_itself() -> None:
    test = permutation_test(TALKS, TALKS, F1, permutations=100)
    assert (test.difference, test.p_value) == (0.0, 1.0)


def test_swapping_the_systems_turns_the_difference_around() -> None:
    worse = [Counts(one.tp - 2, one.fp + 2, one.fn + 2) for one in TALKS]
    forward = permutation_test(TALKS, worse, F1)
    backward = permutation_test(worse, TALKS, F1)
    assert forward.difference == -backward.difference > 0
    assert forward.p_value == backward.p_value


def test_a_p_value_is_never_zero_and_its_seed_is_shown() -> None:
    good, bad = [Counts(9, 0, 0)] * 40, [Counts(0, 9, 9)] * 40
    test = permutation_test(good, bad, F1, permutations=999, seed=5)
    assert (test.p_value, test.permutations, test.seed) == (0.001, 999, 5)


def test_many_groups_are_drawn_in_portions_that_fit_in_memory() -> None:
    groups = [Counts(number % 7, 1, 2) for number in range(50_000)]
    interval = bootstrap_interval(groups, F1, resamples=100)
    assert interval.low < interval.value < interval.high


@pytest.mark.parametrize(
    ("groups", "confidence", "resamples", "message"),
    [
        ([], 0.95, 10, "groups must not be empty"),
        (TALKS, 1.0, 10, "confidence must be between 0 and 1, got 1.0"),
        (TALKS, 0.95, 0, "resamples must be 1 or more, got 0"),
    ],
    ids=["no groups", "certainty", "no draws"],
)
def test_impossible_intervals_are_refused(
    groups: list[Counts], confidence: float, resamples: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(groups, F1, confidence=confidence, resamples=resamples)


@pytest.mark.parametrize(
    ("first", "second", "permutations", "message"),
    [
        ([], [], 10, "must have the same groups"),
        (TALKS, TALKS[1:], 10, "must have the same groups, got 4 and 3"),
        (TALKS, TALKS, 0, "permutations must be 1 or more, got 0"),
    ],
    ids=["no groups", "other groups", "no draws"],
)
def test_impossible_tests_are_refused(
    first: list[Counts], second: list[Counts], permutations: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        permutation_test(first, second, F1, permutations=permutations)
