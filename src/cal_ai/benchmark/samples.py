"""Samples: transcripts, and the sidecars that say what should be found in them."""

from __future__ import annotations

import marshal
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

from cal_ai.benchmark.sidecar import (
    DEFAULT_REFERENCE,
    Sidecar,
    parse_sidecar,
)
from cal_ai.extractors.protocol import Request
from cal_ai.settings import DEFAULT_OWNER
from cal_ai.transcript import (
    LARGEST_TRANSCRIPT,
    Transcript,
    lines_before_speakers,
    parse_transcript,
)
from truemark.errors import TruemarkError
from truemark.files import Spool, read_text
from truemark.signature import data_hash

TOGETHER = 64
"""Samples, or answers, that are worked on together: the same steps in a row run a fifth faster."""

UNCATEGORIZED = "uncategorized"
SIDECAR_SUFFIX = ".expected.json"


@dataclass(frozen=True, slots=True)
class Sample:
    """One transcript; `sidecar` is None when nobody wrote down what to expect of it.

    `fault` says why a sample cannot be used: its transcript or its sidecar cannot be read.
    """

    category: str
    name: str
    transcript: Transcript
    sidecar: Sidecar | None
    digest: str
    fault: str | None = None

    @property
    def id(self) -> str:
        return f"{self.category}/{self.name}"

    @property
    def request(self) -> Request:
        """What an extractor is asked; "now" is the sidecar's, so that live runs stay comparable."""
        if self.sidecar is None:
            return Request(self.transcript, DEFAULT_OWNER, DEFAULT_REFERENCE)
        return Request(
            self.transcript,
            self.sidecar.owner,
            self.sidecar.reference_datetime,
            self.sidecar.calendar_context,
        )


class StoredSamples(Sequence[Sample]):
    """Samples as they were when their files were read; each is made when it is asked for.

    The texts of many are not in memory, and what is written to the files later changes nothing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._texts = Spool()

    def add(self, stem: str, text: str, sidecar_text: str | None, fault: str | None = None) -> None:
        """Adds the sample in the files that are called so below the folder."""
        self._texts.add(marshal.dumps((stem, text, sidecar_text, fault)))

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, place: int) -> Sample: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Sample]: ...
    def __getitem__(self, place: int | slice) -> Sample | Sequence[Sample]:
        places = range(len(self))[place]
        if isinstance(places, range):
            return tuple(self[one] for one in places)
        return self._sample(*marshal.loads(self._texts[places]))

    def __iter__(self) -> Iterator[Sample]:
        for first in range(0, len(self), TOGETHER):
            yield from self[first : first + TOGETHER]

    def _sample(self, stem: str, text: str, sidecar_text: str | None, fault: str | None) -> Sample:
        category, _, name = stem.partition("/") if "/" in stem else (UNCATEGORIZED, "", stem)
        sidecar = None
        if sidecar_text is not None and fault is None:
            try:
                sidecar = parse_sidecar(sidecar_text, f"{self._folder}/{stem}{SIDECAR_SUFFIX}")
            except TruemarkError as error:
                fault = str(error)
        if fault is not None:
            return Sample(category, name, Transcript(()), None, data_hash(stem, fault), fault)
        digest = data_hash(stem, text, "" if sidecar is None else repr(sidecar))
        return Sample(category, name, parse_transcript(text), sidecar, digest)


@dataclass(frozen=True, slots=True)
class SampleSet:
    """The samples below one folder in the order of their names, and what looked odd there."""

    folder: Path
    samples: Sequence[Sample]
    warnings: tuple[str, ...]


def default_folder() -> Path:
    """`samples/` of the working folder when there is one, else the samples in the package."""
    here = Path("samples")
    return here if here.is_dir() else bundled_folder()


def bundled_folder() -> Path:
    return Path(__file__).parent.parent / "samples"


def load_samples(folder: Path) -> SampleSet:
    """Every sample below `folder`, those with a fault included: each costs itself alone."""
    if not folder.is_dir():
        found = "is a file" if folder.exists() else "does not exist"
        raise TruemarkError(f"{folder}: {found}, expected a folder of .txt transcripts")
    transcripts, sidecars = _stems(folder)
    if not transcripts:
        raise TruemarkError(f"{folder}: no .txt transcripts in it or below it")
    _refuse_two_of_a_name(folder, transcripts)
    samples = StoredSamples(folder)
    warnings = [
        f"{folder}/{stem}{SIDECAR_SUFFIX}: no transcript {stem.rpartition('/')[2]}.txt beside it, "
        "left out"
        for stem in sorted(sidecars - transcripts)
    ]
    for stem in sorted(transcripts):
        path, truth = f"{folder}/{stem}.txt", None
        try:
            text = read_text(path, LARGEST_TRANSCRIPT)
            if stem in sidecars:
                truth = read_text(f"{folder}/{stem}{SIDECAR_SUFFIX}", LARGEST_TRANSCRIPT)
        except TruemarkError as error:
            samples.add(stem, "", None, str(error))
            continue
        samples.add(stem, text, truth)
        if truth is None or lines_before_speakers(text):
            warnings.extend(_remarks(path, samples[-1]))
    return SampleSet(folder, samples, tuple(warnings))


def _refuse_two_of_a_name(folder: Path, stems: set[str]) -> None:
    """A transcript outside of any category has the name of one in the category of that name."""
    for stem in sorted(stems):
        if "/" not in stem and f"{UNCATEGORIZED}/{stem}" in stems:
            raise TruemarkError(
                f"{folder}/{stem}.txt: would be called {UNCATEGORIZED}/{stem}, as "
                f"{folder}/{UNCATEGORIZED}/{stem}.txt is: rename one of them"
            )


def sidecar_path(transcript_path: Path) -> Path:
    return transcript_path.with_name(transcript_path.stem + SIDECAR_SUFFIX)


def _stems(folder: Path) -> tuple[set[str], set[str]]:
    """The transcripts and the sidecars below `folder`, hidden ones left out, as `category/name`."""
    transcripts: set[str] = set()
    sidecars: set[str] = set()
    visited: set[str] = set()
    for root, folders, files in os.walk(folder, followlinks=True):
        real = os.path.realpath(root)
        # A link to a folder above would be followed for ever.
        folders[:] = [] if real in visited else [it for it in folders if not it.startswith(".")]
        if real in visited:
            continue
        visited.add(real)
        below = Path(root).relative_to(folder).as_posix()
        prefix = "" if below == "." else f"{below}/"
        for name in files:
            if name.startswith("."):
                continue
            if name.endswith(".txt"):
                transcripts.add(prefix + name.removesuffix(".txt"))
            elif name.endswith(SIDECAR_SUFFIX):
                sidecars.add(prefix + name.removesuffix(SIDECAR_SUFFIX))
    return transcripts, sidecars


def _remarks(path: str, sample: Sample) -> Iterator[str]:
    if sample.fault is not None:
        return
    if sample.sidecar is None:
        sidecar = sidecar_path(Path(path)).name
        yield f"{path}: no sidecar {sidecar} beside it, extracted but not scored"
    if skipped := sample.transcript.skipped_lines:
        lines = ", ".join(map(str, skipped[:5])) + (", ..." if len(skipped) > 5 else "")
        noun = "line" if len(skipped) == 1 else "lines"
        yield f"{path}: {noun} {lines} skipped: no [Speaker]: yet"
