"""What was paid for is not paid for twice: runs that are cut off, and runs that take them up."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from filelock import FileLock
from testing.loopback import Call, LoopbackLLM, Reply, blocked, hang
from tests.cal_ai.sample_folders import (
    CommandLine,
    asked_sample,
    finds_lunch,
    write_sample,
    write_samples,
)

from cal_ai.benchmark.store import AnswerStore
from cal_ai.extractors.replay import Recorded
from truemark.jsonlines import Appender
from truemark.records import load_run


class Answering:
    """Answers so many calls and leaves all others waiting; knows whom it has answered."""

    def __init__(self, at_most: int) -> None:
        self.at_most = at_most
        self.answered: list[str] = []

    def __call__(self, call: Call) -> Reply:
        if len(self.answered) >= self.at_most:
            return hang()
        self.answered.append(asked_sample(call))
        return finds_lunch(call)


@contextmanager
def running(folder: Path, llm: LoopbackLLM, *flags: str) -> Iterator[subprocess.Popen[str]]:
    """A benchmark in a process of its own, killed at the latest when the block ends."""
    asked = flags or ("--extractor", "openai")
    command = [sys.executable, "-m", "cal_ai", "benchmark", "samples", *asked]
    settings = {"OPENAI_BASE_URL": llm.openai_url, "OPENAI_MODEL": "loopback"}
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_until(reached: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + 30
    while not reached():
        assert time.monotonic() < deadline_s, "the run did not get as far as it should"
        time.sleep(0.02)


def stored(folder: Path) -> int:
    files = (folder / "reports").glob("*.answers.jsonl")
    return sum(file.read_bytes().count(b"\n") for file in files)


def openai(cal_ai: CommandLine, llm: LoopbackLLM) -> CommandLine:
    cal_ai.set(OPENAI_BASE_URL=llm.openai_url, OPENAI_MODEL="loopback")
    return cal_ai


RESUME = ("--extractor", "openai", "--resume", "--no-summary")


def finished_run(cal_ai: CommandLine, llm: LoopbackLLM, count: int) -> list[str]:
    """Runs the benchmark over so many new samples, all answered, and returns their names."""
    names = write_samples(cal_ai.folder / "samples", count)
    llm.set_script(finds_lunch)
    openai(cal_ai, llm).benchmark(*RESUME)
    return names


def test_a_killed_run_is_taken_up_and_every_sample_is_answered_once(
    cal_ai: CommandLine, llm: LoopbackLLM
) -> None:
    names = write_samples(cal_ai.folder / "samples", 45)
    first = Answering(at_most=17)
    llm.set_script(first)
    with running(cal_ai.folder, llm) as process:
        wait_until(lambda: stored(cal_ai.folder) == 17 and len(llm.calls) == 21)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert not list((cal_ai.folder / "reports").glob("*.md"))

    second = Answering(at_most=45)
    llm.set_script(second)
    ran = openai(cal_ai, llm).benchmark(*RESUME)
    assert ran.status == 0
    assert ran.said.splitlines()[0].endswith(": 17 of 45 samples are answered")
    assert len(llm.calls) == 28
    assert Counter(first.answered + second.answered) == Counter(dict.fromkeys(names, 1))
    assert "45 samples: 45 scored, 0 failed" in ran.out
    assert all(f"### {name}" in cal_ai.report for name in names)
    assert sorted(kept["sample"] for kept in cal_ai.answers) == names
    assert len(list((cal_ai.folder / "reports").glob("*.answers.jsonl"))) == 1


def test_ctrl_c_leaves_with_130_and_says_how_to_go_on(
    cal_ai: CommandLine, llm: LoopbackLLM
) -> None:
    write_samples(cal_ai.folder / "samples", 9)
    llm.set_script(Answering(at_most=5))
    with running(cal_ai.folder, llm) as process:
        wait_until(lambda: stored(cal_ai.folder) == 5 and len(llm.calls) == 9)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert out == ""
    (path,) = (cal_ai.folder / "reports").glob("*.answers.jsonl")
    assert err.splitlines()[-1] == (
        "interrupted after 5 of 9 samples; "
        f"5 answers are kept in reports/{path.name}, --resume continues from there"
    )


def test_a_torn_last_line_is_asked_for_again_and_spoils_nothing(
    cal_ai: CommandLine, llm: LoopbackLLM
) -> None:
    finished_run(cal_ai, llm, 4)
    (path,) = (cal_ai.folder / "reports").glob("*.answers.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    llm.set_script(finds_lunch)
    ran = cal_ai.benchmark(*RESUME)
    assert ran.status == 0
    assert len(llm.calls) == 1
    assert "warning: " in ran.err
    assert "3 of 4 samples are answered" in ran.err
    last = path.read_text().splitlines()[-1]
    assert json.loads(last)["extractor"] == "openai"
    llm.set_script(finds_lunch)
    assert "4 of 4 samples are answered" in cal_ai.benchmark(*RESUME).err
    assert not llm.calls


def test_failed_samples_are_called_again_and_the_others_are_not(
    cal_ai: CommandLine, llm: LoopbackLLM
) -> None:
    names = write_samples(cal_ai.folder / "samples", 5)
    llm.set_script(lambda call: blocked() if asked_sample(call) == names[2] else finds_lunch(call))
    assert openai(cal_ai, llm).benchmark(*RESUME).status == 1
    llm.set_script(finds_lunch)
    ran = cal_ai.benchmark(*RESUME)
    assert ran.status == 0
    assert [asked_sample(call) for call in llm.calls] == [names[2]]
    assert "5 samples: 5 scored, 0 failed" in ran.out


def test_a_changed_or_new_sample_is_called_and_the_others_are_not(
    cal_ai: CommandLine, llm: LoopbackLLM
) -> None:
    names = finished_run(cal_ai, llm, 3)
    write_sample(cal_ai.folder / "samples", names[0], owner="Zoe")
    write_sample(cal_ai.folder / "samples", names[1], tolerance="strict")
    write_sample(cal_ai.folder / "samples", "crud/new")
    llm.set_script(finds_lunch)
    cal_ai.benchmark(*RESUME)
    assert sorted(asked_sample(call) for call in llm.calls) == ["crud/new", names[0]]


def test_answers_of_another_model_are_not_taken_for_this_one(
    cal_ai: CommandLine, llm: LoopbackLLM
) -> None:
    finished_run(cal_ai, llm, 2)
    ran = cal_ai.benchmark(*RESUME, "--model", "another")
    assert "nothing to resume in reports: no stored answer matches" in ran.err
    assert len(llm.calls) == 4
    assert len(list((cal_ai.folder / "reports").glob("*.answers.jsonl"))) == 2


def test_a_recording_that_is_damaged_throughout_is_named(
    cal_ai: CommandLine, llm: LoopbackLLM
) -> None:
    finished_run(cal_ai, llm, 1)
    [answers] = (cal_ai.folder / "reports").glob("*.answers.jsonl")
    answers.write_bytes(b"\x93\xff not an answer\n")
    ran = cal_ai.benchmark(*RESUME)
    assert f"warning: reports/{answers.name}" in ran.err
    assert "nothing to resume in reports: no stored answer matches" in ran.err


def test_a_later_run_of_another_extractor_does_not_hide_the_interrupted_one(
    cal_ai: CommandLine, llm: LoopbackLLM
) -> None:
    finished_run(cal_ai, llm, 3)
    cal_ai.benchmark("--extractor", "reader")
    ran = cal_ai.benchmark(*RESUME)
    assert "3 of 3 samples are answered" in ran.err
    assert len(llm.calls) == 3


def test_without_resume_a_run_starts_anew(cal_ai: CommandLine, llm: LoopbackLLM) -> None:
    write_samples(cal_ai.folder / "samples", 2)
    llm.set_script(finds_lunch)
    openai(cal_ai, llm)
    for _ in range(2):
        cal_ai.benchmark("--extractor", "openai", "--no-summary")
    assert len(llm.calls) == 4
    assert len(list((cal_ai.folder / "reports").glob("*.answers.jsonl"))) == 2
    assert len(list((cal_ai.folder / "reports").glob("*.md"))) == 2


def test_a_run_that_is_still_at_it_is_not_taken_up_a_second_time(
    cal_ai: CommandLine, llm: LoopbackLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_samples(cal_ai.folder / "samples", 6)
    llm.set_script(Answering(at_most=2))
    monkeypatch.setattr("truemark.jsonlines.LOCK_WAIT_S", 0.1)
    with running(cal_ai.folder, llm):
        wait_until(lambda: stored(cal_ai.folder) == 2 and len(llm.calls) == 6)
        ran = openai(cal_ai, llm).benchmark(*RESUME)
        assert len(llm.calls) == 6
    assert (ran.status, ran.out) == (1, "")
    assert "locked by another run" in ran.err


def test_answers_that_come_while_a_run_waits_for_the_lock_are_not_paid_for_again(
    cal_ai: CommandLine, llm: LoopbackLLM
) -> None:
    """One run holds the recording while another finds it, waits, and then goes on."""
    names = finished_run(cal_ai, llm, 6)
    (path,) = (cal_ai.folder / "reports").glob("*.answers.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]))
    llm.set_script(finds_lunch)
    with FileLock(f"{path}.lock"):
        command = [sys.executable, "-m", "cal_ai", "benchmark", "samples", *RESUME]
        settings = {"OPENAI_BASE_URL": llm.openai_url, "OPENAI_MODEL": "loopback"}
        waiting = subprocess.Popen(
            command, cwd=cal_ai.folder, env={**os.environ, **settings}, stderr=subprocess.PIPE
        )
        # So long that the recording has been chosen; then the other run adds the rest.
        time.sleep(4)
        assert waiting.poll() is None
        path.write_bytes(b"".join(lines))
    _, said = waiting.communicate(timeout=60)
    assert b"6 of 6 samples are answered" in said
    assert (waiting.returncode, len(llm.calls), len(names)) == (0, 0, 6)


def test_of_two_runs_that_resume_in_an_empty_folder_one_asks_and_the_other_waits(
    cal_ai: CommandLine, llm: LoopbackLLM
) -> None:
    names = write_samples(cal_ai.folder / "samples", 6)
    llm.set_script(finds_lunch)
    with running(cal_ai.folder, llm, *RESUME) as one, running(cal_ai.folder, llm, *RESUME) as other:
        said = [process.communicate(timeout=60)[1] for process in (one, other)]
    assert (one.returncode, other.returncode) == (0, 0)
    assert sorted(asked_sample(call) for call in llm.calls) == names
    assert sum("6 of 6 samples are answered" in text for text in said) == 1
    assert not list((cal_ai.folder / "reports").glob("*.lock"))


def test_a_run_of_another_model_does_not_wait_for_one_that_resumes(
    cal_ai: CommandLine, llm: LoopbackLLM
) -> None:
    write_samples(cal_ai.folder / "samples", 2)
    llm.set_script(Answering(at_most=1))
    with running(cal_ai.folder, llm, *RESUME):
        wait_until(lambda: stored(cal_ai.folder) == 1)
        llm.set_script(finds_lunch)
        assert openai(cal_ai, llm).benchmark(*RESUME, "--model", "another").status == 0


@pytest.mark.parametrize(
    "full", ["benchmark_2026-02-20T10-00-00_10", "benchmark_2026-02-20T10-00-00_2"]
)
def test_the_recording_with_the_most_answers_is_taken_up_whatever_its_name(
    cal_ai: CommandLine, llm: LoopbackLLM, full: str
) -> None:
    finished_run(cal_ai, llm, 4)
    reports = cal_ai.folder / "reports"
    (path,) = reports.glob("*.answers.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.unlink()
    for number in (2, 10):
        name = f"benchmark_2026-02-20T10-00-00_{number}"
        (reports / f"{name}.answers.jsonl").write_bytes(
            b"".join(lines if name == full else lines[:1])
        )
    (reports / "benchmark_2027-01-01T00-00-00.answers.jsonl").write_bytes(lines[0])
    llm.set_script(finds_lunch)
    ran = cal_ai.benchmark(*RESUME)
    assert "4 of 4 samples are answered" in ran.err
    assert not llm.calls


def test_a_run_leaves_answers_report_record_and_history_and_nothing_else(
    cal_ai: CommandLine, llm: LoopbackLLM
) -> None:
    finished_run(cal_ai, llm, 2)
    left = sorted(path.name for path in (cal_ai.folder / "reports").iterdir())
    stem = left[0].partition(".")[0]
    record, *others = sorted(left, key=lambda name: not name.endswith(".run.json"))
    assert others == [f"{stem}.answers.jsonl", f"{stem}.md", "benchmark_history.jsonl"]
    run = load_run(cal_ai.folder / "reports" / record)
    assert record == f"{stem}.{run.id}.run.json"


def test_a_file_that_cannot_be_closed_keeps_no_other_run_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    close = Appender.close

    def full_disk(file: Appender) -> None:
        close(file)
        raise OSError("disk quota exceeded")

    async def keep_and_close() -> None:
        store = AnswerStore(tmp_path, datetime(2026, 3, 1, tzinfo=UTC))
        store.resume(["1-a"], 1)
        store.keep(Recorded("crud/lunch", "1-a", "gemini", "m", "{}", None, 0.1, 1))
        assert list(tmp_path.glob("*.resume.lock"))
        await store.close()

    monkeypatch.setattr(Appender, "close", full_disk)
    with pytest.raises(OSError, match="quota"):
        asyncio.run(keep_and_close())
    assert not list(tmp_path.glob("*.resume.lock"))
