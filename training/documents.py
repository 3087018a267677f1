"""Training and tuning text as documents of sentences."""

from __future__ import annotations

import gzip
import json
import lzma
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Trust in the sentence ends of a source, and how often its text is drawn in one pass. Gold text is
# scarce, and models are judged by it. Meetings have turns cut in mid-sentence, but are drawn often:
# only they have real disfluencies.
TRUST = {"UD_English": 1.0, "MASC": 0.8, "QMSum": 0.25}
DRAWS = {"UD_English-EWT": 2, "UD_English-GUM": 2, "MASC": 2, "Tatoeba": 0.5, "QMSum": 2}
# The shares of documents that are kept of the large sources split by rule.
KEPT = {
    "Standard Ebooks": 0.4,
    "Project Gutenberg": 0.4,
    "English Wikinews": 0.5,
    "FOMC": 0.7,
    "thechangelog": 0.85,
}
TRUST_BY_RULE = 0.5
CHECKED = {"UD_English-EWT": 1.0, "UD_English-GUM": 1.0, "MASC": 1.0}
GOLD_ENDING = ".jsonl.gz"


@dataclass(frozen=True, slots=True)
class Document:
    """Sentences in order; `paragraphs` has the indices of those that start a paragraph or turn."""

    source: str
    style: str
    sentences: tuple[str, ...]
    paragraphs: frozenset[int]

    @property
    def trust(self) -> float:
        return _by_prefix(TRUST, self.source, TRUST_BY_RULE)

    @property
    def draws(self) -> float:
        return _by_prefix(DRAWS, self.source, 1.0)


def _by_prefix(table: dict[str, float], source: str, default: float) -> float:
    return next((value for prefix, value in table.items() if source.startswith(prefix)), default)


def read_mix(path: Path) -> Iterator[Document]:
    """Read a mix: `### source|licence|style`, then a sentence per line; TAB starts a paragraph."""
    header: list[str] = []
    lines: list[str] = []
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        for raw in stream:
            line = raw.rstrip("\n")
            if line.startswith("### "):
                yield from _document(header, lines)
                header, lines = line[4:].split("|"), []
            else:
                lines.append(line)
    yield from _document(header, lines)


def write_thinned(mix: Path, out: Path, share_by_rule: float | None = None) -> None:
    """Write the mix with only a share of the documents of its largest sources, evenly chosen.

    With `share_by_rule`, keep that share of every source whose ends were set by rule.
    """
    seen: Counter[str] = Counter()
    keep = True
    with (
        lzma.open(mix, "rt", encoding="utf-8") as lines,
        lzma.open(out, "wt", encoding="utf-8", preset=9 | lzma.PRESET_EXTREME) as thinned,
    ):
        for line in lines:
            if line.startswith("### "):
                source = line[4:].split("|")[0]
                share, number = _by_prefix(KEPT, source, 1.0), seen[source]
                if share_by_rule is not None:
                    share = share_by_rule if not _by_prefix(CHECKED, source, 0.0) else 1.0
                keep = int((number + 1) * share) > int(number * share)
                seen[source] += 1
            if keep:
                thinned.write(line)


def _document(header: list[str], lines: list[str]) -> Iterator[Document]:
    kept = [line for line in lines if line.strip()]
    if kept:
        paragraphs = frozenset(i for i, line in enumerate(kept) if line.startswith("\t"))
        yield Document(header[0], header[-1], tuple(line.strip() for line in kept), paragraphs)


def _read_gold(path: Path) -> list[Document]:
    """Read the gold documents of a `.jsonl.gz` file with `sentences` and `para`."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    return [
        Document(row["source"], row["style"], tuple(row["sentences"]), frozenset(row["para"]))
        for row in rows
    ]


def read_gold_folder(folder: Path) -> dict[str, list[Document]]:
    """Read the gold documents of a folder, by the names of its `.jsonl.gz` files."""
    return {
        path.name.removesuffix(GOLD_ENDING): _read_gold(path)
        for path in sorted(folder.glob(f"*{GOLD_ENDING}"))
    }


def read_talks(folder: Path) -> list[Document]:
    """Read the talks of a `sat-bench` corpus as documents, a small text to try the code on."""
    from sat_bench.corpus.loading import load_corpus

    return [
        Document("talk", "spoken", tuple(talk.text[s:e] for s, e in talk.sentences), frozenset({0}))
        for talk in load_corpus(folder)
    ]
