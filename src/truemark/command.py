"""How every command ends: exit statuses, interrupts, output that cannot be written.

    def main(arguments=None):
        return run_command(lambda: _work(arguments))

A process calls that through `run_main`, so that an interrupt during imports ends like any other.
"""

from __future__ import annotations

import argparse
import difflib
import errno
import io
import math
import mmap
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from importlib import import_module
from types import FrameType
from typing import Any, Final, NoReturn

from truemark.errors import TruemarkError, foreign_reason, os_reason
from truemark.text import clipped, one_line, printable

DONE: Final = 0
FAILED: Final = 1
WRONG_USE: Final = 2
INCONCLUSIVE: Final = 3
NOT_COMPARABLE: Final = 4
INTERRUPTED: Final = 130

LONGEST_WAIT_S: Final = 1_000_000
"""The longest wait that a flag may ask for: eleven days."""

_SOON_S = 0.01
_ENDING_SIGNALS = (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))  # no HUP on Windows
_NO_RESOURCES = "not enough memory or threads; raise the limits (ulimit) or give it less to do"
_REFUSALS = ("can't start new thread", "failed to map segment", "cannot allocate memory")
_SWALLOWED = 'PyCapsule_Import could not import module "datetime"'
_LITTLE_MEMORY = 64 << 20  # bytes; any library here needs that much
_LEAST_MEMORY = 512_000_000  # bytes; with less, native libraries may abort or hang
_LONGEST_LINE = 4_000
_LONGEST_COMPLAINT = 400
_MOST_DIGITS = 9
_WRONG_CHOICE = re.compile(r"invalid choice: '([^']*)' \(choose from (.*)\)")
_WRONG_FLAG = re.compile(r"(?<= )--?\w[\w-]*")
_WORD = re.compile(r"[\w.-]+")
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


