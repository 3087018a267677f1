"""Join sentences to texts with marked ends, and corrupt them as transcripts are."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

# The mark that was removed after a token; 0 means none. An auxiliary target.
PUNCTUATION_CLASSES = (
    ",،，、",
    ".。।۔։።။។",
    "?？؟",
    "!！",
    ";:；：؛",
    "-–—",
    "'\"“”‘’()[]«»「」『』",
)
MODES = ("as written", "lower", "no punctuation", "lower, no punctuation", "no final marks", "web")
MODE_SHARES = (0.35, 0.05, 0.05, 0.44, 0.05, 0.06)
FINAL_MARKS = ".?!…"
# Share of runs with disfluencies, and of the sentences in them that have one.
STUMBLING_RUNS, STUMBLING_SENTENCES = 0.15, 0.4
# Share of runs with interrupted speakers, and of the sentences in them; how interruptions are
# written. Sources split by rule have hardly any, since a dash does not end a sentence there.
INTERRUPTED_RUNS, INTERRUPTED_SENTENCES = 0.08, 0.15
DASHES = "-–—"
CUT_SHORT = (" —", "—", " –", "–", " --", "--", "-")
CUT_SHORT_SHARES = (6, 3, 4, 2, 1, 1, 1)
# Share of runs with footnotes, as in encyclopedias, and of the sentences in them that have one.
FOOTNOTED_RUNS, FOOTNOTED_SENTENCES, LARGEST_FOOTNOTE = 0.06, 0.25, 60
FILLERS = ("um", "uh", "er", "you know", "I mean", "like", "well", "so", "sort of", "mm")
FILLER_SHARES = (6, 8, 1, 3, 2, 2, 1, 1, 1, 1)
# Words that may lose their capital when another word is put before them.
OPENERS = frozenset({
    "a", "an", "and", "at", "but", "for", "he", "her", "his", "how", "if", "in", "it", "my", "no",
    "not", "on", "or", "our", "she", "so", "some", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "we", "what", "when", "where", "who", "why", "with", "yes", "you", "your",
})  # fmt: skip
NOTES = ("(Laughter)", "(Applause)", "[Music]", "(Laughs)", "[laughter]", "(Audience: Yes.)")


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text; `ends` are offsets after the last character of sentences, `removed` per character."""

    text: str
    ends: NDArray[np.int64]
    removed: NDArray[np.int8] | None = None


def draw(
    sentences: Sequence[str], paragraphs: frozenset[int], gold: bool, rng: random.Random
) -> MarkedText:
    """Join a run of sentences and corrupt it at random."""
    mode = rng.choices(MODES, MODE_SHARES)[0]
    pieces = [str(s) for s in sentences]
    if rng.random() < STUMBLING_RUNS:
        pieces = [_stumbling(s, rng) if rng.random() < STUMBLING_SENTENCES else s for s in pieces]
    if mode == "as written" and rng.random() < INTERRUPTED_RUNS:
        pieces = [_cut_short(s, rng) if rng.random() < INTERRUPTED_SENTENCES else s for s in pieces]
    if mode == "as written" and rng.random() < FOOTNOTED_RUNS:
        pieces = [_footnoted(s, rng) if rng.random() < FOOTNOTED_SENTENCES else s for s in pieces]
    if mode == "no final marks":
        pieces = [_without_final_mark(s) for s in pieces]
    elif mode == "web":
        pieces = [_as_on_the_web(s, rng) for s in pieces]
    elif not gold and mode == "as written" and rng.random() < 0.08:
        pieces = [_with_note(s, rng) for s in pieces]
    marked = _joined(pieces, paragraphs, rng)
    if "lower" in mode:
        marked = MarkedText(lowered(marked.text), marked.ends)
    if "no punctuation" in mode:
        marked = without_punctuation(marked, keep_apostrophes=rng.random() < 0.5)
    return marked


def join(sentences: Sequence[str]) -> MarkedText:
    """Join sentences by one space, as the gold documents are scored."""
    kept = [s for s in sentences if s]
    ends = np.cumsum([len(s) + 1 for s in kept], dtype=np.int64) - 1
    return MarkedText(" ".join(kept), ends)


def bare(sentences: Sequence[str], *, keep_apostrophes: bool = False) -> MarkedText:
    """Join sentences, in lower case and without punctuation."""
    marked = join(sentences)
    low = MarkedText(lowered(marked.text), marked.ends)
    return without_punctuation(low, keep_apostrophes=keep_apostrophes)


def _joined(pieces: list[str], paragraphs: frozenset[int], rng: random.Random) -> MarkedText:
    layout = rng.choices(("spaces", "paragraphs", "lines", "wrapped"), (0.8, 0.12, 0.04, 0.04))[0]
    paragraph_break = rng.choice(("\n", "\n\n"))
    out: list[str] = []
    ends: list[int] = []
    length = 0
    for i, piece in enumerate(pieces):
        if not piece:
            continue
        if out:
            gap = " "
            if layout == "lines":
                gap = "\n"
            elif layout == "paragraphs" and i in paragraphs:
                gap = paragraph_break
            elif rng.random() < 0.003 and out[-1][-1] in FINAL_MARKS:
                gap = ""
            out.append(gap)
            length += len(gap)
        out.append(piece)
        length += len(piece)
        ends.append(length)
    text = "".join(out)
    if layout == "wrapped":
        text = _wrapped(text, rng.randint(28, 90))
    return MarkedText(text, np.array(ends, dtype=np.int64))


