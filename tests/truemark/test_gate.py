import re
from pathlib import Path

import pytest
from junitparser import Error, Failure, JUnitXml
from tests.truemark.runs_for_tests import made, many

from truemark.counts import Counts
from truemark.gate import Criteria, check
from truemark.junit import junit
from truemark.records import Run, Unit

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


def test_a_run_of_nothing_is_said_to_have_no_units() -> None:
    assert check(made("new", {}), None, Criteria(fail_under=0.1)).doubt == "the run has no units"


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


@pytest.mark.parametrize(
    ("lost", "units", "outcome"),
    [
        pytest.param(5, 12, "inconclusive", id="five differ, and no test can say worse"),
        pytest.param(6, 12, "fell short", id="six differ"),
        pytest.param(1, 72, "passed", id="one of many, which is not worth seeing"),
        pytest.param(3, 72, "inconclusive", id="three of many"),
    ],
)
def test_a_loss_on_too_few_units_to_say_worse_does_not_pass(
    lost: int, units: int, outcome: str
) -> None:
    before = made("old", {f"u{n}": (1, 0, 0) for n in range(units)})
    after = made("new", {f"u{n}": (0, 1, 1) if n < lost else (1, 0, 0) for n in range(units)})
    gate = check(after, before, Criteria(fail_if_worse=True))
    assert gate.outcome == outcome
    if outcome == "inconclusive":
        assert f"on only {lost} units, too few to tell whether it is worse" in str(gate.doubt)
    gain = check(before, after, Criteria(fail_if_worse=True))
    assert gain.outcome == "passed"


def test_a_gate_that_found_a_gain_does_not_speak_of_losses() -> None:
    assert check(GOOD, BAD, Criteria(fail_if_worse=True)).unseen == ()
    assert check(BAD, BAD, Criteria(fail_if_worse=True)).unseen


def test_a_score_that_is_too_low_falls_short_whatever_else_is_in_doubt() -> None:
    poor = made("new", {"a": (1, 3, 3), "b": (1, 3, 3)})
    criteria = Criteria(fail_under=0.9, fail_under_lower=0.9)
    assert check(poor, None, criteria).outcome == "fell short"


def test_worse_than_nothing_cannot_be_asked() -> None:
    with pytest.raises(ValueError, match="fail_if_worse needs a baseline"):
        check(GOOD, None, Criteria(fail_if_worse=True))


def traded(name: str, found: int, invented: int) -> Run:
    """A run of 30 units with ten items each that finds so many and invents so many."""
    units = {
        f"u{n:02}": (found + (n % 3 == 0), invented + (n % 4 == 0), 10 - found - (n % 3 == 0))
        for n in range(30)
    }
    return made(name, units)


def test_precision_that_was_traded_for_recall_is_seen_where_it_is_asked_about() -> None:
    old, new = traded("old", 7, 1), traded("new", 8, 2)
    alone = check(new, old, Criteria(fail_if_worse=True))
    assert alone.outcome == "passed"
    both = Criteria(fail_if_worse=True, measures=("f1", "precision", "recall"))
    gate = check(new, old, both)
    assert gate.outcome == "fell short"
    assert [(asked.asked, asked.holds) for asked in gate.requirements] == [
        ("f1 not worse than the baseline", True),
        ("precision not worse than the baseline", False),
        ("recall not worse than the baseline", True),
    ]


def test_the_share_of_clean_units_can_be_asked_for() -> None:
    run = made("new", {f"u{n}": (0, 0, 0) if n < 15 else (3, 1, 0) for n in range(20)})
    gate = check(run, None, Criteria(fail_under=0.8, measures=("clean",)))
    (requirement,) = gate.requirements
    assert gate.outcome == "fell short"
    assert requirement.asked == "share of clean units of 0.8 or more"
    assert requirement.found.startswith("0.7500 (95% interval 0.")


def test_a_precision_of_nothing_is_not_known_to_be_no_worse() -> None:
    old = made("old", {f"u{n}": (3, 1, 1) for n in range(20)})
    silent = made("new", {f"u{n}": (0, 0, 4) for n in range(20)})
    gate = check(silent, old, Criteria(fail_if_worse=True, measures=("precision",)))
    assert gate.outcome == "inconclusive"


def shifted(loss: int, swing: int) -> Run:
    """A run whose units swing around a loss of so many items in a hundred."""
    return made(
        "new",
        {
            f"u{n:02}": (80 - loss + (-1) ** n * swing, 10, 20 + loss - (-1) ** n * swing)
            for n in range(30)
        },
    )


