"""Choose the titles of events among the words that a second look points at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from cal_ai.extractors.reader.activities import kinds
from cal_ai.extractors.reader.marks import IntArray
from cal_ai.extractors.reader.patterns import small, words

FloatArray = npt.NDArray[np.float64]
FAR = -1e9  # the score of what is impossible
NOT_SPOKEN = -1
_MOST = 40  # spans that are considered
_UNNAMED = "Appointment"
# What is said before a title and is no part of it.
_BEFORE = re.compile(
    r"^(?:(?:the|a|an|our|my|your|his|her|their|that|this|for|at|on|to|schedule|set up"
    r"|remind me (?:of|about|to))\s+)+",
    re.I,
)
# An event can be agreed whatever it is called: how much the share of titles that agree counts.
_DOUBT = 0.5
_SMALL_WORDS = words("a an the of to for with at on in and my your our his her their")


def choose_title(lines: Sequence[str], origins: IntArray, scores: FloatArray) -> tuple[str, float]:
    """Choose the likeliest title, and return how much of an event's probability it leaves.

    `scores` has a row for each length in tokens, with a score for each token to begin at.
    """
    chances: dict[str, float] = {}
    for first, last, chance in _spans(origins, scores):
        line, start, _ = origins[first]
        title = _as_title(lines[line][start : origins[last][2]])
        chances[title] = chances.get(title, 0.0) + chance
    if not chances:
        return _UNNAMED, 0.0
    best = max(chances, key=lambda title: chances[title])
    if small(best) in kinds():  # right whatever else the event is called
        return best, 1.0
    agreed = sum(chance for title, chance in chances.items() if agree(title, best))
    return best, min(1.0, agreed / sum(chances.values())) ** _DOUBT


def _spans(origins: IntArray, scores: FloatArray) -> Iterator[tuple[int, int, float]]:
    """Yield the likeliest first and last tokens of a title, with their chance."""
    lines = np.where(origins[:, 1] >= 0, origins[:, 0], NOT_SPOKEN)
    chances = np.where(within_lines(lines, len(scores)), scores[:, : len(lines)], FAR)
    chances = np.exp(log_softmax(chances.ravel())).reshape(chances.shape)
    for place in np.argsort(-chances, axis=None)[:_MOST]:
        longer, first = divmod(int(place), len(lines))
        if chances[longer, first] > 0 and lines[first] != NOT_SPOKEN:
            yield first, first + longer, float(chances[longer, first])


def within_lines(lines: IntArray, longest: int) -> npt.NDArray[np.bool_]:
    """Tell for each length and each first token whether the span stays in the words of a line."""
    after = np.pad(lines, (0, longest), constant_values=NOT_SPOKEN)
    ends = np.stack([after[longer : longer + len(lines)] for longer in range(longest)])
    inside: npt.NDArray[np.bool_] = (ends == lines) & (lines != NOT_SPOKEN)
    return inside


def _as_title(words: str) -> str:
    title = _BEFORE.sub("", words.strip(" ,.;:?!-\"'()")).strip().removesuffix("'s")
    return (title[:1].upper() + title[1:]) or _UNNAMED


def agree(title: str, other: str) -> bool:
    """Whether the words of one title contain those of the other."""
    first, second = (set(small(text).split()) - _SMALL_WORDS for text in (title, other))
    return first <= second or second <= first


def log_softmax(scores: FloatArray) -> FloatArray:
    """Turn scores into log probabilities along the last axis."""
    shifted = scores - scores.max(-1, keepdims=True)
    result: FloatArray = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return result
