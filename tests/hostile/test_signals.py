"""Signals that end a command also end the programs that it has started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.hostile.kinds import TRANSCRIPT

PROGRAM = """\
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "60"])
open("pids", "w").write(f"{os.getpid()} {child.pid} ")
time.sleep(60)
"""
STATUSES = {signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGINT: 130, signal.SIGKILL: -9}


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(reached: Callable[[], bool], seconds: float) -> bool:
    end_s = time.monotonic() + seconds
    while not reached() and time.monotonic() < end_s:
        time.sleep(0.05)
    return reached()


def heed_signals() -> None:
    """Undo what the program that runs the tests may have said, such as `nohup`."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


COMMANDS = {
    "cal_ai run": ("cal_ai", "talk.txt", "--dry-run", "--extractor", "cmd:{} program.py"),
    "cal_ai benchmark": ("cal_ai", "benchmark", "samples", "--extractor", "cmd:{} program.py"),
    "sat-bench": ("sat_bench", "-corpus", "corpus", "-model", "cmd:{} program.py"),
    "sat-bench keeps": ("sat_bench", "-corpus", "corpus", "-model", "cmd+:{} program.py"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("number", STATUSES, ids=lambda number: number.name)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_signal_leaves_no_program_running(
    tmp_path: Path, command: str, number: signal.Signals
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "talk.txt").write_text(TRANSCRIPT)
    for folder, name in (("samples", "a.txt"), ("corpus", "a.txt")):
        (tmp_path / folder).mkdir()
        head = "# Source: made up\n\n" if folder == "corpus" else ""
        (tmp_path / folder / name).write_text(head + TRANSCRIPT)
    (tmp_path / "samples" / "a.expected.json").write_text('{"expected_events": []}')
    words = [word.format(sys.executable) for word in COMMANDS[command]]
    home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    process = subprocess.Popen(
        [sys.executable, "-m", *words],
        cwd=tmp_path,
        env={**os.environ, **home},
        stderr=subprocess.PIPE,
        preexec_fn=heed_signals,
    )
    pids = tmp_path / "pids"
    try:
        assert wait_for(lambda: pids.exists() and pids.read_text().endswith(" "), 30)
        started = [int(pid) for pid in pids.read_text().split()]
        process.send_signal(number)
        _, said = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert wait_for(lambda: not any(map(is_running, started)), 5)
    assert process.returncode == STATUSES[number]
    assert b"Traceback" not in said


@pytest.mark.parametrize("megabytes", [60, 100, 150, 200, 250, 300, 400, 600])
def test_memory_that_cannot_be_had_is_one_line(tmp_path: Path, megabytes: int) -> None:
    (tmp_path / "talk.txt").write_text(TRANSCRIPT)
    for words in (["cal_ai", "talk.txt", "--dry-run"], ["sat_bench"], ["truemark", "history", "."]):
        limited = f"ulimit -v {megabytes * 1_000}; exec {sys.executable} -m {' '.join(words)}"
        done = subprocess.run(
            ["bash", "-c", limited],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert "Traceback" not in done.stderr, words
        assert "interrupted" not in done.stderr, words
        assert done.returncode in (0, 1, 2), (words, done.stderr)
