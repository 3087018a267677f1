import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from truemark.counts import (
    Counts,
    Scores,
    Weights,
    best_row,
    scores,
    total,
)

COUNTS = st.builds(Counts, *[st.integers(0, 1000)] * 3)
WEIGHT = st.floats(0, 1e6)
Ints = NDArray[np.int64]
ROWS = st.lists(st.builds(Counts, *[st.integers(0, 9)] * 3), min_size=1, max_size=20)
WEIGHTS = st.sampled_from([Weights(), Weights(2, 1), Weights(0, 1), Weights(0, 0)])


def test_counts_add_up() -> None:
    assert Counts(1, 2, 3) + Counts(10, 20, 30) == Counts(11, 22, 33)


@given(COUNTS)
def test_zero_counts_change_nothing(counts: Counts) -> None:
    assert counts + Counts.zero == counts


def test_predicted_and_expected_follow_from_the_counts() -> None:
    counts = Counts.of(matched=3, predicted=5, expected=10)
    assert counts == Counts(tp=3, fp=2, fn=7)
    assert (counts.predicted, counts.expected) == (5, 10)


@pytest.mark.parametrize(
    "parts", [(-1, 0, 0), (0, -1, 0), (0, 0, -1)], ids=["tp below 0", "fp below 0", "fn below 0"]
)
def test_negative_counts_are_refused(parts: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="must be 0 or more"):
        Counts(*parts)


def test_more_matches_than_predictions_are_refused() -> None:
    with pytest.raises(ValueError, match="must be 0 or more"):
        Counts.of(matched=3, predicted=2, expected=5)


@pytest.mark.parametrize(
    ("counts", "empty", "expected"),
    [
        pytest.param(Counts(3, 1, 1), 0.0, Scores(0.75, 0.75, 0.75, 0.75), id="plain"),
        pytest.param(Counts(1, 1, 3), 0.0, Scores(0.5, 0.25, 1 / 3, 0.375), id="unequal"),
        pytest.param(Counts(0, 0, 0), 0.0, Scores(0.0, 0.0, 0.0, 0.0), id="nothing, empty is 0"),
        pytest.param(Counts(0, 0, 0), 1.0, Scores(1.0, 1.0, 1.0, 1.0), id="nothing, empty is 1"),
        pytest.param(Counts(0, 0, 4), 0.0, Scores(0.0, 0.0, 0.0, 0.0), id="missed all, 0"),
        pytest.param(Counts(0, 0, 4), 1.0, Scores(1.0, 0.0, 0.0, 0.5), id="missed all, 1"),
        pytest.param(Counts(0, 4, 0), 0.0, Scores(0.0, 0.0, 0.0, 0.0), id="none to find, 0"),
        pytest.param(Counts(0, 4, 0), 1.0, Scores(0.0, 1.0, 0.0, 0.5), id="none to find, 1"),
        pytest.param(Counts(0, 2, 3), 1.0, Scores(0.0, 0.0, 0.0, 0.0), id="all wrong"),
    ],
)
def test_scores_of_counts(counts: Counts, empty: float, expected: Scores) -> None:
    assert scores(counts, empty=empty) == expected


def test_what_an_empty_ratio_is_must_be_said() -> None:
    with pytest.raises(TypeError, match="empty"):
        scores(Counts.zero)  # type: ignore[call-arg] # the missing argument is the point


@pytest.mark.parametrize(
    ("weights", "weighted"),
    [
        pytest.param(Weights(), 0.375, id="equal"),
        pytest.param(Weights(2.0, 1.0), (2 * 0.5 + 0.25) / 3, id="precision counts twice"),
        pytest.param(Weights(1.0, 0.0), 0.5, id="precision only"),
        pytest.param(Weights(0.0, 1.0), 0.25, id="recall only"),
        pytest.param(Weights(0.0, 0.0), 0.0, id="nothing counts"),
    ],
)
def test_weighted_score(weights: Weights, weighted: float) -> None:
    assert scores(Counts(1, 1, 3), empty=0.0, weights=weights).weighted == weighted


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_impossible_weights_are_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="precision weight must be a number of 0 or more"):
        Weights(precision=weight)
    with pytest.raises(ValueError, match="recall weight must be a number of 0 or more"):
        Weights(recall=weight)


def test_weights_too_large_to_add_are_refused() -> None:
    with pytest.raises(ValueError, match="finite sum"):
        Weights(1e308, 1e308)


@given(COUNTS, st.sampled_from([0.0, 1.0]), st.builds(Weights, WEIGHT, WEIGHT))
def test_every_score_lies_between_0_and_1(counts: Counts, empty: float, weights: Weights) -> None:
    ratios = scores(counts, empty=empty, weights=weights)
    for value in (ratios.precision, ratios.recall, ratios.f1, ratios.weighted):
        assert 0 <= value <= 1 or value == pytest.approx(1)


@given(COUNTS)
def test_f1_is_the_harmonic_mean(counts: Counts) -> None:
    ratios = scores(counts, empty=0.0)
    sum_of_both = ratios.precision + ratios.recall
    harmonic = 2 * ratios.precision * ratios.recall / sum_of_both if sum_of_both else 0.0
    assert ratios.f1 == pytest.approx(harmonic)


def test_nothing_adds_up_to_zero() -> None:
    assert total([]) == Counts.zero


@given(st.lists(COUNTS), st.lists(COUNTS))
def test_totals_can_be_merged(some: list[Counts], others: list[Counts]) -> None:
    assert total(some) + total(others) == total(some + others)


def columns(rows: list[Counts]) -> tuple[Ints, Ints, Ints]:
    table = np.array([(one.tp, one.fp, one.fn) for one in rows])
    return table[:, 0], table[:, 1], table[:, 2]


@given(ROWS, WEIGHTS, st.sampled_from([0.0, 0.5, 1.0]))
def test_the_best_row_is_the_first_of_the_highest(
    rows: list[Counts], weights: Weights, empty: float
) -> None:
    def merit(number: int) -> tuple[float, float, int]:
        ratios = scores(rows[number], empty=empty, weights=weights)
        return -ratios.weighted, -ratios.f1, number

    expected = min(range(len(rows)), key=merit)
    assert best_row(*columns(rows), empty=empty, weights=weights) == expected


def test_no_warning_comes_from_empty_ratios() -> None:
    zero = np.zeros(1)
    assert best_row(zero, zero, zero, empty=1.0) == 0
