"""Predictions made elsewhere: a folder with a file per talk, under `file:FOLDER`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sat_bench.corpus.conditions import WRITTEN
from sat_bench.corpus.talks import Talk
from sat_bench.models.answers import LEAST_KEPT, AnswerError, printed_answer, read_answer
from sat_bench.models.finding import ModelError, expanded
from truemark.files import read_text
from truemark.jsontext import shown
from truemark.signature import checksum, data_hash

if TYPE_CHECKING:
    from sat_bench.models.boundaries import Probabilities

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


def stored_predictions(name: str) -> StoredPredictions:
    """The predictions of a name `file:FOLDER`."""
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
