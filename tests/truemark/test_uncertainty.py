import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from truemark.counts import Counts, total
from truemark.power import chance_to_see, power_of
from truemark.resampling import FLIPPED, flipped_sums
from truemark.uncertainty import (
    MEASURES,
    Interval,
    PairedInterval,
    Scoring,
    clustered,
    clustered_share,
    holm,
    intervals_of,
    paired_intervals,
    t_quantile,
    variance_components,
    wilson,
)

Ints = NDArray[np.int64]
F1 = Scoring("f1", empty=0.0)
RECALL = Scoring("recall", empty=0.0)
CLEAN = Scoring("clean", empty=0.0)
GROUPS = st.lists(st.builds(Counts, *[st.integers(0, 30)] * 3), min_size=1, max_size=8)
PAIRS = st.lists(
    st.tuples(*[st.builds(Counts, *[st.integers(0, 12)] * 3)] * 2), min_size=1, max_size=9
)
TALKS = [Counts(40, 10, 5), Counts(30, 2, 20), Counts(55, 9, 9), Counts(12, 12, 3)]


def rows_of(groups: Sequence[Counts]) -> NDArray[np.int64]:
    rows = [(group.tp, group.fp, group.fn) for group in groups]
    return np.array(rows, dtype=np.int64).reshape(len(rows), 3)


def interval_of(
    groups: Sequence[Counts], scoring: Scoring, clusters: Sequence[str] | None = None
) -> Interval:
    return intervals_of(clustered(rows_of(groups), clusters), (scoring,))[0]


def difference_of(
    first: Sequence[Counts], second: Sequence[Counts], scoring: Scoring = F1
) -> PairedInterval:
    return paired_interval(rows_of(first), rows_of(second), scoring)


def paired_interval(first: Ints, second: Ints, scoring: Scoring) -> PairedInterval:
    return paired_intervals([(first, second)], scoring)[0]


def test_a_scoring_is_the_named_score_of_the_counts() -> None:
    assert Scoring("precision", empty=0.0)(Counts(3, 1, 5)) == 0.75
    assert Scoring("f1", empty=1.0)(Counts.zero) == 1.0


@settings(max_examples=50)
@given(GROUPS)
def test_the_value_is_that_of_the_summed_counts_and_lies_in_its_interval(
    groups: list[Counts],
) -> None:
    for measure in MEASURES:
        scoring = Scoring(measure, empty=1.0)
        interval = interval_of(groups, scoring)
        assert interval.value == scoring(total(groups))
        assert 0 <= interval.low <= interval.value <= interval.high <= 1


@pytest.mark.parametrize("unit", [Counts(3, 0, 0), Counts(0, 2, 3), Counts(2, 1, 1)])
@pytest.mark.parametrize("units", [2, 3, 5, 20])
def test_units_that_are_all_alike_leave_doubt(unit: Counts, units: int) -> None:
    for measure in MEASURES:
        interval = interval_of([unit] * units, Scoring(measure, empty=0.0))
        assert interval.high - interval.low > 0.5 / units


def test_more_perfect_units_leave_less_doubt() -> None:
    lows = [interval_of([Counts(2, 0, 0)] * units, F1).low for units in (5, 20, 100)]
    assert lows == sorted(lows)
    assert lows[0] < 0.8
    assert lows[1] < 0.96


def test_an_interval_says_what_it_rests_on() -> None:
    interval = interval_of(TALKS, F1)
    assert (interval.clusters, interval.known) == (4, False)
    assert interval.largest == pytest.approx(128 / 344)
    assert interval.lopsided
    even = interval_of([Counts(8, 2, 2), Counts(9, 1, 1)] * 3, F1)
    assert (even.known, even.rough, even.lopsided) == (True, True, False)
    assert not interval_of([Counts(8, 2, 2)] * 10, F1).rough


def test_groups_of_one_cluster_are_taken_together() -> None:
    split = [Counts(4, 1, 0), Counts(36, 9, 5), *TALKS[1:]]
    joined = interval_of(split, F1, clusters=["a", "a", "b", "c", "d"])
    assert joined == interval_of(TALKS, F1)
    assert interval_of(split, F1).clusters == 5


def test_a_single_cluster_says_nothing() -> None:
    interval = interval_of(TALKS, F1, clusters=["one"] * 4)
    assert (interval.low, interval.high) == (0.0, 1.0)


