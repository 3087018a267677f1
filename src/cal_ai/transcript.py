"""Conversations: who says what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from truemark.files import read_text

LARGEST_TRANSCRIPT = 5_000_000
"""Bytes; more than a hundred hours of talk."""
# Marks of writing direction, which editors put in front of a line in Hebrew or Arabic, and a BOM.
_INVISIBLE = "\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
_SPEAKER = re.compile(rf"[\s{_INVISIBLE}]*\[([^\[\]]+)\][\s{_INVISIBLE}]*[:：]")


class Utterance(NamedTuple):
    speaker: str
    words: str
    line: int


@dataclass(frozen=True, slots=True)
class Transcript:
    utterances: tuple[Utterance, ...]
    skipped_lines: tuple[int, ...] = ()

    def as_text(self) -> str:
        """Write the conversation, one `[Speaker]: words` line per utterance."""
        return "\n".join([f"[{speaker}]: {words}" for speaker, words, _ in self.utterances])


def parse_transcript(text: str) -> Transcript:
    """Split a conversation into utterances, and number the lines before its first speaker.

    Blank lines are skipped, a line without a speaker continues the utterance before it, and a
    speaker who says nothing leaves no utterance.
    """
    lines = _lines(text)
    starts = list(_starts(lines))
    ends = [place for place, _, _ in starts[1:]] + [len(lines)]
    utterances = [
        Utterance(speaker, words, place + 1)
        for (place, speaker, said), end in zip(starts, ends, strict=False)
        if (words := _words(said, lines[place + 1 : end]))
    ]
    first = starts[0][0] if starts else len(lines)
    return Transcript(tuple(utterances), _not_blank(lines[:first]))


def _not_blank(lines: list[str]) -> tuple[int, ...]:
    return tuple(number for number, line in enumerate(lines, start=1) if _bare(line))


def _starts(lines: list[str]) -> Iterator[tuple[int, str, str]]:
    """Yield the place of each line that names a speaker, the speaker, and the words on it."""
    names: dict[str, str] = {}  # one string for all that a speaker says
    for place, line in enumerate(lines):
        match = _SPEAKER.match(line)
        if match and (speaker := match[1].strip()):
            yield place, names.setdefault(speaker, speaker), line[match.end() :]


def _lines(text: str) -> list[str]:
    # Not str.splitlines: it also splits at characters that editors do not count as line ends.
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _words(said: str, more: list[str]) -> str:
    return " ".join(filter(None, map(_bare, (said, *more)))) if more else _bare(said)


def _bare(line: str) -> str:
    return line.strip().strip("\ufeff")


def load_transcript(path: Path) -> Transcript:
    """Read the conversation in a UTF-8 file."""
    return parse_transcript(read_text(path, LARGEST_TRANSCRIPT))
