"""A conversation as utterances, and how they are put together from the lines of a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cal_ai.transcripts.dates import Dating

BRACKETS = "[Name]: text"
_LANGUAGE = re.compile(r"#\s*Language:\s*(\S.*)", re.IGNORECASE)


class Utterance(NamedTuple):
    speaker: str
    words: str
    line: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """The utterances of a conversation, and how its file was read.

    `skipped_lines` are the numbers of the lines that belong to no speaker, or name one who says
    nothing; `language` is the value of a line `# Language:`; `dating` is None if the lines carry no
    dates.
    """

    utterances: tuple[Utterance, ...]
    skipped_lines: tuple[int, ...] = ()
    form: str = BRACKETS
    language: str | None = None
    dating: Dating | None = None

    def as_text(self) -> str:
        """Return the conversation with one line `[Speaker]: words` per utterance."""
        return "\n".join([f"[{speaker}]: {words}" for speaker, words, _ in self.utterances])

    @property
    def speakers(self) -> tuple[str, ...]:
        """All speakers, in the order in which they first speak."""
        return tuple(dict.fromkeys(utterance.speaker for utterance in self.utterances))

    def excerpt(self, start: int, end: int | None) -> Transcript:
        """Return the conversation with only the utterances from `start` to before `end`."""
        return replace(self, utterances=self.utterances[start:end])

    def has_speaker(self, owner: str) -> bool:
        return any(same_person(speaker, owner) for speaker in self.speakers)

    def is_of_last_day(self, places: Iterable[int]) -> bool:
        """Whether an utterance at one of these places is of the last day of a chat with dates."""
        last_day = self.dating.last_day if self.dating else 0
        return any(self.utterances[place].line >= last_day for place in places)

    def is_owner(self, speaker: str, owner: str) -> bool:
        """Whether a speaker is the owner; if somebody has exactly this name, nobody else is."""
        if owner.casefold() in map(str.casefold, self.speakers):
            return speaker.casefold() == owner.casefold()
        return same_person(speaker, owner)


def same_person(speaker: str, owner: str) -> bool:
    """Whether both may name one person: every word of one name is in the other."""
    spoken, wanted = set(speaker.casefold().split()), set(owner.casefold().split())
    return bool(spoken and wanted) and (spoken <= wanted or wanted <= spoken)


class Start(NamedTuple):
    """A line at which someone begins to speak, and the words on it.

    If the speaker is None, the line and those that continue it are skipped.
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
    """Return the name in a line `# Language: NAME`; None for any other line."""
    match = _LANGUAGE.fullmatch(bare(line))
    return match[1].strip() if match else None


def gather(lines: Sequence[str], starts: Sequence[Start], form: str) -> Transcript:
    """Join the lines from each start to the next into an utterance.

    Blank lines are left out; lines of speakers without words are skipped.
    """
    names: dict[str, str] = {}  # so that all utterances of a speaker share one string
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
        else:
            skipped.append(place)
    numbers = tuple(place + 1 for place in skipped)
    return Transcript(
        tuple(utterances), numbers, form, next(filter(None, languages.values()), None)
    )


def _words(said: str, more: Sequence[str]) -> str:
    return " ".join(filter(None, map(bare, (said, *more)))) if more else bare(said)
