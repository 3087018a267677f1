import json
from dataclasses import replace
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from truemark import records
from truemark.calibration import reliability_of
from truemark.counts import Counts, Weights
from truemark.errors import TruemarkError
from truemark.jsontext import to_json
from truemark.records import (
    FINDING_CHARACTERS,
    FINDINGS_PER_KIND,
    CurveColumns,
    Difference,
    Finding,
    FindingCount,
    HeldOut,
    Mark,
    Reliability,
    ReliabilityRow,
    Run,
    ScoringRules,
    System,
    Unit,
    capped,
    load_run,
    load_runs,
    run_json,
    schema,
    write_run,
)

SMALL = Run(
    tool="keywords",
    version="1",
    started="2026-03-01T09:00:00+00:00",
    system=System("baseline"),
    signature={"data": "8c1f", "rules": "exact"},
    scoring=ScoringRules(empty=0),
    units=(Unit("a", tp=4, fp=1, fn=2), Unit("b", failed="timed out")),
)
FULL = replace(
    SMALL,
    seconds=1.5,
    system=System("large", "model", {"model": "m", "checksum": "ab", "top": 3}),
    scoring=ScoringRules(0.5, Weights(2, 1), 0.3, 0.25, 3),
    units=(
        Unit(
            "a",
            4,
            1,
            2,
            repeat=1,
            group={"language": "en"},
            cluster="first",
            seconds=0.2,
            cost=0.01,
            tokens={"input": 10, "output": 2},
            replayed=True,
            text="One. Two.",
            marks=(Mark(3, 4, "found", 0.9, truth=4),),
        ),
        Unit("b", failed="timed out"),
        Unit("c", text_left_out=True),
    ),
    findings=(
        Finding(
            "wrong day",
            "a",
            1,
            text="see you on Monday",
            offset=40,
            marks=(Mark(11, 17, "quoted"),),
            expected={"day": "Monday"},
            got={"day": "Tuesday"},
            differences=(Difference("day", "Monday", "Tuesday", 1.0, "days"),),
            probability=0.7,
            confidence="high",
            note="a day late",
        ),
        Finding("remark", "a", 1, mistake=False),
    ),
    finding_counts=(FindingCount("wrong day", 12, {"language": "en"}),),
    curve=CurveColumns((0.1, 0.2), (4, 3), (2, 1), (2, 3)),
    tolerances=CurveColumns((0.0,), (4,), (2,), (2,)),
    held_out=HeldOut(3, 2, 3, "leave one out"),
    reliability=Reliability((ReliabilityRow("0 to 1", 5, 4, 0.0, 1.0, 0.8),), 0.1, 0.05),
    words={"unit": "page"},
    notes=("a note",),
)


@pytest.mark.parametrize("run", [SMALL, FULL], ids=["small", "full"])
def test_a_record_comes_back_as_it_was_written(run: Run, tmp_path: Path) -> None:
    write_run(tmp_path / "a.run.json", run)
    assert load_run(tmp_path / "a.run.json") == capped(run)


@pytest.mark.parametrize("run", [SMALL, FULL], ids=["small", "full"])
def test_written_records_satisfy_the_schema(run: Run) -> None:
    jsonschema.Draft202012Validator(schema()).validate(json.loads(run_json(run)))


def test_the_schema_is_valid_and_refuses_what_is_no_record() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    content = json.loads(run_json(FULL))
    content["units"][0]["tp"] = "four"
    assert not jsonschema.Draft202012Validator(schema()).is_valid(content)


def test_the_schema_that_ships_is_the_one_of_the_types() -> None:
    shipped = resources.files("truemark") / "run.schema.json"
    assert json.loads(shipped.read_text(encoding="utf-8")) == json.loads(to_json(schema())), (
        "out of date; run: python docs/schemas.py"
    )


def test_fields_of_later_versions_are_ignored(tmp_path: Path) -> None:
    content = json.loads(run_json(FULL))
    content["colour"] = "blue"
    content["format"] = "truemark.run/1.7"
    content["units"][0]["mood"] = ["good"]
    content["findings"][0]["marks"][0]["weight"] = 3
    content["scoring"]["measure"] = "weighted"
    content["units"][0]["blocks"] = [[3, 1, 0], [1, 0, 2]]
    (tmp_path / "later.run.json").write_text(json.dumps(content))
    assert load_run(tmp_path / "later.run.json") == FULL


