"""Programs that answer, fail, hang and flood, and what becomes of them."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from truemark.services.programs import (
    ProgramError,
    command_checksum,
    parse_command,
    run_program,
    started,
)

QUICK = 20.0  # seconds


@pytest.fixture(autouse=True)
def _short_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truemark.services.programs.MOST_BYTES", 1 << 20)


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # What has ended and is not yet waited for counts as gone.
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def gone_soon(pid: int) -> bool:
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            if not is_running(pid):
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("key", ["k3y" * 1_500, "k3y" * 5_000, "first line\nsecond line"])
def test_of_a_key_that_a_program_says_no_part_is_shown(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("OWN_KEY", key)
    tells = "import os, sys; print(os.environ['OWN_KEY'], file={}); sys.exit(1)"
    with pytest.raises(ProgramError) as refused:
        run_program(python(tells.format("sys.stderr")), b"", QUICK)
    assert str(refused.value) == "ended with status 1: [key]"
    asked = started(python(tells.format("sys.stdout")), QUICK)
    with asked as program, pytest.raises(ProgramError) as refused:
        program.exchange(b"")
    assert "k3y" not in str(refused.value)


def test_what_goes_in_comes_out_however_long_it_is() -> None:
    data = os.urandom(1 << 20)
    assert run_program(("cat",), data, QUICK) == data


def test_a_program_may_answer_without_reading() -> None:
    assert run_program(("echo", "hello"), b"x" * (1 << 22), QUICK) == b"hello\n"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("no-such-program-here",), "cannot be started: No such file or directory; check the name"),
        (("/etc",), "cannot be started: Permission denied"),
        (("a\0b",), "cannot be started"),
        (("false",), "ended with status 1: it said nothing on standard error"),
        (
            python("import sys; sys.exit('first\\nthe disk is full')"),
            "ended with status 1: first the disk is full",
        ),
        (python("import os; os.kill(os.getpid(), 9)"), "was ended by signal 9"),
        (("yes",), "prints more than 1,048,576 bytes for one text and was stopped"),
        (
            python("import sys\nwhile 1: sys.stderr.write('x' * 9999)"),
            "gave no answer within 0.5 s",
        ),
        (("sleep", "60"), "gave no answer within 0.5 s and was stopped"),
        (
            python("import os, time; os.close(1); time.sleep(60)"),
            "gave no answer within 0.5 s and was stopped",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0][-12:],
)
def test_what_goes_wrong_is_one_line(words: tuple[str, ...], reason: str) -> None:
    slow = "within" in reason
    timeout_s = 0.5 if slow else QUICK
    begun = time.monotonic()
    with pytest.raises(ProgramError) as caught:
        run_program(words, b"text", timeout_s)
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 600
    assert time.monotonic() - begun < 10


def test_children_end_with_the_program(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    words = ("sh", "-c", f"sleep 300 & echo $! > {note}; wait")
    with pytest.raises(ProgramError, match="gave no answer"):
        run_program(words, b"", 1.0)
    assert gone_soon(int(note.read_text()))


def test_children_that_hold_the_output_open_do_not_hold_us_up(tmp_path: Path) -> None:
    begun = time.monotonic()
    with pytest.raises(ProgramError, match="gave no answer"):
        run_program(("sh", "-c", "setsid sleep 20 & echo hello"), b"", 0.5)
    assert time.monotonic() - begun < 8


def open_pipes() -> list[str]:
    links = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            links.append(str(descriptor.readlink()))
    return sorted(link for link in links if link.startswith("pipe:"))


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("setsid sleep 10 & echo hello", id="output"),
        pytest.param("setsid sleep 10 >/dev/null & echo hello", id="complaints"),
        pytest.param("exec 3<&0; setsid sleep 10 <&3 >/dev/null 2>&1 & sleep 60", id="input"),
    ],
)
def test_no_pipe_stays_open_that_a_child_still_holds(script: str) -> None:
    run_program(("true",), b"")  # the pipe to the watcher stays, one for all programs
    before = open_pipes()
    begun_s = time.monotonic()
    with suppress(ProgramError), started(("sh", "-c", script), 0.5) as program:
        program.answer_to(b"x" * (1 << 20))
    assert open_pipes() == before
    assert time.monotonic() - begun_s < 8


def test_the_text_is_on_no_command_line() -> None:
    secret = "the words of a conversation"
    shown = run_program(("sh", "-c", "cat /proc/$$/cmdline; ps -ef 2>/dev/null"), secret.encode())
    assert secret.encode() not in shown


def test_ctrl_c_ends_the_program_and_its_children(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    script = (
        "from truemark.services.programs import run_program\n"
        f"run_program(('sh', '-c', 'sleep 300 & echo $! > {note}; wait'), b'')\n"
    )
    caller = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE)
    while not (note.exists() and note.read_text().strip()):
        assert caller.poll() is None
        time.sleep(0.02)
    caller.send_signal(signal.SIGINT)
    _, complaint = caller.communicate(timeout=10)
    assert b"KeyboardInterrupt" in complaint
    assert gone_soon(int(note.read_text()))


ECHO = """
import sys
while line := sys.stdin.buffer.readline():
    data = sys.stdin.buffer.read(int(line))
    sys.stdout.buffer.write(b"%d\\n%b" % (len(data), data.upper()))
    sys.stdout.buffer.flush()
