"""Turns pasted transcripts and subtitle files into corpus files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sat_bench.corpus.loading import load_talks
from sat_bench.corpus.subtitles import read_cues
from sat_bench.corpus.talks import CorpusError, Talk
from sat_bench.corpus.transcripts import is_in_lines, parse_transcript, split_header
from sat_bench.defaults import HEADER_NAMES
from truemark.errors import TruemarkError
from truemark.files import read_text, write_atomically
from truemark.signature import checksum

MANIFEST = "manifest.jsonl"
_GOLD = (".json", ".conllu")
_ENDINGS = (".txt", ".srt", ".vtt", ".md", *_GOLD)
_CLOCK = r"(?:\d{1,2}:)?\d{1,2}:\d{2}"
_TIMESTAMP_LINE = re.compile(rf"\s*[\[(]?{_CLOCK}[\])]?\s*")
_LEADING_TIMESTAMP = re.compile(rf"\s*[\[(]{_CLOCK}[\])]\s*")
_SPACES = re.compile(r"\s{2,}|[^\S ]")  # all but single ones, which are most


@dataclass(frozen=True, slots=True)
class Imported:
    """A corpus file that was written, where it came from, and its talks; or why it was not."""

    file: Path
    target: Path | None = None
    talks: tuple[Talk, ...] = ()
    failure: str = ""


def import_transcripts(
    paths: Sequence[Path],
    out: Path | None = None,
    header: Mapping[str, str] | None = None,
    *,
    force: bool,
) -> Iterator[Imported]:
    """Write the corpus files of files and folders; one that cannot be read stops no other.

    `out` is then a folder, which is made, and keeps a manifest of what came from where.
    """
    files = list(_files(paths))
    if out is not None:
        if out.suffix.lower() == ".txt" and not out.is_dir():
            raise CorpusError(f"{out}: several files are imported; name a folder")
        out.mkdir(parents=True, exist_ok=True)
    targets: dict[Path, Path] = {}
    written = []
    for file in files:
        try:
            target = import_target(file, out) if _is_pasted(file) else _copy_target(file, out)
            if target in targets:
                raise CorpusError(f"{file}: would be {target}, as {targets[target]} is already")
            targets[target] = file
            if _is_pasted(file):
                _, talk = import_transcript(file, target, header, force=force)
                imported = Imported(file, target, (talk,))
            else:
                imported = Imported(file, target, _copied(file, target, force=force))
            written.append(imported)
        except TruemarkError as error:
            imported = Imported(file, failure=str(error))
        yield imported
    if out is not None and written:
        _write_manifest(out, written)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        inside = sorted(
            file
            for file in path.iterdir()
            if file.suffix.lower() in _ENDINGS
            and file.is_file()
            and not file.name.startswith(".")
            and file.stem.upper() != "README"
        )
        if not inside:
            raise CorpusError(f"{path}: nothing to import; expected {', '.join(_ENDINGS)}")
        yield from inside


def _is_pasted(file: Path) -> bool:
    return file.suffix.lower() not in _GOLD


def _copy_target(file: Path, out: Path | None) -> Path:
    if out is None:
        raise CorpusError(f"{file}: is a corpus file already")
    return out / file.name


def _copied(file: Path, target: Path, *, force: bool) -> tuple[Talk, ...]:
    """Copy a gold file, which says itself what is true, after reading it."""
    talks = load_talks(file)
    check_target(target, force=force)
    write_atomically(target, read_text(file))
    return talks


def _write_manifest(folder: Path, written: Sequence[Imported]) -> None:
    """Keep a line for each file of the folder; those written now replace their earlier ones."""
    path = folder / MANIFEST
    lines: dict[str, str] = {}
    if path.is_file():
        for line in read_text(path).splitlines():
            try:
                lines[json.loads(line)["file"]] = line
            except (ValueError, KeyError, TypeError):
                raise CorpusError(
                    f"{path}: not a manifest of imported files; move it away"
                ) from None
    for imported in written:
        if imported.target is None:
            continue
        entry = {
            "file": imported.target.name,
            "from": str(imported.file),
            "sha256": checksum(imported.file),
            "sentences": sum(len(talk.sentences) for talk in imported.talks),
        }
        lines[imported.target.name] = json.dumps(entry, ensure_ascii=False)
    write_atomically(path, "".join(f"{lines[name]}\n" for name in sorted(lines)))


def import_transcript(
    file: Path, out: Path | None = None, header: Mapping[str, str] | None = None, *, force: bool
) -> tuple[Path, Talk]:
    """Write the corpus file of a pasted transcript or subtitle file; return its path and talk."""
    target = import_target(file, out)
    if not _is_pasted(file):
        raise CorpusError(f"{file}: is a corpus file already; copy it into the corpus folder")
    given_header, text, remarks = read_pasted(file)
    values = {"source": file.name} | given_header | dict(header or {})
    names = (*HEADER_NAMES, "truth") if is_in_lines(given_header) else HEADER_NAMES
    content = format_transcript({name.capitalize(): values.get(name, "") for name in names}, text)
    talk = parse_transcript(target, content, "plain")
    check_target(target, force=force)
    write_atomically(target, content)
    return target, replace(talk, remarks=(*remarks, *talk.remarks))


def check_target(target: Path, *, force: bool) -> None:
    if target.exists() and not force:
        raise CorpusError(
            f"{target}: exists already; add -force to replace it, or choose another -o"
        )


def format_transcript(header: Mapping[str, str], text: str) -> str:
    """Write a transcript file with the header values that are not empty."""
    lines = [f"# {name}: {' '.join(value.split())}" for name, value in header.items() if value]
    return "\n".join((*lines, "", text, ""))


def import_target(file: Path, out: Path | None) -> Path:
    if not file.stem:
        raise CorpusError(f"{file}: is a folder, expected a file")
    if out is None:
        return file.with_suffix(".txt")
    if out.is_dir():
        return out / f"{file.stem}.txt"
    if out.suffix.lower() != ".txt":
        raise CorpusError(f"{out}: a corpus file must end in .txt, or name a folder that exists")
    return out


def read_pasted(file: Path) -> tuple[dict[str, str], str, tuple[str, ...]]:
    """Read header, text, and remarks on what was left out."""
    content = read_text(file)
    if file.suffix.lower() in (".srt", ".vtt"):
        text, remarks = read_cues(file, content)
        return {}, text, remarks
    header, body, _ = split_header(content)
    text = body.strip() if is_in_lines(header) else _paragraphs(body)
    if not text:
        raise CorpusError(f"{file}: no transcript text in it")
    return header, text, ()


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
