"""The record that every run leaves beside its report, and the lines quoted in it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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

from cal_ai.benchmark.excerpts import excerpt, quoted_lines
from cal_ai.transcripts.conversation import Transcript, Utterance
from cal_ai.transcripts.reading import parse_transcript
from truemark.cli import main as truemark
from truemark.records import Run, load_run, schema

LATE = {**GOT_LUNCH, "start_time": "2026-02-21T12:45:00", "reasoning": 'Line 1: "sample"'}
TEXT = "[Bob]: Lunch tomorrow? sample <{}>\n[Alice]: Yes, at noon."

TALK = parse_transcript(
    "Minutes\n[Bob]: Lunch on Friday?\n[Alice]: Friday is fine, half past twelve.\n\n[Bob]: Great."
)


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
    # The refused one was not stored.
    assert again.notes[1] == "4 of 5 answers are replayed: nothing was spent on them now"


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


def because(reason: str) -> list[int]:
    return sorted(quoted_lines(TALK, reason))


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        pytest.param("", [], id="no-reason"),
        pytest.param('Bob (line 2): "Lunch on Friday?"', [0], id="number-and-words"),
        pytest.param("Agreed on line 3.", [1], id="number"),
        pytest.param("See lines 2-3.", [0, 1], id="range"),
        pytest.param("See lines 2 to 999999.", [0, 1, 2], id="too-long-a-range"),
        pytest.param("Line 4 says nothing, line 77 is not there.", [], id="no-such-line"),
        pytest.param('She says "half past   TWELVE".', [1], id="words-in-other-letters"),
        pytest.param("She says 'Friday is fine' to it.", [1], id="single-quotes"),
        pytest.param("She says “Friday is fine,” so yes.", [1], id="curly-quotes"),
        pytest.param("Sie sagt „Friday is fine“.", [1], id="low-quotes"),
        pytest.param("It's Bob's idea and Alice's day, isn't it?", [], id="apostrophes"),
        pytest.param('He says "Great".', [], id="too-short-to-tell"),
        pytest.param('He says "dinner on Sunday".', [], id="nobody-said-that"),
        pytest.param("Bob: Lunch on Friday? / Alice: Friday is …", [0, 1], id="by-speaker"),
        pytest.param("Alice: Lunch on Friday?", [], id="another-speaker"),
        pytest.param("Alice: …", [], id="nothing-but-a-speaker"),
    ],
)
def test_the_lines_that_a_reason_names_or_quotes(reason: str, expected: list[int]) -> None:
    assert because(reason) == expected


def test_a_short_conversation_stands_whole_with_its_quoted_lines_marked() -> None:
    text, offset, marks = excerpt(TALK.as_text(), frozenset({1}))
    assert (text, offset) == (TALK.as_text(), 0)
    assert [text[mark.start : mark.end] for mark in marks] == [
        "[Alice]: Friday is fine, half past twelve."
    ]


LONG = Transcript(tuple(Utterance("Bob", f"words {n} " * 10, n + 1) for n in range(100)))


def test_of_a_long_conversation_the_part_around_the_quoted_lines_is_shown() -> None:
    text, offset, _ = excerpt(LONG.as_text(), frozenset({50, 52}))
    assert text.split("\n") == LONG.as_text().split("\n")[48:55]
    assert LONG.as_text()[offset:].startswith(text)
    assert excerpt(LONG.as_text(), frozenset())[0] == ""
    assert excerpt(LONG.as_text(), frozenset(), None)[0] == LONG.as_text()


@settings(derandomize=True, deadline=None)
@given(st.sets(st.integers(0, 99), max_size=6), st.sampled_from([None, 100, 5_000, 100_000]))
def test_every_mark_lies_on_a_line_that_was_quoted(quoted: set[int], longest: int | None) -> None:
    text, offset, marks = excerpt(LONG.as_text(), frozenset(quoted), longest)
    lines = LONG.as_text().split("\n")
    assert [text[mark.start : mark.end] for mark in marks] == [
        lines[place] for place in sorted(quoted)
    ]
    assert LONG.as_text()[offset : offset + len(text)] == text
