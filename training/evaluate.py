"""Boundary F1 of finished model files on gold documents, through `sat_bench`, at one threshold.

python -m training.evaluate GOLD_DIR small nano --threshold 0.4
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from sat_bench.boundaries import scored_positions
from sat_bench.models import find_model
from sat_bench.segmenter import Segmenter
from training.corruption import MarkedText, join, lowered, without_punctuation
from training.documents import Document, read_gold
from truemark.calibration import expected_calibration_error
from truemark.counts import Weights, scores
from truemark.sweep import ScoredPositions, best, exact_curve, sweep
from truemark.tables import Table, render

COLUMNS = ("model", "documents", "text", "threshold", "F1", "best F1", "at", "calibration error")
FORMATS = (None, None, None, ".3f", ".4f", ".4f", ".3f", ".4f")
Row = tuple[str, str, str, float, float, float, float, float]


def as_written(document: Document) -> MarkedText:
    return join(document.sentences)


def bare(document: Document) -> MarkedText:
    """The document in lower case and without punctuation, apostrophes included."""
    marked = join(document.sentences)
    return without_punctuation(
        MarkedText(lowered(marked.text), marked.ends), keep_apostrophes=False
    )


def bare_with_apostrophes(document: Document) -> MarkedText:
    """The same, but a speech recogniser's spelling: don't, it's."""
    marked = join(document.sentences)
    return without_punctuation(MarkedText(lowered(marked.text), marked.ends), keep_apostrophes=True)


KINDS = {
    "as written": as_written,
    "lower case, no punctuation": bare,
    "the same, apostrophes kept": bare_with_apostrophes,
}


def evaluate(segmenter: Segmenter, texts: Sequence[MarkedText], threshold: float) -> list[float]:
    """F1 at the threshold, the best F1, its threshold, and the calibration error over tokens."""
    probabilities = list(segmenter.probabilities_many(marked.text for marked in texts))
    groups = [
        (scored_positions(marked.text, p), [int(end) for end in marked.ends])
        for marked, p in zip(texts, probabilities, strict=True)
    ]
    here = scores(sweep(groups, [threshold], 0)[0].counts, empty=0.0).f1
    curve = exact_curve(groups, 0)
    top = best(curve.turning_points(), Weights(), empty=0.0)
    return [
        here,
        scores(top.counts, empty=0.0).f1,
        top.threshold,
        _calibration_error(groups),
    ]


def _calibration_error(groups: Iterable[tuple[ScoredPositions, list[int]]]) -> float:
    """Over every place that could be an end, save the ends of texts, which are certain."""
    p, true = [], []
    for scored, ends in groups:
        open_ended = np.isfinite(scored.scores)
        p.append(np.asarray(scored.scores)[open_ended])
        true.append(np.isin(np.asarray(scored.positions)[open_ended], ends))
    return float(expected_calibration_error(np.concatenate(p), np.concatenate(true)))


def rows(gold: Path, models: Sequence[str], threshold: float | None) -> Iterable[Row]:
    """A row for each model, gold file and kind of text; without a threshold, the model card's."""
    for name in models:
        files = find_model(name)
        used = threshold if threshold is not None else files.threshold or 0.025
        with Segmenter(files.model, files.tokenizer) as segmenter:
            for path in sorted(gold.glob("*.jsonl.gz")):
                documents = read_gold(path)
                for kind, text in KINDS.items():
                    f1, top, at, error = evaluate(segmenter, [text(d) for d in documents], used)
                    yield name, path.name.split(".")[0], kind, used, f1, top, at, error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gold", type=Path)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--threshold", type=float)
    options = parser.parse_args()
    table = Table(COLUMNS, tuple(rows(options.gold, options.models, options.threshold)), FORMATS)
    print(render(table, "markdown"), end="")


if __name__ == "__main__":
    main()
