"""From the probabilities of tokens to sentence ends in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from sat_bench.models.protocol import Probabilities
from truemark.matching import ScoredPositions

_SPACES = re.compile(r"\s*")
_LAST_SPACE = 0x3000  # no character above the ideographic space is white space
_IS_SPACE = np.array([chr(code).isspace() for code in range(_LAST_SPACE + 1)] + [False])


def token_positions(text: str, probabilities: Probabilities) -> ScoredPositions:
    """Return every place where a sentence could end, ascending, with its probability.

    A token's probability belongs to its last character; if two tokens end together, the later
    counts. An end after white space is moved back to the last character before it; if several
    probabilities meet there, the highest counts. No sentence ends before the first word.
    """
    later = np.append(probabilities.ends[1:] != probabilities.ends[:-1], True)
    later = later[: len(probabilities.ends)] & (probabilities.ends > 0)
    ends = probabilities.ends[later].astype(np.int64)
    values = probabilities.values[later].astype(np.float64)
    space = space_characters(text)
    word_ends = np.append(0, np.flatnonzero(~space & np.append(space[1:], True)[: len(space)]) + 1)
    after_space = space[ends - 1]
    before = np.searchsorted(word_ends, ends[after_space], side="right") - 1
    ends[after_space] = word_ends[before]
    inside = np.searchsorted(ends, 0, side="right")
    ends, values = ends[inside:], values[inside:]
    first = np.flatnonzero(np.append(True, ends[1:] != ends[:-1])[: len(ends)])
    highest = np.maximum.reduceat(values, first) if len(first) else values
    return ScoredPositions(ends[first], highest)


def scored_positions(text: str, probabilities: Probabilities) -> ScoredPositions:
    """Return the `token_positions`, and the end of the text as a sentence end at any threshold."""
    scored = token_positions(text, probabilities)
    content = len(text.rstrip())
    if not content:
        return scored
    inner = scored.positions < content
    return ScoredPositions(
        np.append(scored.positions[inner], content), np.append(scored.scores[inner], np.inf)
    )


def sentence_ends(text: str, probabilities: Probabilities, threshold: float) -> list[int]:
    """Return the `scored_positions` whose score is above the threshold."""
    ends, values = probabilities.ends, probabilities.values
    # Compare in double precision, like the scores; if tokens end together, the later counts.
    above = values > np.float64(threshold)
    above[:-1] &= ends[1:] != ends[:-1]
    content = len(text.rstrip())
    places: list[int] = []
    read = word_end = 0
    for end in ends[above].tolist():
        # Skip white space before the end; look at each character once.
        word = text[read:end].rstrip()
        word_end = read + len(word) if word else word_end
        read = end
        if 0 < word_end < content and (not places or word_end > places[-1]):
            places.append(word_end)
    return [*places, content] if content else places


def last_probability(text: str, probabilities: Probabilities) -> float:
    """Return the probability that the text ends with a sentence's end; 0 if it is only space."""
    scored = token_positions(text, probabilities)
    return float(scored.scores[-1]) if len(scored) else 0.0


def sentences(text: str, ends: Iterable[int]) -> list[str]:
    """Cut the text after each end and the white space after it; joined, the pieces are the text."""
    pieces, start = [], 0
    for end in ends:
        match = _SPACES.match(text, end)
        cut = match.end() if match else end
        pieces.append(text[start:cut])
        start = cut
    if start < len(text):
        pieces.append(text[start:])
    return pieces


def space_characters(text: str) -> npt.NDArray[np.bool_]:
    """Return for each character of the text whether it is white space."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    space: npt.NDArray[np.bool_] = _IS_SPACE[np.minimum(codes, _LAST_SPACE + 1)]
    return space
