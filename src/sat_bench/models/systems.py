"""Any system under test, by the name that the command line and Python know it by."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from sat_bench.corpus.conditions import WRITTEN
from sat_bench.corpus.talks import Talk
from sat_bench.models import DEFAULT_TIMEOUT_S
from sat_bench.models.answers import (
    LEAST_KEPT,
    AnswerError,
    Split,
    TextSystem,
    printed_answer,
    read_answer,
)
from sat_bench.models.finding import ModelError, ModelFiles, expanded, find_model
from truemark.errors import TruemarkError
from truemark.files import read_text
from truemark.jsontext import shown
from truemark.signature import checksum, data_hash

if TYPE_CHECKING:
    from sat_bench.models.boundaries import Probabilities
    from truemark.programs import Limits

STAYS = "cmd+"
ENDINGS = (".txt", ".json", ".jsonl")
_LISTED = 3


@dataclass(frozen=True)
class StoredPredictions:
    """The predictions of a folder; a talk's are in the file that has its name.

    Those for a talk under a condition are in a folder of the condition's name.

    `.txt` has a sentence per line; `.jsonl` an object {"end": …, "p": …} per line; `.json` a list
    of sentences or of such objects, or {"ends": […], "probabilities": […]}, the second optional.
    """

    name: str
    folder: Path
    threshold: float | None = None

    @cached_property
    def files(self) -> Mapping[str, Path]:
        """The files by the talk that each is for."""
        found: dict[str, Path] = {}
        for file in sorted((*self.folder.glob("*"), *self.folder.glob("*/*"))):
            if file.suffix.lower() not in ENDINGS or file.name.startswith(".") or file.is_dir():
                continue
            talk = file.relative_to(self.folder).with_suffix("").as_posix()
            if talk in found:
                raise ModelError(
                    f"{self.name}: {found[talk].name} and {file.name} are for the same talk; "
                    "keep one of them"
                )
            found[talk] = file
        return found

    @property
    def identity(self) -> tuple[tuple[str, str], ...]:
        """What the answers are: the content of all files."""
        parts = (part for name, file in self.files.items() for part in (name, checksum(file)))
        return (("predictions", data_hash(*parts)),)

    def probabilities_of(self, talk: Talk) -> Probabilities:
        """What the folder has for the talk."""
        # What was predicted for a changed text lies in a folder of the condition's name.
        changed = talk.condition not in ("", WRITTEN)
        wanted = f"{talk.condition}/{talk.id}" if changed else talk.id
        file = self.files.get(wanted)
        if file is None:
            raise ModelError(
                f"{self.name}: no predictions for the talk {talk.id!r}; expected "
                f"{wanted}.txt, .json or .jsonl, found {self._listed()}"
            )
        try:
            return read_answer(talk.text, _stored_answer(file), LEAST_KEPT)
        except AnswerError as error:
            raise ModelError(f"{self.name}: {file.name}: {error}") from error

    def _listed(self) -> str:
        names = [file.relative_to(self.folder).as_posix() for file in self.files.values()]
        more = [f"{len(names) - _LISTED} more"] if len(names) > _LISTED else []
        return ", ".join(names[:_LISTED] + more) or "nothing"


System = ModelFiles | TextSystem | StoredPredictions


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
    folder = expanded(name.partition(":")[2])
    if not folder.is_dir():
        raise ModelError(f"{name}: no such folder; expected one with a file per talk")
    return StoredPredictions(name, folder)


def _stored_answer(file: Path) -> Sequence[object]:
    content = read_text(file)
    if file.suffix.lower() != ".json":
        return printed_answer(content)
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise AnswerError(f"is not JSON: {error}") from None
    if isinstance(found, list):
        return found
    ends = found.get("ends") if isinstance(found, dict) else None
    if not isinstance(ends, list):
        raise AnswerError(f"is {shown(found)}, expected a list, or an object with ends")
    values = found.get("probabilities")
    if values is None:
        return ends
    if not isinstance(values, list) or len(values) != len(ends):
        raise AnswerError(f"has {len(ends)} ends, expected as many probabilities")
    return list(zip(ends, values, strict=True))


_KINDS: dict[str, Callable[[str, float], System]] = {
    "lib": _library,
    "py": _callable,
    "cmd": _program,
    "cmd+": _program,
    "file": _stored,
    "llm": _language_model,
}
