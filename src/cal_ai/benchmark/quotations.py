"""The lines of a conversation that an extractor gives as its reasons."""

from __future__ import annotations

import re
from dataclasses import dataclass

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


def quoted_lines(transcript: Transcript, reason: str) -> frozenset[int]:
    """The utterances, by place, that a reason names by number or quotes word for word."""
    numbers = {number for span in _NUMBERED.findall(reason) for number in _span(*span)}
    found = {
        place for place, one in enumerate(transcript.utterances) if numbers and one.line in numbers
    }
    quotes = [_plain("".join(parts)).strip(".,;:!?…") for parts in _QUOTED.findall(reason)]
    quotes = [quote for quote in quotes if len(quote) >= _LEAST_LETTERS]
    for place, one in enumerate(transcript.utterances if quotes else ()):
        said = one.words.casefold()
        if any(quote in said for quote in quotes):
            found.add(place)
    return frozenset(found)


def _span(first: str, last: str) -> range:
    """The numbers from the first to the last, or to fifty on: nobody quotes more."""
    return range(int(first), min(int(last or first), int(first) + 50) + 1)


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
