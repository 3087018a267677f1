"""Collect documents in many languages in one file, and measure how varied they are.

python -m training.world.collect FOLDER training/world/documents.txt.xz

FOLDER has files CODE/NN.txt, a sentence per line, an empty line before a new paragraph. They follow
the documents of their language that the file already has. Repeated and nearly repeated sentences of
a language are left out, and so are documents that lose a fifth of their sentences.
"""

from __future__ import annotations

import argparse
import lzma
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.documents import Document, read_mix

SOURCE = "written for Truemark"
LICENCE = "MIT"
GRAM, NEAR = 5, 0.7
LARGEST_LOSS = 0.2
FEWEST = 8  # sentences of a document
SHORT = 12  # sentences of fewer characters may repeat


@dataclass(frozen=True, slots=True)
class Diversity:
    """How varied the sentences of a language are."""

    language: str
    documents: int
    sentences: int
    left_out: int
    distinct_openings: float  # distinct first two words, as a share of sentences
    mean_characters: float


class Seen:
    """The sentences so far, to recognise near-duplicates."""

    def __init__(self) -> None:
        self._sentences: list[frozenset[str]] = []
        self._by_gram: dict[str, list[int]] = {}

    def repeats(self, sentence: str) -> bool:
        """Whether a sentence shares most of its runs of five characters with an earlier one."""
        grams = _grams(sentence)
        shared: dict[int, int] = {}
        for gram in grams:
            for number in self._by_gram.get(gram, ()):
                shared[number] = shared.get(number, 0) + 1
        return any(
            count / (len(grams) + len(self._sentences[number]) - count) > NEAR
            for number, count in shared.items()
        )

    def add(self, sentence: str) -> None:
        grams = _grams(sentence)
        for gram in grams:
            self._by_gram.setdefault(gram, []).append(len(self._sentences))
        self._sentences.append(grams)


def _grams(sentence: str) -> frozenset[str]:
    text = re.sub(r"\W+", " ", sentence.lower()).strip()
    return frozenset(text[i : i + GRAM] for i in range(max(1, len(text) - GRAM + 1)))


def read_document(path: Path, language: str) -> Document:
    """Read one document: a sentence per line, an empty line before a paragraph."""
    sentences: list[str] = []
    paragraphs = {0}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            sentences.append(" ".join(line.split()))
        else:
            paragraphs.add(len(sentences))
    starts = frozenset(number for number in paragraphs if number < len(sentences))
    return Document(SOURCE, language, tuple(sentences), starts)


def without_repeats(document: Document, seen: Seen) -> Document:
    """Leave out sentences that were seen before, unless they are short."""
    kept: list[str] = []
    starts = set()
    for number, sentence in enumerate(document.sentences):
        if len(sentence) > SHORT and seen.repeats(sentence):
            continue
        if number in document.paragraphs:
            starts.add(len(kept))
        kept.append(sentence)
        seen.add(sentence)
    return Document(document.source, document.style, tuple(kept), frozenset(starts))


def collect(
    folder: Path, earlier: Sequence[Document] = ()
) -> Iterator[tuple[list[Document], Diversity]]:
    """Read the documents of each language, after the earlier ones, and measure them."""
    added = {path.name for path in folder.iterdir() if path.is_dir()}
    for language in sorted(added | {document.style for document in earlier}):
        seen = Seen()
        kept = [document for document in earlier if document.style == language]
        for document in kept:
            for sentence in document.sentences:
                seen.add(sentence)
        total = sum(len(document.sentences) for document in kept)
        for path in sorted((folder / language).glob("*.txt")):
            document = read_document(path, language)
            total += len(document.sentences)
            clean = without_repeats(document, seen)
            loss = 1 - len(clean.sentences) / max(1, len(document.sentences))
            if len(clean.sentences) >= FEWEST and loss <= LARGEST_LOSS:
                kept.append(clean)
        yield kept, _measured(language, kept, total)


def _measured(language: str, documents: Sequence[Document], total: int) -> Diversity:
    sentences = [sentence for document in documents for sentence in document.sentences]
    openings = {tuple(sentence.lower().split()[:2]) for sentence in sentences}
    count = max(1, len(sentences))
    return Diversity(
        language,
        len(documents),
        len(sentences),
        total - len(sentences),
        len(openings) / count,
        sum(map(len, sentences)) / count,
    )


def write_documents(documents: Sequence[Document], out: Path) -> None:
    """Write the documents in the form of a training mix."""
    with lzma.open(out, "wt", encoding="utf-8", preset=9 | lzma.PRESET_EXTREME) as stream:
        for document in documents:
            stream.write(f"### {document.source}|{LICENCE}|{document.style}\n")
            for number, sentence in enumerate(document.sentences):
                stream.write("\t" * (number in document.paragraphs) + sentence + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    documents: list[Document] = []
    earlier = list(read_mix(options.out)) if options.out.exists() else []
    for kept, measured in collect(options.folder, earlier):
        documents += kept
        print(
            f"{measured.language}: {measured.documents} documents, {measured.sentences} sentences,"
            f" {measured.left_out} left out, {measured.distinct_openings:.2f} distinct openings,"
            f" {measured.mean_characters:.0f} characters a sentence"
        )
    write_documents(documents, options.out)
    print(f"{options.out}: {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
