"""Make windows of tokens with labels from text in many languages.

python -m training.world.windows COMMON_VOICE.json.xz MIXES... TOKENIZER.model OUT_DIR --passes 12
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sat_bench.models.tokenizer import Tokenizer
from training.documents import Document
from training.prepare import WINDOW, labelled, write_passes
from training.world.draw import draw
from training.world.text import LanguageText, Texts, read_texts

# The weight of a language is the size of its text, within these bounds, to this power; English has
# a fixed share.
EXPONENT, ENGLISH_SHARE = 0.5, 0.11
SMALLEST, LARGEST = 4_000, 30_000
LONGEST_RUN = 60
# Shares of runs from documents written for this project, from stories, from other documents, and
# isolated; a language without one of these kinds has more of the others.
WRITTEN, STORIES, OTHERS, ISOLATED = 0.42, 0.18, 0.14, 0.26
PLENTY, SELDOM_ISOLATED = 50_000, 0.05  # with this many ordered sentences, few isolated ones
TRUST = {"written": 1.0, "stories": 0.5, "others": 0.5, "isolated": 0.8}
WINDOWS_IN_PASS = 48_000


def shares(texts: Texts) -> dict[str, float]:
    """Return the share of each language."""
    sizes = {
        name: len(text.isolated) + 3 * sum(len(d.sentences) for d in text.documents)
        for name, text in texts.items()
        if name != "en"
    }
    weights = {name: min(max(size, SMALLEST), LARGEST) ** EXPONENT for name, size in sizes.items()}
    total = sum(weights.values())
    others = {name: weight / total * (1 - ENGLISH_SHARE) for name, weight in weights.items()}
    return others | ({"en": ENGLISH_SHARE} if "en" in texts else {})


def runs(texts: Texts, rng: random.Random) -> Iterator[tuple[str, str, list[str]]]:
    """Draw runs endlessly: kind of source, language, sentences."""
    names, weights = zip(*shares(texts).items(), strict=True)
    sources = {name: _sources(text, rng) for name, text in texts.items()}
    while True:
        language = rng.choices(names, weights)[0]
        kinds = sources[language]
        kind = rng.choices(list(kinds), [share for share, _ in kinds.values()])[0]
        drawn = kinds[kind][1]()
        if drawn:
            yield kind, language, drawn


class Deck:
    """Isolated sentences, reshuffled whenever all have been drawn."""

    def __init__(self, sentences: list[str], rng: random.Random) -> None:
        self._sentences, self._rng, self._place = list(sentences), rng, len(sentences)

    def take(self, count: int) -> list[str]:
        if self._place + count > len(self._sentences):
            self._rng.shuffle(self._sentences)
            self._place = 0
        self._place += count
        return self._sentences[self._place - count : self._place]


def _sources(
    text: LanguageText, rng: random.Random
) -> dict[str, tuple[float, Callable[[], list[str]]]]:
    """Return the share of each kind of source of a language, and a function that draws from it."""
    sources: dict[str, tuple[float, Callable[[], list[str]]]] = {}
    for kind, share, documents in (
        ("written", WRITTEN, text.written),
        ("stories", STORIES, text.stories),
        ("others", OTHERS, text.others),
    ):
        if documents:
            sources[kind] = share, partial(_from_documents, documents, rng)
    if text.isolated:
        in_order = sum(len(document.sentences) for document in text.documents)
        share = SELDOM_ISOLATED if in_order > PLENTY else ISOLATED
        deck = Deck(text.isolated, rng)
        sources["isolated"] = share, partial(deck.take, min(LONGEST_RUN, len(text.isolated)))
    return sources


def _from_documents(documents: list[Document], rng: random.Random) -> list[str]:
    """Draw consecutive sentences of a document, and of more documents if it is short."""
    run: list[str] = []
    while len(run) < LONGEST_RUN // 2:
        sentences = rng.choice(documents).sentences
        start = rng.randrange(max(1, len(sentences) - 10))
        run += sentences[start : start + LONGEST_RUN]
    return run[:LONGEST_RUN]


def windows(texts: Texts, tokenizer: Tokenizer, count: int, seed: int) -> tuple[Any, Any, Any]:
    """Return ids, labels and trust of `count` windows."""
    rng = random.Random(seed)
    columns: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    length = 0
    for kind, language, sentences in runs(texts, rng):
        marked = draw(sentences, language, in_order=kind != "isolated", rng=rng)
        ids, labels = labelled(tokenizer, marked)
        columns[0].append(ids)
        columns[1].append(labels)
        columns[2].append(np.full(len(ids), TRUST[kind], dtype=np.float16))
        length += len(ids)
        if length >= count * WINDOW:
            break
    ids, labels, trust = (np.concatenate(column)[: count * WINDOW] for column in columns)
    shape = (count, WINDOW)
    return ids.reshape(shape), labels.reshape(shape), trust.reshape(shape)


_texts: Texts = {}  # set before the workers are forked


def _shard(tokenizer: Path, part: int, parts: int, seed: int) -> tuple[Any, Any, Any]:
    return windows(_texts, Tokenizer(tokenizer), WINDOWS_IN_PASS // parts, seed * 1000 + part)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("common_voice", type=Path)
    parser.add_argument("mixes", type=Path, nargs="+")
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--passes", type=int, default=12)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    _texts.update(read_texts(options.common_voice, options.mixes))
    write_passes(partial(_shard, options.tokenizer), options.out, options.passes, options.workers)


if __name__ == "__main__":
    main()
