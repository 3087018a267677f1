"""Load samples: transcripts, and sidecars with the events that are expected."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from cal_ai.benchmark.sidecar import DEFAULT_REFERENCE, Sidecar, parse_sidecar
from cal_ai.extractors.protocol import Request
from cal_ai.settings import DEFAULT_OWNER
from cal_ai.transcripts.conversation import BRACKETS, Transcript
from cal_ai.transcripts.reading import (
    LARGEST_TRANSCRIPT,
    NOBODY_SPEAKS,
    foreign_language,
    parse_transcript,
)
from truemark.errors import TruemarkError
from truemark.files import read_text
from truemark.signature import data_hash
from truemark.text import counted

UNCATEGORIZED = "uncategorized"
SIDECAR_SUFFIX = ".expected.json"
TRANSCRIPT_SUFFIXES = (".txt", ".vtt", ".srt")
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Sample:
    """A transcript and its sidecar, which is None if there is no such file.

    `fault` tells why one of them cannot be read; the extractor is not asked about such a sample.
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
        """The request to the extractor, with the defaults of sidecars if there is none."""
        return (self.sidecar or Sidecar(())).request(self.transcript)


def default_folder() -> Path:
    """Return `samples/` of the working folder where it exists, else the bundled samples."""
    here = Path("samples")
    return here if here.is_dir() else bundled_folder()


def bundled_folder() -> Path:
    return Path(__file__).parent.parent / "samples"


def load_samples(
    folder: Path,
    only: str | None = None,
    limit: int | None = None,
    warnings: list[str] | None = None,
) -> tuple[Sample, ...]:
    """Read the samples below `folder` in the order of their names.

    `only` is a pattern that their ids must match, or a part of the ids; `limit` takes the first
    ones. What looks odd in the folder is added to `warnings`. A sample that cannot be read is
    returned with its fault.
    """
    transcripts, sidecars = _checked_stems(folder)
    if only is not None:
        known = _first_few(sorted({f"{_category(stem)}/*" for stem in transcripts}))
        transcripts = {stem for stem in transcripts if _fits(stem, only)}
        sidecars = {stem for stem in sidecars if _fits(stem, only)}
        if not transcripts:
            raise TruemarkError(f"{folder}: no sample matches --only {only!r}; there are {known}")
    chosen = sorted(transcripts)[:limit]
    warnings = [] if warnings is None else warnings
    warnings += (
        f"{folder}/{stem}{SIDECAR_SUFFIX}: no transcript {stem.rpartition('/')[2]}.txt beside it, "
        "left out"
        for stem in sorted(sidecars - transcripts)
    )
    samples = []
    for stem in chosen:
        sample = _load_sample(folder, stem, has_sidecar=stem in sidecars)
        samples.append(sample)
        if (skipped := sample.transcript.skipped_lines) and sample.fault is None:
            standard = sample.transcript.form == BRACKETS
            why = "no [Speaker]: yet" if standard else "nobody's words"
            noun = "line" if len(skipped) == 1 else "lines"
            numbers = _first_few(list(map(str, skipped)))
            warnings.append(f"{transcript_path(folder, stem)}: {noun} {numbers} skipped: {why}")
    if without := [sample.id for sample in samples if not sample.fault and not sample.sidecar]:
        have = "has" if len(without) == 1 else "have"
        warnings.append(
            f"{len(without)} of {counted(len(samples), 'sample')} {have} no sidecar"
            f" (NAME{SIDECAR_SUFFIX}), extracted but not scored: {_first_few(without)};"
            f" to draft sidecars: cal-ai label {folder}"
        )
    return tuple(samples)


def _fits(stem: str, pattern: str) -> bool:
    name = stem if "/" in stem else f"{UNCATEGORIZED}/{stem}"
    return fnmatchcase(name, pattern) or (pattern in name and not set("*?[") & set(pattern))


def _category(stem: str) -> str:
    return stem.partition("/")[0] if "/" in stem else UNCATEGORIZED


def _load_sample(folder: Path, stem: str, *, has_sidecar: bool) -> Sample:
    category, name = _category(stem), stem.partition("/")[2] or stem
    sidecar = None
    try:
        transcript_file = transcript_path(folder, stem)
        text = read_text(transcript_file, LARGEST_TRANSCRIPT)
        if has_sidecar:
            path = f"{folder}/{stem}{SIDECAR_SUFFIX}"
            sidecar = parse_sidecar(read_text(path, LARGEST_TRANSCRIPT), path)
    except TruemarkError as error:
        fault = str(error)
        return Sample(category, name, Transcript(()), None, data_hash(stem, fault), fault)
    digest = data_hash(stem, text, "" if sidecar is None else repr(sidecar))
    transcript = parse_transcript(text)
    nobody = None if transcript.utterances else f"{transcript_file}: {NOBODY_SPEAKS}"
    return Sample(category, name, transcript, sidecar, digest, nobody)


