from dataclasses import replace
from typing import Any

import pytest
from tests.truemark.runs_for_tests import made, many

from truemark.comparison import NotComparableError, compare
from truemark.counts import Counts
from truemark.errors import TruemarkError
from truemark.records import HeldOut, Unit
from truemark.sections import as_text, comparison_sections
from truemark.summary import cluster_table, summarise


def test_a_clear_gain_is_better_and_a_clear_loss_worse() -> None:
    comparison = compare([many("old", 2), many("new", 0), many("bad", 5)])
    assert [one.verdict for one in comparison.against] == ["better", "worse"]
    better = comparison.against[0].differences["f1"]
    assert 0 < better.low < better.value < better.high


def test_a_system_against_itself_is_not_distinguishable_and_power_is_unknown() -> None:
    (versus,) = compare([many("a", 1), many("b", 1)]).against
    assert versus.verdict == "not distinguishable"
    assert versus.p_value == 1.0
    assert versus.power is None
    assert versus.needed is None
    assert versus.fixed == versus.broken == ()


def test_only_runs_that_share_a_name_get_more_than_that() -> None:
    later = "2026-03-02T09:00:00+00:00"
    runs = [many("a", 1), many("b", 1), many("b", 1, started=later)]
    first = runs[1].started
    assert compare(runs).names == ("a", f"b {first}", f"b {later}")
    assert compare([*runs, runs[1]]).names == ("a", "b #2", "b #3", "b #4")


def noisy() -> tuple[list[int], list[int]]:
    return [n % 3 for n in range(20)], [2 - n % 3 for n in range(20)]


def test_where_nothing_is_distinguished_the_smallest_visible_difference_is_known() -> None:
    first, second = noisy()
    runs = [
        made(name, {f"u{n:02}": (5, mistakes, 1) for n, mistakes in enumerate(own)})
        for name, own in (("a", first), ("b", second))
    ]
    (versus,) = compare(runs).against
    assert versus.verdict == "not distinguishable"
    assert versus.power is not None
    assert abs(versus.differences["f1"].value) < versus.power.smallest_difference < 0.3
    assert versus.needed is not None
    assert versus.needed > 20


def test_units_are_listed_by_how_much_worst_first() -> None:
    old = made("old", {"a": (5, 0, 0), "b": (5, 1, 1), "c": (5, 4, 0), "d": (5, 1, 0)})
    new = made("new", {"a": (4, 2, 1), "b": (5, 2, 1), "c": (5, 0, 0), "d": (5, 0, 1)})
    (versus,) = compare([old, new]).against
    assert [(one.unit, one.mistakes) for one in versus.broken] == [("a", 3), ("b", 1)]
    assert [(one.unit, one.mistakes) for one in versus.fixed] == [("c", -4)]


def test_failed_units_are_left_out_of_the_pairs() -> None:
    old = made("old", {"a": (5, 0, 0), "b": (), "c": (1, 1, 1)})
    new = made("new", {"a": (5, 0, 0), "b": (0, 9, 9), "c": (1, 1, 1)})
    comparison = compare([old, new])
    assert comparison.against[0].units == 2
    assert comparison.against[0].differences["f1"].value == 0
    assert [len(one.failed) for one in comparison.summaries] == [1, 0]


def test_with_several_systems_p_is_corrected() -> None:
    comparison = compare([many("old", 1), many("b", 0), many("c", 0)])
    for versus in comparison.against:
        assert versus.p_value == pytest.approx(min(1.0, 2 * versus.raw_p_value))


def test_differences_come_by_group_too() -> None:
    (versus,) = compare([many("old", 2), many("new", 0)]).against
    assert [(one.name, one.value, one.units) for one in versus.groups] == [
        ("part", "a", 20),
        ("part", "b", 20),
    ]
    assert all(one.difference.value > 0 for one in versus.groups)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"signature": {"data": "d2", "rules": "r1"}}, "data is d2, expected d1"),
        ({"signature": {"rules": "r1"}}, "data is absent, expected d1"),
        ({"signature": {"data": "d1", "rules": "r1", "size": "3"}}, "size is 3, expected none"),
        ({"tool": "other"}, "tool is other, expected maker"),
        (
            {"signature": {"data": "d1", "rules": "r1", "condition": "bare"}},
            "condition is bare, expected written",
        ),
    ],
)
def test_runs_that_are_not_comparable_are_refused_and_the_part_is_named(
    change: dict[str, Any], message: str
) -> None:
    with pytest.raises(TruemarkError, match=message):
        compare([many("a", 1), many("b", 1, **change)])


