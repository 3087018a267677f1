"""The `.txt` transcript: header lines, a blank line, the text."""

import re
from collections.abc import Mapping
from pathlib import Path

from sat_bench.corpus.sentences import TruthRule, find_sentences
from sat_bench.corpus.talks import CorpusError, Talk

HEADER_NAMES = ("source", "speaker", "title", "duration")
_HEADER_LINE = re.compile(r"#\s*(?P<name>[A-Za-z]+)\s*:\s*(?P<value>.*)")


def parse_transcript(path: Path, content: str, rule: TruthRule) -> Talk:
    """The talk of a transcript file, line breaks unified and no white space around its text."""
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
    )


def split_header(content: str) -> tuple[dict[str, str], str, int]:
    """Header values by lower-case name, the text below them, and the line where it starts."""
    lines = unify_line_breaks(content).split("\n")
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    header: dict[str, str] = {}
    stop = first
    while stop < len(lines) and lines[stop].startswith("#"):
        if match := _HEADER_LINE.fullmatch(lines[stop].rstrip()):
            header.setdefault(match["name"].lower(), match["value"])
        stop += 1
    return header, "\n".join(lines[stop:]), stop + 1


def format_transcript(header: Mapping[str, str], text: str) -> str:
    """A transcript file with the header values that are not empty."""
    lines = [f"# {name}: {' '.join(value.split())}" for name, value in header.items() if value]
    return "\n".join((*lines, "", text, ""))


def unify_line_breaks(content: str) -> str:
    return content.replace("\r\n", "\n").replace("\r", "\n")
