import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from truemark import resampling
from truemark.counts import Counts, Weights, total
from truemark.uncertainty import (
    DEFAULT_DRAWS,
    DEFAULT_SEED,
    Interval,
    PairedTest,
    Power,
    Scoring,
    clustered,
    holm,
    intervals_of,
    paired_interval,
    paired_test,
    power_of,
    t_quantile,
    wilson,
)

F1 = Scoring("f1", empty=0.0)
RECALL = Scoring("recall", empty=0.0)
GROUPS = st.lists(st.builds(Counts, *[st.integers(0, 30)] * 3), min_size=1, max_size=8)
TALKS = [Counts(40, 10, 5), Counts(30, 2, 20), Counts(55, 9, 9), Counts(12, 12, 3)]


def rows_of(groups: Sequence[Counts]) -> NDArray[np.int64]:
    rows = [(one.tp, one.fp, one.fn) for one in groups]
    return np.array(rows, dtype=np.int64).reshape(len(rows), 3)


def interval_of(
    groups: Sequence[Counts],
    scoring: Scoring,
    *,
    clusters: Sequence[str] | None = None,
    **draws: Any,
) -> Interval:
    table = clustered(rows_of(groups), clusters)
    return intervals_of(table, (scoring,), replace(DEFAULT_DRAWS, **draws))[0]


def swap_test(
    first: Sequence[Counts], second: Sequence[Counts], scoring: Scoring, **draws: Any
) -> PairedTest:
    return paired_test(rows_of(first), rows_of(second), scoring, replace(DEFAULT_DRAWS, **draws))


def test_a_scoring_is_the_named_score_of_the_counts() -> None:
    assert Scoring("precision", empty=0.0)(Counts(3, 1, 5)) == 0.75
    assert Scoring("weighted", empty=0.0, weights=Weights(1, 0))(Counts(3, 1, 5)) == 0.75
    assert Scoring("f1", empty=1.0)(Counts.zero) == 1.0


def test_an_interval_says_what_it_takes_to_redo_it() -> None:
    interval = interval_of(TALKS, F1, resamples=500)
    assert interval == interval_of(TALKS, F1, resamples=500, seed=interval.seed)
    assert (interval.seed, interval.resamples, interval.confidence) == (DEFAULT_SEED, 500, 0.95)


def test_another_seed_draws_other_resamples() -> None:
    assert interval_of(TALKS, F1, seed=1) != interval_of(TALKS, F1, seed=2)


@settings(max_examples=30)
@given(GROUPS)
def test_the_value_is_that_of_the_summed_counts(groups: list[Counts]) -> None:
    interval = interval_of(groups, F1, resamples=50)
    assert interval.value == F1(total(groups))
    assert interval.low <= interval.high


def test_equal_groups_leave_no_doubt() -> None:
    interval = interval_of([Counts(8, 2, 2)] * 5, F1, resamples=200, seed=3)
    assert interval == Interval(0.8, 0.8, 0.8, 0.95, 200, 3, 5)


def test_a_higher_confidence_gives_a_wider_interval() -> None:
    narrow = interval_of(TALKS, F1, confidence=0.5)
    wide = interval_of(TALKS, F1, confidence=0.99)
    assert wide.low < narrow.low <= narrow.value <= narrow.high < wide.high


def bca_levels(drawn: list[float], groups: list[Counts]) -> list[float]:
    """The textbook's BCa levels, at 3.182 (Student's t, three degrees of freedom) for 1.96."""
    normal, value, size = NormalDist(), RECALL(total(groups)), len(groups)
    below = sum(one < value for one in drawn) + sum(one == value for one in drawn) / 2
    bias = normal.inv_cdf(below / len(drawn))
    jackknife = [RECALL(total(groups[:i] + groups[i + 1 :])) for i in range(size)]
    mean = sum(jackknife) / size
    cubes = sum((mean - one) ** 3 for one in jackknife)
    squares = sum((mean - one) ** 2 for one in jackknife)
    pull = cubes / (6 * squares**1.5)
    reaches = [sign * 3.182 * math.sqrt(size / (size - 1)) for sign in (-1, 1)]
    moved = [bias + reach for reach in reaches]
    return [normal.cdf(bias + one / (1 - pull * one)) for one in moved]


def test_the_interval_agrees_with_all_resamples_there_are() -> None:
    drawn = sorted(RECALL(total(draw)) for draw in itertools.product(TALKS, repeat=len(TALKS)))
    expected = np.quantile(drawn, bca_levels(drawn, TALKS)).tolist()
    interval = interval_of(TALKS, RECALL, resamples=50_000)
    assert [interval.low, interval.high] == pytest.approx(expected, abs=0.01)


def test_groups_of_one_cluster_are_resampled_together() -> None:
    split = [Counts(4, 1, 0), Counts(36, 9, 5), *TALKS[1:]]
    joined = interval_of(split, F1, clusters=["a", "a", "b", "c", "d"])
    assert joined == interval_of(TALKS, F1)
    assert joined.clusters == 4
    assert interval_of(split, F1).clusters == 5


def test_a_single_cluster_says_nothing() -> None:
    interval = interval_of(TALKS, F1, clusters=["one"] * 4)
    assert (interval.low, interval.high) == (0.0, 1.0)


def heavy_tailed(count: int) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
    generator = np.random.default_rng(2)
    tp = (generator.pareto(2.5, count) * 40).astype(np.int64) + np.arange(count) % 97
    return np.stack(
        (tp, generator.integers(0, 40, count), generator.integers(0, 90, count)), axis=1
    )