def test_fields_at_their_default_are_not_written() -> None:
    content = json.loads(run_json(SMALL))
    assert content["units"][1] == {"id": "b", "failed": "timed out"}
    assert "curve" not in content


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "truemark.run/2"}, "is newer than 'truemark.run/1'; update truemark"),
        ({"format": "other"}, "not a run record"),
        ({"units": {}}, r"a.run.json: units is \{\}, not a list"),
        ({"units": [{"id": "a", "tp": "4"}]}, r"units\[0\].tp is '4', not a whole number"),
        ({"units": [{"id": "a", "tp": -4}]}, r"units\[0\]: counts must be between 0 and"),
        ({"units": [{"id": "a", "tp": True}]}, r"units\[0\].tp is true"),
        ({"units": [{"id": "a", "tp": 10**30}]}, r"units\[0\]: counts must be between 0 and"),
        ({"units": [{"tp": 1}]}, r"units\[0\].id is missing"),
        ({"units": [{"id": "a"}, {"id": "a"}]}, "two of 'a', 0"),
        ({"held_out": {"tp": -1, "fp": 0, "fn": 0}}, "counts must be between 0 and"),
        ({"scoring": {"empty": 2}}, "empty must be between 0 and 1, got 2"),
        ({"system": 3}, "system is 3, not an object"),
        (
            {"scoring": {"empty": 10**400}},
            "empty is 1000.*, not a number of ordinary size",
        ),
        ({"curve": {"at": [1], "tp": [], "fp": [], "fn": []}}, "of equal length"),
        ({"signature": {"data": 5}}, "signature.data is 5, not a text"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)
def test_what_is_no_record_is_refused_in_one_line(
    change: dict[str, object], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.run.json"
    path.write_text(json.dumps(json.loads(run_json(SMALL)) | change))
    with pytest.raises(TruemarkError, match=message):
        load_run(path)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "[" * 100_000], ids=lambda text: text[:3])
def test_other_json_and_no_json_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.run.json").write_text(text)
    with pytest.raises(TruemarkError, match=r"a\.run\.json: not "):
        load_run(tmp_path / "a.run.json")


def test_two_systems_on_the_same_data_have_the_same_comparison_key() -> None:
    other = replace(SMALL, system=System("other"), version="2", seconds=9.0)
    assert other.comparison_key == SMALL.comparison_key
    assert other.system_id != SMALL.system_id
    assert replace(SMALL, scoring=ScoringRules(empty=1)).comparison_key != SMALL.comparison_key
    assert replace(SMALL, signature={"data": "new"}).comparison_key != SMALL.comparison_key


def test_the_threshold_belongs_to_the_system_not_to_the_comparison() -> None:
    other = replace(SMALL, scoring=replace(SMALL.scoring, threshold=0.4))
    assert other.comparison_key == SMALL.comparison_key


def test_runs_of_a_system_that_start_in_the_same_second_have_ids_of_their_own(
    tmp_path: Path,
) -> None:
    runs = [replace(SMALL, seconds=seconds) for seconds in (None, 2, 2.25)]
    assert len({run.id for run in runs}) == 3
    for run in runs:
        write_run(tmp_path / "x.run.json", run)
        assert load_run(tmp_path / "x.run.json").id == run.id


def many_findings(missed: int, invented: int) -> Run:
    units = (Unit("a", group={"language": "en"}), Unit("b", group={"language": "de"}))
    found = [Finding("missed", "ab"[number % 2], offset=number) for number in range(missed)]
    found += [Finding("invented", "a", offset=number) for number in range(invented)]
    return replace(SMALL, units=units, findings=tuple(found))


def test_findings_are_capped_per_kind_with_the_true_number_beside_them() -> None:
    run = capped(many_findings(2_000, 30))
    kept = [one.kind for one in run.findings]
    assert (kept.count("missed"), kept.count("invented")) == (FINDINGS_PER_KIND, 30)
    assert set(map(tuple_of_count, run.finding_counts)) == {
        ("missed", "en", 1_000),
        ("missed", "de", 1_000),
        ("invented", "en", 30),
    }
    assert capped(run) == run


def tuple_of_count(one: FindingCount) -> tuple[str, str, int]:
    return one.kind, one.group["language"], one.count


def test_the_sample_of_findings_is_in_order_and_always_the_same() -> None:
    run = many_findings(1_000, 0)
    first, again = ([one.offset for one in capped(run).findings] for _ in range(2))
    assert first == again == sorted(first)
    assert first != list(range(FINDINGS_PER_KIND))


def test_a_long_text_of_a_finding_is_cut_and_its_marks_with_it() -> None:
    end = FINDING_CHARACTERS
    marks = (Mark(2, 5, "found"), Mark(8, end + 5, "missed"), Mark(end + 2, end + 3, "missed"))
    run = replace(SMALL, findings=(Finding("missed", "a", text="x" * 2 * end, marks=marks),))
    (finding,) = capped(run).findings
    assert finding.text == "x" * end
    assert [(mark.start, mark.end) for mark in finding.marks] == [(2, 5), (8, end)]


