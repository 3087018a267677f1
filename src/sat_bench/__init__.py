"""Benchmark of sentence segmentation models on talk transcripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from truemark.imports import on_first_use

if TYPE_CHECKING:
    from sat_bench.corpus.loading import load_corpus
    from sat_bench.corpus.talks import Talk
    from sat_bench.evaluation import compare, evaluate, sweep
    from sat_bench.models.segmenter import Segmenter
    from sat_bench.models.systems import find_system

__all__ = ["Segmenter", "Talk", "compare", "evaluate", "find_system", "load_corpus", "sweep"]

__getattr__ = on_first_use(
    __name__,
    {
        "corpus.loading": ("load_corpus",),
        "corpus.talks": ("Talk",),
        "evaluation": ("compare", "evaluate", "sweep"),
        "models.segmenter": ("Segmenter",),
        "models.systems": ("find_system",),
    },
)
