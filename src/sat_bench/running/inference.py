"""Run systems: on this machine, on a cluster, or from the cache of an earlier run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from sat_bench import models
from sat_bench.corpus.talks import Talk
from sat_bench.defaults import (
    DEFAULT_RUNTIME,
    DEFAULT_TIMEOUT_S,
    DEFAULT_WEIGHTING,
    Runtime,
    Weighting,
)
from sat_bench.models.answers import TextSystem
from sat_bench.models.cards import Windowing
from sat_bench.models.protocol import BoundaryModel, Probabilities, Read
from sat_bench.models.segmenter import open_segmenter
from sat_bench.models.stored import StoredPredictions
from sat_bench.models.systems import ModelFiles, System
from sat_bench.running.cache import CachedSystem
from sat_bench.running.cluster import Cluster
from truemark.files import read_bytes
from truemark.signature import data_hash, signature_line

_INT8_NOTES = {
    "made": "made the int8 copy {}",
    "kept": "uses the existing int8 copy {}",
    "itself": "already has int8 weights and runs unchanged: {}",
}
# A change of these modules may change probabilities, so it invalidates older cache entries.
_ENGINE = ("network", "runtimes", "segmenter", "tokenizer", "windows")
_READING = ("alignment", "answers")
_LIBRARIES = ("onnxruntime", "sentencepiece")


@dataclass(frozen=True, slots=True)
class Inference:
    """How systems are run; `watch` wraps the reading of talks to show its progress.

    `overlap`, `weighting` and `runtime` are for SaT models; None means the model's own overlap.
    `cache` is a folder of probabilities. `timeout_s` limits a program for each text.
    """

    overlap: int | None = None
    cache: Path | None = None
    cluster: Cluster | None = None
    note: Callable[[str], None] = lambda line: None
    watch: Callable[[str, Read], AbstractContextManager[Read]] | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S
    weighting: Weighting = DEFAULT_WEIGHTING
    runtime: Runtime = DEFAULT_RUNTIME

    @contextmanager
    def opened(self, system: System) -> Iterator[Read]:
        """Open the system for reading talks; with a cache it is loaded when a talk needs it."""
        if isinstance(system, StoredPredictions):
            yield system.read
            return
        if isinstance(system, ModelFiles) and system.int8:
            self.note(f"{system.name}: {_INT8_NOTES[system.int8].format(system.model)}")
        with ExitStack() as stack:
            load = partial(self._load, system, stack)
            cached = None
            if self.cache:
                cached = CachedSystem(self.cache, self._identity(system), load, self.note)
            read = cached.read if cached else load()
            if self.watch:
                read = stack.enter_context(self.watch(system.name, read))
            yield read
        if cached:
            self.note(f"{system.name}: {cached.hits_in_words}")

    def _load(self, system: ModelFiles | TextSystem, stack: ExitStack) -> Read:
        if isinstance(system, ModelFiles):
            windowing = self._windowing(system)
            if self.cluster:
                return partial(read_talks, self.cluster.model(system, windowing, self.runtime))
            segmenter = open_segmenter(system.model, system.tokenizer, windowing, self.runtime)
            return partial(read_talks, stack.enter_context(segmenter))
        if self.cluster:
            on_workers = self.cluster.system(system.given, self.timeout_s)
            return partial(read_talks, stack.enter_context(on_workers))
        answer = stack.enter_context(system.opened())
        return lambda talks: ((talk, answer(talk.text)) for talk in talks)

    def _windowing(self, system: ModelFiles) -> Windowing:
        return system.windowing.with_overlap(self.overlap, self.weighting)

    def _identity(self, system: ModelFiles | TextSystem) -> str:
        """Name everything that answers depend on besides the text."""
        if not isinstance(system, ModelFiles):
            return signature_line({"engine": _sources(_READING), **system.identity})
        model, tokenizer = system.checksums
        windowing = self._windowing(system)
        return signature_line(
            {
                "engine": _sources(_ENGINE),
                **{name: _version(name) for name in _LIBRARIES},
                "model": model,
                "tokenizer": tokenizer,
                "window": windowing.window,
                "overlap": windowing.overlap,
                "weighting": windowing.weighting,
                "runtime": _runtime(self.runtime),
            }
        )


def read_talks(model: BoundaryModel, talks: Iterable[Talk]) -> Iterator[tuple[Talk, Probabilities]]:
    """Yield each talk with the probabilities of its text, in order."""
    waiting: deque[Talk] = deque()  # the model reads a few texts ahead of the one it answers

    def texts() -> Iterator[str]:
        for talk in talks:
            waiting.append(talk)
            yield talk.text

    for probabilities in model.probabilities_many(texts()):
        yield waiting.popleft(), probabilities


def _runtime(name: Runtime) -> str:
    return f"{name} {_version(name)}" if name == "openvino" else name


def _sources(modules: Iterable[str]) -> str:
    return data_hash(*(read_bytes(Path(*models.__path__, f"{name}.py")) for name in modules))


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:  # a build with another name, such as one for GPUs
        return "unknown"
