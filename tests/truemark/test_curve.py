import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truemark.counts import EQUAL_WEIGHTS, Counts, Weights, best_row, scores, total
from truemark.curve import (
    RECORD_POINTS,
    Curve,
    SweepPoint,
    best,
    best_of_all,
    curve_of,
    grid,
    leave_one_out,
    point_of,
    ranked,
    sum_curves,
    sweep,
    thinned,
)
from truemark.matching import ScoredPositions, adds_match, match_positions
from truemark.places import Group
from truemark.records import ScoringRules


def scored(*pairs: tuple[int, float]) -> ScoredPositions:
    positions = np.array([position for position, _ in pairs], dtype=np.int64)
    return ScoredPositions(positions, np.array([score for _, score in pairs], dtype=np.float64))


def evaluated(group: Group, threshold: float, tolerance: int) -> Counts:
    """What a separate evaluation at one threshold gives."""
    predictions, expected = group
    predicted = predictions.above(threshold)
    matched = len(match_positions(predicted, expected, tolerance))
    return Counts.of(matched=matched, predicted=len(predicted), expected=len(expected))


def curves_of(talks: Sequence[Group], tolerance: int) -> list[Curve]:
    return [curve_of(predictions, expected, tolerance) for predictions, expected in talks]


def point(threshold: float, counts: Counts, weights: Weights = EQUAL_WEIGHTS) -> SweepPoint:
    return point_of(threshold, counts, weights, empty=0.0)


def groups(span: int, most: int) -> st.SearchStrategy[Group]:
    """Groups crowded on `span` positions; scores often tie, and some are always predicted."""
    score = st.one_of(
        st.sampled_from([0.0, 0.25, 0.5, 1.0, math.inf]), st.floats(-1, 1, allow_nan=False)
    )
    pairs = st.lists(st.tuples(st.integers(0, span), score), max_size=most)
    return st.tuples(
        pairs.map(lambda drawn: scored(*sorted(drawn, key=lambda pair: pair[0]))),
        st.lists(st.integers(0, span), max_size=most),
    )


TOLERANCE = st.integers(0, 6)
GROUPS = st.lists(groups(span=40, most=12), max_size=4)


@pytest.mark.parametrize(
    ("start", "stop", "step", "points"),
    [
        pytest.param(0.01, 0.05, 0.01, (0.01, 0.02, 0.03, 0.04), id="half-open"),
        pytest.param(0.0, 0.3, 0.1, (0.0, 0.1, 0.2), id="no drift at the end"),
        pytest.param(0.1, 0.35, 0.1, (0.1, 0.2, 0.3), id="stop between points"),
        pytest.param(0.5, 0.6, 7, (0.5,), id="a step beyond stop"),
        pytest.param(-1, 1, 1, (-1.0, 0.0), id="whole numbers"),
        pytest.param(1e-07, 3e-07, 1e-07, (1e-07, 2e-07), id="tiny"),
    ],
)
def test_grid(start: float, stop: float, step: float, points: tuple[float, ...]) -> None:
    assert grid(start, stop, step) == points


def test_the_default_grid_has_19_points_without_drift() -> None:
    assert grid(0.01, 0.20, 0.01) == tuple(float(f"0.{number:02}") for number in range(1, 20))


