"""Join and corrupt runs of sentences of any language at random."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Sequence

import numpy as np

from training.corruption import MarkedText, lowered, without_punctuation
from training.world.languages import (
    AND,
    CLOSING,
    CURLY,
    FINAL_MARKS,
    ORDINALS,
    QUOTES,
    UNSPACED,
    UNSPACED_QUOTES,
)

MODES = ("written", "lower", "no punctuation", "bare", "no final marks", "no spaces")
MODE_SHARES = (0.43, 0.05, 0.06, 0.40, 0.03, 0.03)
NOISY_RUNS = 0.5
COMPOUND_RUNS, COMPOUND_SHARES, LONGEST_COMPOUND = 0.6, (0.2, 0.4, 0.6), 260
HEADLINE_RUNS, HEADLINES = 0.05, 0.1
SPACED_MARKS_RUNS = 0.06
# Share of runs with hesitations, and of the sentences in them that have one.
STUMBLING_RUNS, STUMBLING_SENTENCES = 0.15, 0.3
FILLERS = {"LATIN": ("eh", "ah", "mm", "hm", "em", "äh"), "CYRILLIC": ("э", "эм", "м", "ну")}
KEPT_SPACES = 0.7
_MARK = re.compile(r"\s*([.,!?;:।。؟۔]+)(?=\s|$)")


def draw(
    sentences: Sequence[str], language: str, *, in_order: bool, rng: random.Random
) -> MarkedText:
    """Join a run of sentences and corrupt it; isolated sentences are also made noisy and longer."""
    mode = rng.choices(MODES, MODE_SHARES)[0]
    unmarked = mode in ("no punctuation", "bare")
    pieces = list(sentences)
    if not in_order and rng.random() < NOISY_RUNS:
        pieces = [_noisy(sentence, language, rng) for sentence in pieces]
    if not in_order and rng.random() < COMPOUND_RUNS:
        pieces = _compounded(pieces, language, unmarked, rng)
    if rng.random() < STUMBLING_RUNS:
        pieces = [_stumbling(s, rng) if rng.random() < STUMBLING_SENTENCES else s for s in pieces]
    if mode == "written" and rng.random() < HEADLINE_RUNS:
        pieces = [s.rstrip(FINAL_MARKS) if rng.random() < HEADLINES else s for s in pieces]
    elif mode in ("written", "lower") and rng.random() < SPACED_MARKS_RUNS:
        pieces = [_MARK.sub(r" \1", sentence) for sentence in pieces]
    elif mode == "no final marks":
        pieces = [sentence.rstrip(FINAL_MARKS + CLOSING) for sentence in pieces]
    marked = _joined(
        pieces, _gap(language, mode, rng), KEPT_SPACES if mode == "no spaces" else 1, rng
    )
    if mode in ("lower", "bare"):
        marked = MarkedText(lowered(marked.text), marked.ends)
    if unmarked and len(marked.ends):
        marked = without_punctuation(marked, keep_apostrophes=rng.random() < 0.5)
    return marked


def _gap(language: str, mode: str, rng: random.Random) -> str:
    """Choose the gap between sentences; recognisers put spaces even in scripts without them."""
    if language not in UNSPACED:
        return "" if mode == "no spaces" and rng.random() < 0.5 else " "
    return " " if rng.random() < (0.3 if mode in ("no punctuation", "bare") else 0.1) else ""


def _joined(pieces: Sequence[str], gap: str, share: float, rng: random.Random) -> MarkedText:
    parts: list[str] = []
    ends: list[int] = []
    length = 0
    for piece in pieces:
        if not piece:
            continue
        if parts and gap and rng.random() < share:
            parts.append(gap)
            length += len(gap)
        parts.append(piece)
        length += len(piece)
        ends.append(length)
    return MarkedText("".join(parts), np.array(ends, dtype=np.int64))


def _stumbling(sentence: str, rng: random.Random) -> str:
    """Add a filler, or repeat a word or two, as speakers do when they hesitate."""
    words = sentence.split(" ")
    at = rng.randrange(len(words))
    script = unicodedata.name(words[at][:1], "").split(" ")[0]
    again = words[at : at + rng.choice((1, 1, 2))]
    if rng.random() < 0.4 and script in FILLERS:
        words.insert(at, rng.choice(FILLERS[script]) + rng.choice((",", "")))
    elif all(word.isalpha() for word in again):  # a repeated mark would look like an end
        words[at:at] = again
    return " ".join(words)


def _noisy(sentence: str, language: str, rng: random.Random) -> str:
    """Add what isolated sentences lack: numbers, initials, abbreviations, quotes."""
    words, chance = sentence.split(" "), rng.random()
    if language in UNSPACED or len(words) < 3:
        opening, closing = UNSPACED_QUOTES.get(language, CURLY)
        return f"{opening}{sentence}{closing}" if chance < 0.05 else sentence
    at = rng.randrange(1, len(words))
    if chance < 0.05:
        words.insert(at, _number(rng))
    elif chance < 0.07 and language in ORDINALS:
        words.insert(at, f"{rng.randint(1, 31)}.")
    elif chance < 0.10 and words[at][:1].isupper():
        words.insert(at, rng.choice("ABCDEFGHJKLMNPRSTVW") + ".")
    elif chance < 0.13 and words[at].isalpha() and len(words[at]) > 4 and at < len(words) - 1:
        words[at] = words[at][: rng.randint(1, 4)] + "."
    elif chance < 0.16 and at < len(words) - 1:
        opening, closing = rng.choice(QUOTES)
        last = rng.randint(at, min(len(words) - 2, at + 3))
        words[at] = opening + words[at]
        words[last] += closing
    elif 0.16 <= chance < 0.19:
        opening, closing = rng.choice(QUOTES)
        return f"{opening}{sentence}{closing}"
    elif 0.19 <= chance < 0.20 and at < len(words) - 1:
        words[at] = f"({words[at]})"
    return " ".join(words)


def _number(rng: random.Random) -> str:
    return rng.choice(
        (
            str(rng.randint(1, 99)),
            str(rng.randint(1900, 2030)),
            f"{rng.randint(0, 99)}.{rng.randint(0, 99)}",
            f"{rng.randint(1, 99)},{rng.randint(0, 999):03d}",
            f"{rng.randint(1, 28)}.{rng.randint(1, 12)}.{rng.randint(1950, 2030)}",
        )
    )


def _compounded(
    sentences: Sequence[str], language: str, unmarked: bool, rng: random.Random
) -> list[str]:
    """Join some sentences to longer ones, so that a change of topic alone does not mean an end."""
    share = rng.choice(COMPOUND_SHARES)
    out: list[str] = []
    linked, joined = False, 0
    for sentence in sentences:
        if linked and len(out[-1]) + len(sentence) < LONGEST_COMPOUND:
            before = out[-1].rstrip(FINAL_MARKS + CLOSING + " ")
            after = sentence[:1].lower() + sentence[1:] if rng.random() < 0.85 else sentence
            out[-1] = before + _link(language, unmarked, rng) + after
            joined += 1
        else:
            out.append(sentence)
            joined = 0
        linked = joined < 2 and rng.random() < share
    return out


def _link(language: str, unmarked: bool, rng: random.Random) -> str:
    if language in UNSPACED:
        return rng.choice(("、", "、", "、そして") if language == "ja" else ("，", "，", "，而且"))
    word = AND.get(language, "")
    if word and rng.random() < (0.8 if unmarked else 0.4):
        return rng.choice((f" {word} ", f", {word} "))
    return rng.choice((", ", ", ", ", ", "; ", ": ", " – ", " - "))