def test_texts_of_units_are_kept_while_they_fit_worst_units_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(records, "ALL_CHARACTERS", 25)
    mark = Mark(0, 1, "missed")
    units = [
        Unit(name, fn=fn, text="x" * 10, marks=(mark,))
        for name, fn in {"a": 1, "b": 4, "c": 3, "d": 0}.items()
    ]
    run = capped(replace(SMALL, units=tuple(units)))
    assert [one.text is None for one in run.units] == [True, False, False, True]
    assert [one.text_left_out for one in run.units] == [True, False, False, True]
    assert run.units[0].marks == ()


def test_a_record_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.run.json"
    write_run(path, SMALL)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="value must be text"):
        write_run(path, replace(SMALL, findings=(Finding("odd", "a", expected=object()),)))
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["a.run.json"]


def test_reliability_sums_up_stated_probabilities() -> None:
    found = reliability_of([0.1, 0.9, 0.95, 0.2], [False, True, True, True], bins=2)
    assert [(row.count, row.correct) for row in found.rows] == [(2, 1), (2, 2)]
    assert found.brier == pytest.approx((0.01 + 0.01 + 0.0025 + 0.64) / 4)
    assert found.calibration_error == pytest.approx((0.7 + 0.15) / 4)
    assert reliability_of([], []).brier is None


def test_the_counts_of_parts_are_counts() -> None:
    assert FULL.units[0].counts == Counts(4, 1, 2)
    assert FULL.held_out is not None
    assert FULL.held_out.counts == Counts(3, 2, 3)


def both_conditions() -> dict[str, object]:
    """A record as earlier versions wrote it: several conditions in one run."""
    units = [
        {
            "id": f"{talk} ({condition}){number}",
            "tp": tp,
            "group": {"condition": condition, "language": "en"},
            "cluster": talk,
        }
        for condition, tp in (("written", 5), ("bare", 3))
        for talk, number in (("a", ""), ("b (live)", ""), ("a", " #2"))
    ]
    findings = [
        {"kind": "missed", "unit": "a (bare)"},
        {"kind": "missed", "unit": "b (live) (written)"},
    ]
    counts = [
        {"kind": "missed", "count": count, "group": {"condition": condition, "language": "en"}}
        for condition, count in (("bare", 4), ("written", 1))
    ]
    content: dict[str, object] = json.loads(run_json(SMALL))
    return content | {
        "signature": {"data": "8c1f", "conditions": "written,bare"},
        "units": units,
        "findings": findings,
        "finding_counts": counts,
        "held_out": {"tp": 1, "fp": 0, "fn": 0},
        "curve": {"at": [0.5], "tp": [1], "fp": [0], "fn": [0]},
    }


def test_units_that_only_their_condition_tells_apart_are_refused_in_one_line(
    tmp_path: Path,
) -> None:
    path = tmp_path / "old.run.json"
    units = [{"id": name, "group": {"condition": "bare"}} for name in ("a (bare)", "a")]
    path.write_text(json.dumps({**both_conditions(), "units": units, "findings": []}), "utf-8")
    with pytest.raises(TruemarkError, match=r"old.run.json: units must differ in id or repeat"):
        load_runs(path)


def test_several_conditions_in_one_record_are_several_runs(tmp_path: Path) -> None:
    path = tmp_path / "both.run.json"
    path.write_text(json.dumps(both_conditions()))
    written, bare = load_runs(path)
    for run, tp in ((written, 5), (bare, 3)):
        assert run.units == (
            Unit("a", tp, group={"language": "en"}),
            Unit("b (live)", tp, group={"language": "en"}),
            Unit("a #2", tp, group={"language": "en"}, cluster="a"),
        )
        assert run.held_out is None
        assert run.curve is None
    assert (written.condition, bare.condition) == ("written", "bare")
    assert [one.unit for one in written.findings] == ["b (live)"]
    assert [one.unit for one in bare.findings] == ["a"]
    assert bare.finding_counts == (FindingCount("missed", 4, {"language": "en"}),)
    assert written.comparison_key == replace(SMALL, signature={"data": "8c1f"}).comparison_key
    with pytest.raises(TruemarkError, match=r"both.run.json: holds runs under 2 conditions"):
        load_run(path)


def test_a_run_that_names_no_condition_is_written() -> None:
    named = replace(SMALL, signature={**SMALL.signature, "condition": "written"})
    bare = replace(SMALL, signature={**SMALL.signature, "condition": "bare"})
    assert SMALL.condition == named.condition == "written"
    assert SMALL.comparison_key == named.comparison_key
    assert bare.comparison_key == SMALL.comparison_key | {"condition": "bare"}
