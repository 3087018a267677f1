"""The lines of a conversation that an extractor gives as its reasons."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from cal_ai.events import Event
from cal_ai.transcript import Transcript
from truemark.records import Mark

WHOLE_CHARACTERS = 1_500
"""Up to this length a conversation stands whole beside a finding."""
_AROUND = 2  # lines shown before and after a quoted one

_NUMBERED = re.compile(r"\blines? (\d{1,6})(?:(?:-|–| to | and )(\d{1,6}))?")
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|(?<!\w)[\'‘](.+?)[\'’](?!\w)')
_LEAST_LETTERS = 6  # shorter words stand in too many lines


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Part of a conversation, where it begins in the whole, and the quoted lines in it."""

    text: str
    offset: int
    marks: tuple[Mark, ...]


def quoted_lines(transcript: Transcript, events: Iterable[Event]) -> frozenset[int]:
    """The utterances, by place, that the reasons name by number or quote word for word."""
    reasons = [event.reasoning for event in events if event.reasoning]
    if not reasons:
        return frozenset()
    places = {one.line: place for place, one in enumerate(transcript.utterances)}
    words = [_plain(one.words) for one in transcript.utterances]
    found: set[int] = set()
    for reason in reasons:
        for first, last in _NUMBERED.findall(reason):
            numbers = range(int(first), min(int(last or first), int(first) + 50) + 1)
            found.update(places[number] for number in numbers if number in places)
        for parts in _QUOTED.findall(reason):
            quoted = _plain("".join(parts)).strip(".,;:!?…")
            if len(quoted) >= _LEAST_LETTERS:
                found.update(place for place, said in enumerate(words) if quoted in said)
    return frozenset(found)


def excerpt(
    transcript: Transcript, quoted: frozenset[int], longest: int | None = WHOLE_CHARACTERS
) -> Excerpt:
    """The conversation, or of a long one the part from the first quoted line to the last.

    Empty where a long conversation has no quoted line; `longest` None means all of any length.
    """
    lines = transcript.as_text().split("\n")
    first, last = 0, len(lines)
    if longest is not None and sum(map(len, lines)) + len(lines) > longest:
        if not quoted:
            return Excerpt("", 0, ())
        first, last = max(0, min(quoted) - _AROUND), min(len(lines), max(quoted) + _AROUND + 1)
    offset = sum(len(line) + 1 for line in lines[:first])
    marks, at = [], 0
    for place in range(first, last):
        if place in quoted:
            marks.append(Mark(at, at + len(lines[place]), "quoted"))
        at += len(lines[place]) + 1
    return Excerpt("\n".join(lines[first:last]), offset, tuple(marks))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