def test_drawing_kinds_gives_the_same_distribution_as_drawing_groups() -> None:
    rows = heavy_tailed(6_000)
    assert len(np.unique(rows, axis=0)) > 5_000
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(resampling, "ONE_BY_ONE", 10_000)
        (one_by_one,) = intervals_of(rows, (F1,))
    (by_kind,) = intervals_of(rows, (F1,))
    width = one_by_one.high - one_by_one.low
    assert by_kind.low == pytest.approx(one_by_one.low, abs=width / 25)
    assert by_kind.high == pytest.approx(one_by_one.high, abs=width / 25)


def test_swapping_kinds_gives_the_same_distribution_as_swapping_groups() -> None:
    first, second = heavy_tailed(3_000), heavy_tailed(3_000)[::-1]
    differences = second - first
    generator = np.random.default_rng(3)
    coins = generator.integers(0, 2, (4_000, len(differences)))
    expected = coins @ differences
    found = resampling.swapped_sums(differences, 4_000, generator)
    for column in range(3):
        spread = expected[:, column].std()
        assert found[:, column].mean() == pytest.approx(expected[:, column].mean(), abs=spread / 9)
        assert found[:, column].std() == pytest.approx(spread, rel=0.05)


def test_a_paired_difference_holds_less_doubt_than_two_scores() -> None:
    generator = np.random.default_rng(4)
    first = np.stack([generator.integers(0, 50, 40) for _ in range(3)], axis=1)
    second = first + np.array([0, 1, 0])
    paired = paired_interval(first, second, F1)
    (alone,) = intervals_of(first, (F1,))
    assert paired.low <= paired.value <= paired.high
    assert paired.value == F1.of_rows(first.sum(axis=0)) - F1.of_rows(second.sum(axis=0))
    assert paired.high - paired.low < (alone.high - alone.low) / 3
    assert paired.standard_error == pytest.approx((paired.high - paired.low) / 4, rel=0.2)


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
    test = swap_test(better, worse, F1, resamples=20_000)
    assert test.difference == F1(total(better)) - F1(total(worse))
    assert test.p_value == pytest.approx(exact_p_value(better, worse), abs=0.01)


def test_a_system_does_not_differ_from_itself() -> None:
    test = swap_test(TALKS, TALKS, F1, resamples=100)
    assert (test.difference, test.p_value) == (0.0, 1.0)


def test_swapping_the_systems_turns_the_difference_around() -> None:
    worse = [Counts(one.tp - 2, one.fp + 2, one.fn + 2) for one in TALKS]
    forward = swap_test(TALKS, worse, F1)
    backward = swap_test(worse, TALKS, F1)
    assert forward.difference == -backward.difference > 0
    assert forward.p_value == backward.p_value


def test_a_p_value_is_never_zero_and_its_seed_is_shown() -> None:
    good, bad = [Counts(9, 0, 0)] * 40, [Counts(0, 9, 9)] * 40
    test = swap_test(good, bad, F1, resamples=999, seed=5)
    assert (test.p_value, test.permutations, test.seed) == (0.001, 999, 5)


def test_many_groups_are_drawn_in_portions_that_fit_in_memory() -> None:
    groups = [Counts(number % 7, 1, 2) for number in range(50_000)]
    interval = interval_of(groups, F1, resamples=100)
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
        interval_of(groups, F1, confidence=confidence, resamples=resamples)


@pytest.mark.parametrize(
    ("first", "second", "resamples", "message"),
    [
        ([], [], 10, "must have the same groups"),
        (TALKS, TALKS[1:], 10, "must have the same groups, got 4 and 3"),
        (TALKS, TALKS, 0, "resamples must be 1 or more, got 0"),
    ],
    ids=["no groups", "other groups", "no draws"],
)
def test_impossible_tests_are_refused(
    first: list[Counts], second: list[Counts], resamples: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        swap_test(first, second, F1, resamples=resamples)


@given(st.integers(1, 500), st.data())
def test_the_ends_of_a_wilson_interval_solve_its_equation(count: int, data: st.DataObject) -> None:
    correct = data.draw(st.integers(0, count))
    share = wilson(correct, count)
    assert share is not None
    z = NormalDist().inv_cdf(0.975)
    for end in (share.low, share.high):
        left = abs(share.value - end)
        assert left == pytest.approx(z * math.sqrt(end * (1 - end) / count), abs=1e-9)
    assert 0 <= share.low <= share.value <= share.high <= 1


def test_known_wilson_intervals() -> None:
    share = wilson(8, 10)
    assert share is not None
    assert (share.low, share.high) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 0) is None
    with pytest.raises(ValueError, match="correct must be between 0 and 3, got 4"):
        wilson(4, 3)


def test_holm_corrects_the_smallest_most_and_keeps_the_order() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([0.6, 0.7]) == (1.0, 1.0)
    assert holm([]) == ()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_lies_between_no_correction_and_bonferronis(p_values: list[float]) -> None:
    for raw, adjusted in zip(p_values, holm(p_values), strict=True):
        assert raw <= adjusted <= min(1.0, raw * len(p_values)) + 1e-12


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (9, 2.262), (19, 2.093), (69, 1.995)],
)
def test_students_quantiles_are_those_of_the_tables(freedom: int, quantile: float) -> None:
    assert t_quantile(0.975, freedom) == pytest.approx(quantile, abs=0.005)


def test_power_falls_with_the_root_of_the_clusters() -> None:
    power = power_of(0.01, 10_000)
    assert power is not None
    assert power.smallest_difference == pytest.approx(0.028, abs=0.0001)
    assert power.clusters_needed(power.smallest_difference / 2) == 40_000
    assert Power(0.13, 70).clusters_needed(0.02) == 2_958


@pytest.mark.parametrize(("error", "clusters"), [(0.0, 70), (0.1, 1)])
def test_no_spread_tells_nothing_of_power(error: float, clusters: int) -> None:
    assert power_of(error, clusters) is None
