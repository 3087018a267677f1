"""Samples: transcripts, and the sidecars that say what should be found in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cal_ai.benchmark.sidecar import (
    DEFAULT_REFERENCE,
    Sidecar,
    parse_sidecar,
)
from cal_ai.extractors.protocol import Request
from cal_ai.settings import DEFAULT_OWNER
from cal_ai.transcript import LARGEST_TRANSCRIPT, Transcript, parse_transcript
from truemark.errors import TruemarkError
from truemark.files import read_text
from truemark.signature import data_hash

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


@dataclass(frozen=True, slots=True)
class SampleSet:
    """The samples below one folder in the order of their names, and what looked odd there."""

    folder: Path
    samples: tuple[Sample, ...]
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
    samples: list[Sample] = []
    warnings = [
        f"{folder}/{stem}{SIDECAR_SUFFIX}: no transcript {stem.rpartition('/')[2]}.txt beside it, "
        "left out"
        for stem in sorted(sidecars - transcripts)
    ]
    for stem in sorted(transcripts):
        category, _, name = stem.partition("/") if "/" in stem else (UNCATEGORIZED, "", stem)
        try:
            sample = _load_sample(folder, stem, category, name, has_sidecar=stem in sidecars)
            warnings.extend(_remarks(f"{folder}/{stem}.txt", sample))
        except TruemarkError as error:
            fault = str(error)
            sample = Sample(category, name, Transcript(()), None, data_hash(stem, fault), fault)
        samples.append(sample)
    return SampleSet(folder, tuple(samples), tuple(warnings))


def sidecar_path(transcript_path: Path) -> Path:
    return transcript_path.with_name(transcript_path.stem + SIDECAR_SUFFIX)


def _load_sample(folder: Path, stem: str, category: str, name: str, *, has_sidecar: bool) -> Sample:
    text = read_text(f"{folder}/{stem}.txt", LARGEST_TRANSCRIPT)
    sidecar = None
    if has_sidecar:
        path = f"{folder}/{stem}{SIDECAR_SUFFIX}"
        sidecar = parse_sidecar(read_text(path, LARGEST_TRANSCRIPT), path)
    digest = data_hash(stem, text, "" if sidecar is None else repr(sidecar))
    return Sample(category, name, parse_transcript(text), sidecar, digest)


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
    if sample.sidecar is None:
        sidecar = sidecar_path(Path(path)).name
        yield f"{path}: no sidecar {sidecar} beside it, extracted but not scored"
    if skipped := sample.transcript.skipped_lines:
        lines = ", ".join(map(str, skipped[:5])) + (", ..." if len(skipped) > 5 else "")
        noun = "line" if len(skipped) == 1 else "lines"
        yield f"{path}: {noun} {lines} skipped: no [Speaker]: yet"
