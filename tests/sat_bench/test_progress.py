from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sat_bench.corpus.talks import Talk
from sat_bench.models.protocol import Probabilities
from sat_bench.running.inference import read_talks
from sat_bench.running.progress import _pace, watched


class ReadsAhead:
    """Answers for each text when it has read the next one."""

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        waiting: list[str] = []
        for text in texts:
            waiting.append(text)
            if len(waiting) > 1:
                yield self._found(waiting.pop(0))
        yield from map(self._found, waiting)

    def _found(self, text: str) -> Probabilities:
        return Probabilities(np.array([len(text)], np.int32), np.array([0.5], np.float32))


def test_a_watched_model_tells_each_text_as_it_is_answered() -> None:
    told: list[int] = []
    talks = [Talk("a", "", "", "", text, ()) for text in ("a", "bb", "ccc")]
    read = partial(read_talks, ReadsAhead())
    for number, (_, found) in enumerate(watched(read, told.append, talks), 1):
        assert found.ends.tolist() == [number]
        assert told == list(range(1, number + 1))
    assert told == [1, 2, 3]


@pytest.mark.parametrize(
    ("done", "elapsed_s", "pace"),
    [
        (0, 5.0, ""),
        (100, 0.0, ""),
        (1_000_000, 20.0, ", 50,000 characters/s, 1:02:03 left"),
        (187_150_000, 3743.0, ", 50,000 characters/s, 0:00:00 left"),
    ],
    ids=["not begun", "no time yet", "under way", "done"],
)
def test_the_pace_is_told_once_it_is_known(done: int, elapsed_s: float, pace: str) -> None:
    assert _pace(done, 187_150_000, elapsed_s, "characters") == pace


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    folder = tmp_path / "talks"
    folder.mkdir()
    for number in range(3):
        text = f"# Source: tape\n\nTalk {number} begins. It ends.\n"
        (folder / f"{number}.txt").write_text(text, encoding="utf-8")
    return folder


def on_a_terminal(model: Path, talks: Path, terminal: str, columns: int = 120) -> tuple[str, str]:
    """What the command prints to a pipe as output and to a terminal as errors."""
    command = [sys.executable, "-m", "sat_bench", "-model", str(model), "-corpus", str(talks), "-v"]
    ours, theirs = pty.openpty()
    settings = {"TERM": terminal, "COLUMNS": str(columns), "LINES": "20", "NO_COLOR": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, **settings}, text=True
    ) as run:
        os.close(theirs)
        out = run.communicate(timeout=60)[0]
    shown = b""
    try:
        while more := os.read(ours, 65_536):
            shown += more
    except OSError:  # Linux says so that the other end is closed
        pass
    os.close(ours)
    return out, shown.decode()


def test_a_terminal_shows_talks_speed_and_time_left_and_is_left_clean(
    model_path: Path, talks: Path
) -> None:
    out, shown = on_a_terminal(model_path, talks, "xterm")
    assert "Loaded 3 talks" in out
    assert "\x1b" not in out
    assert re.search(r"reading.* 3/3 talks", shown)
    assert re.search(r"model\.onnx.* 3/3 talks", shown)
    assert shown.rindex("3/3 talks") < shown.rindex("\x1b[2K") < shown.rindex("signature: ")


def test_the_bar_of_a_long_name_fits_into_80_columns(model_path: Path, talks: Path) -> None:
    _, shown = on_a_terminal(model_path, talks, "xterm", 80)
    assert "3/3 talks" in shown
    assert "…" in shown  # the name is cut
    assert "\x1b[1A\x1b[2K\x1b[1A" not in shown  # a bar of two lines is erased line by line


def test_a_terminal_that_cannot_redraw_shows_no_bar(model_path: Path, talks: Path) -> None:
    out, shown = on_a_terminal(model_path, talks, "dumb")
    assert "Loaded 3 talks" in out
    assert "3/3 talks" not in shown
    assert shown.splitlines()[-1].startswith("signature: ")


def test_a_pipe_shows_no_bar(model_path: Path, talks: Path) -> None:
    command = [sys.executable, "-m", "sat_bench", "-model", str(model_path), "-corpus", str(talks)]
    done = subprocess.run([*command, "-v"], capture_output=True, text=True, check=True, timeout=60)
    assert "3/3 talks" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("signature: ")
