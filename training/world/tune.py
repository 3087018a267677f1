"""Measure F1 of a multilingual model on documents kept out of its training; choose a threshold.

python -m training.world.tune DOCUMENTS.txt.xz MODEL.onnx TOKENIZER.model [--threshold 0.5]

Ends must match exactly; the end of a text, which every system gets for free, is left out. Without
`--threshold`, the best one for the mean over languages is used, for texts as written and bare. The
last line says what a threshold for each language would gain, chosen on its other documents.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sat_bench.models.boundaries import scored_positions
from sat_bench.models.segmenter import Segmenter
from training.corruption import MarkedText, lowered, without_punctuation
from training.documents import Document, read_mix
from training.world.languages import UNSPACED
from training.world.text import KEPT_OUT
from truemark.counts import Counts, scores, total
from truemark.curve import Curve, curve_of, grid, sweep
from truemark.matching import ScoredPositions
from truemark.tables import Table, render

THRESHOLDS = grid(0.05, 0.96, 0.05)
WRITTEN, BARE = "written", "bare"
SEVERAL = 4  # documents, to choose a threshold of a language on some and try it on another
Kinds = dict[str, list[list[Counts]]]  # of each kind of text: by document, by threshold


def kept_out(mix: Path) -> dict[str, list[Document]]:
    """Read the documents that training leaves out, by language."""
    by_language: dict[str, list[Document]] = {}
    for document in read_mix(mix):
        by_language.setdefault(document.style, []).append(document)
    return {
        name: documents[KEPT_OUT - 1 :: KEPT_OUT] for name, documents in sorted(by_language.items())
    }


def marked(document: Document, kind: str) -> MarkedText:
    """Join a document as it is written, or in lower case without punctuation."""
    gap = "" if document.style in UNSPACED else " "
    ends = np.cumsum([len(sentence) + len(gap) for sentence in document.sentences]) - len(gap)
    text = MarkedText(gap.join(document.sentences), ends.astype(np.int64))
    if kind == WRITTEN:
        return text
    low = MarkedText(lowered(text.text), text.ends)
    return without_punctuation(low, keep_apostrophes=False)


def curves(segmenter: Segmenter, texts: Sequence[MarkedText]) -> list[Curve]:
    """Match the model's ends of each text with the true ends, without the last one."""
    found = []
    answers = segmenter.probabilities_many(text.text for text in texts)
    for text, probabilities in zip(texts, answers, strict=True):
        scored = scored_positions(text.text, probabilities)
        inner = scored.positions < text.ends[-1]
        inside = ScoredPositions(scored.positions[inner], scored.scores[inner])
        found.append(curve_of(inside, text.ends[:-1].tolist(), 0))
    return found


def counts_by_threshold(
    segmenter: Segmenter, documents: Sequence[Document], kind: str
) -> list[list[Counts]]:
    """Count the matches of each document at each threshold of the grid."""
    texts = [marked(document, kind) for document in documents]
    return [
        [point.counts for point in sweep([curve], THRESHOLDS, empty=0.0)]
        for curve in curves(segmenter, texts)
    ]


def f1_by_threshold(documents: Sequence[Sequence[Counts]]) -> list[float]:
    """Compute F1 over all documents at each threshold of the grid."""
    return [scores(total(counts), empty=0.0).f1 for counts in zip(*documents, strict=True)]


def gains(kinds: Kinds, at: int) -> dict[str, float]:
    """Return the change of F1 of each kind of text with a threshold chosen on other documents."""
    found: dict[str, list[Counts]] = {kind: [] for kind in kinds}
    for place in range(len(kinds[WRITTEN])):
        others = {kind: [*texts[:place], *texts[place + 1 :]] for kind, texts in kinds.items()}
        best = int(np.mean([f1_by_threshold(texts) for texts in others.values()], axis=0).argmax())
        for kind, texts in kinds.items():
            found[kind].append(texts[place][best])
    return {
        kind: scores(total(counts), empty=0.0).f1 - f1_by_threshold(kinds[kind])[at]
        for kind, counts in found.items()
    }


def table_of(by_language: dict[str, Kinds], at: int) -> Table:
    """Show F1 by language at one threshold of the grid, and the best threshold of each language."""
    rows: list[tuple[object, ...]] = []
    for language, kinds in by_language.items():
        written, bare = (f1_by_threshold(kinds[kind]) for kind in (WRITTEN, BARE))
        both = np.mean([written, bare], axis=0)
        rows.append((language, written[at], bare[at], THRESHOLDS[int(both.argmax())]))
    means = [float(np.mean([row[column] for row in rows])) for column in (1, 2)]
    rows.append(("mean", *means, None))
    columns = ("language", "as written", "bare", "best at")
    return Table(columns, tuple(rows), (None, ".3f", ".3f", ".2f"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("--threshold", type=float, choices=THRESHOLDS)
    options = parser.parse_args()
    found: dict[str, Kinds] = {}
    with Segmenter(options.model, options.tokenizer) as segmenter:
        for language, documents in kept_out(options.documents).items():
            found[language] = {
                kind: counts_by_threshold(segmenter, documents, kind) for kind in (WRITTEN, BARE)
            }
    each = [f1_by_threshold(texts) for kinds in found.values() for texts in kinds.values()]
    at = int(np.mean(each, axis=0).argmax())
    if options.threshold is not None:
        at = THRESHOLDS.index(options.threshold)
    print(f"threshold {THRESHOLDS[at]:.2f}")
    print(render(table_of(found, at), "markdown"), end="")
    several = [gains(kinds, at) for kinds in found.values() if len(kinds[WRITTEN]) >= SEVERAL]
    for kind in (WRITTEN, BARE):
        changes = [gain[kind] for gain in several]
        print(
            f"own threshold, {kind}: {np.mean(changes):+.4f} in {len(several)} languages, "
            f"{sum(change > 0 for change in changes)} of them better"
        )


if __name__ == "__main__":
    main()