def _wrapped(text: str, width: int) -> str:
    chars = list(text)
    last_break, last_space = 0, -1
    for i, c in enumerate(chars):
        if c == " ":
            last_space = i
        if i - last_break >= width and last_space > last_break:
            chars[last_space] = "\n"
            last_break = last_space
    return "".join(chars)


def _without_final_mark(sentence: str) -> str:
    return sentence.rstrip(FINAL_MARKS + "\"”'’) ") or sentence


def _cut_short(sentence: str, rng: random.Random) -> str:
    """Cut a sentence, as if its speaker were interrupted or started again; it ends in a dash."""
    words = sentence.split(" ")
    kept = " ".join(words[: rng.randint(1, len(words))]).rstrip(FINAL_MARKS + DASHES + ",;:\"”'’) ")
    return kept + rng.choices(CUT_SHORT, CUT_SHORT_SHARES)[0] if kept else sentence


def _footnoted(sentence: str, rng: random.Random) -> str:
    """Add the number of a footnote after the final mark; it belongs to the sentence."""
    if not sentence or sentence[-1] not in FINAL_MARKS:
        return sentence
    return f"{sentence}{rng.choice((' ', ' ', ''))}[{rng.randint(1, LARGEST_FOOTNOTE)}]"


def _as_on_the_web(sentence: str, rng: random.Random) -> str:
    """Write a sentence as people type in a hurry: a missing mark, no capital, too many marks."""
    chance = rng.random()
    if chance < 0.3:
        sentence = _without_final_mark(sentence)
    elif chance < 0.4:
        sentence = _without_final_mark(sentence) + rng.choice(
            ("...", "!!", "??", "!!!", " :)", "..", " .", " ...", "?!")
        )
    if rng.random() < 0.3:
        sentence = sentence[:1].lower() + sentence[1:]
    if rng.random() < 0.05:
        sentence = sentence.upper()
    return sentence


def _stumbling(sentence: str, rng: random.Random) -> str:
    """Add a filler, a repeated word or a false start to a sentence; keep its end."""
    words = sentence.split(" ")
    for _ in range(1 + (rng.random() < 0.35)):
        at = 0 if rng.random() < 0.35 else rng.randrange(len(words))
        chance = rng.random()
        if chance < 0.55:
            added = [rng.choices(FILLERS, FILLER_SHARES)[0] + rng.choice((",", ",", ""))]
        elif chance < 0.85:
            added = words[at : at + rng.choice((1, 1, 1, 2))]
        else:
            # Seldom with a dash: at the end of an utterance, a dash is a sentence end.
            cut = words[at][: max(1, len(words[at]) // 2)] + ("-" if rng.random() < 0.25 else "")
            added = [*words[at : at + rng.randint(0, 2)], cut]
        if any(word[-1:] in FINAL_MARKS for word in added):
            continue  # a repetition must not look like a sentence end
        words[at:at] = _opening(added, words) if at == 0 else added
    return " ".join(words)


def _opening(added: list[str], words: list[str]) -> list[str]:
    """Capitalise words that are put first, and lower the next word if possible."""
    if words[0].lower() in OPENERS and words[0][:1].isupper():
        words[0] = words[0].lower()
        added = [word.lower() if word.lower() in OPENERS else word for word in added]
    return [added[0][:1].upper() + added[0][1:], *added[1:]] if added else added


def _with_note(sentence: str, rng: random.Random) -> str:
    # A sound note belongs to the next sentence, as in the rule for plain transcripts.
    return f"{rng.choice(NOTES)} {sentence}" if rng.random() < 0.06 else sentence


def lowered(text: str) -> str:
    """Return the text in lower case, with the same length."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower()[:1] or c for c in text)


@cache
def _punctuation_class(code: int) -> int:
    char = chr(code)
    for i, members in enumerate(PUNCTUATION_CLASSES, start=1):
        if char in members:
            return i
    category = unicodedata.category(char)
    return len(PUNCTUATION_CLASSES) if category[0] == "P" or char in "^`~|<>=+$" else 0


def without_punctuation(marked: MarkedText, *, keep_apostrophes: bool) -> MarkedText:
    """Remove punctuation and double spaces; sentences of only marks are dropped."""
    codes = np.frombuffer(marked.text.encode("utf-32-le"), dtype=np.uint32)
    unique, inverse = np.unique(codes, return_inverse=True)
    kinds = np.array([_punctuation_class(int(c)) for c in unique], dtype=np.int8)[inverse]
    keep = kinds == 0
    if keep_apostrophes:
        for match in re.finditer(r"(?<=\w)['’](?=\w)", marked.text):
            keep[match.start()] = True
    space = np.array([chr(int(c)).isspace() for c in unique])[inverse]
    kept = np.flatnonzero(keep)
    follows_space = np.r_[True, space[kept[:-1]]] if len(kept) else np.zeros(0, bool)
    keep[kept[space[kept] & follows_space]] = False
    kept = np.flatnonzero(keep)
    new_length = np.r_[0, np.cumsum(keep)]
    text = codes[kept].tobytes().decode("utf-32-le")
    solid = keep & ~space
    # The end of a sentence is now after its last non-space character.
    last_solid = np.maximum.accumulate(np.where(solid, np.arange(len(codes)), -1))
    lasts = last_solid[marked.ends - 1]
    lasts = np.unique(lasts[lasts >= 0])
    removed = np.zeros(len(codes), dtype=np.int8)
    gone = np.flatnonzero((kinds > 0) & ~keep)[::-1]
    owners = last_solid[gone]
    removed[owners[owners >= 0]] = kinds[gone[owners >= 0]]
    return MarkedText(text, new_length[lasts + 1], removed[kept])
