"""The user's own systems: a Python callable, `py:`, or a program, `cmd:` and `cmd+:`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial

from sat_bench.models.answers import Split, TextSystem, printed_answer
from truemark.errors import TruemarkError
from truemark.imports import import_callable, source_checksum
from truemark.services.keys import printed_on_stderr
from truemark.services.programs import command_checksum, parse_command, run_program, started


def callable_system(name: str) -> TextSystem:
    """Import the callable of a name `py:module:callable`."""
    with printed_on_stderr():
        split = import_callable(name.removeprefix("py:"))
    identity = {"callable": name, "source": source_checksum(split)[:12]}
    return TextSystem(name, identity, lambda: nullcontext(split))


def program_system(name: str, timeout_s: float) -> TextSystem:
    """Make the system of a program: `cmd:COMMAND`, or `cmd+:COMMAND` if it keeps running."""
    kind, _, command = name.partition(":")
    words = parse_command(command)
    start = partial(_opened, words, timeout_s, keep_running=kind == "cmd+")
    return TextSystem(name, {"program": command_checksum(words)}, start)


@contextmanager
def _opened(words: tuple[str, ...], timeout_s: float, *, keep_running: bool) -> Iterator[Split]:
    if keep_running:
        with started(words, timeout_s) as program:
            yield partial(_answer, program.exchange)
            program.finish()
    else:
        yield partial(_answer, partial(run_program, words, timeout_s=timeout_s))


def _answer(ask: Callable[[bytes], bytes], text: str) -> Sequence[object]:
    """Ask a program, which prints a sentence, or {"end": …, "p": …}, per line.

    For a program that keeps running, each text and each answer follow a line with their length in
    bytes.
    """
    output = ask(text.encode("utf-8", "replace"))
    try:
        return printed_answer(output.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise TruemarkError(f"prints bytes that are not UTF-8, at {error.start}") from None
