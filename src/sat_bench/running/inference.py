"""Run systems: on this machine, on a cluster, or from the cache of an earlier run."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from sat_bench import models
from sat_bench.defaults import (
    DEFAULT_RUNTIME,
    DEFAULT_TIMEOUT_S,
    DEFAULT_WEIGHTING,
    Runtime,
    Weighting,
)
from sat_bench.models.answers import TextSystem
from sat_bench.models.cards import Reach
from sat_bench.models.protocol import BoundaryModel, Probabilities
from sat_bench.models.segmenter import open_segmenter
from sat_bench.models.stored import AnyModel, StoredPredictions
from sat_bench.models.systems import ModelFiles, System
from sat_bench.running.cache import ProbabilityCache
from sat_bench.running.cluster import Cluster
from truemark.errors import TruemarkError
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


Tag = TypeVar("Tag")


def _silent(line: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Inference:
    """How systems are run; `watch` wraps a model to show its progress.

    `overlap`, `weighting` and `runtime` are for SaT models; None means the model's own overlap.
    `timeout_s` limits a program for each text.
    """

    overlap: int | None = None
    cache: ProbabilityCache | None = None
    cluster: Cluster | None = None
    note: Callable[[str], None] = _silent
    watch: Callable[[str, BoundaryModel], AbstractContextManager[BoundaryModel]] | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S
    weighting: Weighting = DEFAULT_WEIGHTING
    runtime: Runtime = DEFAULT_RUNTIME

    @contextmanager
    def opened(self, system: System) -> Iterator[AnyModel]:
        """Yield the model of the system; a cached one is loaded when a text needs it."""
        if isinstance(system, StoredPredictions):
            yield system
            return
        if isinstance(system, ModelFiles) and system.int8:
            self.note(f"{system.name}: {_INT8_NOTES[system.int8].format(system.model)}")
        with ExitStack() as stack:
            cached = self._cached(system, stack)
            model = cached or self._loaded(system, stack)
            if self.watch:
                model = stack.enter_context(self.watch(system.name, model))
            yield model
        if cached:
            self.note(f"{system.name}: {cached.hits_in_words}")

    def _cached(self, system: ModelFiles | TextSystem, stack: ExitStack) -> CachedModel | None:
        if not self.cache:
            return None
        return CachedModel(
            self.cache, self._identity(system), lambda: self._loaded(system, stack), self.note
        )

    def _loaded(self, system: ModelFiles | TextSystem, stack: ExitStack) -> BoundaryModel:
        if self.cluster:
            if isinstance(system, ModelFiles):
                return self.cluster.model(system, self._reach(system), self.runtime)
            return self.cluster.system(system.name, self.timeout_s)
        if not isinstance(system, ModelFiles):
            return stack.enter_context(system.opened())
        reach = self._reach(system)
        return stack.enter_context(
            open_segmenter(system.model, system.tokenizer, reach, self.runtime)
        )

    def _reach(self, system: ModelFiles) -> Reach:
        return system.reach.sharing(self.overlap, self.weighting)

    def _identity(self, system: ModelFiles | TextSystem) -> str:
        """Name everything that answers depend on besides the text."""
        if not isinstance(system, ModelFiles):
            return signature_line({"engine": _sources(_READING), **system.identity})
        model, tokenizer = system.checksums
        reach = self._reach(system)
        return signature_line(
            {
                "engine": _sources(_ENGINE),
                **{name: _version(name) for name in _LIBRARIES},
                "model": model,
                "tokenizer": tokenizer,
                "window": reach.window,
                "overlap": reach.overlap,
                "weighting": reach.weighting,
                "runtime": _runtime(self.runtime),
            }
        )


class CachedModel:
    """A model that is opened and run only for texts whose probabilities are not in the cache."""

    def __init__(
        self,
        cache: ProbabilityCache,
        identity: str,
        open_model: Callable[[], BoundaryModel],
        note: Callable[[str], None],
    ) -> None:
        self._cache, self._identity = cache, identity.encode()
        self._open_model, self._note = open_model, note
        self._model: BoundaryModel | None = None
        self._keeps = True
        self._hits = self._texts = 0

    @property
    def hits_in_words(self) -> str:
        """A sentence about how many texts needed no inference."""
        return f"{self._hits} of {self._texts} talks taken from the cache {self._cache.folder}"

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        # Consecutive texts that are not in the cache go through the model together; a hit ends such
        # a group, so that at most one text is read beyond what the model itself reads ahead.
        for missing, entries in groupby(map(self._look_up, texts), lambda entry: entry[2] is None):
            if missing:
                yield from self._computed((text, key) for text, key, _ in entries)
                continue
            for _, _, kept in entries:
                self._hits += 1
                assert kept
                yield replace(kept, replayed=True)

    def _look_up(self, text: str) -> tuple[str, bytes, Probabilities | None]:
        self._texts += 1
        content = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
        key = hashlib.sha256(self._identity + content.digest()).digest()
        kept = self._cache.load(key, len(text))
        if kept is not None and len(kept.ends) and kept.ends[-1] > len(text):
            kept = None  # belongs to another text
        return text, key, kept

    def _computed(self, entries: Iterable[tuple[str, bytes]]) -> Iterator[Probabilities]:
        self._model = self._model or self._open_model()
        for key, probabilities in tagged_answers(self._model, entries):
            self._keep(key, probabilities)
            yield probabilities

    def _keep(self, key: bytes, probabilities: Probabilities) -> None:
        try:
            if self._keeps:
                self._cache.store(key, probabilities)
        except TruemarkError as error:
            # A full disk must not stop the measurement.
            self._keeps = False
            self._note(f"probabilities are no longer cached: {error}")


def tagged_answers(
    model: BoundaryModel, texts: Iterable[tuple[str, Tag]]
) -> Iterator[tuple[Tag, Probabilities]]:
    """Yield the tag of each text with the text's probabilities, in order."""
    # The model reads a few texts ahead of the one it answers.
    waiting: deque[Tag] = deque()

    def read() -> Iterator[str]:
        for text, tag in texts:
            waiting.append(tag)
            yield text

    for probabilities in model.probabilities_many(read()):
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
