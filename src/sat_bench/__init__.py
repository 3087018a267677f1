"""Benchmark of sentence segmentation models on talk transcripts."""

TYPE_CHECKING = False  # importing typing takes time, during which Ctrl-C is not handled
if TYPE_CHECKING:
    from sat_bench.corpus.loading import load_corpus
    from sat_bench.corpus.talks import Talk
    from sat_bench.measure import compare, evaluate, sweep
    from sat_bench.models.segmenter import Segmenter
    from sat_bench.models.systems import find_system

__all__ = ["Segmenter", "Talk", "compare", "evaluate", "find_system", "load_corpus", "sweep"]

_HOMES = {
    "corpus.loading": ("load_corpus",),
    "corpus.talks": ("Talk",),
    "measure": ("compare", "evaluate", "sweep"),
    "models.segmenter": ("Segmenter",),
    "models.systems": ("find_system",),
}


def __getattr__(name: str) -> object:
    from truemark.imports import lazy_attribute

    return lazy_attribute(__name__, _HOMES, name)
