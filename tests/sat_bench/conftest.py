from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from testing.onnx_models import (
    write_table_model,
    write_terminator_model,
    write_tokenizer,
)


@pytest.fixture(scope="session")
def tokenizer_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SentencePiece model with XLM-RoBERTa's normalisation."""
    return write_tokenizer(tmp_path_factory.mktemp("tokenizer") / "sentencepiece.bpe.model")


@pytest.fixture(scope="session")
def line_tokenizer_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SentencePiece model that keeps line breaks as pieces of their own."""
    path = tmp_path_factory.mktemp("line_tokenizer") / "sentencepiece.bpe.model"
    return write_tokenizer(path, symbols=["\n"])


@pytest.fixture(scope="session")
def model_path(tokenizer_path: Path) -> Path:
    """A model that ends a sentence at every full stop, question mark and exclamation mark."""
    return write_terminator_model(tokenizer_path.parent / "model.onnx", tokenizer_path)


@pytest.fixture(scope="session")
def noisy_model(tokenizer_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose probabilities spread over the whole range, so that thresholds matter."""
    table = np.random.default_rng(7).normal(-1, 2, (400, 1)).astype(np.float32)
    folder = tmp_path_factory.mktemp("noisy")
    (folder / "sentencepiece.bpe.model").write_bytes(tokenizer_path.read_bytes())
    return write_table_model(folder / "noisy.onnx", table)
