"""Any system under test, by the name that the command line and Python know it by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sat_bench.models import DEFAULT_TIMEOUT_S
from sat_bench.models.answers import Split, TextSystem, printed_answer
from sat_bench.models.finding import ModelError, ModelFiles, find_model
from sat_bench.models.stored import StoredPredictions, stored_predictions
from truemark.errors import TruemarkError

if TYPE_CHECKING:
    from truemark.programs import Limits

System = ModelFiles | TextSystem | StoredPredictions

STAYS = "cmd+"


def find_system(
    name: str, tokenizer: Path | None = None, *, timeout_s: float = DEFAULT_TIMEOUT_S
) -> System:
    """The system of this name; a tokenizer that is given is for a SaT model.

    A program may take `timeout_s` for a text, a language model for an answer.

    | form | is |
    | --- | --- |
    | `small`, `nano`, a path, `owner/name` | files of a SaT model |
    | `lib:NAME[:ARGUMENT]` | a segmenter installed beside Truemark |
    | `py:module:callable` | a Python callable |
    | `cmd:COMMAND`, `cmd+:COMMAND` | a program, started for each text, or once for all |
    | `file:FOLDER` | predictions made elsewhere, a file per talk |
    | `llm:MODEL` | a language model, by the keys and addresses in the environment |
    """
    kind, colon, _ = name.partition(":")
    if colon and kind in _KINDS:
        try:
            return _KINDS[kind](name, timeout_s)
        except ModelError:
            raise
        except TruemarkError as error:
            raise ModelError(f"{name}: {error}") from error
    return find_model(name, tokenizer)


def is_model_name(name: str) -> bool:
    """Whether the name stands for files of a SaT model."""
    kind, colon, _ = name.partition(":")
    return not (colon and kind in _KINDS)


def _library(name: str, _: float) -> System:
    from sat_bench.models.libraries import library_system

    return library_system(name)


def _callable(name: str, _: float) -> System:
    from truemark.imports import import_callable, source_checksum

    split = import_callable(name.removeprefix("py:"))
    identity = (("callable", name), ("source", source_checksum(split)[:12]))
    return TextSystem(name, identity, lambda: nullcontext(split))


def _program(name: str, timeout_s: float) -> System:
    from truemark.programs import Limits, command_checksum, parse_command

    kind, _, command = name.partition(":")
    words, limits = parse_command(command), Limits(timeout_s)
    start = _staying if kind == STAYS else _anew
    return TextSystem(name, (("program", command_checksum(words)),), partial(start, words, limits))


@contextmanager
def _anew(words: tuple[str, ...], limits: Limits) -> Iterator[Split]:
    from truemark.programs import run_program

    yield partial(_answer, partial(run_program, words, limits=limits))


@contextmanager
def _staying(words: tuple[str, ...], limits: Limits) -> Iterator[Split]:
    from truemark.programs import started

    with started(words, limits) as program:
        yield partial(_answer, program.exchange)


def _answer(ask: Callable[[bytes], bytes], text: str) -> Sequence[object]:
    """What a program says to a text: a sentence per line, or {"end": …, "p": …} per line.

    One that stays gets each text, and gives each answer, after its length in bytes on a line.
    """
    output = ask(text.encode("utf-8", "replace"))
    try:
        return printed_answer(output.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise TruemarkError(f"prints bytes that are not UTF-8, at {error.start}") from None


def _language_model(name: str, timeout_s: float) -> System:
    from sat_bench.models.language_models import language_model_system

    return language_model_system(name, timeout_s)


def _stored(name: str, _: float) -> System:
    return stored_predictions(name)


_KINDS: dict[str, Callable[[str, float], System]] = {
    "lib": _library,
    "py": _callable,
    "cmd": _program,
    "cmd+": _program,
    "file": _stored,
    "llm": _language_model,
}
