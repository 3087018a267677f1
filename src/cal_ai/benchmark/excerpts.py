"""Find the part of a conversation that a reason quotes, to show it with a mistake."""

from __future__ import annotations

import re

from cal_ai.transcripts.conversation import Transcript
from truemark.records import Mark

WHOLE_CHARACTERS = 1_500
"""A conversation up to this length is shown whole with each finding."""
_AROUND = 2  # lines shown before and after a quoted one

_NUMBERED = re.compile(r"\blines? (\d{1,6})(?:(?:-|–| to | and )(\d{1,6}))?")
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|(?<!\w)[\'‘](.+?)[\'’](?!\w)')
_CUT = " …"  # at the end of a shortened quote
_LEAST_LETTERS = 6  # shorter quotes occur in too many lines
_LONGEST_SPAN = 50  # lines; no reason quotes more


def quoted_lines(transcript: Transcript, reason: str) -> frozenset[int]:
    """Return the places of the utterances that a reason names by line number or quotes.

    A quote is in quotation marks or follows the name of its speaker (`Ann: see you at ten`); quotes
    of the second form are separated by ` / `, and shortened ones end in ` …`.
    """
    numbers = {number for span in _NUMBERED.findall(reason) for number in _span(*span)}
    quotes = [_plain("".join(parts)).strip(".,;:!?…") for parts in _QUOTED.findall(reason)]
    quotes = [quote for quote in quotes if len(quote) >= _LEAST_LETTERS]
    turns = [_plain(part) for part in reason.split(" / ") if ": " in part]
    whole = frozenset(turns)
    cut = tuple(part.rstrip(_CUT) for part in turns if part.endswith("…") and part[-3:] != ": …")
    if not numbers and not turns and not quotes:
        return frozenset()
    places = set()
    for place, utterance in enumerate(transcript.utterances):
        words = utterance.words.casefold() if quotes else ""
        line = _plain(f"{utterance.speaker}: {utterance.words}") if turns else ""
        by_speaker = line in whole or line.startswith(cut)
        if utterance.line in numbers or by_speaker or any(quote in words for quote in quotes):
            places.add(place)
    return frozenset(places)


def _span(first: str, last: str) -> range:
    return range(int(first), min(int(last or first), int(first) + _LONGEST_SPAN) + 1)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def excerpt(
    text: str, quoted: frozenset[int], longest: int | None = WHOLE_CHARACTERS
) -> tuple[str, int, tuple[Mark, ...]]:
    """Return a conversation, or the part of a long one from the first quoted line to the last.

    Also return the offset of that part, and marks for the quoted lines. The part is empty if a long
    conversation has no quoted line; if `longest` is None, the conversation is always whole.
    """
    too_long = longest is not None and len(text) + 1 > longest
    if not quoted:
        return "" if too_long else text, 0, ()
    lines = text.split("\n")
    first, last = 0, len(lines)
    if too_long:
        first, last = max(0, min(quoted) - _AROUND), min(len(lines), max(quoted) + _AROUND + 1)
    offset = sum(len(line) + 1 for line in lines[:first])
    marks, at = [], 0
    for place in range(first, last):
        if place in quoted:
            marks.append(Mark(at, at + len(lines[place]), "quoted"))
        at += len(lines[place]) + 1
    return "\n".join(lines[first:last]) if too_long else text, offset, tuple(marks)