@pytest.mark.parametrize(
    ("run", "outcome", "found"),
    [
        (shifted(0, 1), "passed", "equivalent within the margin"),
        (shifted(-10, 1), "passed", "no loss of 0.02 or more"),
        (shifted(0, 9), "inconclusive", "not known"),
        (shifted(10, 1), "fell short", "worse, and a loss of 0.02 or more is not ruled out"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_margin_says_what_was_shown(run: Run, outcome: str, found: str) -> None:
    old = made("old", {f"u{n:02}": (80, 10, 20) for n in range(30)})
    gate = check(run, old, Criteria(margin=0.02))
    (requirement,) = gate.requirements
    assert gate.outcome == outcome
    assert requirement.asked == "f1 lost less than 0.02"
    assert requirement.found.startswith(found)


def test_failed_units_count_as_missed_where_that_is_asked() -> None:
    whole = {f"u{n:02}": (9, 1, 1) if n < 20 else (2, 8, 8) for n in range(25)}
    hidden = {name: counts if name < "u20" else () for name, counts in whole.items()}
    old, new = made("old", whole), made("new", hidden)
    lenient = Criteria(fail_if_worse=True, max_failed=0.5)
    assert check(new, old, lenient).summary.intervals["f1"].value == 0.9
    strict = Criteria(fail_if_worse=True, failed_as_missed=True)
    gate = check(new, old, strict)
    assert gate.summary.counts == Counts(180, 20, 70)
    assert gate.failed_as_missed
    alone = check(new, None, Criteria(fail_under=0.5, failed_as_missed=True))
    assert alone.outcome == "inconclusive"
    assert alone.doubt == "what was expected of u20, which failed, is not in the records"


def test_a_failed_unit_says_itself_what_was_expected() -> None:
    units = tuple(Unit(f"u{n}", 4, 0, 0) for n in range(9))
    failed = (Unit("x", failed="timed out", expected=4), Unit("y", failed="gone", expected=0))
    gate = check(made("new", {}, units=units + failed), None, Criteria(0.9, failed_as_missed=True))
    assert gate.summary.counts == Counts(36, 0, 5)
    assert gate.summary.intervals["clean"].value == 9 / 11
    assert len(gate.requirements) == 1


def test_what_passed_says_what_loss_would_have_been_missed() -> None:
    old = made("old", {f"u{n:02}": (8 + n % 3, n % 4, n % 3) for n in range(12)})
    new = made("new", {f"u{n:02}": (8 + (n * n) % 3, n % 5, n % 3) for n in range(12)})
    gate = check(new, old, Criteria(fail_if_worse=True))
    assert gate.outcome == "passed"
    (unseen,) = gate.unseen
    assert re.fullmatch(
        r"f1: a loss of 0\.\d+ would have been missed in \d of 10 runs like this", unseen
    )
    same = check(old, old, Criteria(fail_if_worse=True))
    assert same.unseen == ("f1: too few units differ to know what loss would have been missed",)
    assert check(new, old, Criteria(fail_under=0.1)).unseen == ()


def read(document: bytes, folder: Path) -> JUnitXml:
    (folder / "junit.xml").write_bytes(document)
    return JUnitXml.fromfile(str(folder / "junit.xml"))


def test_a_junit_reader_finds_one_case_per_unit(tmp_path: Path) -> None:
    run = made("new\x00<&", {"a": (1, 2, 0), "b\x1b": (), "c": (2, 0, 0)})
    criteria = Criteria(fail_under=0.9, max_failed=0.5)
    gates, units = read(junit(check(run, None, criteria), "my, bare"), tmp_path)
    assert units.name == "maker new\N{REPLACEMENT CHARACTER}<& on my, bare"
    assert gates.name == f"gate of {units.name}"
    assert [case.name for case in units] == ["a", "b\N{REPLACEMENT CHARACTER}", "c"]
    assert (units.tests, units.failures, units.errors) == (3, 0, 1)
    assert [type(one) for case in units for one in case.result] == [Error]
    assert [case.name for case in gates] == ["f1 of 0.9 or more"]
    assert (gates.tests, gates.failures) == (1, 1)


def test_units_that_lost_are_failures_where_the_gate_fell_short(tmp_path: Path) -> None:
    gate = check(BAD, many("old", 0), Criteria(fail_if_worse=True))
    _, units = read(junit(gate, "my"), tmp_path)
    assert (units.tests, units.failures) == (40, 40)
    results = [one for case in units for one in case.result]
    assert {type(one) for one in results} == {Failure}
    assert results[0].message == "4 mistakes more than the baseline"
    passed = check(BAD, many("old", 0), Criteria(fail_under=0.1))
    assert read(junit(passed, "my"), tmp_path).failures == 0


def test_an_inconclusive_gate_is_an_error_in_junit(tmp_path: Path) -> None:
    gate = check(OUTAGE, None, Criteria(fail_under=0.9))
    gates, units = read(junit(gate, "my"), tmp_path)
    assert (gates.errors, units.errors) == (1, 5)
