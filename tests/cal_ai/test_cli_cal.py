from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from testing.loopback import LoopbackLLM, blocked
from tests.cal_ai.sample_folders import CommandLine, write_sample, write_samples

TALK = "[Bob]: Lunch tomorrow at noon at Luigi's?\n[Alice]: Yes, see you there.\n"
OWNER = "owner: Alice (default); --owner NAME says whose calendar it is\n"
FLAGS = {
    "run": (
        "--dry-run",
        "--again",
        "--owner",
        "--calendar",
        "--extractor",
        "--model",
        "--timeout",
    ),
    "benchmark": (
        "--output",
        "--extractor",
        "--model",
        "--concurrency",
        "--rpm",
        "--timeout",
        "--resume",
        "--no-summary",
        "--format",
        "--fail-under",
        "-v",
    ),
}
HEAVY = ("google", "httpx2", "pydantic", "rapidfuzz", "genai_prices", "numpy", "asyncio", "dotenv")


def talk(folder: Path, name: str = "talk.txt", text: str = TALK) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_help_shows_both_commands_with_all_of_their_flags(cal_ai: CommandLine) -> None:
    shown = cal_ai("--help")
    assert shown.status == 0
    for command, flags in FLAGS.items():
        own = cal_ai(command, "--help").out
        for flag in flags:
            assert f"  {flag}" in shown.out
            assert f"  {flag}" in own


def test_help_loads_no_library_that_is_slow_to_load() -> None:
    code = (
        "import sys; from cal_ai.cli import main; main(['--help']); "
        f"print(*sorted(set(sys.modules) & set({HEAVY!r})), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stderr.split() == []


@pytest.mark.parametrize("command", [(), ("run",)], ids=["bare", "run"])
def test_a_file_alone_means_run(cal_ai: CommandLine, command: tuple[str, ...]) -> None:
    talk(cal_ai.folder)
    ran = cal_ai(*command, "talk.txt", "--dry-run", "--extractor", "reader", "--apply", "medium")
    assert (ran.status, ran.said) == (0, OWNER)
    assert ran.out.startswith("create Lunch")
    assert ran.out.endswith("\n1 decision: 1 would be created; nothing was changed\n")


def test_flags_may_come_before_the_file(cal_ai: CommandLine) -> None:
    talk(cal_ai.folder)
    assert cal_ai("--dry-run", "--extractor", "reader", "talk.txt").status == 0


@pytest.mark.parametrize("name", ["benchmark", "run"])
def test_a_file_called_like_a_command_is_read_when_written_as_a_path(
    cal_ai: CommandLine, name: str
) -> None:
    talk(cal_ai.folder, name)
    ran = cal_ai(f"./{name}", "--dry-run", "--extractor", "reader")
    assert ran.status == 0
    assert "1 decision" in ran.out


def test_a_decision_shows_action_title_time_reasoning_and_assumptions(
    cal_ai: CommandLine,
) -> None:
    talk(cal_ai.folder)
    shown = cal_ai("talk.txt", "--dry-run", "--extractor", "reader").out
    labels = [line.split()[0] for line in shown.splitlines() if line.startswith("  ")]
    assert {"time", "calendar", "confidence", "reasoning", "assumption", "result"} <= set(labels)


def test_decisions_as_json_have_every_field(cal_ai: CommandLine) -> None:
    talk(cal_ai.folder)
    ran = cal_ai("talk.txt", "--dry-run", "--extractor", "reader", "--format", "json")
    (decision,) = json.loads(ran.out)["decisions"]
    assert decision["action"] == "create"
    assert set(decision) >= {"title", "start_time", "reasoning", "assumptions", "confidence"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "talk.txt: nobody speaks in it", id="empty"),
        pytest.param("just notes\n", "talk.txt: nobody speaks in it", id="no-speaker"),
        pytest.param(None, "talk.txt: no such file", id="missing"),
    ],
)
def test_a_conversation_that_cannot_be_read_is_one_clear_line(
    cal_ai: CommandLine, text: str | None, expected: str
) -> None:
    if text is not None:
        talk(cal_ai.folder, text=text)
    ran = cal_ai("talk.txt", "--dry-run", "--extractor", "reader")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"error: {expected}")
    assert len(ran.err.splitlines()) == 1


