"""Titles of events: the words that a second look points at, as a calendar has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from cal_ai.extractors.reader.marks import IntArray
from cal_ai.extractors.reader.patterns import small, words
from cal_ai.extractors.reader.spans import kind_of

FloatArray = npt.NDArray[np.float64]
FAR = -1e9  # the score of the impossible
_FIRST, _LAST = range(2)  # rows of a look's words
_LONGEST = 9
_TITLES = 12  # beginnings of a title that are weighed
_UNNAMED = "Appointment"
_ARTICLE = re.compile(
    r"^(?:(?:the|a|an|our|my|your|his|her|their|that|this|for|at|on|to)\s+)+", re.I
)
_SMALL_WORDS = words("a an the of to for with at on in and my your our his her their")


def named(lines: Sequence[str], origins: IntArray, said: FloatArray) -> tuple[str, float]:
    """Choose the title that most readings agree with, and return their share."""
    chances: dict[str, float] = {}
    for first, last, chance in _spans(origins, said):
        line, start, _ = origins[first]
        title = _as_title(lines[line][start : origins[last][2]])
        chances[title] = chances.get(title, 0.0) + chance
    if not chances:
        return _UNNAMED, 0.0
    most = max(chances.values())
    agreed = {
        title: sum(share for other, share in chances.items() if _agree(title, other))
        for title, chance in chances.items()
        if chance >= most / 3
    }
    best = max(agreed, key=lambda title: (agreed[title], chances[title]))
    return best, min(1.0, agreed[best] / sum(chances.values()))


def _spans(origins: IntArray, said: FloatArray) -> Iterator[tuple[int, int, float]]:
    """Yield the likeliest first and last tokens of a title, with their chance."""
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


def _agree(title: str, other: str) -> bool:
    """Whether the words of one title contain those of the other."""
    first, second = (set(small(text).split()) - _SMALL_WORDS for text in (title, other))
    return first <= second or second <= first


def alike(title: str, other: str) -> bool:
    """Whether two titles share a word."""
    return not set(small(title).split()).isdisjoint(small(other).split())


def with_whom(title: str, others: Sequence[str]) -> str:
    """Add the one other person to a title where calendars do ("Lunch with Bob")."""
    if len(others) != 1 or not kind_of(title).shared or others[0].lower() in title.lower():
        return title
    return f"{title} with {others[0]}"


def log_softmax(scores: FloatArray) -> FloatArray:
    """Turn scores into log probabilities along the last axis."""
    shifted = scores - scores.max(-1, keepdims=True)
    result: FloatArray = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return result
