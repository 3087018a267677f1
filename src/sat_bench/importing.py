"""`sat-bench import`: turns pasted transcripts and subtitles into corpus files.

With a reference, a punctuated transcript of the same speech, the file becomes gold: the sentence
ends of the reference are moved onto its words.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from sat_bench.corpus.conditions import bare
from sat_bench.corpus.loading import load_talk, load_talks, remarks_on_ends
from sat_bench.corpus.subtitles import SUBTITLES, read_cues
from sat_bench.corpus.talks import CorpusError, Talk
from sat_bench.corpus.transcripts import (
    format_transcript,
    is_in_lines,
    parse_transcript,
    split_header,
)
from sat_bench.defaults import HEADER_NAMES, LINES
from sat_bench.models.alignment import aligned
from truemark.command import DONE, FAILED, note, tell
from truemark.errors import TruemarkError
from truemark.files import checksum, read_text, write_atomically
from truemark.text import counted, one_line

MANIFEST = "manifest.jsonl"
_GOLD = (".json", ".conllu")
_ENDINGS = (".txt", ".srt", ".vtt", ".md", *_GOLD)
_CLOCK = r"(?:\d{1,2}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?"
_TIMESTAMP_LINE = re.compile(rf"\s*[\[(]?{_CLOCK}[\])]?\s*")
_LEADING_TIMESTAMP = re.compile(rf"\s*[\[(]{_CLOCK}[\])]\s*")
_LEADING_CLOCK = re.compile(rf"{_LEADING_TIMESTAMP.pattern}|\A\s*{_CLOCK}\s*[-–—:|]?\s+")
_SPACES = re.compile(r"\s{2,}|[^\S ]")  # leaves out single spaces, the common case
_LEAST_KEPT = 0.5
_WORD = re.compile(r"\S+")


def import_files(
    paths: Sequence[Path],
    reference: Path | None,
    out: Path | None,
    header: Mapping[str, str],
    *,
    force: bool,
) -> int:
    """Write the corpus files of the paths; return 1 if one of several failed."""
    [first, *others] = paths
    if others or first.is_dir():
        return _import_several(paths, out, header, force=force)
    path, talk = import_transcript(first, out, header, reference, force=force)
    _tell_written(path, (talk,))
    return DONE


def _import_several(
    paths: Sequence[Path], out: Path | None, header: Mapping[str, str], *, force: bool
) -> int:
    """Write the corpus files of several files and folders; continue after one that fails.

    `out` is a folder, created if needed; its manifest tells which file came from where.
    """
    files = list(_files(paths))
    if out is not None:
        if out.suffix.lower() == ".txt" and not out.is_dir():
            raise CorpusError(f"{out}: several files are imported; name a folder")
        out.mkdir(parents=True, exist_ok=True)
    sources: dict[Path, Path] = {}
    talks: tuple[Talk, ...]
    entries: dict[str, str] = {}
    status = DONE
    for file in files:
        try:
            target = import_target(file, out) if _is_pasted(file) else _copy_target(file, out)
            if target in sources:
                raise CorpusError(f"{file}: would be written to {target}, like {sources[target]}")
            sources[target] = file
            if _is_pasted(file):
                talks = import_transcript(file, target, header, force=force, kept=files)[1:]
            else:
                talks = load_talks(file)  # a gold file that cannot be read is not copied
                _check_target(target, file, files, force=force)
                write_atomically(target, read_text(file))
        except TruemarkError as error:
            note(f"failed: {error}")
            status = FAILED
            continue
        _tell_written(target, talks)
        entry = {
            "file": target.name,
            "from": str(file),
            "sha256": checksum(file),
            "sentences": sum(len(talk.sentences) for talk in talks),
        }
        entries[target.name] = json.dumps(entry, ensure_ascii=False)
    if out is not None and entries:
        _write_manifest(out, entries)
    return status


def _tell_written(path: Path, talks: Sequence[Talk]) -> None:
    sentences = sum(len(talk.sentences) for talk in talks)
    words = sum(1 for talk in talks for _ in _WORD.finditer(talk.text))
    size = f"{counted(sentences, 'sentence')}, {counted(words, 'word')}"
    tell(f"Wrote {one_line(str(path))}: {size}\n")
    for talk in talks:
        for remark in talk.remarks:
            note(remark)


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
        raise CorpusError(f"{file}: is already a corpus file")
    return out / file.name


def _write_manifest(folder: Path, entries: Mapping[str, str]) -> None:
    """Write a line for each file of the folder; new entries replace older ones of the same file."""
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
    lines |= entries
    write_atomically(path, "".join(f"{lines[name]}\n" for name in sorted(lines)))


def import_transcript(
    file: Path,
    out: Path | None = None,
    header: Mapping[str, str] | None = None,
    reference: Path | None = None,
    *,
    force: bool,
    kept: Sequence[Path] = (),
) -> tuple[Path, Talk]:
    """Write the corpus file of a pasted transcript or subtitle file; return its path and talk.

    With a reference, its sentence ends are moved onto the words of the file, which becomes gold.
    The reference and the `kept` files are never overwritten, not even by force; the file itself may
    be.
    """
    target = import_target(file, out)
    if reference is None and not _is_pasted(file):
        raise CorpusError(f"{file}: is already a corpus file; copy it into the corpus folder")
    given_header, text, remarks = read_pasted(file)
    truth = given_header["truth"] if is_in_lines(given_header) else ""
    if reference is not None:
        text, remark = _with_ends_of(reference, file, " ".join(text.split()))
        truth, remarks = LINES, (remark,)
    stated = {name: value for name, value in given_header.items() if value.strip()}
    values = {"source": file.name, **stated, **(header or {})}
    known = {name.capitalize(): values.get(name, "") for name in HEADER_NAMES}
    content = format_transcript(known | {"Truth": truth}, text)
    talk = parse_transcript(target, content, "plain")
    _check_target(target, file, [*kept, *([reference] if reference else [])], force=force)
    write_atomically(target, content)
    remarks = (*remarks, *talk.remarks, *remarks_on_ends(target, talk))
    return target, replace(talk, remarks=remarks)


def _check_target(target: Path, read: Path, sources: Iterable[Path], *, force: bool) -> None:
    """Refuse to write over another source, and without force over any file."""
    if not target.exists():
        return
    if any(source.exists() and source.samefile(target) for source in sources):
        raise CorpusError(f"{target}: is read here too and would be lost; choose another -o")
    if not force and read.exists() and read.samefile(target):
        raise CorpusError(
            f"{target}: is the file to import; choose another -o, or add -force to replace it"
        )
    if not force:
        raise CorpusError(
            f"{target}: already exists; add -force to replace it, or choose another -o"
        )


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
    """Return the header, the text, and remarks on what was left out."""
    content = read_text(file)
    if file.suffix.lower() in SUBTITLES:
        text, remarks = read_cues(file, content)
        return {}, text, remarks
    header, body, _ = split_header(content)
    text = body.strip() if is_in_lines(header) else _paragraphs(body)
    if not text:
        raise CorpusError(f"{file}: no transcript text in it")
    return header, text, ()


def _paragraphs(body: str) -> str:
    """Drop timestamps and write one line per paragraph; blank lines separate paragraphs."""
    # Not split into words: their list would take ten times the memory of a long line.
    paragraphs: list[list[str]] = [[]]
    lines = body.split("\n")
    mark = _LEADING_CLOCK if _most_begin_with_clock(lines) else _LEADING_TIMESTAMP
    for line in lines:
        if _TIMESTAMP_LINE.fullmatch(line):
            continue
        if not line.strip():
            paragraphs.append([])
        elif speech := _SPACES.sub(" ", mark.sub("", line, count=1)).strip():
            paragraphs[-1].append(speech)
    return "\n\n".join(" ".join(lines) for lines in paragraphs if lines)


def _most_begin_with_clock(lines: Sequence[str]) -> bool:
    """Whether most lines with text begin with a time; in a few, it is part of the sentence."""
    texts = [line for line in lines if line.strip() and not _TIMESTAMP_LINE.fullmatch(line)]
    timed = sum(1 for line in texts if _LEADING_CLOCK.match(line))
    return len(texts) > 1 and 2 * timed > len(texts)


def _with_ends_of(reference: Path, file: Path, text: str) -> tuple[str, str]:
    """Break the text of a file into lines where the sentences of the reference end.

    Return it with a remark on how far the two agree.
    """
    talk = _read_reference(reference) if _is_pasted(reference) else load_talk(reference, "plain")
    spoken = [bare(talk.text[start:end]) for start, end in talk.sentences]
    moved = aligned(text, [sentence for sentence in spoken if sentence])
    if moved.kept < _LEAST_KEPT:
        raise CorpusError(
            f"{file}: only {moved.kept:.0%} of it is in {reference}; are they of the same speech?"
        )
    word_ends = [place for place in range(1, len(text)) if text[place] == " "] + [len(text)]
    cuts = sorted({0, *(_nearest(word_ends, end) for end in moved.ends), len(text)})
    lines = [line for start, end in pairwise(cuts) if (line := text[start:end].strip())]
    remark = (
        f"{file}: {moved.kept:.1%} of its characters are in {reference} ({moved.loss}); "
        f"{len(talk.sentences)} sentences there, {len(lines)} here"
    )
    return "\n".join(lines), remark


def _nearest(places: list[int], wanted: int) -> int:
    """Return the place nearest to the wanted one; ties go to the later place."""
    after = bisect_left(places, wanted)
    near = places[max(0, after - 1) : after + 1]
    return min(reversed(near), key=lambda place: abs(place - wanted))


def _read_reference(path: Path) -> Talk:
    """Read a punctuated text, with or without a header, or subtitles."""
    header, text, _ = read_pasted(path)
    content = format_transcript(
        {"Source": path.name} | ({"Truth": header["truth"]} if "truth" in header else {}), text
    )
    return parse_transcript(path, content, "quoted")
