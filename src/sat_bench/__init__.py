"""Benchmark of sentence segmentation models on talk transcripts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sat_bench.corpus.loading import load_corpus
    from sat_bench.corpus.talks import Talk
    from sat_bench.evaluation import compare, evaluate, sweep
    from sat_bench.models.segmenter import Segmenter
    from sat_bench.models.systems import find_system

__all__ = ["Segmenter", "Talk", "compare", "evaluate", "find_system", "load_corpus", "sweep"]

_HOMES = {
    "Segmenter": "models.segmenter",
    "Talk": "corpus.talks",
    "compare": "evaluation",
    "evaluate": "evaluation",
    "find_system": "models.systems",
    "load_corpus": "corpus.loading",
    "sweep": "evaluation",
}


def __getattr__(name: str) -> object:
    # Imported when asked for, so that importing the package loads neither numpy nor a runtime.
    if name not in _HOMES:
        raise AttributeError(f"module 'sat_bench' has no attribute {name!r}")
    return getattr(import_module(f"sat_bench.{_HOMES[name]}"), name)
