"""From the probabilities of tokens to sentence ends in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from truemark.sweep import ScoredPositions

_SPACES = re.compile(r"\s*")
_BLOCK_CHARACTERS = 1 << 20
_LAST_SPACE = 0x3000  # no character above the ideographic space is white space
_IS_SPACE = np.array([chr(code).isspace() for code in range(_LAST_SPACE + 1)] + [False])


@dataclass(frozen=True, slots=True)
class Probabilities:
    """For each token of a text its end offset and the probability that a sentence ends there."""

    ends: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]


def token_positions(text: str, probabilities: Probabilities) -> ScoredPositions:
    """Every place where a sentence could end, ascending, with its probability.

    A token's probability belongs to its last character; of two tokens that end together the later
    counts. An end after white space is moved back to the last character before it; of the
    probabilities that meet there the highest counts. Nothing ends before the first word.
    """
    ends, values = probabilities.ends.astype(np.int64), probabilities.values.astype(np.float64)
    later = _last_of_equals(ends) & (ends > 0)
    ends, values = ends[later], values[later]
    space = _space_characters(text)
    word_ends = _word_ends(space)
    moved = space[ends - 1]
    before = np.searchsorted(word_ends, ends[moved], side="right")
    ends[moved] = np.append(np.int64(0), word_ends)[before]
    ends, values = ends[ends > 0], values[ends > 0]
    last = _last_of_equals(ends)
    first = np.flatnonzero(np.append(True, last[:-1])[: len(last)])
    return ScoredPositions(ends[last], np.maximum.reduceat(values, first) if len(ends) else values)


def scored_positions(text: str, probabilities: Probabilities) -> ScoredPositions:
    """`token_positions`, with the end of the text as a sentence end at any threshold."""
    found = token_positions(text, probabilities)
    content = len(text.rstrip())
    if not content:
        return found
    inner = found.positions < content
    return ScoredPositions(
        np.append(found.positions[inner], np.int64(content)),
        np.append(found.scores[inner], np.inf),
    )


def sentences(text: str, ends: Iterable[int]) -> list[str]:
    """The text cut after each end and the white space behind it; joined, they are the text."""
    pieces, start = [], 0
    for end in ends:
        match = _SPACES.match(text, end)
        cut = match.end() if match else end
        pieces.append(text[start:cut])
        start = cut
    if start < len(text):
        pieces.append(text[start:])
    return pieces


def _last_of_equals(ascending: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    return np.append(ascending[1:] != ascending[:-1], True)[: len(ascending)]


def _space_characters(text: str) -> npt.NDArray[np.bool_]:
    if text.isascii():
        return _IS_SPACE[np.frombuffer(text.encode("ascii"), np.uint8)]
    space = np.empty(len(text), np.bool_)
    # In blocks, because four bytes a character for the whole text would be its largest copy.
    for start in range(0, len(text), _BLOCK_CHARACTERS):
        block = text[start : start + _BLOCK_CHARACTERS].encode("utf-32-le", "surrogatepass")
        codes = np.minimum(np.frombuffer(block, "<u4"), _LAST_SPACE + 1)
        space[start : start + len(codes)] = _IS_SPACE[codes]
    return space


def _word_ends(space: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    return np.flatnonzero(~space & np.append(space[1:], True)[: len(space)]) + 1
