"""Conversations as speakers and what they say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

# Marks of writing direction, which editors put in front of a line in Hebrew or Arabic, and a BOM.
_INVISIBLE = "\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
_SPEAKER_LINE = re.compile(rf"[\s{_INVISIBLE}]*\[([^\[\]]+)\][\s{_INVISIBLE}]*[:：](.*)", re.DOTALL)
# Not str.splitlines: it also splits at characters that editors do not count as line ends.
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Utterance:
    speaker: str
    words: str
    line: int


@dataclass(frozen=True, slots=True)
class Transcript:
    utterances: tuple[Utterance, ...]
    skipped_lines: tuple[int, ...] = ()

    def as_text(self) -> str:
        """Return the conversation with one `[Speaker]: words` line per utterance."""
        return "\n".join(f"[{said.speaker}]: {said.words}" for said in self.utterances)


def parse_transcript(text: str) -> Transcript:
    """Return the utterances of a conversation, and the lines before its first speaker.

    Blank lines are skipped, a line without a speaker continues the utterance before it, and a
    speaker who says nothing leaves no utterance.
    """
    spoken: list[tuple[str, list[str], int]] = []
    skipped: list[int] = []
    for number, line in enumerate(_LINE_END.split(text), start=1):
        match = _SPEAKER_LINE.fullmatch(line)
        speaker = match[1].strip() if match else ""
        words = (match[2] if match and speaker else line).strip().strip("\ufeff")
        if speaker:
            spoken.append((speaker, [words], number))
        elif not words:
            continue
        elif spoken:
            spoken[-1][1].append(words)
        else:
            skipped.append(number)
    utterances = (
        Utterance(speaker, " ".join(filter(None, parts)), number)
        for speaker, parts, number in spoken
    )
    return Transcript(tuple(said for said in utterances if said.words), tuple(skipped))


def load_transcript(path: Path) -> Transcript:
    """Return the conversation in a UTF-8 file."""
    from truemark.files import read_text

    return parse_transcript(read_text(path))
