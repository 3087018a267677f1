"""The same talk under other conditions: without capitals, without punctuation, as recognised.

Every condition changes a talk sentence by sentence, so the ends of its sentences follow the text
exactly. A sentence of which nothing is left is no sentence any more.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, assert_never, get_args

from sat_bench.corpus.loading import Corpus
from sat_bench.corpus.recognition import Recogniser, spoken
from sat_bench.corpus.talks import CorpusError, Sentence, Talk, spans_between

Condition = Literal["written", "lower", "upper", "no-punctuation", "one-line", "bare", "asr"]
CONDITIONS: tuple[Condition, ...] = get_args(Condition)
WRITTEN: Condition = "written"

_ON_ONE_LINE = frozenset({"one-line", "bare", "asr"})
_SPOKEN = frozenset("%&@#")  # punctuation by Unicode's account, and yet words to a reader
_INSIDE_WORDS = re.compile(r"(?<=\w)['’-](?=\w)|(?<=\d)[.,:](?=\d)")
_SPACES = re.compile(r"\s{2,}")
_BETWEEN_LETTERS = re.compile(r"(?<=[^\W\d_])\.(?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class ConditionedCorpus:
    """The talks of a corpus, each under every condition before the next one."""

    corpus: Corpus
    conditions: tuple[Condition, ...]

    @property
    def characters(self) -> int:
        """How many characters there are, about: conditions change them a little."""
        return self.corpus.characters * len(self.conditions)

    def __len__(self) -> int:
        return len(self.corpus) * len(self.conditions)

    def __iter__(self) -> Iterator[Talk]:
        for talk in self.corpus:
            for condition in self.conditions:
                yield under_condition(talk, condition)


def under_condition(talk: Talk, condition: Condition) -> Talk:
    """The talk as it reads under the condition, with its sentence ends where they now are."""
    if condition == WRITTEN:
        return replace(talk, condition=condition)
    changed = _change(talk, condition)
    pieces: list[str] = []
    sentences: list[Sentence] = []
    length = before = 0
    gap = ""
    for number, (start, end) in enumerate(spans_between(talk.text, talk.boundaries, leftover=True)):
        gap = talk.text[before:start] or gap
        before = end
        piece = changed(talk.text[start:end])
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


def _change(talk: Talk, condition: Condition) -> Callable[[str], str]:
    """What the condition makes of one sentence."""
    match condition:
        case "written":
            return str
        case "lower":
            return str.lower
        case "upper":
            return str.upper
        case "no-punctuation":
            return without_punctuation
        case "one-line":
            return _on_one_line
        case "bare":
            return bare
        case "asr":
            recogniser = Recogniser(talk)
            return lambda sentence: recogniser.heard(bare(spoken(sentence)))
        case _:
            assert_never(condition)


def bare(sentence: str) -> str:
    """The sentence in lower case, without punctuation, on one line."""
    return _on_one_line(without_punctuation(sentence).lower())


def without_punctuation(sentence: str) -> str:
    """The sentence without punctuation: apostrophes, hyphens and numbers keep what is inside them.

    Dots between letters, as in U.S, go without a trace; other marks leave a space.
    """
    kept = {match.start() for match in _INSIDE_WORDS.finditer(sentence)}
    joined = {match.start() for match in _BETWEEN_LETTERS.finditer(sentence)}
    characters = []
    for place, character in enumerate(sentence):
        if place in kept or character in _SPOKEN or unicodedata.category(character)[0] != "P":
            characters.append(character)
        elif place not in joined:
            characters.append(" ")
    return _SPACES.sub(_one_of_them, "".join(characters)).strip()


def _one_of_them(spaces: re.Match[str]) -> str:
    return "\n" if "\n" in spaces[0] else spaces[0][0]


def _on_one_line(sentence: str) -> str:
    return " ".join(sentence.split())
