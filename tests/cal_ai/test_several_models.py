"""Several models or prompts in one benchmark: each is run and recorded, then compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from testing.loopback import Call, LoopbackLLM, Reply, answer, says, status
from tests.cal_ai.sample_folders import GOT_LUNCH, CommandLine, write_samples

from cal_ai.extractors.prompt import BUILT_IN
from truemark.cli import main as truemark
from truemark.records import load_run


def by_model(call: Call) -> Reply:
    if "gone" in call.path:
        return status(404, "no such model")
    return answer(events=[GOT_LUNCH] if "good" in call.path else [])


def test_each_model_is_run_recorded_and_compared_with_the_first(
    gemini: CommandLine, llm: LoopbackLLM, tmp_path: Path
) -> None:
    write_samples(tmp_path / "samples", 8)
    llm.set_script(by_model)
    done = gemini("benchmark", "samples", "--model", "bad", "--model", "good", "--no-summary")
    assert done.status == 0
    assert "good against bad: better" in done.out
    records = sorted((tmp_path / "reports").glob("*.run.json"))
    assert [load_run(path).system.name for path in records] == ["bad", "good"]
    assert [load_run(path).system.identity["model"] for path in records] == ["bad", "good"]
    assert done.err.count("extractor: gemini") == 2


def test_the_model_that_is_below_the_required_f1_is_named(
    gemini: CommandLine, llm: LoopbackLLM, tmp_path: Path
) -> None:
    write_samples(tmp_path / "samples", 2)
    llm.set_script(by_model)
    flags = ("--no-summary", "--fail-under", "0.5", "--model", "good", "--model", "bad")
    done = gemini("benchmark", "samples", *flags)
    assert done.status == 1
    lines = [line for line in done.err.splitlines() if "--fail-under" in line]
    assert lines == ["bad: f1 0.0000 is below --fail-under 0.5"]


def test_a_model_that_is_refused_does_not_stop_the_others(
    gemini: CommandLine, llm: LoopbackLLM, tmp_path: Path
) -> None:
    write_samples(tmp_path / "samples", 2)
    llm.set_script(by_model)
    done = gemini(
        *("benchmark", "samples", "--no-summary", "--format", "json"),
        *("--model", "gone", "--model", "good", "--model", "bad"),
    )
    assert done.status == 1
    assert "failed: gone: Gemini answered 404 Not Found: no such model" in done.err
    shown = json.loads(done.out)
    assert [run["model"] for run in shown["runs"]] == ["good", "bad"]
    assert shown["comparison"]["against_the_first"][0]["verdict"]


@pytest.mark.parametrize("models", [("ok", "html", "other"), ("html", "ok", "other")])
def test_a_model_without_a_scored_sample_is_named_and_the_others_are_compared(
    gemini: CommandLine, llm: LoopbackLLM, tmp_path: Path, models: tuple[str, ...]
) -> None:
    write_samples(tmp_path / "samples", 8)
    page = says("<html>Sign in</html>")
    llm.set_script(lambda call: page if "html" in call.path else answer(events=[GOT_LUNCH]))
    flags = [flag for model in models for flag in ("--model", model)]
    done = gemini("benchmark", "samples", "--no-summary", *flags)
    assert done.status == 1
    assert "failed: html: has no scored sample, so it is not compared" in done.err
    assert done.out.count("samples: ") == 3
    assert "other against ok: " in done.out
    alone = gemini("benchmark", "samples", "--no-summary", "--model", "ok", "--model", "html")
    assert alone.out.count("samples: ") == 2


def test_two_prompts_are_two_systems_on_the_same_data(
    gemini: CommandLine, llm: LoopbackLLM, tmp_path: Path
) -> None:
    write_samples(tmp_path / "samples", 8)

    def by_prompt(call: Call) -> Reply:
        return answer(events=[GOT_LUNCH] if "Lunches count." in call.prompt else [])

    llm.set_script(by_prompt)
    mine = str(BUILT_IN).replace("What to list\n", "What to list\n- Lunches count.\n")
    (tmp_path / "mine.txt").write_text(mine, encoding="utf-8")
    for output, more in (("before", ()), ("after", ("--prompt", "mine.txt"))):
        done = gemini("benchmark", "samples", "--output", output, "--no-summary", *more)
        assert done.status == 0
    before, after = (next((tmp_path / one).glob("*.run.json")) for one in ("before", "after"))
    first, second = load_run(before).system, load_run(after).system
    assert first.identity["prompt"] != second.identity["prompt"]
    assert truemark(["compare", str(before), str(after)]) == 0


def test_the_verdict_over_two_prompts_is_printed(
    gemini: CommandLine, llm: LoopbackLLM, tmp_path: Path
) -> None:
    write_samples(tmp_path / "samples", 8)
    llm.set_script(lambda call: answer(events=[GOT_LUNCH] if "Be brave." in call.prompt else []))
    assert gemini("benchmark", "samples", "--output", "before", "--no-summary").status == 0
    (tmp_path / "mine.txt").write_text(f"Be brave.\n{BUILT_IN}", encoding="utf-8")
    baseline = next((tmp_path / "before").glob("*.run.json"))
    done = gemini(
        *("benchmark", "samples", "--output", "after", "--no-summary"),
        *("--prompt", "mine.txt", "--baseline", str(baseline)),
    )
    assert done.status == 0
    assert "better" in done.out
