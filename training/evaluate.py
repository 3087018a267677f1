"""Measure the boundary F1 of finished models on gold documents at one threshold.

python -m training.evaluate GOLD_DIR base small nano --threshold 0.4
python -m training.evaluate GOLD_DIR work/language/language.small.npz --threshold 0.44

Model files run in `sat_bench`; networks of the width of `base`, and language models, in PyTorch.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np

from sat_bench.models.boundaries import scored_positions
from sat_bench.models.protocol import Probabilities
from sat_bench.models.segmenter import Segmenter
from sat_bench.models.systems import find_model
from training.corruption import MarkedText, bare, join
from training.documents import read_gold_folder
from truemark.calibration import expected_calibration_error
from truemark.curve import curve_of, grid, sweep
from truemark.matching import ScoredPositions
from truemark.tables import Table, render

COLUMNS = ("model", "documents", "text", "threshold", "F1", "best F1", "at", "calibration error")
FORMATS = (None, None, None, ".3f", ".4f", ".4f", ".3f", ".4f")
UNSET_THRESHOLD = 0.025
Row = tuple[str, str, str, float, float, float, float, float]


KINDS: dict[str, Callable[[Sequence[str]], MarkedText]] = {
    "as written": join,
    "lower case, no punctuation": bare,
    "the same, apostrophes kept": partial(bare, keep_apostrophes=True),
}


class Asked(Protocol):
    """A model that says where sentences end."""

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]: ...


@contextmanager
def opened(name: str) -> Iterator[tuple[Asked, float]]:
    """Open the file of a network, or a model by name; yield it with its threshold."""
    if name.endswith(".npz"):
        from training.finished import AskedNetwork, finished_network, started

        network = finished_network(started(Path(name)))
        yield AskedNetwork(network, find_model("base").tokenizer), UNSET_THRESHOLD
        return
    files = find_model(name)
    with Segmenter(files.model, files.tokenizer) as segmenter:
        yield segmenter, files.threshold or UNSET_THRESHOLD


def evaluate(segmenter: Asked, texts: Sequence[MarkedText], threshold: float) -> list[float]:
    """Return F1 at the threshold, the best F1, its threshold, and the calibration error."""
    probabilities = segmenter.probabilities_many(marked.text for marked in texts)
    groups = [
        (scored_positions(marked.text, p), [int(end) for end in marked.ends])
        for marked, p in zip(texts, probabilities, strict=True)
    ]
    curves = [curve_of(scored, ends, 0) for scored, ends in groups]
    points = sweep(curves, [threshold, *grid(0.05, 0.96, 0.01)], empty=0.0)
    at_threshold, *at_grid = [(point.scores.f1, point.threshold) for point in points]
    best_f1, at = max(at_grid)
    return [at_threshold[0], best_f1, at, _calibration_error(groups)]


def _calibration_error(groups: Iterable[tuple[ScoredPositions, list[int]]]) -> float:
    """Compute the calibration error over all places but the ends of texts, which are certain."""
    p, true = [], []
    for scored, ends in groups:
        open_ended = np.isfinite(scored.scores)
        p.append(np.asarray(scored.scores)[open_ended])
        true.append(np.isin(np.asarray(scored.positions)[open_ended], ends))
    return float(expected_calibration_error(np.concatenate(p), np.concatenate(true)))


def table_of(gold: Path, models: Sequence[str], threshold: float | None = None) -> Table:
    """Make a table of the `rows`."""
    return Table(COLUMNS, tuple(rows(gold, models, threshold)), FORMATS)


def rows(gold: Path, models: Sequence[str], threshold: float | None) -> Iterable[Row]:
    """Yield a row per model, gold file and kind of text; the default threshold is the card's."""
    for name in models:
        with opened(name) as (segmenter, own_threshold):
            used = own_threshold if threshold is None else threshold
            for documents_name, documents in read_gold_folder(gold).items():
                for kind, text in KINDS.items():
                    f1, top, at, error = evaluate(
                        segmenter, [text(d.sentences) for d in documents], used
                    )
                    yield name, documents_name, kind, used, f1, top, at, error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gold", type=Path)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--threshold", type=float)
    options = parser.parse_args()
    print(render(table_of(options.gold, options.models, options.threshold), "markdown"), end="")


if __name__ == "__main__":
    main()
