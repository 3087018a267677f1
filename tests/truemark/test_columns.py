import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from truemark.columns import best_row, score_columns
from truemark.counts import Counts, Weights, scores

Ints = NDArray[np.int64]
COUNTS = st.lists(st.builds(Counts, *[st.integers(0, 9)] * 3), min_size=1, max_size=20)
WEIGHTS = st.sampled_from([Weights(), Weights(2, 1), Weights(0, 1), Weights(0, 0)])


def columns(rows: list[Counts]) -> tuple[Ints, Ints, Ints]:
    table = np.array([(one.tp, one.fp, one.fn) for one in rows])
    return table[:, 0], table[:, 1], table[:, 2]


@given(COUNTS, WEIGHTS, st.sampled_from([0.0, 0.5, 1.0]))
def test_columns_of_scores_equal_the_scores_one_by_one(
    rows: list[Counts], weights: Weights, empty: float
) -> None:
    found = score_columns(*columns(rows), empty=empty, weights=weights)
    single = [scores(one, empty=empty, weights=weights) for one in rows]
    for name, column in found.items():
        assert column.tolist() == [getattr(one, name) for one in single]


@given(COUNTS, WEIGHTS)
def test_the_best_row_is_the_first_of_the_highest(rows: list[Counts], weights: Weights) -> None:
    def merit(number: int) -> tuple[float, float, int]:
        ratios = scores(rows[number], empty=0.0, weights=weights)
        return -ratios.weighted, -ratios.f1, number

    expected = min(range(len(rows)), key=merit)
    assert best_row(*columns(rows), empty=0.0, weights=weights) == expected


def test_no_warning_comes_from_empty_ratios() -> None:
    zero = np.zeros(1)
    assert score_columns(zero, zero, zero, empty=1.0)["f1"].tolist() == [1.0]
    assert score_columns(zero, zero, zero, empty=0.0)["f1"] == pytest.approx(0.0)
