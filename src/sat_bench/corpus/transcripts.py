"""The `.txt` transcript: header, blank line, text."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from sat_bench.corpus.talks import (
    CorpusError,
    Sentence,
    Talk,
    find_sentences,
    unify_line_breaks,
)
from sat_bench.defaults import LINES, Truth

_HEADER_LINE = re.compile(r"#\s*(?P<name>[A-Za-z]+)\s*:\s*(?P<value>.*)")


def parse_transcript(path: Path, content: str, truth: Truth) -> Talk:
    """Read a transcript file; unify its line breaks and drop white space around the text.

    With `# Truth: lines` in its header, every line is a sentence, whatever `truth` is.
    """
    header, body, body_line = split_header(content)
    source = header.get("source", "")
    if not source:
        folder = path.parent
        mending = shlex.join(["sat-bench", "import", str(folder), "-o", str(folder / "corpus")])
        raise CorpusError(
            f"{path}:1: the header has no '# Source: …' line; "
            "add one above the transcript, followed by a blank line, or fix the whole folder: "
            f"{mending}"
        )
    stated = header.get("truth", "").strip().casefold()
    if stated not in ("", LINES):
        raise CorpusError(
            f"{path}: the header says '# Truth: {header['truth'].strip()}', expected {LINES}"
        )
    given: Truth = LINES if stated else truth
    if given == LINES:
        text, sentences = parse_lines(body)
    else:
        text = body.strip()
        sentences = find_sentences(text, given)
    if not text:
        raise CorpusError(f"{path}:{body_line}: no transcript after the header")
    return Talk(
        id=path.stem,
        source=source,
        speaker=header.get("speaker", ""),
        title=header.get("title", ""),
        text=text,
        sentences=sentences,
        language=header.get("language", ""),
        remarks=tuple(_stray_header_lines(path, body, body_line)),
        truth=given,
    )


def is_in_lines(header: Mapping[str, str]) -> bool:
    """Whether the header says `# Truth: lines`: every line of the text is a sentence."""
    return header.get("truth", "").strip().casefold() == "lines"


def parse_lines(body: str) -> tuple[str, tuple[Sentence, ...]]:
    """Join lines, one sentence each, by spaces, and paragraphs by an empty line."""
    pieces: list[str] = []
    sentences: list[Sentence] = []
    length, joint = 0, ""
    for line in body.strip().split("\n"):
        sentence = line.strip()
        if not sentence:
            joint = "\n\n"
            continue
        start = length + len(joint)
        sentences.append(Sentence(start, start + len(sentence)))
        pieces += joint, sentence
        length, joint = start + len(sentence), " "
    return "".join(pieces), tuple(sentences)


def format_transcript(header: Mapping[str, str], text: str) -> str:
    """Write a transcript file with the header values that are not empty."""
    values = {name: " ".join(value.split()) for name, value in header.items()}
    lines = [f"# {name}: {value}" for name, value in values.items() if value]
    return "\n".join((*lines, "", text, ""))


def split_header(content: str) -> tuple[dict[str, str], str, int]:
    """Return the header values by lower-case name, the text, and the line where the text starts.

    Blank lines are allowed between lines `# Key: value`. A comment, a line with # and no key,
    belongs to the header only directly below a header line.
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
            f"{path}:{body_line + stray[0]}: a line that begins with # below the header is"
            f" treated as text{more}"
        )