def test_the_interval_is_wilsons_on_as_many_trials_as_the_jackknife_finds() -> None:
    groups = TALKS
    value = RECALL(total(groups))
    without = [RECALL(total(groups[:place] + groups[place + 1 :])) for place in range(4)]
    variance = 3 / 4 * sum((one - value) ** 2 for one in without)
    trials = value * (1 - value) / variance
    interval = interval_of(groups, RECALL)
    for end in (interval.low, interval.high):
        reach = abs(value - end) / math.sqrt(end * (1 - end) / trials)
        assert reach == pytest.approx(3.18245, abs=1e-4)  # Student's t, three degrees of freedom


def test_independent_items_have_the_interval_of_a_share() -> None:
    items = [Counts(1, 0, 0)] * 400 + [Counts(0, 0, 1)] * 100
    clustered_items, share = interval_of(items, RECALL), wilson(400, 500)
    assert share is not None
    ends = (clustered_items.low, clustered_items.high)
    assert ends == pytest.approx((share.low, share.high), abs=0.001)


def test_the_share_of_clean_units_has_an_interval_too() -> None:
    rows = np.array([(5, 1, 1, 2, 1), (4, 0, 0, 3, 0), (3, 3, 3, 0, 3), (2, 0, 0, 3, 0)] * 3)
    (clean,) = intervals_of(rows, (CLEAN,))
    assert clean.value == 8 / 12
    assert 0.2 < clean.low < clean.value < clean.high < 0.95


def random_rows(seed: int, count: int, most: int = 50) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(0, most, (count, 3))


def test_the_order_of_units_does_not_matter() -> None:
    first, second = random_rows(1, 40), random_rows(2, 40)
    order = np.random.default_rng(3).permutation(40)
    assert intervals_of(first, (F1,)) == intervals_of(first[order], (F1,))
    assert paired_interval(first, second, F1) == paired_interval(first[order], second[order], F1)
    assert power_of(first, second, F1) == power_of(first[order], second[order], F1)


def test_impossible_comparisons_are_refused() -> None:
    with pytest.raises(ValueError, match="groups must not be empty"):
        interval_of([], F1)
    with pytest.raises(ValueError, match="must have the same groups"):
        difference_of([], [])
    with pytest.raises(ValueError, match="must have the same groups, got 4 and 3"):
        difference_of(TALKS, TALKS[1:])


def enumerated_p_value(first: Sequence[Counts], second: Sequence[Counts]) -> float:
    """All choices of signs there are, one after the other."""

    def size(counts: Counts) -> int:
        return 2 * counts.tp + counts.fp + counts.fn

    one, other = total(first), total(second)
    pooled = 2 * (one.tp + other.tp) / (size(one) + size(other))
    values = [
        (2 * a.tp - pooled * size(a)) / size(one) - (2 * b.tp - pooled * size(b)) / size(other)
        for a, b in zip(first, second, strict=True)
    ]
    length = math.sqrt(sum(value**2 for value in values))

    def far(signs: Sequence[int]) -> float:
        signed = [sign * value / length for sign, value in zip(signs, values, strict=True)]
        mean, skewness = sum(signed), sum(value**3 for value in signed)
        return abs(mean + 0.75 * skewness * (2 * mean**2 + 1) / 6)

    choices = list(itertools.product([1, -1], repeat=len(values)))
    observed = far([1] * len(values))
    return sum(far(signs) >= observed - 1e-9 for signs in choices) / len(choices)


def test_the_p_value_counts_all_choices_of_signs() -> None:
    better = [Counts(90, 10, 10), Counts(80, 20, 10), Counts(70, 10, 30), Counts(90, 20, 20)]
    worse = [Counts(80, 30, 20), Counts(81, 20, 9), Counts(50, 40, 50), Counts(89, 30, 21)]
    better, worse = [*better, *worse[2:], *better], [*worse, *better[2:], *worse]
    difference = difference_of(better, worse)
    assert difference.value == F1(total(better)) - F1(total(worse))
    assert difference.p_value == pytest.approx(enumerated_p_value(better, worse))


@settings(max_examples=60, deadline=None)
@given(PAIRS)
def test_the_p_value_never_contradicts_the_interval(pairs: list[tuple[Counts, Counts]]) -> None:
    first, second = zip(*pairs, strict=True)
    for measure in MEASURES:
        difference = difference_of(first, second, Scoring(measure, empty=0.0))
        assert (difference.p_value > 0.05) == (difference.low <= 0 <= difference.high)
        assert -1 <= difference.low <= difference.value <= difference.high <= 1
        assert difference.low < difference.high


