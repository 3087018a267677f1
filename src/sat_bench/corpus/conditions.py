"""Degrade talks: without capitals, without punctuation, as a speech recogniser writes them.

Every condition changes a talk sentence by sentence, so the sentence ends stay exact. A sentence
that becomes empty is dropped.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace

from sat_bench.corpus.recognition import recogniser, spoken
from sat_bench.corpus.talks import CorpusError, Sentence, Talk, spans_between
from sat_bench.defaults import WRITTEN, Condition

_ON_ONE_LINE = frozenset({"one-line", "bare", "asr"})
_SPOKEN = frozenset("%&@#")  # punctuation in Unicode, but read aloud as words
_INSIDE_WORDS = re.compile(r"(?<=\w)['’-](?=\w)|(?<=\d)[.,:](?=\d)")
_SPACES = re.compile(r"\s{2,}")
_BETWEEN_LETTERS = re.compile(r"(?<=[^\W\d_])\.(?=[^\W\d_])")


def under_condition(talk: Talk, condition: Condition) -> Talk:
    """Apply the condition to the text of the talk, and move its sentence ends along."""
    if condition == WRITTEN:
        return talk
    change = recogniser(talk) if condition == "asr" else _CHANGES[condition]
    pieces: list[str] = []
    sentences: list[Sentence] = []
    length = before = 0
    gap = ""
    for number, (start, end) in enumerate(spans_between(talk.text, talk.boundaries, leftover=True)):
        gap = talk.text[before:start] or gap
        before = end
        sentence = talk.text[start:end]
        piece = change(bare(spoken(sentence)) if condition == "asr" else sentence)
        if not piece:
            continue
        if pieces:
            pieces.append(" " if gap and condition in _ON_ONE_LINE else gap)
            length += len(pieces[-1])
        pieces.append(piece)
        if number < len(talk.sentences):
            sentences.append(Sentence(length, length + len(piece)))
        length += len(piece)
        gap = ""
    if not sentences:
        raise CorpusError(f"{talk.id}: nothing is left of this talk under {condition}")
    return replace(talk, text="".join(pieces), sentences=tuple(sentences), condition=condition)


def bare(sentence: str) -> str:
    """Return the sentence in lower case, without punctuation, on one line."""
    return _on_one_line(without_punctuation(sentence).lower())


def without_punctuation(sentence: str) -> str:
    """Remove the punctuation of a sentence, except inside words and numbers.

    A mark is replaced by a space. Dots between letters, as in U.S, and marks in Chinese or Japanese
    text, which has no spaces, are removed without one.
    """
    kept = {match.start() for match in _INSIDE_WORDS.finditer(sentence)}
    joined = {match.start() for match in _BETWEEN_LETTERS.finditer(sentence)}
    has_no_spaces = _is_wide(sentence)
    characters = []
    for place, character in enumerate(sentence):
        if place in kept or character in _SPOKEN or unicodedata.category(character)[0] != "P":
            characters.append(character)
        elif place not in joined and not has_no_spaces:
            characters.append(" ")
    return _SPACES.sub(_single_space, "".join(characters)).strip()


def _is_wide(sentence: str) -> bool:
    """Whether most letters of the sentence are wide, as in Chinese and Japanese."""
    letters = [character for character in sentence if character.isalpha()]
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in letters)
    return wide > len(letters) / 2


def _single_space(spaces: re.Match[str]) -> str:
    return "\n" if "\n" in spaces[0] else spaces[0][0]


def _on_one_line(sentence: str) -> str:
    return " ".join(sentence.split())


_CHANGES: dict[Condition, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "no-punctuation": without_punctuation,
    "one-line": _on_one_line,
    "bare": bare,
}
