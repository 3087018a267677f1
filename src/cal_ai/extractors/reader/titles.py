"""What an event is called: the words that a second look points at, as a calendar has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from cal_ai.extractors.reader.marks import IntArray
from cal_ai.extractors.reader.patterns import small, words
from cal_ai.extractors.reader.spans import kind_of

FloatArray = npt.NDArray[np.float64]
FAR = -1e9  # the score of what cannot be
_FIRST, _LAST = range(2)  # of the rows of a look's words
_LONGEST = 9
_TITLES = 12  # so many beginnings of a title are weighed, and ends for each
_UNNAMED = "Appointment"
_ARTICLE = re.compile(
    r"^(?:(?:the|a|an|our|my|your|his|her|their|that|this|for|at|on|to)\s+)+", re.I
)
_SMALL_WORDS = words("a an the of to for with at on in and my your our his her their")


def named(lines: Sequence[str], origins: IntArray, said: FloatArray) -> tuple[str, float]:
    """The title that agrees with most of what the title may be, and how much that is."""
    found: dict[str, float] = {}
    for first, last, chance in _spans(origins, said):
        line, start, _ = origins[first]
        title = _as_title(lines[line][start : origins[last][2]])
        found[title] = found.get(title, 0.0) + chance
    if not found:
        return _UNNAMED, 0.0
    most = max(found.values())
    agreed = {
        title: sum(other for told, other in found.items() if _agree(title, told))
        for title, chance in found.items()
        if chance >= most / 3
    }
    best = max(agreed, key=lambda it: (agreed[it], found[it]))
    return best, min(1.0, agreed[best] / sum(found.values()))


def _spans(origins: IntArray, said: FloatArray) -> Iterator[tuple[int, int, float]]:
    """The likeliest first and last tokens of a title, with their chance."""
    spoken = origins[:, 1] >= 0
    first = log_softmax(np.where(spoken, said[_FIRST, : len(spoken)], FAR))
    last = log_softmax(np.where(spoken, said[_LAST, : len(spoken)], FAR))
    for start in map(int, np.argsort(-first)[:_TITLES]):
        if spoken[start]:
            stop = start + _LONGEST
            ends = np.where(origins[start:stop, 0] == origins[start, 0], last[start:stop], FAR)
            for end in map(int, np.argsort(-ends)[:3]):
                if ends[end] > FAR:
                    yield start, start + end, float(np.exp(first[start] + ends[end]))


def _as_title(said: str) -> str:
    title = _ARTICLE.sub("", said.strip(" ,.;:?!-\"'()")).strip()
    return (title[:1].upper() + title[1:]) or _UNNAMED


def _agree(one: str, other: str) -> bool:
    """Whether two titles say the same, one perhaps more than the other."""
    telling, others = (set(small(it).split()) - _SMALL_WORDS for it in (one, other))
    return telling <= others or others <= telling


def alike(one: str, other: str) -> bool:
    """Whether two titles share a word."""
    words, others = (set(small(it).split()) for it in (one, other))
    return bool(words & others)


def with_whom(title: str, others: Sequence[str]) -> str:
    """The title, with the one other person where calendars name them ("Lunch with Bob")."""
    if len(others) != 1 or not kind_of(title).shared or others[0].lower() in title.lower():
        return title
    return f"{title} with {others[0]}"


def log_softmax(scores: FloatArray) -> FloatArray:
    """The logarithms of the chances that scores stand for, along the last axis."""
    shifted = scores - scores.max(-1, keepdims=True)
    result: FloatArray = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return result
