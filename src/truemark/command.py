"""How every command ends: exit statuses, interrupts, output that cannot be written.

    def main(arguments=None):
        return run_command("tool", lambda: _work(arguments))

A process calls that through `run_main`, so that an interrupt during imports ends like any other.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from importlib import import_module
from typing import Any, Final, NoReturn, TextIO

from truemark.errors import TruemarkError, os_reason
from truemark.text import clipped, one_line, printable

DONE: Final = 0
FAILED: Final = 1
WRONG_USE: Final = 2
INCONCLUSIVE: Final = 3
NOT_COMPARABLE: Final = 4
INTERRUPTED: Final = 130

LONGEST_WAIT_S: Final = 1_000_000
"""The most that a flag may ask to wait: eleven days, which every clock can count."""

_SOON_S = 0.01
_LONGEST_LINE = 4_000
_LONGEST_COMPLAINT = 400
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


class Parser(argparse.ArgumentParser):
    """A parser whose --help and --version say so when they could not be written.

    What it says about wrong arguments is one line, however long and odd they are.
    """

    def error(self, message: str) -> NoReturn:
        super().error(clipped(one_line(message), _LONGEST_COMPLAINT))

    def _print_message(self, message: str, file: Any = None) -> None:
        if message and file is not None and file is sys.stdout:
            file.write(message)  # the parser of the library lets a full disk pass in silence
        else:
            super()._print_message(message, file)


def run_main(module: str) -> int:
    """Run the `main` of a module as the work of this process and return its exit status.

    Ctrl-C ends it while the module is imported too, and is ignored once the work is done, when it
    would only disturb the interpreter's exit.
    """
    try:
        sys.unraisablehook = _interrupt_again
        status: int = import_module(module).main()
    except KeyboardInterrupt:
        status = INTERRUPTED
        note("interrupted")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return status


def _interrupt_again(lost: sys.UnraisableHookArgs) -> None:
    """Repeat an interrupt that came where Python lets no exception out, as in a callback."""
    if lost.exc_type is KeyboardInterrupt:
        again = threading.Timer(_SOON_S, os.kill, (os.getpid(), signal.SIGINT))
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(lost)


def run_command(name: str, work: Callable[[], int]) -> int:
    """Do the work of a command and return its exit status; every failure is told in one line.

    What a user can fix, and what the system refuses, is `FAILED`; Ctrl-C is `INTERRUPTED`,
    whenever it comes; a reader of the output that has gone is `FAILED`, in silence.
    """
    if sys.stdout is None:
        say(name, "error: output cannot be written: standard output is closed")
        return FAILED
    _show_what_cannot_be_encoded()
    try:
        status = _worked(name, work)
        _flush(sys.stdout)
    except KeyboardInterrupt as interrupt:
        status = INTERRUPTED
        say(name, str(interrupt) or "interrupted")
    except BrokenPipeError:
        status = FAILED
    except OSError as error:
        status = FAILED
        say(name, f"error: {_where(error)}{os_reason(error)}")
    _close_quietly()
    return status


def _worked(name: str, work: Callable[[], int]) -> int:
    try:
        return _interruptible(work)
    except TruemarkError as error:
        for problem in _problems(error):
            say(name, f"error: {problem}")
        return FAILED
    except SystemExit as leaving:  # as argparse does after --help and after wrong flags
        if isinstance(leaving.code, str):
            say(name, leaving.code)
            return FAILED
        return leaving.code or DONE


def _interruptible(work: Callable[[], int]) -> int:
    """Return what `work` returns; an error caused by an interrupt becomes that interrupt."""
    try:
        return work()
    except Exception as error:
        # A library written in C makes an ImportError of one that comes while it is imported.
        before: BaseException | None = error
        while before is not None and not isinstance(before, KeyboardInterrupt):
            before = before.__cause__ or before.__context__
        if before is None:
            raise
        raise KeyboardInterrupt from error


def _problems(error: TruemarkError) -> Iterable[str]:
    problems: Iterable[str] = getattr(error, "problems", (str(error),))
    return problems


def _where(error: OSError) -> str:
    if error.filename is not None:
        return f"{error.filename}: "
    return "output cannot be written: "


def tell(text: str) -> None:
    """Write results to standard output, without what a terminal would take for a command."""
    sys.stdout.write(printable(text))


def say(name: str, text: str) -> None:
    """Write a note that begins with the name of the command, where it has one."""
    note(f"{name}: {text}" if name else text)


def note(text: str) -> None:
    """Write one line to standard error; it is lost if that cannot be written."""
    line = clipped(one_line(text), _LONGEST_LINE)
    with suppress(OSError, ValueError, AttributeError):
        # In one piece, line break included: other processes may write there too.
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


@contextmanager
def quietly(quiet: bool) -> Iterator[None]:
    """Leave out within the block what `inform` would say, where that was asked for."""
    token = _quiet.set(quiet)
    try:
        yield
    finally:
        _quiet.reset(token)


def inform(text: str) -> None:
    """Write a line that tells how things go, neither a warning nor a failure; -q leaves it out."""
    if not _quiet.get():
        note(text)


def _show_what_cannot_be_encoded() -> None:
    """Escape characters that the terminal cannot show, instead of failing on them."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _flush(stream: TextIO | None) -> None:
    if stream is not None and not stream.closed:
        stream.flush()


def _close_quietly() -> None:
    """Discard what could not be written; the interpreter would complain about it at its exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            _flush(stream)
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)
