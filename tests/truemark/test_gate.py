from pathlib import Path

import pytest
from junitparser import Error, Failure, JUnitXml
from tests.truemark.runs_for_tests import made, many

from truemark.gate import Criteria, check, junit
from truemark.records import Run

GOOD, BAD = many("new", 0), many("new", 4)
OUTAGE = made("new", {f"u{n}": (9, 1, 1) if n < 5 else () for n in range(10)})


@pytest.mark.parametrize(
    ("run", "criteria", "outcome"),
    [
        (GOOD, Criteria(fail_under=0.8), "passed"),
        (GOOD, Criteria(fail_under=0.99), "fell short"),
        (GOOD, Criteria(fail_under_lower=0.8), "passed"),
        (GOOD, Criteria(fail_under_lower=0.9), "fell short"),
        (GOOD, Criteria(fail_if_worse=True), "passed"),
        (BAD, Criteria(fail_if_worse=True), "fell short"),
        (BAD, Criteria(fail_under=0.99, fail_if_worse=True), "fell short"),
        (OUTAGE, Criteria(fail_under=0.99), "inconclusive"),
        (OUTAGE, Criteria(fail_under=0.1), "inconclusive"),
        (OUTAGE, Criteria(fail_under=0.99, max_failed=0.5), "fell short"),
        (OUTAGE, Criteria(fail_under=0.1, max_failed=0.5), "passed"),
        (made("new", {}), Criteria(fail_under=0.1), "inconclusive"),
    ],
)
def test_the_outcome_of_the_gate(run: Run, criteria: Criteria, outcome: str) -> None:
    baseline = many("old", 0) if criteria.fail_if_worse else None
    assert check(run, baseline, criteria).outcome == outcome


def test_the_point_and_the_lower_end_are_different_questions() -> None:
    f1 = check(GOOD, None, Criteria(fail_under=0.5)).summary.intervals["f1"]
    between = (f1.low + f1.value) / 2
    assert check(GOOD, None, Criteria(fail_under=between)).outcome == "passed"
    lower = Criteria(fail_under_lower=between)
    assert check(GOOD, None, lower).outcome == "fell short"


def test_an_outage_of_the_baseline_is_no_ground_for_a_verdict() -> None:
    gate = check(OUTAGE, OUTAGE, Criteria(fail_if_worse=True))
    assert gate.doubt == "5 of 10 units of the run failed, too many to tell"
    fine = made("new", {f"u{n}": (9, 1, 1) for n in range(10)})
    gate = check(fine, OUTAGE, Criteria(fail_if_worse=True))
    assert gate.doubt == "5 of 10 units of the baseline failed, too many to tell"


@pytest.mark.parametrize(
    ("units", "criteria", "outcome"),
    [
        (2, Criteria(fail_under_lower=0.1), "inconclusive"),
        (4, Criteria(fail_under_lower=0.1), "inconclusive"),
        (5, Criteria(fail_under_lower=0.1), "passed"),
        (2, Criteria(fail_under=0.9), "passed"),
        (2, Criteria(fail_under=0.9, fail_under_lower=0.1), "inconclusive"),
        (5, Criteria(fail_if_worse=True), "inconclusive"),
        (6, Criteria(fail_if_worse=True), "passed"),
    ],
)
def test_so_few_perfect_units_do_not_answer_every_question(
    units: int, criteria: Criteria, outcome: str
) -> None:
    perfect = made("new", {f"u{n}": (3, 0, 0) for n in range(units)})
    gate = check(perfect, perfect if criteria.fail_if_worse else None, criteria)
    assert gate.outcome == outcome
    assert (gate.doubt is not None) == (outcome == "inconclusive")


def test_a_score_that_is_too_low_falls_short_whatever_else_is_in_doubt() -> None:
    poor = made("new", {"a": (1, 3, 3), "b": (1, 3, 3)})
    criteria = Criteria(fail_under=0.9, fail_under_lower=0.9)
    assert check(poor, None, criteria).outcome == "fell short"


def test_worse_than_nothing_cannot_be_asked() -> None:
    with pytest.raises(ValueError, match="fail_if_worse needs a baseline"):
        check(GOOD, None, Criteria(fail_if_worse=True))


def read(document: bytes, folder: Path) -> JUnitXml:
    (folder / "junit.xml").write_bytes(document)
    return JUnitXml.fromfile(str(folder / "junit.xml"))


def test_a_junit_reader_finds_one_case_per_unit(tmp_path: Path) -> None:
    run = made("new\x00<&", {"a": (1, 2, 0), "b\x1b": (), "c": (2, 0, 0)})
    criteria = Criteria(fail_under=0.9, max_failed=0.5)
    gates, units = read(junit(check(run, None, criteria)), tmp_path)
    assert [case.name for case in units] == ["a", "b\N{REPLACEMENT CHARACTER}", "c"]
    assert (units.tests, units.failures, units.errors) == (3, 0, 1)
    assert [type(one) for case in units for one in case.result] == [Error]
    assert [case.name for case in gates] == ["f1 of 0.9 or more"]
    assert (gates.tests, gates.failures) == (1, 1)


def test_units_that_lost_are_failures_where_the_gate_fell_short(tmp_path: Path) -> None:
    gate = check(BAD, many("old", 0), Criteria(fail_if_worse=True))
    _, units = read(junit(gate), tmp_path)
    assert (units.tests, units.failures) == (40, 40)
    results = [one for case in units for one in case.result]
    assert {type(one) for one in results} == {Failure}
    assert results[0].message == "4 mistakes more than the baseline"
    passed = check(BAD, many("old", 0), Criteria(fail_under=0.1))
    assert read(junit(passed), tmp_path).failures == 0


def test_an_inconclusive_gate_is_an_error_in_junit(tmp_path: Path) -> None:
    gates, units = read(junit(check(OUTAGE, None, Criteria(fail_under=0.9))), tmp_path)
    assert (gates.errors, units.errors) == (1, 5)
