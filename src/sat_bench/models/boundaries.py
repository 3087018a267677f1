"""From the probabilities of tokens to sentence ends in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from sat_bench.models.protocol import FloatArray, IntArray, Probabilities
from truemark.matching import ScoredPositions

_SPACES = re.compile(r"\s*")
BLOCK_TOKENS = 1 << 16
_LAST_SPACE = 0x3000  # no character above the ideographic space is white space
_IS_SPACE = np.array([chr(code).isspace() for code in range(_LAST_SPACE + 1)] + [False])


def token_positions(
    text: str, probabilities: Probabilities, *, block_tokens: int = BLOCK_TOKENS
) -> Iterator[ScoredPositions]:
    """Give every place where a sentence could end, ascending, with its probability, in blocks.

    A token's probability belongs to its last character; of two tokens that end together the later
    counts. An end after white space is moved back to the last character before it; of the
    probabilities that meet there the highest counts. Nothing ends before the first word.
    """
    ends, values = np.zeros(0, np.int64), np.zeros(0)
    first, read, word_end = int(np.searchsorted(probabilities.ends, 0, side="right")), 0, 0
    while first < len(probabilities.ends):
        block = slice(first, _block_end(probabilities.ends, first, block_tokens))
        more, scores = _later_of_equals(probabilities.ends[block], probabilities.values[block])
        space = space_characters(text[read : int(more[-1])])
        word_ends = np.append(np.int64(word_end), np.flatnonzero(_ends_word(space)) + read + 1)
        after_space = space[more - read - 1]
        before = np.searchsorted(word_ends, more[after_space], side="right") - 1
        more[after_space] = word_ends[before]
        ends, values = _highest_of_equals(np.append(ends, more), np.append(values, scores))
        # The last place waits: white space at the start of the next block belongs to it.
        yield ScoredPositions(ends[:-1], values[:-1])
        ends, values = ends[-1:], values[-1:]
        first, read, word_end = block.stop, read + len(space), word_ends[-1]
    yield ScoredPositions(ends, values)


def boundary_positions(text: str, probabilities: Probabilities) -> Iterator[ScoredPositions]:
    """Give `token_positions`, and the end of the text as a sentence end at any threshold."""
    content = len(text.rstrip())
    for block in token_positions(text, probabilities):
        inner = block.positions < content
        yield ScoredPositions(block.positions[inner], block.scores[inner])
    if content:
        yield ScoredPositions(np.array([content]), np.array([np.inf]))


def scored_positions(text: str, probabilities: Probabilities) -> ScoredPositions:
    """Join all blocks of `boundary_positions`."""
    blocks = list(boundary_positions(text, probabilities))
    return ScoredPositions(
        np.concatenate([block.positions for block in blocks]),
        np.concatenate([block.scores for block in blocks]),
    )


def sentence_ends(text: str, probabilities: Probabilities, threshold: float) -> list[int]:
    """Return the `boundary_positions` whose score is above the threshold."""
    ends, values = probabilities.ends, probabilities.values
    # Compared in double precision, as scores are; of tokens that end together the later counts.
    above = values > np.float64(threshold)
    above[:-1] &= ends[1:] != ends[:-1]
    content = len(text.rstrip())
    places: list[int] = []
    read = word_end = 0
    for end in ends[above].tolist():
        # White space before the end is skipped; each character is looked at once.
        word = text[read:end].rstrip()
        word_end = read + len(word) if word else word_end
        read = end
        if 0 < word_end < content and (not places or word_end > places[-1]):
            places.append(word_end)
    return [*places, content] if content else places


def last_probability(text: str, probabilities: Probabilities) -> float:
    """Return the probability that a sentence ends with the text; 0 for nothing but space."""
    last = 0.0
    for block in token_positions(text, probabilities):
        if len(block):
            last = float(block.scores[-1])
    return last


def sentences(text: str, ends: Iterable[int]) -> list[str]:
    """Cut the text after each end and the white space behind it; the pieces add up to the text."""
    pieces, start = [], 0
    for end in ends:
        match = _SPACES.match(text, end)
        cut = match.end() if match else end
        pieces.append(text[start:cut])
        start = cut
    if start < len(text):
        pieces.append(text[start:])
    return pieces


def _block_end(ends: IntArray, first: int, size: int) -> int:
    """Return where the block from token `first` stops, never between tokens that end together."""
    last = ends[min(first + size, len(ends)) - 1]
    return int(np.searchsorted(ends, last, side="right"))


def _later_of_equals(
    ends: IntArray, values: FloatArray
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    later = np.append(ends[1:] != ends[:-1], True)
    return ends[later].astype(np.int64), values[later].astype(np.float64)


def _highest_of_equals(
    ends: npt.NDArray[np.int64], values: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    inside = np.searchsorted(ends, 0, side="right")
    ends, values = ends[inside:], values[inside:]
    first = np.flatnonzero(np.append(True, ends[1:] != ends[:-1])[: len(ends)])
    return ends[first], np.maximum.reduceat(values, first) if len(first) else values


def space_characters(text: str) -> npt.NDArray[np.bool_]:
    """Say of each character of the text whether it is white space."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    space: npt.NDArray[np.bool_] = _IS_SPACE[np.minimum(codes, _LAST_SPACE + 1)]
    return space


def _ends_word(space: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    ends: npt.NDArray[np.bool_] = ~space & np.append(space[1:], True)
    return ends
