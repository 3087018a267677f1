"""List the most frequent words of each language, by which `truemark.languages` recognises it.

python -m training.world.words COMMON_VOICE.json.xz DOCUMENTS.txt.xz src/truemark/frequent_words.txt

Isolated sentences are often read aloud from books, and documents are speech, so that neither
decides alone. Languages with a script of their own need no list.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from training.world.text import LanguageText, read_texts
from truemark.languages import SCRIPTS, main_script, words_of

COUNT = 225
MOST_WORDS = 20_000  # a source with more words counts as one of so many
FEWEST = 500  # a language with fewer words of text gets no list


def frequent_words(text: LanguageText) -> list[str]:
    """Return the most frequent words first, or none if there is too little text."""
    ordered = (sentence for document in text.documents for sentence in document.sentences)
    shares: Counter[str] = Counter()
    total = 0
    for source in (_counted(text.isolated), _counted(ordered)):
        total += source.total()
        weight = min(1, MOST_WORDS / max(1, source.total()))
        for word, count in source.items():
            shares[word] += count * weight  # type: ignore[assignment]
    return [word for word, _ in shares.most_common(COUNT)] if total >= FEWEST else []


def _counted(sentences: Iterable[str]) -> Counter[str]:
    return Counter(word for sentence in sentences for word in words_of(sentence))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("common_voice", type=Path)
    parser.add_argument("documents", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    lines = []
    for language, text in sorted(read_texts(options.common_voice, [options.documents]).items()):
        words = frequent_words(text)
        if words and main_script(" ".join(words)) not in SCRIPTS:
            lines.append(f"{language} {' '.join(words)}\n")
    options.out.write_text("".join(lines), encoding="utf-8")
    print(f"{options.out}: {len(lines)} languages, {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
