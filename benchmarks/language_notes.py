"""Measure how often a text gets the note that it is not in English, and a language its right name.

    python -m benchmarks.language_notes [--english FILE ...] [--sentences FILE] [--write GUIDE]

cuts texts of 300 characters from the documents kept out of the training of `world`, whose words the
guess has not seen, and from the bundled English talks, and prints a markdown table. FILE of
--english is a training mix (`.txt.xz`) or a folder of gold documents (`.jsonl.gz`); that of
--sentences has Common Voice sentences by language, of which those kept out are taken.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from training.documents import read_gold_folder, read_mix, read_talks
from training.world.languages import UNSPACED, plain_code
from training.world.tune import kept_out

from benchmarks.languages import DOCUMENTS
from benchmarks.segmenters import show
from sat_bench.defaults import BUNDLED_CORPUS
from truemark.languages import NAMES, WRITTEN_AS, language_outside
from truemark.tables import Table, render

NAME = "language_notes"
LENGTH = 300  # characters
ENGLISH = "en"

Texts = Mapping[str, Sequence[str]]  # by language


def cut(sentences: Iterable[str], language: str) -> Iterator[str]:
    """Join sentences to texts of the length; a shorter rest is left out."""
    text = ""
    for sentence in sentences:
        text += ("" if language in UNSPACED or not text else " ") + sentence
        if len(text) >= LENGTH:
            yield text[:LENGTH]
            text = ""


def english_texts(path: Path) -> list[str]:
    """Cut the documents of a mix, of a folder of gold documents or of a folder of talks."""
    if path.is_file():
        documents = list(read_mix(path))
    elif gold := read_gold_folder(path):
        documents = [document for source in gold.values() for document in source]
    else:
        documents = read_talks(path)
    return [text for document in documents for text in cut(document.sentences, ENGLISH)]


def document_texts(path: Path) -> Texts:
    """Cut the documents in other languages that training leaves out."""
    return {
        language: [text for document in documents for text in cut(document.sentences, language)]
        for language, documents in kept_out(path).items()
        if language != ENGLISH
    }


def sentence_texts(path: Path) -> Texts:
    """Cut the sentences in other languages that training leaves out, joined as they come."""
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        lists = json.load(stream)["dev"]
    texts: dict[str, list[str]] = {}
    for name, sentences in lists.items():
        if (language := plain_code(name)) != ENGLISH:
            texts.setdefault(language, []).extend(cut(sentences, language))
    return {language: found for language, found in texts.items() if found}


def row(name: str, texts: Texts) -> tuple[object, ...]:
    """Count the texts, those with a note, and those of them whose language is named rightly.

    A note may name no language, only a script.
    """
    guesses = [
        (language_outside(text, {ENGLISH}), language)
        for language, found in texts.items()
        for text in found
    ]
    noted = [(guess, language) for guess, language in guesses if guess is not None]
    named = [pair for pair in noted if pair[0] in NAMES]
    right = sum(guess == WRITTEN_AS.get(language, language) for guess, language in named)
    share = right / len(named) if named and set(texts) != {ENGLISH} else None
    return name, len(texts), len(guesses), len(noted), len(noted) / max(1, len(guesses)), share


def report(english: Sequence[Path], sentences: Path | None) -> str:
    """Return a table: English texts should get no note, all others one."""
    rows = [row("bundled English talks", {ENGLISH: english_texts(BUNDLED_CORPUS)})]
    rows += [row(f"English, {path.name}", {ENGLISH: english_texts(path)}) for path in english]
    rows.append(row("kept-out documents", document_texts(DOCUMENTS)))
    if sentences:
        rows.append(row("kept-out Common Voice sentences", sentence_texts(sentences)))
    columns = ("text", "languages", "texts", "noted", "share", "named rightly")
    return render(Table(columns, tuple(rows), (None, "d", ",d", ",d", ".2%", ".2%")), "markdown")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--english", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--sentences", type=Path, metavar="FILE")
    parser.add_argument("--write", type=Path, metavar="GUIDE", help="put the output into a guide")
    options = parser.parse_args()
    show(report(options.english, options.sentences), NAME, options.write)


if __name__ == "__main__":
    main()