def test_a_model_that_fails_in_run_is_one_clear_line(gemini: CommandLine, llm: LoopbackLLM) -> None:
    talk(gemini.folder)
    llm.set_script([blocked()])
    ran = gemini("talk.txt", "--dry-run")
    assert (ran.status, ran.out) == (1, "")
    assert ran.said == (
        OWNER + "error: no events were extracted: Gemini gave no answer: block_reason SAFETY\n"
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param((), "a FILE or benchmark is missing", id="nothing"),
        pytest.param(
            ("benchmark", "--concurrency", "0"),
            "argument --concurrency: must be a whole number from 1 to 999999, got '0'",
            id="concurrency",
        ),
        pytest.param(
            ("benchmark", "--concurrency", "two"),
            "argument --concurrency: must be a whole number from 1 to 999999, got 'two'",
            id="concurrency-word",
        ),
        pytest.param(
            ("benchmark", "--repeat", "1001"),
            "argument --repeat: must be a whole number from 1 to 1000, got '1001'",
            id="more-repeats-than-stored-answers-are-read-of",
        ),
        pytest.param(
            ("benchmark", "--rpm", "0"),
            "argument --rpm: must be a number above 0, got '0'",
            id="rpm",
        ),
        pytest.param(
            ("benchmark", "--timeout", "inf"),
            "argument --timeout: must be a number of seconds above 0",
            id="timeout",
        ),
        pytest.param(
            ("talk.txt", "--timeout", "1e300", "--calendar", "caldav:http://127.0.0.1:1/"),
            "argument --timeout: must be a number of seconds above 0, at most 1000000, got '1e300'",
            id="timeout-without-end",
        ),
        pytest.param(
            ("talk.txt", "--owner", " "), "argument --owner: ' ' is not a name", id="owner"
        ),
        pytest.param(
            ("benchmark", "--fail-under", "1.5"),
            "argument --fail-under: must be a number from 0 to 1, got '1.5'",
            id="fail-under",
        ),
        pytest.param(
            ("benchmark", "--fail-under", "nan"),
            "argument --fail-under: must be a number from 0 to 1, got 'nan'",
            id="fail-under-nan",
        ),
        pytest.param(
            ("benchmark", "--extractor", "gpt"),
            "argument --extractor: 'gpt' is not one of reader, gemini, openai, replay:FILE",
            id="extractor",
        ),
        pytest.param(
            ("benchmark", "--extractor", "replay:"),
            "argument --extractor: 'replay:' is not one of",
            id="replay-without-file",
        ),
        pytest.param(
            ("benchmark", "--resume", "--extractor", "replay:x"),
            "argument --resume: replay calls nothing",
            id="resume-of-replay",
        ),
        pytest.param(
            ("benchmark", "--output", ""), "argument --output: '' is not the name", id="output"
        ),
        pytest.param(("benchmark", "a", "b"), "unrecognized arguments: b", id="two-folders"),
        pytest.param(("benchmark", "--conc", "4"), "unrecognized arguments: --conc", id="short"),
        pytest.param(("talk.txt", "--rpm", "4"), "unrecognized arguments: --rpm", id="run-flag"),
        pytest.param(("benchmark", "--format", "xml"), "argument --format: invalid", id="format"),
        pytest.param(("run",), "the following arguments are required: FILE", id="no-file"),
    ],
)
def test_wrong_usage_is_status_2_and_says_what_is_wrong(
    cal_ai: CommandLine, arguments: tuple[str, ...], expected: str
) -> None:
    ran = cal_ai(*arguments)
    assert (ran.status, ran.out) == (2, "")
    assert f"error: {expected}" in ran.err
    assert "see " in ran.err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(
            ("benchmark", "nowhere"), "nowhere: does not exist, expected a folder", id="no-folder"
        ),
        pytest.param(
            ("benchmark", "--extractor", "gemini"), "GEMINI_API_KEY is not set", id="no-key"
        ),
        pytest.param(
            ("benchmark", "--extractor", "openai"), "neither OPENAI_API_KEY nor", id="no-endpoint"
        ),
        pytest.param(
            ("benchmark", "--extractor", "replay:gone.jsonl"),
            "gone.jsonl: no such recording",
            id="no-recording",
        ),
        pytest.param(
            ("benchmark", "--extractor", "reader", "--model", "x"),
            "--model is 'x', but the extractor reader takes no model",
            id="model-for-reader",
        ),
        pytest.param(
            ("benchmark", "--extractor", "reader", "--output", "samples/crud/s000.txt"),
            "samples/crud/s000.txt: cannot be written",
            id="output-is-a-file",
        ),
    ],
)
def test_what_a_user_can_fix_is_one_line_and_status_1(
    cal_ai: CommandLine, arguments: tuple[str, ...], expected: str
) -> None:
    write_samples(cal_ai.folder / "samples", 1)
    ran = cal_ai(*arguments)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"error: {expected}")
    assert len(ran.err.splitlines()) == 1
    assert not (cal_ai.folder / "reports").exists()


def test_the_bundled_samples_are_scored_where_there_are_no_others(cal_ai: CommandLine) -> None:
    ran = cal_ai("benchmark", "--extractor", "reader", "--format", "json", "--output", "out")
    assert ran.status == 0
    assert ran.json["samples"] >= 45
    assert ran.json["cost_usd"] == 0
    assert set(ran.json["categories"]) >= {"crud", "multi_speaker", "adversarial", "realistic"}
    assert "the reader extractor has no language model" in max(
        (cal_ai.folder / "out").glob("*.md")
    ).read_text(encoding="utf-8")


def test_a_sample_in_which_nobody_speaks_fails(cal_ai: CommandLine) -> None:
    write_sample(cal_ai.folder / "samples", "a/silent", expected=(), text="It is quiet here.")
    ran = cal_ai.benchmark("--extractor", "reader")
    assert ran.status == 1
    assert "[1/1] a/silent... FAILED (samples/a/silent.txt: nobody speaks in it, " in ran.err


def test_a_reader_that_goes_away_is_no_fault_of_ours(cal_ai: CommandLine) -> None:
    write_samples(cal_ai.folder / "samples", 1)
    command = f"{sys.executable} -m cal_ai benchmark --extractor reader 2>err | true"
    subprocess.run(command, shell=True, cwd=cal_ai.folder, check=True)
    assert "Traceback" not in (cal_ai.folder / "err").read_text()
