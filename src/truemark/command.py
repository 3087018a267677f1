"""How every command ends: exit statuses, interrupts, output that cannot be written.

    def main(arguments=None):
        return ended("tool", lambda: _work(arguments))

A process calls that through `run_main`, so that an interrupt during imports ends like any other.
"""

from __future__ import annotations

import argparse
import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module
from typing import Any, Final, NoReturn, TextIO

from truemark.errors import TruemarkError, os_reason
from truemark.text import clipped, one_line, printable

DONE: Final = 0
FAILED: Final = 1
WRONG_USE: Final = 2
INCONCLUSIVE: Final = 3
INTERRUPTED: Final = 130

LONGEST_WAIT_S: Final = 1_000_000
"""The most that a flag may ask to wait: eleven days, which every clock can count."""

_SOON_S = 0.01
_LONGEST_LINE = 4_000
_LONGEST_COMPLAINT = 400


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
    """The exit status of the `main` in a module, for a process that does nothing else.

    Ctrl-C counts while it is imported too, and no more once the work is done: it would only spoil
    how the interpreter leaves.
    """
    try:
        sys.unraisablehook = _interrupt_again
        status: int = import_module(module).main()
    except KeyboardInterrupt:
        status = INTERRUPTED
        note("interrupted")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # or all there is would be searched for garbage on the way out
    return status


def _interrupt_again(lost: sys.UnraisableHookArgs) -> None:
    """Repeats an interrupt that came where Python lets no exception out, as in a callback."""
    if lost.exc_type is KeyboardInterrupt:
        again = threading.Timer(_SOON_S, os.kill, (os.getpid(), signal.SIGINT))
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(lost)


def ended(name: str, work: Callable[[], int]) -> int:
    """The exit status of `work`, with all it printed flushed and every failure told in a line.

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
    """What `work` returns; an error that comes from an interrupt is that interrupt."""
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
    """Results on standard output, as they are but for what a terminal would take for a command."""
    sys.stdout.write(printable(text))


def say(name: str, text: str) -> None:
    """A note that begins with the name of the command, where it has one."""
    note(f"{name}: {text}" if name else text)


def note(text: str) -> None:
    """One line on standard error, fit for a terminal; lost if that cannot be written."""
    line = clipped(one_line(text), _LONGEST_LINE)
    with suppress(OSError, ValueError, AttributeError):
        # In one piece, line break included: other processes may write there too.
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def _show_what_cannot_be_encoded() -> None:
    """Lets no character end the command on a terminal that cannot show it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _flush(stream: TextIO | None) -> None:
    if stream is not None and not stream.closed:
        stream.flush()


def _close_quietly() -> None:
    """Sends what could not be written nowhere; the interpreter would complain at its exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            _flush(stream)
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)