"""


def test_a_program_that_stays_answers_again_and_again() -> None:
    with started(python(ECHO), QUICK) as program:
        for data in (b"one", b"", b"two\nlines\n", b"x" * 300_000):
            assert program.exchange(data) == data.upper()


def test_how_a_program_that_stays_ends_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    badly = python(f"{ECHO}\nsys.exit('the model broke')")
    with started(badly, QUICK) as program:
        assert program.exchange(b"one") == b"ONE"
        with pytest.raises(ProgramError, match="ended with status 1: the model broke"):
            program.finish()
    with started(python(ECHO), QUICK) as program:
        program.finish()
    monkeypatch.setattr("truemark.services.programs._LEAVING_S", 0.2)
    with started(python(f"{ECHO}\nimport time; time.sleep(60)"), QUICK) as program:
        assert program.exchange(b"one") == b"ONE"
        program.finish()


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("print('Hello, world')", "answers 'Hello, world', expected the number of bytes"),
        ("print('x' * 5000)", "expected the number of bytes that follow"),
        ("print('9' * 15)", "prints more than 1,048,576 bytes for one text"),
        ("print('20'); print('short')", "ended before its answer was complete"),
        ("", "ended before its answer was complete"),
        ("import sys; sys.exit('no model')", "ended with status 1: no model"),
        ("import time; time.sleep(60)", "gave no answer within"),
    ],
)
def test_a_program_that_stays_and_misbehaves_is_one_line(code: str, reason: str) -> None:
    timeout_s = 1.0 if "within" in reason else QUICK
    with (
        pytest.raises(ProgramError) as caught,
        started(python(code), timeout_s) as program,
    ):
        program.exchange(b"text")
    assert reason in str(caught.value)


@pytest.mark.parametrize("command", ["", "   ", "sh -c 'open"])
def test_a_command_that_is_none_is_refused(command: str) -> None:
    with pytest.raises(ProgramError, match=r"no command is given|cannot be read as a command"):
        parse_command(command)


def test_a_command_is_known_by_its_words_and_files(tmp_path: Path) -> None:
    script = tmp_path / "split.py"
    script.write_text("1")
    words = parse_command(f"{sys.executable} '{script}' --fast")
    before = command_checksum(words)
    assert before == command_checksum(words)
    assert before != command_checksum(words[:-1])
    script.write_text("2")
    assert before != command_checksum(words)


def test_a_command_may_have_words_too_long_for_a_file_name() -> None:
    script = "# " + "a comment " * 100
    assert command_checksum(("sh", "-c", script)) != command_checksum(("sh", "-c", script + "!"))


def test_programs_run_and_are_ended_without_groups_and_polls_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("truemark.services.programs._POSIX", False)
    for name in ("killpg", "set_blocking"):
        monkeypatch.delattr(os, name)
    monkeypatch.delattr("select.poll")
    echo = (sys.executable, "-c", "print(input().upper())")
    assert run_program(echo, b"words\n").strip() == b"WORDS"
    slow = (sys.executable, "-c", "import time; time.sleep(60)")
    with pytest.raises(ProgramError, match=r"gave no answer within 0\.3 s and was stopped"):
        run_program(slow, b"", 0.3)


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_no_pipe_stays_open_while_a_detached_grandchild_holds_its_other_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without polls, as on Windows, the threads that read wait for as long as it lives."""
    monkeypatch.setattr("truemark.services.programs._POSIX", False)
    monkeypatch.setattr("truemark.services.programs._GRACE_S", 0.2)
    before = open_pipes()
    child = f"import time; open({str(tmp_path / 'pid')!r}, 'w').write('x'); time.sleep(20)"
    start = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {child!r}])"
    with started((sys.executable, "-c", start), 5):
        while not (tmp_path / "pid").exists():
            time.sleep(0.02)
    assert set(open_pipes()) <= set(before)


def test_the_watcher_is_there_before_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or a kill in between would leave the program running."""
    events: list[str] = []

    def watcher(process: int) -> None:
        events.append("watcher")

    def popen(*arguments: object, **options: object) -> None:
        events.append("program")
        raise OSError

    monkeypatch.setattr("truemark.services.programs._watcher", watcher)
    monkeypatch.setattr(subprocess, "Popen", popen)
    with pytest.raises(ProgramError):
        run_program(("true",), b"")
    assert events == ["watcher", "program"]


def test_no_pipe_stays_open_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(ProgramError, match="cannot be started: can't start new thread"):
        run_program((sys.executable, "-c", ""), b"")
    gc.collect()  # an open pipe would warn, and warnings are errors