class Parser(argparse.ArgumentParser):
    """A parser that fails when --help or --version cannot be written.

    A message about wrong arguments is one line, however long and odd they are, and suggests the
    closest known word. Abbreviated flags are refused.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **settings})

    def error(self, message: str) -> NoReturn:
        message = clipped(one_line(message), _LONGEST_COMPLAINT)
        note(f"error: {message}{self._meant(message)}; see {self.prog} --help")
        self.exit(WRONG_USE)

    def _meant(self, message: str) -> str:
        """Guess the word meant by a mistyped one."""
        if choice := _WRONG_CHOICE.search(message):
            return did_you_mean(choice[1], _WORD.findall(choice[2]))
        if message.startswith("unrecognized arguments: "):
            flags = _WRONG_FLAG.findall(message)
            hints = (did_you_mean(flag, self._option_string_actions) for flag in flags)
            return next(filter(None, hints), "")
        return ""

    def _print_message(self, message: str, file: Any = None) -> None:
        if message and file is not None and file is sys.stdout:
            file.write(message)  # argparse ignores a full disk
        else:
            super()._print_message(message, file)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a message that names the closest of the known words, if one is close."""
    close = difflib.get_close_matches(word, tuple(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def number(wanted: str, fits: Callable[[float], bool]) -> Callable[[str], float]:
    """Return a parser of flag values that refuses all but finite numbers that fit."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and fits(value)):
            raise argparse.ArgumentTypeError(f"must be {wanted}, got {text!r}")
        return value

    return parse


def whole_number(wanted: str, least: int, most: float = math.inf) -> Callable[[str], int]:
    """Return a parser of flag values that refuses all but whole numbers within these limits."""

    def parse(text: str) -> int:
        digits = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
        if not (digits and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"must be {wanted}, got {text!r}")
        return int(text)

    return parse


def parse_text(text: str) -> str:
    """Refuse an empty value, such as that of a variable which is not set."""
    if not text.strip():
        raise argparse.ArgumentTypeError("must not be empty")
    return text


def parse_annotators(text: str) -> tuple[str, str]:
    """Read the names of two annotators, as `label` takes them: `anna,ben`."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if len(names) != 2 or names[0] == names[1]:
        raise argparse.ArgumentTypeError("expected two annotators, such as anna,ben")
    return names[0], names[1]


parse_share = number("a number from 0 to 1", lambda value: 0 <= value <= 1)
parse_seconds = number(
    f"a number of seconds above 0, at most {LONGEST_WAIT_S}",
    lambda value: 0 < value <= LONGEST_WAIT_S,
)


def run_main(module: str) -> int:
    """Run the `main` of a module as the work of this process and return its exit status.

    Ctrl-C also ends it during the import of the module, and is ignored once the work is done, when
    it would only disturb the interpreter's exit.
    """
    if (limit := _memory_limit()) < _LEAST_MEMORY:
        note(
            f"error: memory is limited to {limit // 1_000_000} MB (ulimit -v),"
            f" expected at least {_LEAST_MEMORY // 1_000_000} MB: raise the limit"
        )
        return FAILED
    received: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        """End as with Ctrl-C: started programs are ended, and no file is left half-written."""
        received.append(number)
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # Ctrl-C is ignored, as in the background of a shell
            raise KeyboardInterrupt
        handler(signal.SIGINT, frame)

    for number in _ENDING_SIGNALS:
        if signal.getsignal(number) == signal.SIG_DFL:  # nohup ignores them
            signal.signal(number, interrupt)
    try:
        sys.unraisablehook = _interrupt_again
        status = _interruptible(lambda: int(import_module(module).main()))
    except KeyboardInterrupt:
        status = _say_interrupted("")
    except Exception as error:
        if not _lacks_resources(error):
            raise
        note(f"error: {_NO_RESOURCES}")
        status = FAILED
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Python remembers when a Ctrl-C interrupts code given as a string, such as that of dataclasses,
    # and `python -m` then kills itself with SIGINT, whatever the status. This makes it forget.
    exec("")
    if received and status == INTERRUPTED:
        return 128 + received[0]
    return status


def _memory_limit() -> float:
    """Return how many bytes of addresses this process may use."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return math.inf
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return math.inf if soft == resource.RLIM_INFINITY else soft


def _say_interrupted(text: str) -> int:
    """Report an interrupt and return the status; OpenBLAS causes one if it cannot start threads."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if in_main_thread else None
    try:
        if _lacks_resources(None):
            note(f"error: {_NO_RESOURCES}")
            return FAILED
        note(text or "interrupted")
        return INTERRUPTED
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


def _lacks_resources(error: BaseException | None) -> bool:
    """Whether the error comes from a lack of memory or threads, or there is such a lack now."""
    while error is not None:
        refused = isinstance(error, OSError) and error.errno in (errno.ENOMEM, errno.EAGAIN)
        words = foreign_reason(error)
        if refused or isinstance(error, MemoryError) or any(sign in words for sign in _REFUSALS):
            return True
        error = error.__cause__ or error.__context__
    try:
        mmap.mmap(-1, _LITTLE_MEMORY).close()
        thread = threading.Thread(target=int, daemon=True)
        thread.start()
        thread.join()
    except (OSError, MemoryError, RuntimeError):
        return True
    return False


def _interrupt_again(lost: sys.UnraisableHookArgs) -> None:
    """Repeat an interrupt where Python lets no exception through, as in a callback."""
    if lost.exc_type is KeyboardInterrupt:
        again = threading.Timer(_SOON_S, os.kill, (os.getpid(), signal.SIGINT))
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(lost)


def run_command(work: Callable[[], int]) -> int:
    """Do the work of a command and return its exit status; every failure is reported in one line.

    Errors that a user can fix, and those of the system, return `FAILED`; Ctrl-C returns
    `INTERRUPTED`, whenever it comes. A closed pipe behind standard output is `FAILED` without a
    message.
    """
    if sys.stdout is None:
        note("error: output cannot be written: standard output is closed")
        return FAILED
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Escape characters that the terminal cannot show, instead of failing on them.
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _status_of(work)
        if not sys.stdout.closed:
            sys.stdout.flush()
    except KeyboardInterrupt as interrupt:
        status = _say_interrupted(str(interrupt))
    except BrokenPipeError:
        status = FAILED
    except OSError as error:
        status = FAILED
        where = "output cannot be written" if error.filename is None else error.filename
        note(f"error: {where}: {os_reason(error)}")
    except Exception as error:
        if not _lacks_resources(error):
            raise
        status = FAILED
        note(f"error: {_NO_RESOURCES}")
    _close_quietly()
    return status


def _status_of(work: Callable[[], int]) -> int:
    try:
        return _interruptible(work)
    except TruemarkError as error:
        for problem in getattr(error, "problems", (str(error),)):
            note(f"error: {problem}")
        return FAILED
    except SystemExit as leaving:  # as argparse does after --help and after wrong flags
        if isinstance(leaving.code, str):
            note(leaving.code)
            return FAILED
        return leaving.code or DONE


def _interruptible(work: Callable[[], int]) -> int:
    """Return what `work` returns; an error caused by an interrupt becomes that interrupt."""
    try:
        return work()
    except Exception as error:
        # A library written in C turns an interrupt during its import into an ImportError, and
        # numpy into an error of its own.
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, KeyboardInterrupt) or _SWALLOWED in foreign_reason(cause):
                raise KeyboardInterrupt from error
            cause = cause.__cause__ or cause.__context__
        raise


def tell(text: str) -> None:
    """Write results to standard output, without terminal escapes."""
    sys.stdout.write(printable(text))


def note(text: str) -> None:
    """Write one line to standard error, if possible."""
    line = clipped(one_line(text), _LONGEST_LINE)
    with suppress(OSError, ValueError, AttributeError):
        # In one piece, line break included: other processes may write there too.
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


@contextmanager
def quietly(quiet: bool) -> Iterator[None]:
    """Silence `inform` within the block if `quiet` is set."""
    token = _quiet.set(quiet)
    try:
        yield
    finally:
        _quiet.reset(token)


def inform(text: str) -> None:
    """Write a progress line, neither a warning nor a failure; -q leaves it out."""
    if not _quiet.get():
        note(text)


def _close_quietly() -> None:
    """Discard what could not be written; the interpreter would complain about it at its exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)
