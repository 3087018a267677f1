"""Segmenters that are programs: `cmd:COMMAND` is started for each text, `cmd+:COMMAND` once.

A text goes to standard input. On standard output comes a sentence per line, or a JSON object per
line, {"end": …, "p": …}. With `cmd+:` each text and each answer is preceded by its length in bytes,
on a line of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from sat_bench.models.answers import Split, TextSystem, printed_answer
from truemark.programs import (
    Limits,
    ProgramError,
    command_checksum,
    parse_command,
    run_program,
    started,
)

STAYS = "cmd+"


def program_system(name: str, timeout_s: float) -> TextSystem:
    """The system of a name `cmd:COMMAND` or `cmd+:COMMAND`, with a time limit for each text."""
    kind, _, command = name.partition(":")
    words, limits = parse_command(command), Limits(timeout_s)
    start = _staying if kind == STAYS else _anew
    return TextSystem(name, (("program", command_checksum(words)),), partial(start, words, limits))


@contextmanager
def _anew(words: tuple[str, ...], limits: Limits) -> Iterator[Split]:
    yield partial(_answer, partial(run_program, words, limits=limits))


@contextmanager
def _staying(words: tuple[str, ...], limits: Limits) -> Iterator[Split]:
    with started(words, limits) as program:
        yield partial(_answer, program.exchange)


def _answer(ask: Callable[[bytes], bytes], text: str) -> Sequence[object]:
    output = ask(text.encode("utf-8", "replace"))
    try:
        return printed_answer(output.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ProgramError(f"prints bytes that are not UTF-8, at {error.start}") from None