def test_a_run_without_a_condition_is_called_written_where_another_was_expected() -> None:
    bare = many("a", 1, signature={"data": "d1", "rules": "r1", "condition": "bare"})
    with pytest.raises(TruemarkError, match="condition is written, expected bare"):
        compare([bare, many("b", 1)])


def test_anyway_compares_the_units_in_common() -> None:
    other = many("b", 0, 50, signature={"data": "d2", "rules": "r1"})
    comparison = compare([many("a", 2), other], anyway=True)
    assert comparison.differing == ("data",)
    assert comparison.against[0].units == 40


def test_runs_without_a_unit_in_common_cannot_be_compared() -> None:
    with pytest.raises(TruemarkError, match="no scored unit in common"):
        compare([made("a", {"x": (1, 1, 1)}), made("b", {"y": (1, 1, 1)})])


def test_runs_of_one_system_are_told_apart_by_their_start() -> None:
    later = "2026-03-02T09:00:00+00:00"
    names = compare([many("a", 1), many("a", 1, started=later)]).names
    assert names == ("a 2026-03-01T09:00:00+00:00", f"a {later}")
    assert compare([many("a", 1), many("a", 1)]).names == ("a #1", "a #2")


def test_repeats_of_a_unit_are_one_cluster() -> None:
    repeats = [Unit("a", 1, repeat=0), Unit("a", 2, repeat=1), Unit("b", 4)]
    assert cluster_table(repeats).tolist() == [[3, 0, 0, 2, 0], [4, 0, 0, 1, 0]]
    shared = [Unit("a", 1, cluster="x"), Unit("b", 2, cluster="x")]
    assert cluster_table(shared).tolist() == [[3, 0, 0, 2, 0]]


def test_a_summary_has_every_score_with_its_interval() -> None:
    run = replace(many("a", 1), held_out=HeldOut(8, 2, 2))
    summary = summarise(run)
    assert set(summary.intervals) == {"f1", "precision", "recall", "clean"}
    assert all(
        one.low < one.value < one.high
        for measure, one in summary.intervals.items()
        if measure != "clean"
    )
    clean = summary.intervals["clean"]
    assert 0 == clean.low == clean.value < clean.high
    assert [(one.value, one.units) for one in summary.groups] == [("a", 20), ("b", 20)]
    assert summary.held_out == 0.8
    assert sum((one.counts for one in summary.groups), Counts.zero) == summary.counts


def test_a_run_that_failed_whole_has_no_scores() -> None:
    summary = summarise(made("a", {"x": (), "y": ()}))
    assert (summary.intervals, summary.scored, len(summary.failed)) == ({}, 0, 2)


def test_summaries_that_the_caller_has_are_not_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = [many("old", 2), many("new", 0)]
    summaries = [summarise(run) for run in runs]
    whole = compare(runs)
    monkeypatch.setattr("truemark.comparison.summarise", None)
    assert compare(runs, summaries=summaries) == whole


def test_a_dash_in_place_of_an_interval_is_explained_where_there_is_one() -> None:
    some = made("some", {f"u{number}": (1, number % 2, 0) for number in range(12)})
    none = made("none", {f"u{number}": (0, 0, 1) for number in range(12)})
    assert "rules nothing out" in as_text(comparison_sections(compare([some, none])))
    usual = compare([many("old", 2), many("new", 0)])
    assert "rules nothing out" not in as_text(comparison_sections(usual))


@pytest.mark.parametrize("swapped", [False, True])
def test_runs_under_two_conditions_are_said_to_differ_in_those(swapped: bool) -> None:
    bare = replace(many("new", 0), signature={"data": "d1", "rules": "r2", "condition": "bare"})
    runs = [many("old", 0, signature={"data": "d1"}), bare]
    with pytest.raises(NotComparableError, match=r"condition is (bare|written), expected"):
        compare(runs[::-1] if swapped else runs)
