"""The `.txt` transcript: header, blank line, text; read, and written by `sat-bench import`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from sat_bench.corpus.subtitles import spoken_text
from sat_bench.corpus.talks import CorpusError, Talk, find_sentences, unify_line_breaks
from sat_bench.defaults import HEADER_NAMES, TruthRule
from truemark.files import read_text, write_atomically

_HEADER_LINE = re.compile(r"#\s*(?P<name>[A-Za-z]+)\s*:\s*(?P<value>.*)")

_CLOCK = r"(?:\d{1,2}:)?\d{1,2}:\d{2}"
_TIMESTAMP_LINE = re.compile(rf"\s*[\[(]?{_CLOCK}[\])]?\s*")
_LEADING_TIMESTAMP = re.compile(rf"\s*[\[(]{_CLOCK}[\])]\s*")
_SPACES = re.compile(r"\s{2,}|[^\S ]")  # all but single ones, which are most


def parse_transcript(path: Path, content: str, rule: TruthRule) -> Talk:
    """Read a transcript file; line breaks are unified, white space around the text is dropped."""
    header, body, body_line = split_header(content)
    source = header.get("source", "")
    if not source:
        raise CorpusError(
            f"{path}:1: the header has no '# Source: …' line; "
            "add one above the transcript, followed by a blank line"
        )
    text = body.strip()
    if not text:
        raise CorpusError(f"{path}:{body_line}: no transcript after the header")
    return Talk(
        id=path.stem,
        source=source,
        speaker=header.get("speaker", ""),
        title=header.get("title", ""),
        text=text,
        sentences=find_sentences(text, rule),
        language=header.get("language", ""),
        remarks=tuple(_stray_header_lines(path, body, body_line)),
    )


def split_header(content: str) -> tuple[dict[str, str], str, int]:
    """Return header values by lower-case name, the text below, and the line where it starts.

    Blank lines may stand between lines `# Key: value`. A remark, a line with # and no key, is
    part of the header only directly below a header line.
    """
    lines = unify_line_breaks(content).split("\n")
    header: dict[str, str] = {}
    stop = 0
    after_blank = False
    for number, line in enumerate(lines):
        is_remark = line.startswith("#") and not (stop and after_blank)
        if match := _HEADER_LINE.fullmatch(line.rstrip()):
            header.setdefault(match["name"].lower(), match["value"])
        elif line.strip() and not is_remark:
            break
        after_blank = not line.strip()
        if not after_blank:
            stop = number + 1
    return header, "\n".join(lines[stop:]), stop + 1


def _stray_header_lines(path: Path, body: str, body_line: int) -> Iterator[str]:
    stray = [number for number, line in enumerate(body.split("\n")) if line.startswith("#")]
    if stray:
        more = f" (and {len(stray) - 1} more such lines)" if len(stray) > 1 else ""
        yield (
            f"{path}:{body_line + stray[0]}: a line that begins with # below the header "
            f"is taken for text{more}"
        )


def format_transcript(header: Mapping[str, str], text: str) -> str:
    """Write a transcript file with the header values that are not empty."""
    lines = [f"# {name}: {' '.join(value.split())}" for name, value in header.items() if value]
    return "\n".join((*lines, "", text, ""))


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
