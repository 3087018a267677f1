"""Degrade talks: without capitals, without punctuation, as a speech recogniser writes them.

Every condition changes a talk sentence by sentence, so the sentence ends stay exact. A sentence
that becomes empty is dropped.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace

from sat_bench.corpus.recognition import is_english, recogniser, spoken, without_notes
from sat_bench.corpus.talks import WITHOUT_SPACES, CorpusError, Sentence, Talk, spans_between
from sat_bench.defaults import WRITTEN, Condition

_ON_ONE_LINE = frozenset({"one-line", "bare", "asr"})
_WITHOUT_MARKS = frozenset({"no-punctuation", "bare", "asr"})
_RULES_WITHOUT_MARKS = "2"  # raised when a talk reads otherwise, so that runs are not compared
_SPOKEN = frozenset("%&@#")  # punctuation in Unicode, but read aloud as words
_INSIDE_WORDS = re.compile(r"(?<=\w)['’-](?=\w)|(?<=\d)[.,:](?=\d)")
_SPACES = re.compile(r"\s{2,}")
_BETWEEN_LETTERS = re.compile(r"(?<=[^\W\d_])\.(?=[^\W\d_])")
# A space between two characters of scripts without spaces gives an end away; in a text mostly in
# such a script also one beside them, as in "VAR 看".
_BETWEEN = re.compile(rf"(?<=[{WITHOUT_SPACES}])[^\S\n]+(?=[{WITHOUT_SPACES}])")
_BESIDE = re.compile(rf"(?<=[{WITHOUT_SPACES}])[^\S\n]+|[^\S\n]+(?=[{WITHOUT_SPACES}])")
_OF_THESE_SCRIPTS = re.compile(rf"[{WITHOUT_SPACES}]")


def under_condition(talk: Talk, condition: Condition) -> Talk:
    """Apply the condition to the text of the talk, and move its sentence ends along."""
    if condition == WRITTEN:
        return talk
    change = _as_recognised(talk) if condition == "asr" else _CHANGES[condition]
    pieces: list[str] = []
    sentences: list[Sentence] = []
    length = before = 0
    gap = ""
    for number, (start, end) in enumerate(spans_between(talk.text, talk.boundaries, leftover=True)):
        gap = talk.text[before:start] or gap
        before = end
        piece = change(talk.text[start:end])
        if not piece:
            continue
        if pieces:
            joint = " " if gap and condition in _ON_ONE_LINE else gap
            if condition in _WITHOUT_MARKS:
                joint = _joint_without_gaps(pieces[-1], joint, piece)
            pieces.append(joint)
            length += len(joint)
        pieces.append(piece)
        if number < len(talk.sentences):
            sentences.append(Sentence(length, length + len(piece)))
        length += len(piece)
        gap = ""
    if not sentences:
        raise CorpusError(f"{talk.id}: nothing is left of this talk under {condition}")
    return replace(talk, text="".join(pieces), sentences=tuple(sentences), condition=condition)


def _as_recognised(talk: Talk) -> Callable[[str], str]:
    mistaken = recogniser(talk)
    said = spoken if is_english(talk) else without_notes
    return lambda sentence: mistaken(bare(said(sentence)))


def rules_of(condition: Condition) -> dict[str, str]:
    """Return what the signature of a run says of the rules of a condition."""
    return {"rules": _RULES_WITHOUT_MARKS} if condition in _WITHOUT_MARKS else {}


def bare(sentence: str) -> str:
    """Return the sentence in lower case, without punctuation, on one line."""
    return _without_gaps(_on_one_line(without_punctuation(sentence).lower()))


def without_punctuation(sentence: str) -> str:
    """Remove the punctuation of a sentence, except inside words and numbers.

    A mark is replaced by a space. Dots between letters, as in U.S, and marks in Chinese or Japanese
    text are removed without one. In these scripts, spaces go like marks.
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
    return _without_gaps(_SPACES.sub(_single_space, "".join(characters)).strip())


def _without_gaps(text: str) -> str:
    """Remove the spaces of scripts that have none."""
    return _gaps(text).sub("", text)


def _joint_without_gaps(before: str, joint: str, after: str) -> str:
    """Remove the spaces between two sentences that would give the sentence end away."""
    return _gaps(before + after).sub("", f"{before[-1]}{joint}{after[0]}")[1:-1]


def _gaps(text: str) -> re.Pattern[str]:
    """Return the pattern of the spaces that are marks in this text."""
    letters = sum(map(str.isalpha, text))
    return _BESIDE if 2 * len(_OF_THESE_SCRIPTS.findall(text)) > letters else _BETWEEN


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
