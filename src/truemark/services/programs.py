"""Run other programs: give them input, read what they print, stop them and their children.

Input goes to their standard input, never onto a command line, where every user of the machine
could see it. No shell is involved unless the command itself is one (`sh -c "…"`).
"""

from __future__ import annotations

import os
import queue
import select
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from types import FrameType
from typing import IO, Any, Literal

from truemark.errors import TruemarkError, os_reason
from truemark.files import checksum
from truemark.services.keys import without_keys
from truemark.signature import data_hash
from truemark.text import one_line

_CHUNK = 1 << 16
_CHUNKS_AHEAD = 16  # a program that prints without end waits, instead of filling the memory
_LONGEST_COMPLAINT = 300
_COMPLAINT_LINES = 3
_GRACE_S = 1.0
_LEAVING_S = 5.0  # for a program to end by itself when there is nothing more to read
_POLL_S = 0.1
_LONGEST_LENGTH = 20  # digits of the number before an answer
MOST_BYTES = 64 << 20  # of an answer
TIMEOUT_S = 120.0
_POSIX = os.name == "posix"  # Windows has no process groups, and its pipes cannot be polled
_READABLE: int = getattr(select, "POLLIN", 0)
_WRITABLE: int = getattr(select, "POLLOUT", 0)


class ProgramError(TruemarkError):
    """A program did not answer as it should; the text says what it did and what was expected."""


def group_options() -> dict[str, Any]:
    """Return the arguments of `Popen` that start a program in a new process group.

    A Ctrl-C does not reach that group, and on POSIX systems it can be ended as a whole.
    """
    if _POSIX:
        return {"start_new_session": True}
    return {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}


def parse_command(command: str) -> tuple[str, ...]:
    """Split a command line into words, with quotes and backslashes as in a shell."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise ProgramError(f"{command}: cannot be read as a command: {error}") from None
    if not words:
        raise ProgramError("no command is given; expected a program and its arguments")
    return words


def require_program(words: tuple[str, ...]) -> None:
    """Raise a `ProgramError` unless the first word names a program."""
    if shutil.which(words[0]) is None:
        raise ProgramError(f"{words[0]}: no such program; check the name and PATH")


def command_checksum(words: tuple[str, ...]) -> str:
    """Hash the command and every file that it names, the program included."""
    paths = (shutil.which(words[0]), *words[1:])
    files = (checksum(path) for path in paths if path and _is_file(path))
    return data_hash(*words, *files)


def _is_file(word: str) -> bool:
    try:
        return Path(word).is_file()
    except OSError:  # a script in an argument is too long for a file name
        return False


def run_program(words: tuple[str, ...], data: bytes, timeout_s: float = TIMEOUT_S) -> bytes:
    """Run the program with the data as input and return its output; it must end with status 0."""
    with started(words, timeout_s) as program:
        return program.answer_to(data)


@contextmanager
def started(words: tuple[str, ...], timeout_s: float = TIMEOUT_S) -> Iterator[RunningProgram]:
    """Start the program; at the end of the block, end it and its children."""
    with ExitStack() as stack:
        with _interrupt_deferred():
            program = RunningProgram(words, timeout_s)
            stack.callback(program.close)
        yield program


@contextmanager
def _interrupt_deferred() -> Iterator[None]:
    """Defer Ctrl-C until the block is done; otherwise the program could be left running."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[tuple[int, FrameType | None]] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: caught.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if caught and callable(before):
            before(*caught[0])


# Reads which groups of processes begin (+) and end (-). When its input ends, because this process
# has ended for whatever reason, it kills the groups that are left.
_WATCHER = """
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) groups="${groups%% $group *} ${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
"""


@cache
def _watcher(process: int) -> int | None:
    """Start the watcher of this process and return the pipe to it; None where it cannot start."""
    reading, writing = os.pipe()
    try:
        os.posix_spawnp(
            "sh",
            ("sh", "-c", _WATCHER),
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, reading, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,  # signals to our group must not reach it
        )
    except (OSError, NotImplementedError):
        os.close(writing)
        return None
    finally:
        os.close(reading)
    return writing


def _watch(sign: Literal["+", "-"], group: int) -> None:
    """Tell the watcher that a group of processes has begun or ended."""
    pipe = _watcher(os.getpid()) if _POSIX else None
    if pipe is not None:
        with suppress(OSError):
            os.write(pipe, f"{sign} {group}\n".encode())