@pytest.mark.parametrize(
    ("start", "stop", "step", "message"),
    [
        (0.1, 0.2, 0.0, "step must be above 0, got 0.0"),
        (0.1, 0.2, -0.1, "step must be above 0, got -0.1"),
        (0.2, 0.2, 0.1, r"stop must be above start \(0.2\), got 0.2"),
        (0.2, 0.1, 0.1, r"stop must be above start \(0.2\), got 0.1"),
        (math.nan, 0.1, 0.1, "start must be a finite number, got nan"),
        (0.0, math.inf, 0.1, "stop must be a finite number, got inf"),
        (0.0, 0.1, math.nan, "step must be a finite number, got nan"),
        (0.0, 1.0, 1e-9, "step must give at most 100000 points, got 1e-09"),
    ],
)
def test_impossible_grids_are_refused(start: float, stop: float, step: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        grid(start, stop, step)


@given(st.integers(0, 99), st.integers(1, 200), st.integers(1, 50))
def test_grid_points_are_the_floats_of_their_decimals(first: int, length: int, step: int) -> None:
    points = grid(first / 100, (first + length) / 100, step / 100)
    assert points == tuple(hundredth / 100 for hundredth in range(first, first + length, step))


@pytest.mark.parametrize(
    ("positions", "values", "message"),
    [
        ([3, 2], [0.5, 0.5], "positions must be in ascending order"),
        ([1, 2], [0.5], "equal length"),
        ([1], [math.nan], "scores must be numbers above minus infinity"),
        ([1], [-math.inf], "scores must be numbers above minus infinity"),
        ([1.5], [0.5], "positions must be whole numbers, got float64"),
        ([[1]], [[0.5]], "equal length"),
    ],
    ids=["descending", "unequal", "NaN", "minus infinity", "fractions", "a table"],
)
def test_impossible_predictions_are_refused(
    positions: list[int], values: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ScoredPositions(np.array(positions), np.array(values))


def test_a_boundary_is_where_the_score_is_above_the_threshold() -> None:
    predictions = scored((1, 0.2), (2, 0.3), (3, math.inf))
    assert predictions.above(0.2) == [2, 3]
    assert predictions.above(0.3) == [3]
    curves = [curve_of(predictions, [], 0)]
    points = sweep(curves, [0.2, 0.3], empty=0.0)
    assert [point.counts.predicted for point in points] == [2, 1]


def test_single_precision_scores_are_compared_in_double_precision() -> None:
    single = np.array([0.3], dtype=np.float32)
    predictions = ScoredPositions(np.array([1]), single)  # type: ignore[arg-type] # the point
    assert float(single[0]) > 0.3
    assert predictions.above(0.3) == [1]
    assert curve_of(predictions, [2], 1).counts(0.3) == Counts(1, 0, 0)


@given(GROUPS, st.lists(st.floats(-2, 2), max_size=8), TOLERANCE)
def test_each_point_is_what_a_separate_evaluation_gives(
    talks: list[Group], thresholds: list[float], tolerance: int
) -> None:
    curves = curves_of(talks, tolerance)
    points = sweep(curves, thresholds, empty=0.0)
    assert [point.threshold for point in points] == thresholds
    for threshold, point in zip(thresholds, points, strict=True):
        assert point.counts == total(evaluated(talk, threshold, tolerance) for talk in talks)
        assert point.counts == total(curve.counts(threshold) for curve in curves)
        assert point.scores == scores(point.counts, empty=0.0)


@given(GROUPS, TOLERANCE)
def test_counts_per_group_add_up_to_the_sweep(talks: list[Group], tolerance: int) -> None:
    thresholds = grid(0.0, 1.0, 0.25)
    curves = curves_of(talks, tolerance)
    summed = sweep(curves, thresholds, empty=0.0)
    for number, threshold in enumerate(thresholds):
        counts = [curve.counts(threshold) for curve in curves]
        assert total(counts) == summed[number].counts
        assert counts == [evaluated(talk, threshold, tolerance) for talk in talks]


@given(groups(span=20, most=12), TOLERANCE)
def test_a_prediction_adds_a_match_if_it_makes_the_largest_matching_larger(
    talk: Group, tolerance: int
) -> None:
    predictions, expected = talk
    adds = adds_match(predictions, expected, tolerance)
    positions = predictions.positions.tolist()
    order = sorted(range(len(predictions)), key=lambda number: -predictions.scores[number])
    taken: list[int] = []
    before = 0
    for number in order:
        taken.append(positions[number])
        after = len(match_positions(taken, expected, tolerance))
        assert adds[number] == (after > before)
        before = after
    curve = curve_of(predictions, expected, tolerance)
    assert curve.scores.tolist() == sorted(predictions.scores.tolist())
    assert curve.matched.tolist() == sorted(predictions.scores[adds].tolist())


def assert_exact(talks: Sequence[Group], tolerance: int) -> None:
    curve = sum_curves(curves_of(talks, tolerance))
    finite = {s for talk, _ in talks for s in talk.scores.tolist() if math.isfinite(s)}
    assert curve.thresholds[1:].tolist() == sorted(finite)
    columns = curve.columns(curve.thresholds).T.tolist()
    for threshold, row in zip(curve.thresholds.tolist(), columns, strict=True):
        expected = total(evaluated(talk, threshold, tolerance) for talk in talks)
        assert Counts(*row) == curve.counts(threshold) == expected


@given(GROUPS, TOLERANCE)
def test_the_exact_curve_is_right_at_every_distinct_score(
    talks: list[Group], tolerance: int
) -> None:
    assert_exact(talks, tolerance)


@settings(max_examples=400)
@given(groups(span=25, most=40), TOLERANCE)
def test_the_exact_curve_is_right_where_everything_competes(group: Group, tolerance: int) -> None:
    assert_exact([group], tolerance)


@pytest.mark.parametrize("slope", [1, -1, 0], ids=["rising", "falling", "random"])
@pytest.mark.parametrize("tolerance", [0, 1, 3, 40, 10**30])
def test_the_exact_curve_is_right_on_long_crowded_chains(slope: int, tolerance: int) -> None:
    generator = np.random.default_rng(7)
    positions = np.sort(generator.integers(0, 150, 160))
    levels = generator.random(160) if slope == 0 else slope * np.arange(160) / 200
    expected = generator.integers(0, 150, 90).tolist()
    assert_exact([(ScoredPositions(positions, levels), expected)], tolerance)


def test_the_first_point_of_the_curve_has_every_prediction() -> None:
    talk = scored((1, 0.0), (9, 0.5), (20, math.inf)), [1, 9]
    curve = sum_curves(curves_of([talk], 0))
    assert curve.thresholds[0] < 0.0
    assert curve.counts(curve.thresholds[0]) == Counts(2, 1, 0)
    assert (curve.thresholds[-1], curve.counts(0.5)) == (0.5, Counts(0, 1, 2))


@pytest.mark.parametrize(
    "talks",
    [[], [(scored(), [3])], [(scored((3, math.inf)), [3])]],
    ids=["no group", "no prediction", "no finite score"],
)
def test_a_curve_without_finite_scores_has_one_point(talks: list[Group]) -> None:
    curves = curves_of(talks, 0)
    curve = sum_curves(curves)
    assert curve.thresholds.tolist() == [0.0]
    assert curve.counts(0.0) == total(part.counts(0.0) for part in curves)


@given(GROUPS, TOLERANCE, st.sampled_from([0.0, 1.0]), st.integers(0, 3), st.integers(0, 3))
def test_the_best_of_all_thresholds_is_the_best_of_its_points(
    talks: list[Group], tolerance: int, empty: float, precision: int, recall: int
) -> None:
    weights = Weights(precision, recall)
    curve = sum_curves(curves_of(talks, tolerance))
    everywhere = [
        point_of(threshold, curve.counts(threshold), weights, empty=empty)
        for threshold in curve.thresholds.tolist()
    ]
    simplest = best_of_all(curve, weights, empty=empty)
    assert simplest.counts == best(everywhere).counts
    assert curve.counts(simplest.threshold) == simplest.counts


@pytest.mark.parametrize("tolerance", [-1, float("nan")])
def test_a_tolerance_that_is_no_distance_is_refused_by_a_curve(tolerance: int) -> None:
    with pytest.raises(ValueError, match=f"tolerance must be 0 or more, got {tolerance}"):
        curve_of(scored(), [], tolerance)


@pytest.mark.parametrize(
    ("weights", "threshold"), [(Weights(3, 1), 0.9), (Weights(1, 3), 0.1)], ids=["3:1", "1:3"]
)
def test_the_best_point_has_the_highest_weighted_score(weights: Weights, threshold: float) -> None:
    precise = point(0.9, Counts(5, 0, 5), weights)
    thorough = point(0.1, Counts(9, 9, 1), weights)
    assert best([precise, thorough]).threshold == threshold


def test_equal_weighted_scores_go_to_the_higher_f1() -> None:
    even, uneven = point(0.5, Counts(4, 4, 4)), point(0.1, Counts(6, 18, 2))
    assert [even.scores.weighted, uneven.scores.weighted] == [0.5, 0.5]
    assert best([uneven, even]) == even


def test_equal_scores_go_to_the_lower_threshold() -> None:
    low, high = point(0.1, Counts(1, 1, 1)), point(0.2, Counts(1, 1, 1))
    assert ranked([high, low]) == (low, high)


def test_without_points_there_is_no_best() -> None:
    with pytest.raises(ValueError, match="points must not be empty"):
        best([])


def test_a_talk_is_scored_at_the_threshold_the_others_chose() -> None:
    strict = scored((10, 0.9), (20, 0.4), (30, 0.4)), [10]
    loose = scored((10, 0.4), (20, 0.4), (30, 0.1)), [10, 20]
    chosen = leave_one_out(curves_of([strict, loose], 0), [0.2, 0.5], empty=0.0)
    assert chosen == (point(0.2, Counts(1, 2, 0)), point(0.5, Counts(0, 0, 2)))


@given(st.lists(groups(span=30, most=10), min_size=2, max_size=5), TOLERANCE)
def test_leaving_one_out_equals_choosing_on_the_rest(talks: list[Group], tolerance: int) -> None:
    thresholds = grid(0.0, 1.0, 0.2)
    curves = curves_of(talks, tolerance)
    for number, chosen in enumerate(leave_one_out(curves, thresholds, empty=0.0)):
        rest = curves[:number] + curves[number + 1 :]
        assert chosen.threshold == best(sweep(rest, thresholds, empty=0.0)).threshold
        assert chosen.counts == evaluated(talks[number], chosen.threshold, tolerance)


def test_one_talk_alone_cannot_be_left_out() -> None:
    with pytest.raises(ValueError, match="curves must be at least 2, got 1"):
        leave_one_out([curve_of(scored(), [], 0)], [0.5], empty=0.0)


def random_curve(points: int, seed: int) -> Curve:
    generator = np.random.default_rng(seed)
    positions = np.sort(generator.integers(0, points * 4, points))
    scored = ScoredPositions(positions, generator.random(points))
    truths = np.sort(generator.integers(0, points * 4, points // 3)).tolist()
    return sum_curves([curve_of(scored, truths, 1)])


@given(
    st.integers(1, 400),
    st.integers(0, 5),
    st.integers(4, 60),
    st.sampled_from([Weights(), Weights(3, 1), Weights(0, 1)]),
)
def test_thinning_a_curve_never_moves_its_optimum(
    size: int, seed: int, points: int, weights: Weights
) -> None:
    curve = random_curve(size, seed)
    rules = ScoringRules(0, weights=weights)
    thin = thinned(curve, rules, points)
    assert len(thin) <= max(points, 4)
    assert list(thin.at) == sorted(set(thin.at))
    tp = np.array(thin.tp)
    place = best_row(tp, np.array(thin.fp), np.array(thin.fn), empty=0, weights=weights)
    whole = best_row(*curve.columns(curve.thresholds), empty=0, weights=weights)
    assert thin.at[place] == curve.thresholds[whole]
    assert thin.counts(place) == curve.counts(thin.at[place])
    assert thin.at[0] == curve.thresholds[0]
    assert thin.at[-1] == curve.thresholds[-1]


def test_a_thinned_curve_keeps_the_thresholds_in_force() -> None:
    curve = random_curve(20_000, 1)
    thin = thinned(curve, ScoringRules(0, threshold=0.3, own_threshold=0.7))
    assert 1_900 < len(thin) <= RECORD_POINTS
    for level in (0.3, 0.7):
        below = curve.thresholds[curve.thresholds <= level].max()
        assert below in thin.at
