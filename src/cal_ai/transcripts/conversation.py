"""Conversations: who says what."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

BRACKETS = "[Name]: text"
_LANGUAGE = re.compile(r"#\s*Language:\s*(\S.*)", re.IGNORECASE)


class Utterance(NamedTuple):
    speaker: str
    words: str
    line: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """The utterances of a conversation, and how its file was read.

    `skipped_lines` are the numbers of lines that belong to nobody; `language` is what a line
    `# Language:` says.
    """

    utterances: tuple[Utterance, ...]
    skipped_lines: tuple[int, ...] = ()
    form: str = BRACKETS
    language: str | None = None

    def as_text(self) -> str:
        """Write the conversation, one `[Speaker]: words` line per utterance."""
        return "\n".join([f"[{speaker}]: {words}" for speaker, words, _ in self.utterances])

    @property
    def speakers(self) -> tuple[str, ...]:
        """Everyone who says something, in the order of their first words."""
        return tuple(dict.fromkeys(utterance.speaker for utterance in self.utterances))

    def has_speaker(self, owner: str) -> bool:
        """Whether someone of this name says something."""
        return any(same_person(speaker, owner) for speaker in self.speakers)


def same_person(speaker: str, owner: str) -> bool:
    """Whether both are names of one person: the whole name, or a first name that is part of it."""
    spoken, wanted = speaker.casefold().split(), owner.casefold().split()
    return spoken == wanted or bool(
        wanted and spoken and (wanted[0] in spoken or spoken[0] in wanted)
    )


class Start(NamedTuple):
    """A line at which someone begins to speak, and the words on it.

    Without a speaker the line, and those that continue it, belong to nobody.
    """

    place: int
    speaker: str | None
    words: str = ""


def split_lines(text: str) -> list[str]:
    # Not str.splitlines: it also splits at characters that editors do not count as line ends.
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def bare(line: str) -> str:
    return line.strip().strip("\ufeff")


def language_line(line: str) -> str | None:
    """Return what a line `# Language: NAME` says; None for any other line."""
    match = _LANGUAGE.fullmatch(bare(line))
    return match[1].strip() if match else None


def gather(lines: Sequence[str], starts: Sequence[Start], form: str) -> Transcript:
    """Make utterances of the lines from each start to the next.

    Blank lines are skipped, a line without a start continues the utterance before it, and a
    speaker who says nothing leaves no utterance.
    """
    names: dict[str, str] = {}  # one string for all that a speaker says
    first = starts[0].place if starts else len(lines)
    languages = {place: language_line(lines[place]) for place in range(first)}
    skipped = [place for place in range(first) if bare(lines[place]) and not languages[place]]
    utterances = []
    ends = [start.place for start in starts[1:]] + [len(lines)]
    for (place, speaker, said), end in zip(starts, ends, strict=False):
        more = lines[place + 1 : end]
        if speaker is None:
            skipped += [number for number in range(place, end) if bare(lines[number])]
        elif words := _words(said, more):
            utterances.append(Utterance(names.setdefault(speaker, speaker), words, place + 1))
    numbers = tuple(place + 1 for place in skipped)
    return Transcript(
        tuple(utterances), numbers, form, next(filter(None, languages.values()), None)
    )


def _words(said: str, more: Sequence[str]) -> str:
    return " ".join(filter(None, map(bare, (said, *more)))) if more else bare(said)
