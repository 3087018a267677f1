from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from testing.loopback import Call, LoopbackLLM, Reply, answer, blocked
from tests.cal_ai.sample_folders import (
    GOT_LUNCH,
    CommandLine,
    asked_sample,
    finds_lunch,
    write_sample,
    write_samples,
)

from truemark.cli import main as truemark
from truemark.records import load_run


def stored_run(cal_ai: CommandLine, what: str, *flags: str) -> str:
    """Runs the benchmark and returns where its answers, its record or their folder are."""
    facts = cal_ai.benchmark("--no-summary", "--format", "json", *flags).json
    return str(Path(facts["record"]).parent if what == "folder" else facts[what])


def versus(ran: Any) -> dict[str, Any]:
    (found,) = ran.json["baseline"]["against_the_first"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("what", ["answers", "record", "folder"])
def test_a_clear_gain_over_the_baseline_is_told_from_noise(
    gemini: CommandLine, llm: LoopbackLLM, what: str
) -> None:
    write_samples(gemini.folder / "samples", 20)
    llm.set_script([answer(events=[])])
    before = stored_run(gemini, what)
    llm.set_script(finds_lunch)
    ran = gemini.benchmark("--no-summary", "--baseline", before, "--model", "gemini-2.5-flash")
    line = "gemini-2.5-flash against gemini-2.5-pro: better, f1 +1.0000 (95% interval"
    assert line in ran.out
    assert gemini.report.count(line) == 1
    assert "20 samples fixed by gemini-2.5-flash" in gemini.report
    assert len(llm.calls) == 20


def test_the_comparison_is_the_one_that_truemark_makes_of_the_records(
    gemini: CommandLine, llm: LoopbackLLM, capsys: pytest.CaptureFixture[str]
) -> None:
    write_samples(gemini.folder / "samples", 6)
    llm.set_script(lambda call: answer(events=[]) if "s00" in call.prompt else finds_lunch(call))
    before = stored_run(gemini, "record")
    llm.set_script(finds_lunch)
    ran = gemini.benchmark(
        "--no-summary", "--model", "gemini-2.5-flash", "--baseline", before, "--format", "json"
    )
    assert truemark(["compare", before, ran.json["record"], "--format", "json"]) == 0
    about = {"tool": "cal_ai", "data": "samples"}
    assert json.loads(capsys.readouterr().out) == about | ran.json["baseline"]


def test_a_run_is_no_better_than_itself(gemini: CommandLine, llm: LoopbackLLM) -> None:
    write_samples(gemini.folder / "samples", 6)
    llm.set_script(finds_lunch)
    before = stored_run(gemini, "answers")
    ran = gemini.benchmark(
        "--extractor", f"replay:{before}", "--baseline", before, "--format", "json"
    )
    found = versus(ran)
    assert (found["units"], found["differences"]["f1"]["value"], found["p_value"]) == (6, 0, 1)
    assert found["verdict"] == "not distinguishable"


def test_only_samples_with_scores_on_both_sides_are_compared(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    names = write_samples(gemini.folder / "samples", 4)
    llm.set_script(finds_lunch)
    before = stored_run(gemini, "answers")
    write_sample(gemini.folder / "samples", "crud/new")

    def script(call: Call) -> Reply:
        if asked_sample(call) == names[0]:
            return blocked()
        return answer(events=[GOT_LUNCH, GOT_LUNCH])

    llm.set_script(script)
    ran = gemini.benchmark("--no-summary", "--baseline", before, "--format", "json")
    found = versus(ran)
    assert found["units"] == 3
    assert found["differences"]["f1"]["value"] == pytest.approx(2 / 3 - 1)
    assert ran.json["scored"] == 4


def test_a_baseline_of_other_samples_is_warned_about(gemini: CommandLine, llm: LoopbackLLM) -> None:
    write_samples(gemini.folder / "samples", 1)
    llm.set_script(finds_lunch)
    before = stored_run(gemini, "answers")
    (gemini.folder / "samples" / "crud" / "s000.txt").write_text("[Alice]: another talk")
    ran = gemini.benchmark("--extractor", "reader", "--baseline", before)
    assert ran.err.splitlines()[-1] == f"warning: {before}: no sample in common with this run"
    assert "baseline" not in ran.out


def test_a_record_of_other_samples_stops_the_run_before_it_is_paid_for(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    write_samples(gemini.folder / "samples", 1)
    llm.set_script(finds_lunch)
    before = stored_run(gemini, "record")
    write_sample(gemini.folder / "samples", "crud/new")
    llm.set_script(finds_lunch)
    ran = gemini.benchmark("--no-summary", "--baseline", before)
    assert (ran.status, ran.out, llm.calls) == (1, "", ())
    assert ran.err.startswith(f"error: {before}: samples is ")
    assert "a run on other samples or with other rules" in ran.err


def test_the_baseline_may_be_named_by_the_id_of_its_run(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    write_samples(gemini.folder / "samples", 6)
    llm.set_script([answer(events=[])])
    before = load_run(stored_run(gemini, "record"))
    llm.set_script(finds_lunch)
    ran = gemini.benchmark("--no-summary", "--baseline", f"reports/{before.id}")
    assert "better, f1 +1.0000" in ran.out


@pytest.mark.parametrize("name", ["gone.jsonl", "gone.run.json", "reports/0123abcd"])
def test_a_baseline_that_is_not_there_stops_the_run_before_it_is_paid_for(
    gemini: CommandLine, llm: LoopbackLLM, name: str
) -> None:
    write_samples(gemini.folder / "samples", 1)
    ran = gemini.benchmark("--baseline", name)
    assert (ran.status, ran.out, llm.calls) == (1, "", ())
    assert ran.err.startswith(f"error: {name}: ")
    assert not list(Path("reports").glob("*.md"))
