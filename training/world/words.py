"""List the most frequent words of each language, by which `truemark.languages` recognises it.

python -m training.world.words COMMON_VOICE.json.xz MIXES... src/truemark/frequent_words.txt

Languages with a script of their own need no list.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from training.world.text import LanguageText, read_texts
from truemark.languages import SCRIPTS, main_script, words_of

COUNT = 250
FEWEST = 3_000  # a language with fewer words of text gets no list


def frequent_words(text: LanguageText) -> list[str]:
    """Return the most frequent words first, or none if there is too little text."""
    counts: Counter[str] = Counter()
    for sentence in text.isolated:
        counts.update(words_of(sentence))
    for document in text.documents:
        for sentence in document.sentences:
            counts.update(words_of(sentence))
    if counts.total() < FEWEST:
        return []
    return [word for word, _ in counts.most_common(COUNT)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("common_voice", type=Path)
    parser.add_argument("mixes", type=Path, nargs="+")
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    lines = []
    for language, text in sorted(read_texts(options.common_voice, options.mixes).items()):
        words = frequent_words(text)
        if words and main_script(" ".join(words)) not in SCRIPTS:
            lines.append(f"{language} {' '.join(words)}\n")
    options.out.write_text("".join(lines), encoding="utf-8")
    print(f"{options.out}: {len(lines)} languages, {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