class RunningProgram:
    """A running program; `started` starts and ends it.

    Three threads write its input and read its output and complaints. A detached grandchild may
    hold any of the pipes open, so the threads never wait for a pipe without checking whether the
    program is being closed.
    """

    def __init__(self, words: tuple[str, ...], timeout_s: float) -> None:
        self._timeout_s = timeout_s
        if _POSIX:
            _watcher(os.getpid())  # ready before there is a program to watch
        try:
            self._process = subprocess.Popen(
                words,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                **group_options(),
            )
        except OSError as error:
            hint = "; check the name and PATH" if isinstance(error, FileNotFoundError) else ""
            reason = f"cannot be started: {os_reason(error)}{hint}"
            raise ProgramError(f"{words[0]}: {reason}") from None
        except ValueError as error:  # a null character in a word
            raise ProgramError(f"{words[0]!r}: cannot be started: {error}") from None
        _watch("+", self._process.pid)
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._input = self._process.stdin
        if _POSIX:
            os.set_blocking(self._input.fileno(), False)
        self._chunks: queue.Queue[bytes] = queue.Queue(_CHUNKS_AHEAD)
        self._complaints = b""
        self._closing = threading.Event()
        self._rest = b""
        self._threads: list[threading.Thread] = []
        try:
            self._start_thread(self._read_output, self._process.stdout)
            self._listener = self._start_thread(self._read_complaints, self._process.stderr)
        except RuntimeError as error:
            self.close()
            raise ProgramError(f"{words[0]}: cannot be started: {error}") from None

    def close(self) -> None:
        """End the program and everything that it has started."""
        with _interrupt_deferred():  # otherwise pipes could stay open
            self._closing.set()
            self._end_group(forcibly=False)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE_S)
            self._end_group(forcibly=True)
            self._process.wait()
            for thread in self._threads:
                # On Windows a thread may wait for a pipe that a grandchild holds open.
                thread.join(None if _POSIX else _GRACE_S)
            # On Windows closing a pipe waits for the thread that reads it, which then closes it.
            if os.name == "posix" or not any(thread.is_alive() for thread in self._threads):
                for pipe in self._pipes:
                    pipe.close()
            _watch("-", self._process.pid)

    def answer_to(self, data: bytes) -> bytes:
        """Return all that the program prints until it ends; its status must then be 0."""
        deadline = time.monotonic() + self._timeout_s
        writer = self._start_writing(data, then_close=True)
        parts: list[bytes] = []
        size = 0
        while chunk := self._next_chunk(deadline):
            parts.append(chunk)
            size += len(chunk)
            self._expect_no_more_than(size)
        self._expect_success(deadline)
        writer.join(_GRACE_S)
        return b"".join(parts)

    def exchange(self, data: bytes) -> bytes:
        """Ask a program that keeps running, and return its answer.

        Question and answer have the same form: a length in digits, a line break, that many bytes.
        """
        deadline = time.monotonic() + self._timeout_s
        writer = self._start_writing(b"%d\n%b" % (len(data), data), then_close=False)
        length = self._read_line(deadline)
        if not length.isdigit():
            line = one_line(without_keys(length.decode("utf-8", "replace"), cut=True))
            raise ProgramError(
                f"answers {line[:_LONGEST_COMPLAINT]!r}, expected the number"
                " of bytes that follow, on its own line"
            )
        self._expect_no_more_than(int(length))
        answer = self._read_bytes(int(length), deadline)
        writer.join(max(0.0, deadline - time.monotonic()))
        return answer

    def finish(self) -> None:
        """End the input of a program that keeps running; it must then end with status 0.

        One that does not end soon is ended by `close`, and its status says nothing.
        """
        self._input.close()
        try:
            self._process.wait(_LEAVING_S)
        except subprocess.TimeoutExpired:
            return
        self._expect_success(time.monotonic())

    def _read_line(self, deadline: float) -> bytes:
        while b"\n" not in self._rest[: _LONGEST_LENGTH + 1]:
            if len(self._rest) > _LONGEST_LENGTH:
                return self._rest[: 10 * _LONGEST_COMPLAINT]
            self._rest += self._more(deadline)
        line, _, self._rest = self._rest.partition(b"\n")
        return line.strip()

    def _read_bytes(self, length: int, deadline: float) -> bytes:
        parts, missing = [self._rest], length - len(self._rest)
        while missing > 0:
            parts.append(self._more(deadline))
            missing -= len(parts[-1])
        whole = b"".join(parts)
        self._rest = whole[length:]
        return whole[:length]

    def _more(self, deadline: float) -> bytes:
        if chunk := self._next_chunk(deadline):
            return chunk
        self._expect_success(deadline)
        raise ProgramError("ended before its answer was complete")

    def _next_chunk(self, deadline: float) -> bytes:
        """Return the next piece of output; empty when the output has ended."""
        try:
            return self._chunks.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise self._too_slow() from None

    def _too_slow(self) -> ProgramError:
        complaint = f": {self._complaint()}" if self._complaint() else ""
        return ProgramError(
            f"gave no answer within {self._timeout_s:g} s and was stopped{complaint}"
        )

    def _expect_no_more_than(self, size: int) -> None:
        if size > MOST_BYTES:
            raise ProgramError(
                f"prints more than {MOST_BYTES:,} bytes for one text and was stopped"
            )

    def _expect_success(self, deadline: float) -> None:
        try:
            status = self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise self._too_slow() from None
        if not status:
            return
        self._listener.join(_GRACE_S)
        how = f"ended with status {status}" if status > 0 else f"was ended by signal {-status}"
        raise ProgramError(f"{how}: {self._complaint() or 'it said nothing on standard error'}")

    def _complaint(self) -> str:
        """Return the end of what the program said on standard error, as one line."""
        # Keys go before it is cut, which could leave half a key; one may have several lines.
        text = without_keys(self._complaints.decode("utf-8", "replace"), cut=True)
        lines = [line for line in text.split("\n") if line.strip()]
        return one_line(" ".join(lines[-_COMPLAINT_LINES:]))[-_LONGEST_COMPLAINT:]

    def _start_writing(self, data: bytes, *, then_close: bool) -> threading.Thread:
        def write(stream: IO[bytes]) -> None:
            # A program may end, or be ended, before it has read everything.
            with suppress(OSError, ValueError):
                rest = memoryview(data)
                while rest and self._wait_for(stream, _WRITABLE):
                    rest = rest[os.write(stream.fileno(), rest) :]
            if then_close:
                stream.close()

        return self._start_thread(write, self._input)

    def _read_output(self, source: IO[bytes]) -> None:
        for chunk in self._chunks_of(source):
            self._put(chunk)
        self._put(b"")

    def _read_complaints(self, source: IO[bytes]) -> None:
        most = 4 * _LONGEST_COMPLAINT * _COMPLAINT_LINES  # bytes: a character has up to four
        for chunk in self._chunks_of(source):
            self._complaints = (self._complaints + chunk)[-most:]

    def _chunks_of(self, source: IO[bytes]) -> Iterator[bytes]:
        """Yield what comes through the pipe until it or the program is closed; then close it."""
        with source, suppress(OSError, ValueError):  # closed meanwhile
            while self._wait_for(source, _READABLE):
                chunk = os.read(source.fileno(), _CHUNK)
                if not chunk:
                    return
                yield chunk

    def _wait_for(self, stream: IO[bytes], event: int) -> bool:
        """Wait until the pipe is ready; return False if the program is closed before that.

        On Windows pipes cannot be polled; reading and writing block there.
        """
        if not _POSIX:
            return not self._closing.is_set()
        poll = select.poll()
        poll.register(stream, event)
        while not self._closing.is_set():
            if poll.poll(1000 * _POLL_S):
                return True
        return False

    def _put(self, chunk: bytes) -> None:
        while not self._closing.is_set():
            with suppress(queue.Full):
                self._chunks.put(chunk, timeout=_POLL_S)
                return

    def _end_group(self, *, forcibly: bool) -> None:
        """End the program with its children; on Windows the program alone."""
        with suppress(ProcessLookupError, PermissionError):
            if _POSIX:
                os.killpg(self._process.pid, signal.SIGKILL if forcibly else signal.SIGTERM)
            elif forcibly:
                self._process.kill()
            else:
                self._process.terminate()

    def _start_thread(
        self, work: Callable[[IO[bytes]], None], stream: IO[bytes]
    ) -> threading.Thread:
        thread = threading.Thread(target=work, args=(stream,), daemon=True)
        thread.start()
        self._threads = [*(other for other in self._threads if other.is_alive()), thread]
        return thread
