"""Signals that end a command also end the programs that it has started."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.hostile.kinds import TRANSCRIPT
from tests.hostile.surroundings import STATUSES, WITH_PROGRAMS, signalled


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("number", STATUSES, ids=lambda number: number.name)
@pytest.mark.parametrize("command", WITH_PROGRAMS)
def test_a_signal_leaves_no_program_running(
    tmp_path: Path, command: str, number: signal.Signals
) -> None:
    assert signalled(tmp_path, command, number, None) == []


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
