"""Predictions made elsewhere, under `file:FOLDER`: a file per talk."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sat_bench.corpus.talks import Talk
from sat_bench.defaults import WRITTEN
from sat_bench.models.answers import printed_answer, read_answer
from sat_bench.models.protocol import ModelError, Probabilities
from truemark.errors import TruemarkError
from truemark.files import checksum, expanded, no_folder, read_text
from truemark.jsontext import shown
from truemark.signature import data_hash
from truemark.text import listed

ENDINGS = (".txt", ".json", ".jsonl")


@dataclass(frozen=True)
class StoredPredictions:
    """The predictions in a folder, in one file per talk, named like the talk.

    Predictions under a condition other than `written` are in a subfolder named like the condition.
    `.txt` has a sentence per line; `.jsonl` an object {"end": …, "p": …} per line; `.json` a list
    of sentences or of such objects, or {"ends": […], "probabilities": […]}, the second optional.
    """

    name: str
    folder: Path

    @cached_property
    def files(self) -> Mapping[str, Path]:
        """The files by the name of their talk."""
        files: dict[str, Path] = {}
        for file in sorted((*self.folder.glob("*"), *self.folder.glob("*/*"))):
            if file.suffix.lower() not in ENDINGS or file.name.startswith(".") or file.is_dir():
                continue
            talk = file.relative_to(self.folder).with_suffix("").as_posix()
            if talk in files:
                raise ModelError(
                    f"{self.name}: {files[talk].name} and {file.name} are for the same talk; "
                    "keep one of them"
                )
            files[talk] = file
        return files

    @property
    def identity(self) -> dict[str, str]:
        """What the answers depend on: the content of all files."""
        parts = (part for name, file in self.files.items() for part in (name, checksum(file)))
        return {"predictions": data_hash(*parts)}

    def read(self, talks: Iterable[Talk]) -> Iterator[tuple[Talk, Probabilities]]:
        """Yield each talk with its stored predictions."""
        return ((talk, self._predictions(talk)) for talk in talks)

    def _predictions(self, talk: Talk) -> Probabilities:
        written = talk.condition == WRITTEN
        name = talk.id if written else f"{talk.condition}/{talk.id}"
        file = self.files.get(name)
        if file is None:
            names = [file.relative_to(self.folder).as_posix() for file in self.files.values()]
            raise ModelError(
                f"{self.name}: no predictions for the talk {talk.id!r}; expected "
                f"{name}.txt, .json or .jsonl, found {listed(names, 3)}"
            )
        content, is_json = read_text(file), file.suffix.lower() == ".json"
        try:
            answer = _document_answer(content) if is_json else printed_answer(content)
            return read_answer(talk.text, answer)
        except TruemarkError as error:
            raise ModelError(f"{self.name}: {file.name}: {error}") from error


def stored_system(name: str) -> StoredPredictions:
    """Find the predictions of a name `file:FOLDER`."""
    path = name.partition(":")[2]
    if not path.strip():
        raise ModelError(f"{name}: no folder is given; expected one with a file per talk")
    folder = expanded(path)
    if not folder.is_dir():
        raise ModelError(f"{name}: {no_folder(folder)}; expected one with a file per talk")
    return StoredPredictions(name, folder)


def _document_answer(content: str) -> Sequence[object]:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise TruemarkError(f"is not JSON: {error}") from None
    if isinstance(document, list):
        return document
    ends = document.get("ends") if isinstance(document, dict) else None
    if not isinstance(ends, list):
        raise TruemarkError(f"is {shown(document)}, expected a list, or an object with ends")
    values = document.get("probabilities")
    if values is None:
        return ends
    if not isinstance(values, list) or len(values) != len(ends):
        raise TruemarkError(f"has {len(ends)} ends, expected as many probabilities")
    return list(zip(ends, values, strict=True))
