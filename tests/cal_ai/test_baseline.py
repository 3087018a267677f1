from __future__ import annotations

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


def stored_run(cal_ai: CommandLine, *flags: str) -> str:
    """Runs the benchmark and returns where its answers are."""
    path = cal_ai.benchmark("--no-summary", "--format", "json", *flags).json["answers"]
    assert isinstance(path, str)
    return path


def test_a_clear_gain_over_the_baseline_is_told_from_noise(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    write_samples(gemini.folder / "samples", 20)
    llm.set_script([answer(events=[])])
    before = stored_run(gemini)
    llm.set_script(finds_lunch)
    ran = gemini.benchmark("--no-summary", "--baseline", before)
    line = "f1 1.000 against 0.000 of the baseline (gemini-2.5-pro) on 20 samples: +1.000, p = 0.0"
    assert line in ran.out
    assert line in gemini.report
    assert len(llm.calls) == 20


def test_a_run_is_no_better_than_itself(gemini: CommandLine, llm: LoopbackLLM) -> None:
    write_samples(gemini.folder / "samples", 5)
    llm.set_script(finds_lunch)
    before = stored_run(gemini)
    found = gemini.benchmark(
        "--extractor", f"replay:{before}", "--baseline", before, "--format", "json"
    ).json["baseline"]
    assert (found["samples"], found["f1"], found["baseline_f1"]) == (5, 1.0, 1.0)
    assert (found["test"]["difference"], found["test"]["p_value"]) == (0.0, 1.0)


def test_only_samples_with_scores_on_both_sides_are_compared(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    names = write_samples(gemini.folder / "samples", 4)
    llm.set_script(finds_lunch)
    before = stored_run(gemini)
    write_sample(gemini.folder / "samples", "crud/new")

    def script(call: Call) -> Reply:
        if asked_sample(call) == names[0]:
            return blocked()
        return answer(events=[GOT_LUNCH, GOT_LUNCH])

    llm.set_script(script)
    ran = gemini.benchmark("--no-summary", "--baseline", before, "--format", "json")
    found = ran.json["baseline"]
    assert found["samples"] == 3
    assert found["baseline_f1"] == 1.0
    assert found["f1"] == pytest.approx(2 / 3)
    assert ran.json["scored"] == 4


def test_a_baseline_of_other_samples_is_warned_about(gemini: CommandLine, llm: LoopbackLLM) -> None:
    write_samples(gemini.folder / "samples", 1)
    llm.set_script(finds_lunch)
    before = stored_run(gemini)
    (gemini.folder / "samples" / "crud" / "s000.txt").write_text("[Alice]: another talk")
    ran = gemini.benchmark("--extractor", "rules", "--baseline", before)
    assert ran.err.splitlines()[-1] == f"warning: {before}: no sample in common with this run"
    assert "baseline" not in ran.out


def test_a_baseline_that_is_not_there_stops_the_run_before_it_is_paid_for(
    gemini: CommandLine, llm: LoopbackLLM
) -> None:
    write_samples(gemini.folder / "samples", 1)
    ran = gemini.benchmark("--baseline", "gone.jsonl")
    assert (ran.status, ran.out, llm.calls) == (1, "", ())
    assert ran.err.startswith("error: gone.jsonl: no such recording")
