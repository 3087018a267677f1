"""Texts for which the sentence ends of wtpsplit-lite are stored with the tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sat_bench.defaults import BUNDLED_CORPUS
from sat_bench.models.tokenizer import Tokenizer
from testing.onnx_models import write_table_model

STORED = Path(__file__).parents[1] / "tests" / "sat_bench" / "stored" / "wtpsplit_lite.json"
THRESHOLDS = (0.025, 0.1, 0.5)
CHARACTERS = 12_000
TEXTS = (
    "its door for 8 seconds. After two, it holds for 1",
    " have 3,148 of them, from four cities, and ea",
    "nd that was the shortest test of my career. 3 minutes and 4",
    ". When the doctor says “I,” I say “I.” I don’t s",
    "It cost €40 and ¥3.",
    "Naïve 漢字 café 😀 yes. No",
    "Ωmega is 3%. §5 says ‘no’.",
    "Well… — and ½ cup. ①②",
    "Two  spaces,   then 7 more.\n\n9 lines follow",
    "zq xj 5 vw the rain",
)


def long_text() -> str:
    """Return the first bundled talks on one line."""
    bodies = [
        path.read_text(encoding="utf-8").split("\n\n", 1)[1]
        for path in sorted(BUNDLED_CORPUS.glob("*.txt"))
    ]
    return " ".join(" ".join(bodies).split())[:CHARACTERS].rstrip()


def write_lookup_model(path: Path, tokenizer: Path) -> Path:
    """Write a model with a fixed logit for each piece, as many above 0 as below."""
    pieces = Tokenizer(tokenizer).highest_id + 1
    table = np.random.default_rng(7).choice([-3.0, -1.0, 1.0, 3.0], (pieces, 1))
    return write_table_model(path, table.astype(np.float32))
