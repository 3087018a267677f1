"""Other programs: given something to read, watched while they answer, ended with their children.

What they are to read goes to their standard input, never onto a command line, where every user of
the machine could see it. No shell is involved unless the command itself is one (`sh -c "…"`).
"""

from __future__ import annotations

import os
import queue
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO

from truemark.errors import TruemarkError, os_reason
from truemark.signature import checksum, data_hash
from truemark.text import one_line

_CHUNK = 1 << 16
_CHUNKS_AHEAD = 16  # a program that prints without end waits, instead of filling the memory
_COMPLAINT = 300
_GRACE_S = 1.0
_LONGEST_LENGTH = 20  # digits of the number before an answer


class ProgramError(TruemarkError):
    """A program that did not answer as it should: what it did, and what was expected."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a program may take for one answer, and how many bytes that may have."""

    seconds: float = 120.0
    most_bytes: int = 64 << 20


DEFAULT_LIMITS = Limits()


def parse_command(command: str) -> tuple[str, ...]:
    """The words of a command line, quotes and backslashes understood as a shell does."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise ProgramError(f"{command}: cannot be read as a command: {error}") from None
    if not words:
        raise ProgramError("no command is given; expected a program and its arguments")
    return words


def require_program(words: tuple[str, ...]) -> None:
    """Raises a `ProgramError` unless there is a program of the first word's name."""
    if shutil.which(words[0]) is None:
        raise ProgramError(f"{words[0]}: no such program; check the name and PATH")


def command_checksum(words: tuple[str, ...]) -> str:
    """A hash of the command, and of those of its words that are files, the program included."""
    found = (shutil.which(words[0]), *words[1:])
    files = (checksum(Path(word)) for word in found if word and Path(word).is_file())
    return data_hash(*words, *files)


def run_program(words: tuple[str, ...], data: bytes, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """What the program prints when it is given the data; it must end with status 0."""
    with started(words, limits) as program:
        return program.answer_to(data)


@contextmanager
def started(words: tuple[str, ...], limits: Limits = DEFAULT_LIMITS) -> Iterator[RunningProgram]:
    """The program, which at the end of the block is gone, and its children with it."""
    with ExitStack() as stack:
        with _ctrl_c_later():
            program = RunningProgram(words, limits)
            stack.callback(program.close)
        yield program


@contextmanager
def _ctrl_c_later() -> Iterator[None]:
    """Keeps a Ctrl-C until the block is done: half-way, nobody would end the program."""
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


@dataclass(slots=True)
class _Tail:
    """The last lines of what a program complains of."""

    lines: deque[bytes] = field(default_factory=lambda: deque(maxlen=3))

    def read(self, source: IO[bytes]) -> None:
        # In pieces: a line may be as long as the disk.
        with suppress(OSError, ValueError):
            for line in iter(lambda: source.readline(_CHUNK), b""):
                if line.strip():
                    self.lines.append(line[-4 * _COMPLAINT :])

    def __str__(self) -> str:
        return one_line(b" ".join(self.lines).decode("utf-8", "replace"))[-_COMPLAINT:]


class RunningProgram:
    """A program that was started and can be asked; `started` sees to its end."""

    def __init__(self, words: tuple[str, ...], limits: Limits) -> None:
        self._limits = limits
        self._complaints = _Tail()
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # a group of its own, which can be ended as a whole
            )
        except OSError as error:
            hint = "; check the name and PATH" if isinstance(error, FileNotFoundError) else ""
            reason = f"cannot be started: {os_reason(error)}{hint}"
            raise ProgramError(f"{words[0]}: {reason}") from None
        except ValueError as error:  # a null character in a word
            raise ProgramError(f"{words[0]!r}: cannot be started: {error}") from None
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._input = self._process.stdin
        self._chunks: queue.Queue[bytes] = queue.Queue(_CHUNKS_AHEAD)
        self._gone = threading.Event()
        self._rest = b""
        self._reader = _thread(self._read_output, self._process.stdout)
        self._listener = _thread(self._complaints.read, self._process.stderr)

    def close(self) -> None:
        """End the program and all that it has started."""
        self._gone.set()
        self._end_group(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_S)
        self._end_group(signal.SIGKILL)
        self._process.wait()
        with suppress(OSError):
            self._input.close()
        self._reader.join(_GRACE_S)
        self._listener.join(_GRACE_S)
        for stream, thread in (
            (self._process.stdout, self._reader),
            (self._process.stderr, self._listener),
        ):
            if stream and not thread.is_alive():
                stream.close()

    def answer_to(self, data: bytes) -> bytes:
        """All that the program prints, until it ends; its status must then be 0."""
        deadline = time.monotonic() + self._limits.seconds
        writer = self._write(data, then_close=True)
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
        """The answer of a program that stays: a length in digits, a line break, so many bytes.

        It is asked in the same form.
        """
        deadline = time.monotonic() + self._limits.seconds
        writer = self._write(b"%d\n%b" % (len(data), data), then_close=False)
        length = self._line(deadline)
        if not length.isdigit():
            raise ProgramError(
                f"answers {one_line(length.decode('utf-8', 'replace'))!r}, expected the number of "
                "bytes that follow, on a line of its own"
            )
        self._expect_no_more_than(int(length))
        answer = self._bytes(int(length), deadline)
        writer.join(max(0.0, deadline - time.monotonic()))
        return answer

    def _line(self, deadline: float) -> bytes:
        while b"\n" not in self._rest[: _LONGEST_LENGTH + 1]:
            if len(self._rest) > _LONGEST_LENGTH:
                return self._rest[:_COMPLAINT]
            self._rest += self._more(deadline)
        line, _, self._rest = self._rest.partition(b"\n")
        return line.strip()

    def _bytes(self, length: int, deadline: float) -> bytes:
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
        raise ProgramError("ended before its answer was whole")

    def _next_chunk(self, deadline: float) -> bytes:
        """What is printed next; nothing when all has been."""
        try:
            return self._chunks.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise self._too_slow() from None

    def _too_slow(self) -> ProgramError:
        said = f": {self._complaints}" if str(self._complaints) else ""
        return ProgramError(f"gave no answer within {self._limits.seconds:g} s and was ended{said}")

    def _expect_no_more_than(self, size: int) -> None:
        if size > self._limits.most_bytes:
            raise ProgramError(
                f"prints more than {self._limits.most_bytes:,} bytes for one text and was ended"
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
        raise ProgramError(f"{how}: {str(self._complaints) or 'it said nothing on standard error'}")

    def _write(self, data: bytes, *, then_close: bool) -> threading.Thread:
        def write(stream: IO[bytes]) -> None:
            # A program may end, or be ended, before it has read everything.
            with suppress(OSError, ValueError):
                stream.write(data)
                stream.flush()
            if then_close:
                with suppress(OSError, ValueError):
                    stream.close()

        return _thread(write, self._input)

    def _read_output(self, source: IO[bytes]) -> None:
        with suppress(OSError, ValueError):
            while chunk := os.read(source.fileno(), _CHUNK):
                if not self._put(chunk):
                    return
        self._put(b"")

    def _put(self, chunk: bytes) -> bool:
        while not self._gone.is_set():
            with suppress(queue.Full):
                self._chunks.put(chunk, timeout=0.1)
                return True
        return False

    def _end_group(self, how: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, how)


def _thread(work: Callable[[IO[bytes]], None], stream: IO[bytes]) -> threading.Thread:
    thread = threading.Thread(target=work, args=(stream,), daemon=True)
    thread.start()
    return thread
