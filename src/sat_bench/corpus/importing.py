"""Turns pasted transcripts and subtitle files into corpus files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sat_bench.corpus.subtitles import spoken_text
from sat_bench.corpus.talks import CorpusError, Talk
from sat_bench.corpus.transcripts import parse_transcript, split_header
from sat_bench.defaults import HEADER_NAMES
from truemark.files import read_text, write_atomically

_CLOCK = r"(?:\d{1,2}:)?\d{1,2}:\d{2}"
_TIMESTAMP_LINE = re.compile(rf"\s*[\[(]?{_CLOCK}[\])]?\s*")
_LEADING_TIMESTAMP = re.compile(rf"\s*[\[(]{_CLOCK}[\])]\s*")
_SPACES = re.compile(r"\s{2,}|[^\S ]")  # all but single ones, which are most


def import_transcript(
    file: Path, out: Path | None = None, header: Mapping[str, str] | None = None, *, force: bool
) -> tuple[Path, Talk]:
    """Write the corpus file of a pasted transcript or subtitle file; return its path and talk."""
    target = _target(file, out)
    if file.suffix.lower() in (".json", ".conllu"):
        raise CorpusError(f"{file}: is a corpus file already; copy it into the corpus folder")
    given_header, text = _read(file)
    values = {"source": file.name} | given_header | dict(header or {})
    content = format_transcript(
        {name.capitalize(): values.get(name, "") for name in HEADER_NAMES}, text
    )
    talk = parse_transcript(target, content, "plain")
    if target.exists() and not force:
        raise CorpusError(
            f"{target}: exists already; add -force to replace it, or choose another -o"
        )
    write_atomically(target, content)
    return target, talk


def format_transcript(header: Mapping[str, str], text: str) -> str:
    """Write a transcript file with the header values that are not empty."""
    lines = [f"# {name}: {' '.join(value.split())}" for name, value in header.items() if value]
    return "\n".join((*lines, "", text, ""))


def _target(file: Path, out: Path | None) -> Path:
    if not file.stem:
        raise CorpusError(f"{file}: is a folder, expected a file")
    if out is None:
        return file.with_suffix(".txt")
    if out.is_dir():
        return out / f"{file.stem}.txt"
    if out.suffix.lower() != ".txt":
        raise CorpusError(f"{out}: a corpus file must end in .txt, or name a folder that exists")
    return out


def _read(file: Path) -> tuple[dict[str, str], str]:
    content = read_text(file)
    if file.suffix.lower() in (".srt", ".vtt"):
        return {}, spoken_text(file, content)
    header, body, _ = split_header(content)
    text = _paragraphs(body)
    if not text:
        raise CorpusError(f"{file}: no transcript text in it")
    return header, text


def _paragraphs(body: str) -> str:
    """Drop timestamps and write one line per paragraph; blank lines separate paragraphs."""
    # Not word by word: a list of the words of a long line takes ten times its memory.
    paragraphs: list[list[str]] = [[]]
    for line in body.split("\n"):
        if _TIMESTAMP_LINE.fullmatch(line):
            continue
        if not line.strip():
            paragraphs.append([])
        elif said := _SPACES.sub(" ", _LEADING_TIMESTAMP.sub("", line, count=1)).strip():
            paragraphs[-1].append(said)
    return "\n\n".join(" ".join(lines) for lines in paragraphs if lines)
