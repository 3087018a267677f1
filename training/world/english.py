"""Select English documents, spoken ones first, that teach a model what a sentence end is.

python -m training.world.english MIX.txt.xz OUT.txt.xz

The mix is the one that the English models were trained on.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from training.documents import Document, read_mix
from training.world.collect import write_documents

SEED = 20261116
RUN = 60  # sentences of a document that are kept together
MOST = 12_000  # sentences of one source
LEFT_OUT = ("Tatoeba", "Common Voice", "UD_English-CHILDES", "UD_English-Atis", "UD_English-ESL")


def english_runs(mix: Path) -> list[Document]:
    """Cut documents into runs, and keep at most `MOST` sentences of each source, evenly."""
    by_source: dict[str, list[Document]] = {}
    for document in read_mix(mix):
        if not document.source.startswith(LEFT_OUT):
            by_source.setdefault(document.source, []).append(document)
    rng = random.Random(SEED)
    runs = []
    for source, documents in sorted(by_source.items()):
        rng.shuffle(documents)
        count = 0
        for document in documents:
            start = rng.randrange(max(1, len(document.sentences) - RUN + 1))
            sentences = document.sentences[start : start + RUN]
            if count < MOST and len(sentences) >= 5:
                runs.append(Document(source, "en", sentences, frozenset({0})))
                count += len(sentences)
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mix", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    runs = english_runs(options.mix)
    write_documents(runs, options.out)
    count = sum(len(run.sentences) for run in runs)
    print(
        f"{options.out}: {len(runs)} runs, {count} sentences, {options.out.stat().st_size:,} bytes"
    )


if __name__ == "__main__":
    main()