def transcript_path(folder: Path, stem: str) -> Path:
    """Return the file of a transcript; of several with this name, the first suffix is taken."""
    paths = [folder / f"{stem}{suffix}" for suffix in TRANSCRIPT_SUFFIXES]
    return next(filter(Path.exists, paths), paths[0])


def transcript_stems(folder: Path) -> list[str]:
    """List the transcripts below `folder` as `category/name`."""
    return sorted(_checked_stems(folder)[0])


def _checked_stems(folder: Path) -> tuple[set[str], set[str]]:
    """List transcripts and sidecars below `folder`.

    Raises an error if there is no transcript, or if two would have the same id.
    """
    if not folder.is_dir():
        problem = "is a file" if folder.exists() else "does not exist"
        raise TruemarkError(f"{folder}: {problem}, expected a folder of transcripts")
    transcripts, sidecars = _stems(folder)
    if not transcripts:
        suffixes = ", ".join(TRANSCRIPT_SUFFIXES)
        raise TruemarkError(f"{folder}: no transcripts ({suffixes}) in it or below it")
    for stem in sorted(transcripts):
        if "/" not in stem and f"{UNCATEGORIZED}/{stem}" in transcripts:
            raise TruemarkError(
                f"{transcript_path(folder, stem)}: would be called {UNCATEGORIZED}/{stem}, as "
                f"{transcript_path(folder, f'{UNCATEGORIZED}/{stem}')} is: rename one of them"
            )
    return transcripts, sidecars


def _stems(folder: Path) -> tuple[set[str], set[str]]:
    """List transcripts and sidecars below `folder` as `category/name`, without hidden files."""
    transcripts: set[str] = set()
    sidecars: set[str] = set()
    visited: set[str] = set()
    for root, folders, files in os.walk(folder, followlinks=True):
        real = os.path.realpath(root)
        # A link to a folder above would be followed for ever.
        if real in visited:
            folders.clear()
            continue
        folders[:] = [name for name in folders if not name.startswith(".")]
        visited.add(real)
        below = Path(root).relative_to(folder).as_posix()
        prefix = "" if below == "." else f"{below}/"
        for name in files:
            if name.startswith("."):
                continue
            if name.endswith(TRANSCRIPT_SUFFIXES):
                transcripts.add(prefix + Path(name).stem)
            elif name.endswith(SIDECAR_SUFFIX):
                sidecars.add(prefix + name.removesuffix(SIDECAR_SUFFIX))
    return transcripts, sidecars


def sample_remarks(samples: Sequence[Sample], *, embedded: bool) -> Iterator[str]:
    """Tell what is assumed about the samples, one line per assumption.

    The embedded extractor reads only English, so for it samples in other languages are named.
    """
    readable = [sample for sample in samples if sample.fault is None]
    forms = Counter(sample.transcript.form for sample in readable)
    if set(forms) - {BRACKETS}:
        left_out = sum(len(sample.transcript.skipped_lines) for sample in readable)
        read = ", ".join(f"{count} as {form}" for form, count in forms.items())
        yield f"conversations are read {read}; {counted(left_out, 'line')} left out"
    assumed = Counter(name for s in readable if s.sidecar for name in s.sidecar.assumed)
    values = {"owner": DEFAULT_OWNER, "reference_datetime": f"{DEFAULT_REFERENCE:%Y-%m-%d %H:%M}"}
    for name, count in sorted(assumed.items()):
        yield f"{counted(count, 'sidecar')} without {name}: using {values[name]}"
    silent = [s for s in readable if not s.transcript.has_speaker(s.request.owner)]
    if silent:
        named = [f"{s.id} ({s.request.owner})" for s in silent]
        yield f"the owner does not speak in {counted(len(silent), 'sample')}: {_first_few(named)}"
    if embedded:
        languages = [(s.id, foreign_language(s.transcript)) for s in readable]
        foreign = [f"{name} ({language})" for name, language in languages if language]
        if foreign:
            yield (
                f"{counted(len(foreign), 'sample')} apparently not in English, the only language"
                f" that the embedded extractor reads: {_first_few(foreign)}"
            )


def _first_few(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")
