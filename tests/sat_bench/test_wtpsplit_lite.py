"""The segmenter beside wtpsplit-lite 0.2.0, whose output benchmarks/wtpsplit_peer.py stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from testing.wtpsplit_cases import STORED, TEXTS, THRESHOLDS, long_text, write_lookup_model

from sat_bench.models.segmenter import Segmenter
from sat_bench.models.systems import find_model

STRIDE = 64


@pytest.fixture(scope="module")
def stored() -> Any:
    return json.loads(STORED.read_text(encoding="utf-8"))


def test_uniform_windows_of_its_stride_give_all_its_boundaries_of_a_trained_model(
    stored: Any,
) -> None:
    files = find_model("small")
    window = files.windowing.window
    with Segmenter(
        files.model,
        files.tokenizer,
        window=window,
        overlap=window - STRIDE,
        weighting="uniform",
        batch_tokens=0,
    ) as segmenter:
        scored = segmenter.scored_boundaries(long_text())
    for threshold in THRESHOLDS:
        assert scored.above(threshold) == stored["long text"][str(threshold)]


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_short_texts_with_lone_word_beginnings_split_as_it_splits_them(
    stored: Any, tmp_path: Path, number: int
) -> None:
    tokenizer = find_model("small").tokenizer
    model = write_lookup_model(tmp_path / "model.onnx", tokenizer)
    with Segmenter(model, tokenizer, threshold=0.5) as segmenter:
        assert segmenter.boundaries(TEXTS[number]) == stored["short texts"][number]
