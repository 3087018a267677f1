"""The promise of intervals and tests, on simulated data whose truth is known.

Fewer resamples than `benchmarks/coverage.py`, which prints the full table.
"""

import pytest
from benchmarks.coverage import GOOD, LONG, SHORT, World, coverage, false_alarms, paired_coverage


@pytest.mark.parametrize(
    ("world", "clusters", "resamples"),
    [(LONG, 20, 400), (SHORT, 20, 400), (GOOD, 20, 400), (SHORT, 70, 300), (LONG, 500, 200)],
    ids=lambda value: value.name if isinstance(value, World) else str(value),
)
def test_intervals_hold_the_truth_in_93_to_97_of_100(
    world: World, clusters: int, resamples: int
) -> None:
    assert 0.93 <= coverage(world, clusters, draws=2_000, resamples=resamples) <= 0.97


@pytest.mark.parametrize(("world", "clusters"), [(LONG, 20), (SHORT, 70)])
def test_intervals_of_differences_hold_the_truth_in_93_to_97_of_100(
    world: World, clusters: int
) -> None:
    assert 0.93 <= paired_coverage(world, clusters, draws=2_000, resamples=300) <= 0.97


@pytest.mark.parametrize(("world", "clusters"), [(LONG, 20), (SHORT, 70), (LONG, 500)])
def test_the_permutation_test_errs_in_4_to_6_of_100(world: World, clusters: int) -> None:
    assert 0.04 <= false_alarms(world, clusters, draws=2_000, resamples=299) <= 0.06
