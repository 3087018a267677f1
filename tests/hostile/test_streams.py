"""Standard output and error that are full, closed, or read by nobody, for every command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import truemark

COMMANDS = {
    "cal_ai": ("talk.txt", "--dry-run", "--calendar", "ics:c.ics"),
    "sat_bench": ("-corpus", "corpus", "-model", "nano"),
    "sat_bench import": ("talk.txt", "-o", "out.txt", "-force"),
    "truemark history": (".",),
    "cal_ai --help": (),
    "cal_ai --version": (),
    "cal_ai prompt": (),
    "sat_bench -h": (),
    "sat_bench -version": (),
    "truemark --help": (),
    "truemark --version": (),
}
EVERY_COMMAND = pytest.mark.parametrize("command", COMMANDS)


def started(folder: Path, command: str, redirected: str = "") -> subprocess.CompletedProcess[str]:
    """The command as a shell starts it."""
    words = " ".join(f"'{word}'" for word in (*command.split(), *COMMANDS.get(command, ())))
    environment = {**os.environ, "PYTHONUNBUFFERED": "", "XDG_DATA_HOME": str(folder / "home")}
    for name in ("GEMINI_API_KEY", "OPENAI_API_KEY"):
        environment.pop(name, None)
    return subprocess.run(
        ["bash", "-c", f"exec {sys.executable} -m {words} {redirected}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def assert_in_order(done: subprocess.CompletedProcess[str]) -> None:
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@EVERY_COMMAND
def test_a_full_standard_output_is_an_error_of_one_line(folder: Path, command: str) -> None:
    done = started(folder, command, ">/dev/full")
    assert_in_order(done)
    assert done.returncode == 1
    (error,) = (line for line in done.stderr.splitlines() if "error: " in line)
    assert error.endswith("output cannot be written: No space left on device")


@EVERY_COMMAND
def test_a_closed_standard_output_is_an_error_of_one_line(folder: Path, command: str) -> None:
    done = started(folder, command, ">&-")
    assert_in_order(done)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("standard output is closed")


@pytest.mark.parametrize("redirected", ["<&-", "0>unreadable"], ids=["closed", "unreadable"])
@pytest.mark.parametrize(
    "command",
    ["cal_ai run - --dry-run --calendar ics:c.ics", "sat_bench split", "sat_bench split -"],
)
def test_a_standard_input_that_gives_nothing_is_an_error_of_one_line(
    folder: Path, command: str, redirected: str
) -> None:
    done = started(folder, command, redirected)
    assert done.returncode == 1
    [error] = done.stderr.splitlines()
    assert error.startswith("error: standard input: ")


@EVERY_COMMAND
def test_a_reader_that_has_gone_is_no_error(folder: Path, command: str) -> None:
    done = started(folder, command, "> >(true); wait")
    assert_in_order(done)
    assert "error: " not in done.stderr


@pytest.mark.parametrize("redirected", ["2>/dev/full", "2>&-"], ids=["full", "closed"])
@EVERY_COMMAND
def test_a_standard_error_that_takes_nothing_costs_the_message_only(
    folder: Path, command: str, redirected: str
) -> None:
    plain = started(folder, command)
    done = started(folder, command, redirected)
    assert (done.returncode, done.stderr) == (plain.returncode, "")
    assert bool(done.stdout) == bool(plain.stdout)


def test_one_module_alone_writes_to_the_terminal() -> None:
    source = Path(truemark.__file__).parents[1]
    writing = re.compile(r"\bprint\(|std(?:out|err)\.(?:buffer\.)?write|os\.write\((?:1|2),")
    found = {
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        if writing.search(path.read_text(encoding="utf-8"))
    }
    # What starts a worker tells it the address of its scheduler, which nobody else reads.
    assert found == {"truemark/command.py", "sat_bench/running/workers.py"}
