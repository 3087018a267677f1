"""The record that every run leaves beside its report."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from testing.loopback import Call, LoopbackLLM, Reply, Tokens, answer, blocked
from tests.cal_ai.sample_folders import (
    GOT_LUNCH,
    CommandLine,
    Printed,
    asked_sample,
    finds_lunch,
    write_sample,
    write_samples,
)

from truemark.cli import main as truemark
from truemark.record_files import load_run, schema
from truemark.records import Run

LATE = {**GOT_LUNCH, "start_time": "2026-02-21T12:45:00", "reasoning": 'Line 1: "sample"'}
TEXT = "[Bob]: Lunch tomorrow? sample <{}>\n[Alice]: Yes, at noon."


def record(ran: Printed) -> Run:
    """The record of a run that printed JSON, checked against the schema."""
    path = Path(ran.json["record"])
    jsonschema.Draft202012Validator(schema()).validate(json.loads(path.read_text("utf-8")))
    return load_run(path)


def script(call: Call) -> Reply:
    match asked_sample(call):
        case "crud/late":
            return answer(events=[LATE], tokens=Tokens(1000, 100, 200))
        case "crud/none":
            return answer(events=[])
        case "odd/refused":
            return blocked()
    return finds_lunch(call)


@pytest.fixture
def ran(gemini: CommandLine, llm: LoopbackLLM) -> Printed:
    for name in ("crud/late", "crud/none", "odd/refused", "odd/fine"):
        write_sample(gemini.folder / "samples", name, text=TEXT.format(name))
    write_sample(gemini.folder / "samples", "odd/unlabelled", expected=None)
    llm.set_script(script)
    return gemini.benchmark("--no-summary", "--format", "json")


def test_a_unit_per_sample_with_counts_or_the_reason_why_there_are_none(ran: Printed) -> None:
    units = {unit.id: unit for unit in record(ran).units}
    assert list(units) == ["crud/late", "crud/none", "odd/fine", "odd/refused"]
    counts = {name: (unit.tp, unit.fp, unit.fn) for name, unit in units.items()}
    assert counts == {
        "crud/late": (1, 0, 0),
        "crud/none": (0, 0, 1),
        "odd/fine": (1, 0, 0),
        "odd/refused": (0, 0, 0),
    }
    assert units["odd/refused"].failed == "Gemini gave no answer: block_reason SAFETY"
    late = units["crud/late"]
    assert late.group == {"category": "crud"}
    assert late.tokens == {"prompt": 1000, "output": 100, "thinking": 200}
    assert late.cost == pytest.approx((1000 * 1.25 + 300 * 10) / 1e6)
    assert late.seconds is not None
    assert (late.text, late.replayed) == (TEXT.format("crud/late"), False)
    assert [late.text[mark.start : mark.end] for mark in late.marks if late.text] == [
        "[Bob]: Lunch tomorrow? sample <crud/late>"
    ]


def test_findings_show_what_was_expected_what_came_and_by_how_much(ran: Printed) -> None:
    missed, off = sorted(record(ran).findings, key=lambda one: one.kind)
    assert (missed.kind, missed.unit, missed.mistake) == ("missed", "crud/none", True)
    assert (missed.got, missed.confidence) == (None, None)
    assert missed.expected == {
        "action": "create",
        "title": "Lunch",
        "start_time": "2026-02-21 12:00",
        "end_time": "2026-02-21 13:00",
    }
    assert (off.kind, off.unit, off.mistake) == ("off within tolerance", "crud/late", False)
    assert [(it.name, it.by, it.by_unit) for it in off.differences] == [("start_time", 45.0, "min")]
    assert (off.confidence, off.note) == ("high", 'Line 1: "sample"')
    assert off.text[off.marks[0].start : off.marks[0].end].startswith("[Bob]: Lunch tomorrow?")


def test_reliability_is_by_stated_confidence(ran: Printed) -> None:
    found = record(ran).reliability
    assert found is not None
    assert [(row.label, row.count, row.correct) for row in found.rows] == [
        ("high", 2, 2),
        ("medium", 0, 0),
        ("low", 0, 0),
    ]
    assert record(ran).notes == ("1 without sidecar, extracted and not scored",)


def test_two_systems_on_the_same_samples_share_the_key_and_differ_in_identity(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    write_samples(gemini.folder / "samples", 2)
    llm.set_script(finds_lunch)
    flags = ("--no-summary", "--format", "json")
    pro = record(gemini.benchmark(*flags))
    flash = record(gemini.benchmark(*flags, "--model", "gemini-2.5-flash"))
    rules = record(gemini.benchmark(*flags, "--extractor", "reader"))
    assert pro.comparison_key == flash.comparison_key == rules.comparison_key
    assert set(pro.comparison_key) == {"tool", "samples", "tolerance", "empty", "weights"}
    assert len({run.system_id for run in (pro, flash, rules)}) == 3
    assert set(pro.system.identity) == {"extractor", "model", "prompt"}
    assert (pro.system.name, pro.system.kind) == ("gemini-2.5-pro", "gemini")


def test_replay_turns_stored_answers_into_the_record_they_would_have_left(
    gemini: CommandLine, llm: LoopbackLLM, ran: Printed
) -> None:
    first = record(ran)
    again = record(
        gemini.benchmark("--format", "json", "--extractor", f"replay:{ran.json['answers']}")
    )
    assert (again.system, again.signature) == (first.system, first.signature)
    assert again.findings == first.findings
    assert [unit.counts for unit in again.units] == [unit.counts for unit in first.units]
    assert all(unit.replayed for unit in again.units)
    assert again.notes[1] == "5 of 5 answers are replayed: nothing was spent on them now"


def test_the_record_can_be_compared_and_checked(
    gemini: CommandLine, ran: Printed, capsys: pytest.CaptureFixture[str]
) -> None:
    path = ran.json["record"]
    assert truemark(["check", path, "--fail-under", "0.5"]) == 3  # one of four failed
    assert truemark(["check", path, "--fail-under", "0.5", "--max-failed", "0.3"]) == 0
    assert truemark(["check", path, "--fail-under", "0.9", "--max-failed", "0.3"]) == 1
    assert truemark(["history", str(gemini.folder / "reports")]) == 0
    assert "gemini-2.5-pro" in capsys.readouterr().out


def test_a_run_in_which_all_failed_leaves_a_record_too(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    write_samples(gemini.folder / "samples", 2)
    llm.set_script([blocked()])
    found = record(gemini.benchmark("--no-summary", "--format", "json"))
    assert [unit.failed for unit in found.units] == [
        "Gemini gave no answer: block_reason SAFETY"
    ] * 2
