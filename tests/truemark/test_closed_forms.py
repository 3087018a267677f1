import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemark.closed_forms import Power, holm, power_of, t_quantile, wilson


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
