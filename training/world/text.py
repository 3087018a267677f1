"""Read the text of each language: isolated sentences, and documents.

Common Voice sentences (CC0) are in one JSON file, `{"train": {language: [sentence, …]},
"english": [[sentence, …], …]}`; documents are in the form of a training mix, whose third field is
the language. Some of the documents of each language that were written for this project are kept
out, to choose thresholds on.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from training.documents import Document, read_mix
from training.world.campaigns import SOURCE as STORIES
from training.world.collect import SOURCE
from training.world.languages import plain_code

KEPT_OUT = 5  # one in this many of the documents written for this project
MOST_ISOLATED = 14_000  # sentences of one list
FEWEST = 100  # languages with fewer sentences are left out
ENGLISH = "runs of the English mix"


@dataclass(slots=True)
class LanguageText:
    """The text of one language: `documents` of sentences in order, and `isolated` sentences."""

    isolated: list[str] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    kept_out: list[Document] = field(default_factory=list)

    @property
    def written(self) -> list[Document]:
        return [document for document in self.documents if document.source == SOURCE]

    @property
    def stories(self) -> list[Document]:
        return [document for document in self.documents if document.source.startswith(STORIES)]

    @property
    def others(self) -> list[Document]:
        known = (SOURCE, STORIES)
        return [document for document in self.documents if not document.source.startswith(known)]


Texts = dict[str, LanguageText]


def read_texts(common_voice: Path, mixes: Sequence[Path]) -> Texts:
    """Read all text by language; leave out languages with little text."""
    texts: Texts = {}
    with lzma.open(common_voice, "rt", encoding="utf-8") as stream:
        content = json.load(stream)
    for name, sentences in content["train"].items():
        texts.setdefault(plain_code(name), LanguageText()).isolated.extend(
            sentences[:MOST_ISOLATED]
        )
    english = texts.setdefault("en", LanguageText())
    for run in content["english"]:
        english.documents.append(Document(ENGLISH, "en", tuple(run), frozenset()))
    for mix in mixes:
        for document in read_mix(mix):
            texts.setdefault(document.style, LanguageText()).documents.append(document)
    for text in texts.values():
        written = text.written
        text.kept_out = written[KEPT_OUT - 1 :: KEPT_OUT]
        text.documents = [d for d in text.documents if d not in text.kept_out]
    return {name: text for name, text in texts.items() if _size(text) >= FEWEST}


def _size(text: LanguageText) -> int:
    return len(text.isolated) + sum(len(document.sentences) for document in text.documents)
