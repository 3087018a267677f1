"""Where annotations are kept: a file for each annotator and text below `FOLDER/.annotations`.

    FOLDER/.annotations/anna/talk.json        Anna's annotation of `talk`
    FOLDER/.annotations/.gold/talk.json       the annotation that becomes the gold file of `talk`
    FOLDER/.annotations/.anna,ben/talk.json   decisions between these two, which become it as well
    FOLDER/.annotations/.drafts/talk.json     the proposals of systems for `talk`

Every write replaces a file whole, and nothing outside of FOLDER is ever written.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truemark.command import note
from truemark.errors import TruemarkError
from truemark.files import open_regular, read_bytes, write_atomically
from truemark.jsontext import read_json, set_fields, to_json

FORMAT = "truemark.annotation/1"
FOLDER = ".annotations"
GOLD = ".gold"  # the annotator of the gold; other names do not begin with a full stop
DRAFTS = ".drafts"
EARLIER = ".earlier.json"
_NAME = re.compile(r"\w[\w .-]{0,59}")
Place = int | str


@dataclass(frozen=True, slots=True)
class Annotation:
    """The annotation of one text by one annotator.

    `content` is what the page edits, `seen` which places were looked at, `left` how many are
    still to be looked at, and `at` where the annotator was. `gold` has the digests that the gold
    file may have: before the last write and after it.
    """

    text: str
    content: Mapping[str, Any]
    seen: tuple[Place, ...] = ()
    left: int = 0
    at: Place | None = None
    gold: tuple[str, ...] = ()
    format: str = FORMAT

    @property
    def done(self) -> bool:
        return not self.left


@dataclass(frozen=True, slots=True)
class Draft:
    """The proposals of each system for a text; `made_by` identifies what they depend on."""

    text: str
    made_by: str
    systems: Mapping[str, Any]


def check_annotator(name: str) -> str:
    """Return the name if it can be the name of a folder."""
    if not _NAME.fullmatch(name):
        raise TruemarkError(
            f"{name!r} cannot name an annotator: expected up to 60 letters, digits, spaces, "
            "full stops and hyphens, the first a letter or digit"
        )
    return name


@dataclass(frozen=True, slots=True)
class Workspace:
    """The files of one annotator of the texts in a folder."""

    folder: Path
    annotator: str = GOLD

    @classmethod
    def deciding(cls, folder: Path, readers: Iterable[str]) -> Workspace:
        """Make the workspace of decisions between annotators, apart from other work on the gold."""
        return cls(folder, f".{','.join(sorted(readers))}")

    @property
    def makes_gold(self) -> bool:
        return self.annotator.startswith(".")

    def annotation_path(self, name: str) -> Path:
        return self.folder / FOLDER / self.annotator / f"{name}.json"

    def read(self, name: str) -> Annotation | None:
        """Read the annotation of a text; None where there is none yet."""
        path = self.annotation_path(name)
        return read_annotation(path) if path.exists() else None

    def write(self, name: str, annotation: Annotation) -> None:
        path = self.annotation_path(name)
        self.write_file(path, to_json({"format": FORMAT} | set_fields(annotation)) + "\n")

    def keep_earlier(self, name: str) -> None:
        """Copy the annotation of an earlier text, so that starting again loses nothing."""
        path = self.annotation_path(name)
        self.write_file(path.with_name(path.stem + EARLIER), read_bytes(path))

    def read_draft(self, name: str) -> Draft | None:
        path = self.folder / FOLDER / DRAFTS / f"{name}.json"
        try:
            return read_json(Draft, read_bytes(path), str(path)) if path.exists() else None
        except TruemarkError:
            return None  # a broken draft is made again

    def write_draft(self, name: str, draft: Draft) -> None:
        path = self.folder / FOLDER / DRAFTS / f"{name}.json"
        self.write_file(path, to_json(set_fields(draft)) + "\n")

    def write_file(self, path: Path, content: str | bytes) -> None:
        """Write a file of the folder atomically; refuse one that a link leads out of the folder."""
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise TruemarkError(f"{path}: points outside {self.folder}; nothing is written there")
        write_atomically(path, content)


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """Which texts to label, and how: at most one of `annotator`, `adjudicate` and `review`.

    They keep the work of an annotator apart, decide between two annotators, or review the mistakes
    of a run; without them, the gold is made.
    """

    folder: Path
    annotator: str = ""
    adjudicate: tuple[str, str] | None = None
    review: Path | None = None
    open_browser: bool = True

    def __post_init__(self) -> None:
        for name in (self.annotator, *(self.adjudicate or ())):
            if name:
                check_annotator(name)

    @property
    def workspace(self) -> Workspace:
        if self.adjudicate:
            return Workspace.deciding(self.folder, self.adjudicate)
        return Workspace(self.folder, self.annotator or GOLD)

    @property
    def round_name(self) -> str:
        """The name of the round in which a run's mistakes are reviewed; empty without a review."""
        return file_digest(self.review) if self.review else ""


def done_by_all(names: Iterable[str], readers: Sequence[Workspace]) -> list[str]:
    """List the texts that every annotator has done, and say which others are left out."""
    who = " and ".join(reader.annotator for reader in readers)
    done = []
    for name in names:
        annotations = [reader.read(name) for reader in readers]
        if all(annotation is not None and annotation.done for annotation in annotations):
            done.append(name)
        else:
            note(f"{name}: not done by both {who}, left out")
    return done


def read_annotation(path: Path) -> Annotation:
    annotation = read_json(Annotation, read_bytes(path), str(path))
    if annotation.format != FORMAT:
        raise TruemarkError(f"{path}: format is {annotation.format!r}, expected {FORMAT!r}")
    return annotation


def read_annotations(folder: Path, *, done_only: bool = False) -> dict[str, Annotation]:
    """Read the annotations below a folder, by text; refuse those not done, or leave them out."""
    annotations = {}
    for file in sorted(folder.rglob("*.json")):
        below = file.relative_to(folder)
        if FOLDER in below.parts or file.name.endswith(EARLIER):
            continue
        with open_regular(file) as content:
            if FORMAT.partition("/")[0].encode() not in content.read(60):
                continue
        annotation = read_annotation(file)
        if annotation.done:
            annotations[below.with_suffix("").as_posix()] = annotation
        elif not done_only:
            raise TruemarkError(f"{file}: is not done yet: finish it on its label page")
    return annotations


def file_digest(path: Path) -> str:
    """Return the digest of a file; empty if there is none."""
    return content_digest(read_bytes(path)) if path.exists() else ""


def content_digest(content: str | bytes) -> str:
    """Return the digest of a file with this content."""
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()[:16]
