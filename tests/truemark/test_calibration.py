import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemark.calibration import (
    brier_score,
    error_by_chance,
    expected_calibration_error,
    reliability_of,
)
from truemark.uncertainty import wilson

CLAIMS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40)


def test_bins_have_equal_width_and_the_last_includes_1() -> None:
    low, high = reliability_of([0.0, 0.49, 0.5, 1.0], [False, True, True, True], bins=2).rows
    assert (low.lower, low.upper, low.count, low.correct) == (0.0, 0.5, 2, 1)
    assert (high.lower, high.upper, high.count, high.correct) == (0.5, 1.0, 2, 2)
    assert high.mean == 0.75


def test_a_probability_on_an_edge_is_in_the_bin_above() -> None:
    # 0.29 * 100 is 28.999…; counting by multiplication would put it one bin too low.
    stated = [number / 100 for number in range(100)]
    assert [row.count for row in reliability_of(stated, [True] * 100, 100).rows] == [1] * 100


def test_an_empty_bin_has_no_mean() -> None:
    empty, _ = reliability_of([0.9], [True], bins=2).rows
    assert (empty.count, empty.correct, empty.mean) == (0, 0, None)


@pytest.mark.parametrize(
    ("probabilities", "outcomes", "error", "brier"),
    [
        pytest.param([1.0, 0.0], [True, False], 0.0, 0.0, id="certain and right"),
        pytest.param([1.0, 0.0], [False, True], 1.0, 1.0, id="certain and wrong"),
        pytest.param([0.5] * 4, [True, False] * 2, 0.0, 0.25, id="honestly undecided"),
        pytest.param([0.9] * 4, [True, False] * 2, 0.4, 0.41, id="too sure"),
    ],
)
def test_summary_numbers(
    probabilities: list[float], outcomes: list[bool], error: float, brier: float
) -> None:
    assert expected_calibration_error(probabilities, outcomes) == pytest.approx(error)
    assert brier_score(probabilities, outcomes) == pytest.approx(brier)


@given(CLAIMS, st.integers(1, 20))
def test_the_error_is_the_mean_gap_over_bins(claims: list[tuple[float, bool]], bins: int) -> None:
    probabilities, outcomes = zip(*claims, strict=True)
    gap = 0.0
    for number in range(bins):
        lower, upper = number / bins, (number + 1) / bins
        last = number == bins - 1
        inside = [(p, o) for p, o in claims if lower <= p and (p < upper or last)]
        if inside:
            confidence = sum(p for p, _ in inside) / len(inside)
            accuracy = sum(o for _, o in inside) / len(inside)
            gap += len(inside) / len(claims) * abs(confidence - accuracy)
    assert expected_calibration_error(probabilities, outcomes, bins) == pytest.approx(gap)


@given(CLAIMS)
def test_every_prediction_is_in_exactly_one_bin(claims: list[tuple[float, bool]]) -> None:
    probabilities, outcomes = zip(*claims, strict=True)
    rows = reliability_of(probabilities, outcomes).rows
    assert sum(row.count for row in rows) == len(claims)
    assert sum(row.correct for row in rows) == sum(right for _, right in claims)


def test_arrays_are_taken_as_they_are() -> None:
    assert brier_score(np.array([0.5], dtype=np.float32), np.array([1])) == 0.25


@pytest.mark.parametrize(
    ("probabilities", "outcomes", "message"),
    [
        ([], [], "must not be empty"),
        ([0.5], [], "equal length"),
        ([1.5], [True], "between 0 and 1"),
        ([float("nan")], [True], "between 0 and 1"),
    ],
    ids=["none", "unequal", "above 1", "NaN"],
)
def test_impossible_claims_are_refused(
    probabilities: list[float], outcomes: list[bool], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        expected_calibration_error(probabilities, outcomes)
    with pytest.raises(ValueError, match=message):
        brier_score(probabilities, outcomes)


def test_bins_must_be_at_least_one() -> None:
    with pytest.raises(ValueError, match="bins must be 1 or more, got 0"):
        reliability_of([0.5], [True], bins=0)


@pytest.mark.parametrize("size", [60, 600, 6_000])
def test_the_error_by_chance_is_what_true_probabilities_show(size: int) -> None:
    generator = np.random.default_rng(size)
    claimed = 0.5 + 0.5 * generator.beta(4, 1, size)
    errors = [
        expected_calibration_error(claimed, generator.random(size) < claimed) for _ in range(400)
    ]
    assert error_by_chance(claimed) == pytest.approx(np.mean(errors), rel=0.08)


def test_places_that_nobody_would_predict_do_not_hide_a_calibration_error() -> None:
    claimed = np.r_[np.full(31_000, 0.001), np.full(200, 0.9)]
    right = np.r_[np.zeros(31_000, np.bool_), np.arange(200) < 100]
    over_all = reliability_of(claimed, right).calibration_error
    predicted = reliability_of(claimed, right, above=0.5)
    assert over_all == pytest.approx(0.0036, abs=0.0002)
    assert predicted.predictions == 200
    assert predicted.calibration_error == pytest.approx(0.4)
    assert predicted.calibrated_error == pytest.approx(0.017, abs=0.001)
    assert sum(row.count for row in predicted.rows) == 31_200


def test_five_answers_about_each_sample_are_not_five_times_the_evidence() -> None:
    # What samples differ by is known, so is how often a share should lie in its interval.
    generator = np.random.default_rng(7)
    held = held_alone = 0
    for _ in range(500):
        chances = np.repeat(generator.beta(1.5, 1.5, 60), 5)
        right, samples = generator.random(300) < chances, np.repeat(np.arange(60), 5)
        (row,) = reliability_of(np.full(300, 0.9), right, 1, clusters=samples).rows
        assert row.low is not None
        assert row.high is not None
        held += row.low <= 0.5 <= row.high
        alone = wilson(row.correct, row.count)
        assert alone is not None
        held_alone += alone.low <= 0.5 <= alone.high
    assert held >= 0.92 * 500
    assert held_alone < 0.85 * 500