@given(
    st.integers(2, 5),
    st.integers(6, 30),
    st.floats(0.0, 0.3),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=25, deadline=None)
def test_p_corrected_for_several_comparisons_never_contradicts_the_interval_beside_it(
    systems: int, clusters: int, loss: float, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    size = generator.integers(5, 60, clusters)
    baseline = _drawn(generator, size, 0.9)
    tables = [
        (_drawn(generator, size, 0.9 - loss * generator.random()), baseline) for _ in range(systems)
    ]
    together = paired_intervals(tables, F1)
    for difference, (first, second) in zip(together, tables, strict=True):
        alone = paired_interval(first, second, F1)
        assert (difference.p_value > 0.05) == (difference.low <= 0 <= difference.high)
        assert difference.raw_p_value == alone.p_value <= difference.p_value
        assert difference.confidence >= 0.95
        assert difference.low <= alone.low + 1e-9
        assert alone.high <= difference.high + 1e-9


def _drawn(generator: np.random.Generator, size: Ints, right: float) -> Ints:
    tp = generator.binomial(size, right)
    return np.stack((tp, generator.poisson(size * (1 - right)), size - tp), axis=1)


def test_each_interval_has_the_level_at_which_its_p_is_tested() -> None:
    assert [level for _, level in holm([0.2, 0.001, 0.03])] == [0.025, 0.05 / 3, 0.025]
    assert [level for _, level in holm([0.001, 0.002])] == [0.025, 0.05]
    assert holm([0.4]) == ((0.4, 0.05),)


@pytest.mark.parametrize("clusters", range(1, 6))
def test_up_to_five_clusters_rule_nothing_out(clusters: int) -> None:
    difference = difference_of([Counts(10, 0, 0)] * clusters, [Counts(5, 5, 5)] * clusters)
    assert (difference.low, difference.high, difference.known) == (-1.0, 1.0, False)
    assert difference.p_value > 0.05


def test_equal_clusters_leave_a_difference_some_doubt() -> None:
    difference = difference_of([Counts(10, 0, 0)] * 8, [Counts(5, 5, 5)] * 8)
    assert 0.4 < difference.low < 0.5 < difference.high < 0.6
    assert difference.p_value == 2 / 2**8


def test_a_system_does_not_differ_from_itself_as_far_as_can_be_seen() -> None:
    difference = difference_of(TALKS * 3, TALKS * 3)
    assert (difference.value, difference.p_value) == (0.0, 1.0)
    assert difference.low < 0 < difference.high
    assert difference.equivalent(0.01)
    assert not difference.equivalent(0.001)


def test_swapping_the_systems_turns_the_difference_around() -> None:
    first, second = random_rows(4, 30), random_rows(5, 30)
    forward, backward = paired_interval(first, second, F1), paired_interval(second, first, F1)
    assert forward.value == -backward.value
    assert (forward.low, forward.high) == pytest.approx((-backward.high, -backward.low), abs=0.002)
    assert forward.p_value == pytest.approx(backward.p_value, abs=0.02)


def test_a_paired_difference_holds_less_doubt_than_two_scores() -> None:
    first = random_rows(6, 40)
    second = first + np.array([0, 1, 0])
    paired = paired_interval(first, second, F1)
    (alone,) = intervals_of(first, (F1,))
    assert paired.value == F1.of_rows(first.sum(axis=0)) - F1.of_rows(second.sum(axis=0))
    assert paired.high - paired.low < (alone.high - alone.low) / 3


def test_not_inferior_asks_of_one_side_only() -> None:
    difference = PairedInterval(0.03, -0.01, 0.07, 0.2, 30, 0.2, 0.95)
    assert difference.not_inferior(0.02)
    assert not difference.equivalent(0.02)
    assert not difference.not_inferior(0.01)


def test_where_one_system_marks_nothing_precision_cannot_be_compared() -> None:
    silent, busy = [Counts(0, 0, 4)] * 8, [Counts(3, 1, 1)] * 8
    difference = difference_of(silent, busy, Scoring("precision", empty=1.0))
    assert (difference.value, difference.p_value) == (0.25, 1.0)
    assert (difference.low, difference.high) == (-1.0, 1.0)


def test_few_rows_are_flipped_in_every_way_there_is() -> None:
    columns = np.random.default_rng(1).normal(size=(6, 2))
    choices = np.array(list(itertools.product([1, -1], repeat=6)))
    sums = flipped_sums(columns, 32, np.random.default_rng(2))
    assert len(sums) == 32
    assert sums[0] == pytest.approx(columns.sum(axis=0))
    both = np.concatenate((sums, -sums))
    assert np.sort(both[:, 0]) == pytest.approx(np.sort(choices @ columns[:, 0]))


def test_the_smallest_of_many_rows_are_flipped_together() -> None:
    generator = np.random.default_rng(3)
    columns = np.stack((generator.exponential(1, 4_000), generator.normal(size=4_000)), axis=1)
    assert len(columns) > FLIPPED
    signs = 2.0 * generator.integers(0, 2, (4_000, 4_000)) - 1
    expected = np.cov((signs @ columns).T)
    found = np.cov(flipped_sums(columns, 4_001, generator)[1:].T)
    assert np.diag(found) == pytest.approx(np.diag(expected), rel=0.1)
    assert abs(found[0, 1] - expected[0, 1]) < 0.1 * expected[0, 0]


def test_a_p_value_is_never_zero() -> None:
    difference = difference_of([Counts(9, 0, 0)] * 40, [Counts(0, 9, 9)] * 40)
    assert 0 < difference.p_value <= 0.0002


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
    corrected = [p_value for p_value, _ in holm([0.01, 0.04, 0.03, 0.005])]
    assert corrected == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert [p_value for p_value, _ in holm([0.6, 0.7])] == [1.0, 1.0]
    assert holm([]) == ()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_lies_between_no_correction_and_bonferronis(p_values: list[float]) -> None:
    for raw, (adjusted, _) in zip(p_values, holm(p_values), strict=True):
        assert raw <= adjusted <= min(1.0, raw * len(p_values)) + 1e-12


@pytest.mark.parametrize(
    ("probability", "freedom", "quantile"),
    [
        (0.975, 1, 12.706205),
        (0.975, 2, 4.302653),
        (0.975, 3, 3.182446),
        (0.975, 4, 2.776445),
        (0.975, 5, 2.570582),
        (0.8, 3, 0.978472),
        (0.995, 7, 3.499483),
        (0.975, 9, 2.262157),
        (0.975, 30, 2.042272),
        (0.975, 120, 1.979930),
        (0.975, 1000, 1.962339),
        (0.025, 9, -2.262157),
    ],
)
def test_students_quantiles_are_those_of_the_tables(
    probability: float, freedom: int, quantile: float
) -> None:
    assert t_quantile(probability, freedom) == pytest.approx(quantile, abs=1e-6)


def test_repeats_that_are_alike_count_as_one() -> None:
    once = clustered_share([1] * 8 + [0] * 4, [1] * 12)
    five_times = clustered_share([5] * 8 + [0] * 4, [5] * 12)
    apart = wilson(40, 60)
    assert once is not None
    assert five_times is not None
    assert apart is not None
    assert five_times.count == 60
    assert (five_times.low, five_times.high) == (once.low, once.high)
    assert five_times.high - five_times.low > 1.7 * (apart.high - apart.low)


@pytest.mark.parametrize(
    ("correct", "counts"),
    [([1, 0, 0, 0], [1, 1, 1, 1]), ([1, 1], [1, 1]), ([2, 1, 0], [2, 1, 1]), ([0, 0], [1, 0])],
)
def test_repeats_that_are_alike_leave_the_interval_as_it_is(
    correct: list[int], counts: list[int]
) -> None:
    once = clustered_share(correct, counts)
    repeated = clustered_share([3 * n for n in correct], [3 * n for n in counts])
    assert once is not None
    assert repeated == replace(once, count=3 * once.count)


def test_clusters_without_cases_do_not_count() -> None:
    assert clustered_share([3, 0, 2, 4], [4, 0, 4, 4]) == clustered_share([3, 2, 4], [4, 4, 4])
    assert clustered_share([0], [0]) is None
    with pytest.raises(ValueError, match="correct must be between 0 and the count"):
        clustered_share([2], [1])


def test_variances_of_repeats_are_unbiased() -> None:
    generator = np.random.default_rng(7)
    units = generator.normal(0, 0.3, (4_000, 1))
    scores = units + generator.normal(0, 0.1, (4_000, 2))
    between, within = variance_components(scores.tolist())
    assert between == pytest.approx(0.09, rel=0.1)
    assert within == pytest.approx(0.01, rel=0.1)


def test_variances_of_known_groups() -> None:
    assert variance_components([[1.0, 3.0], [5.0, 7.0]]) == pytest.approx((7.0, 2.0))
    assert variance_components([[1.0, 9.0], [1.0, 9.0]]) == (0.0, 32.0)
    assert variance_components([[1.0], [3.0], []]) == (2.0, 0.0)
    assert variance_components([]) == (0.0, 0.0)


def talks_with(
    difference: float, clusters: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    generator = np.random.default_rng(seed)
    sizes = generator.integers(50, 150, clusters)
    easy = generator.normal(0, 0.03, clusters)
    tables = []
    for middle in (0.88 + difference, 0.88):
        found = generator.binomial(sizes, np.clip(middle + easy, 0, 1))
        tables.append(np.stack((found, sizes - found, sizes - found), axis=1))
    return tables[0], tables[1]


@pytest.mark.parametrize("clusters", [24, 70])
def test_a_difference_said_to_be_seen_is_seen_in_about_80_of_100_cases(clusters: int) -> None:
    power = power_of(*talks_with(0.0, clusters, 0), F1)
    assert power is not None
    seen = [
        paired_interval(*talks_with(power.smallest_difference, clusters, seed), F1).low > 0
        for seed in range(1, 101)
    ]
    assert 70 <= sum(seen) <= 100


def test_near_equal_systems_do_not_need_fewer_than_six_clusters() -> None:
    first, second = talks_with(0.0, 8, 1)
    power = power_of(first * 40, second * 40, F1)
    assert power is not None
    assert power.clusters_needed >= 6
    assert chance_to_see(first[:5], second[:5], F1, 0.5) is None


def test_a_simulated_number_of_clusters_is_rounded() -> None:
    for clusters in (12, 23, 24, 25, 40, 150):
        power = power_of(*talks_with(0.0, clusters, 0), F1)
        assert power is not None
        needed = power.clusters_needed
        assert needed == clusters or needed % 5 == 0


def test_no_difference_is_said_to_be_visible_that_is_not_possible() -> None:
    generator = np.random.default_rng(3)
    found = generator.random((2, 12)) < 0.5
    first, second = (np.stack((right, ~right, ~right), axis=1).astype(np.int64) for right in found)
    assert second[:, 0].mean() == 0.5
    assert power_of(first, second, F1) is None  # only a loss of 0.786 would show


def test_more_clusters_show_smaller_differences() -> None:
    smallest = []
    for clusters in (12, 40, 150, 2_000):
        power = power_of(*talks_with(0.0, clusters, 2), F1)
        assert power is not None
        smallest.append(power.smallest_difference)
    assert smallest == sorted(smallest, reverse=True)


def test_a_larger_difference_is_seen_more_often() -> None:
    tables = talks_with(0.0, 30, 3)
    chances = [chance_to_see(*tables, F1, difference) for difference in (0.0, 0.01, 0.03, 0.2)]
    assert chances == sorted(chances, key=lambda chance: chance or 0)
    assert (chances[0] or 0) < 0.08
    assert (chances[-1] or 0) > 0.95


def test_units_lost_one_by_one_are_seen() -> None:
    generator = np.random.default_rng(4)
    clean = generator.random((2, 60)) < 0.7
    first, second = (
        np.stack((right, ~right, ~right, right, ~right), axis=1).astype(np.int64) for right in clean
    )
    chances = [chance_to_see(first, second, CLEAN, loss) or 0 for loss in (0.02, 0.2, 0.6)]
    assert chances == sorted(chances)
    assert chances[0] < 0.2
    assert chances[-1] > 0.95


def test_where_too_few_clusters_differ_nothing_is_known_of_power() -> None:
    first = random_rows(8, 70)
    second = first.copy()
    second[:5, 1] += 2
    assert power_of(first, second, F1) is None
    assert power_of(first, first, F1) is None
    second[5, 1] += 2
    assert power_of(first, second, F1) is not None


def test_results_are_plain_numbers() -> None:
    values = [
        *asdict(interval_of(TALKS, F1)).values(),
        *asdict(difference_of(TALKS, TALKS)).values(),
    ]
    assert {type(value) for value in values} == {int, float}
