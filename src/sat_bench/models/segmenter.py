"""Sentence segmentation of any text with a SaT model."""

from __future__ import annotations

import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from sat_bench.defaults import (
    DEFAULT_RUNTIME,
    DEFAULT_THRESHOLD,
    DEFAULT_WEIGHTING,
    Runtime,
    Weighting,
)
from sat_bench.models.boundaries import (
    last_probability,
    scored_positions,
    sentence_ends,
    sentences,
)
from sat_bench.models.cards import (
    ForeignTextWarning,
    Windowing,
    foreign_text,
    longest_window,
    windowing_of,
)
from sat_bench.models.network import Network
from sat_bench.models.protocol import FloatArray, IntArray, ModelNotFound, Probabilities
from sat_bench.models.runtimes import available_cores
from sat_bench.models.systems import find_model
from sat_bench.models.tokenizer import Tokenizer
from sat_bench.models.windows import Window, WindowAverage, batches, windows
from truemark.matching import ScoredPositions

# Short windows run in batches of up to this many tokens; larger batches are slower for all models.
BATCH_TOKENS = 256
LANGUAGE_CHECKED = 5_000  # the language of texts is guessed until so many characters were seen
# Small enough that the model starts while the rest of a list of short texts is being read.
POOL_TOKENS = 4_096
POOLS_AHEAD = 8
# Fewer than in most texts, so that a text of up to this many characters per token fits one window.
CHARACTERS_PER_TOKEN = 3

_Span = tuple[float, float]  # when a piece of work began and ended


@dataclass(slots=True)
class _Reading:
    """A text that the model is working on."""

    text: str
    average: WindowAverage
    spans: list[_Span] = field(default_factory=list)  # of the work on it, in any thread
    ends: list[IntArray] = field(default_factory=list)  # of its tokens, chunk by chunk
    waiting: int = 0  # windows not averaged yet
    read: bool = False  # whether all windows of the text are known

    def probabilities(self) -> Probabilities:
        ends = np.concatenate([np.zeros(0, np.int32), *self.ends])
        return Probabilities(ends, self.average.finish(), seconds=covered_seconds(self.spans))


# Windows of one or more texts, and their runs in batches of similar length, by their indices.
_Pool = tuple[
    list[tuple[_Reading, Window]], list[tuple[list[int], Future[tuple[list[FloatArray], _Span]]]]
]


class Segmenter:
    """Finds sentence ends with a SaT model; a context manager, safe to share between threads.

    The probabilities of a text do not depend on the timing of threads. Other texts of the same call
    may change their last bits, and with an int8 model more than that, because windows of similar
    length run in one batch; with `batch_tokens=0` every window runs alone. By default, windows are
    those of the card beside the model, or as long as the model can read. Without a tokenizer, the
    model is a name that `find_system` knows, such as `small`, and has the threshold of its card.
    """

    def __init__(
        self,
        model: str | Path,
        tokenizer: str | Path | None = None,
        threshold: float | None = None,
        *,
        window: int | None = None,
        overlap: int | None = None,
        weighting: Weighting = DEFAULT_WEIGHTING,
        batch_tokens: int = BATCH_TOKENS,
        threads: int | None = None,
        runtime: Runtime = DEFAULT_RUNTIME,
    ) -> None:
        self._name, self._languages = str(model), frozenset[str]()
        if tokenizer is None:
            files = find_model(str(model))
            self._languages = files.languages
            model, tokenizer = files.model, files.tokenizer
            threshold = files.threshold if threshold is None else threshold
        elif not Path(model).is_file():
            raise ModelNotFound(f"{model}: no such model file")
        threshold = DEFAULT_THRESHOLD if threshold is None else threshold
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold must be from 0 to 1, got {threshold}")
        windowing = windowing_of(Path(model))
        window = windowing.window if window is None else window
        # The card is not checked: reading the positions takes as long as loading a small model.
        if not 1 <= window <= windowing.window:
            longest = longest_window(Path(model))
            if not 1 <= window <= longest:
                raise ValueError(f"window must be from 1 to {longest} tokens, got {window}")
        overlap = min(windowing.overlap, window // 2) if overlap is None else overlap
        if not 0 <= overlap < window:
            raise ValueError(f"overlap must be from 0 to {window - 1} tokens, got {overlap}")
        if threads is not None and threads < 1:
            raise ValueError(f"threads must be 1 or more, got {threads}")
        self.threshold = threshold
        self._unchecked = LANGUAGE_CHECKED if self._languages else 0
        self._closed = False
        self._window, self._overlap, self._weighting = window, overlap, weighting
        self._short = window * CHARACTERS_PER_TOKEN
        self._batch_tokens = batch_tokens
        self.tokenizer = Tokenizer(tokenizer)
        self._threads = threads or available_cores()
        self.network = Network(
            model, self.tokenizer.highest_id, cores=self._threads, runtime=runtime
        )
        self._running_here = threading.Lock()
        self._executor = ThreadPoolExecutor(self._threads, thread_name_prefix="segmenter")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the threads; the segmenter cannot be used afterwards."""
        self._closed = True
        self._executor.shutdown(wait=True, cancel_futures=True)

    def segment(self, text: str) -> list[str]:
        """Cut the text into sentences; joined, they are the text."""
        if not isinstance(text, str):
            raise TypeError(
                f"text must be a string, got {type(text).__name__}; segment_many takes several"
            )
        return sentences(text, self.boundaries(text))

    def segment_many(self, texts: Iterable[str]) -> list[list[str]]:
        """Cut each text into sentences, in order."""
        return [
            sentences(text, sentence_ends(text, probabilities, self.threshold))
            for text, probabilities in self._read(texts)
        ]

    def boundaries(self, text: str) -> list[int]:
        """Return the offset after each sentence's last character, the end of the text included."""
        return sentence_ends(text, self.probabilities(text), self.threshold)

    def scored_boundaries(self, text: str) -> ScoredPositions:
        """Return every possible boundary with its probability, the end of the text included."""
        return scored_positions(text, self.probabilities(text))

    def probabilities(self, text: str) -> Probabilities:
        """Return the end of each token and the probability that a sentence ends there."""
        self._check_open()
        quick = self._in_one_run(text) if len(text) <= self._short else None
        return next(self.probabilities_many([text])) if quick is None else quick

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        """Yield the `probabilities` of each text, in order; texts are read as they are needed."""
        return (probabilities for _, probabilities in self._read(texts))

    def is_complete(self, text: str) -> tuple[bool, float]:
        """Whether the text ends with a sentence's end, and the probability that it does."""
        probability = last_probability(text, self.probabilities(text))
        return probability > self.threshold, probability

    def _check_language(self, text: str) -> None:
        """Warn once when one of the first texts is in a language that the model does not read."""
        if self._unchecked <= 0:
            return
        self._unchecked -= len(text)
        if line := foreign_text(self._name, self._languages, text):
            self._unchecked = 0
            warnings.warn(line, ForeignTextWarning, stacklevel=_level_of_caller())

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("the segmenter is closed")

    def _in_one_run(self, text: str) -> Probabilities | None:
        """Run a text of one window in this thread; return None if that is not possible.

        The result is that of `_read`, without its threads and queues, which take as long as a small
        model.
        """
        # Only one caller at a time runs here; concurrent callers share the threads.
        if not self._running_here.acquire(blocking=False):
            return None
        try:
            begun = time.perf_counter()
            tokens = self.tokenizer.encode(text)
            if not 1 <= len(tokens) <= self._window:
                return None
            (logits,) = self.network.logits([tokens.ids], spread=self._threads > 1)
            seconds = time.perf_counter() - begun
        finally:
            self._running_here.release()
        self._check_language(text)
        average = WindowAverage(self._weighting)
        average.add(0, logits)
        return Probabilities(tokens.ends, average.finish(), seconds=seconds)

    def _read(self, texts: Iterable[str]) -> Iterator[tuple[str, Probabilities]]:
        self._check_open()
        order: deque[_Reading] = deque()
        pools: deque[_Pool] = deque()
        try:
            for pool in self._pools(texts, order):
                pools.append(pool)
                # The submitted pools keep the model busy while this thread reads more text.
                if len(pools) >= POOLS_AHEAD:
                    _average(pools[0])
                    pools.popleft()
                yield from _finished(order)
            while pools:
                _average(pools[0])
                pools.popleft()
                yield from _finished(order)
        finally:
            for _, runs in pools:
                for _, future in runs:
                    future.cancel()

    def _pools(self, texts: Iterable[str], order: deque[_Reading]) -> Iterator[_Pool]:
        members: list[tuple[_Reading, Window]] = []
        tokens, alone = 0, True
        for reading, window in self._windows(texts, order):
            if window:
                members.append((reading, window))
            # The end of a text counts as a member, so that texts without tokens fill pools too.
            tokens += len(window.ids) if window else 1
            if tokens >= POOL_TOKENS:
                yield self._submit(members)
                members, tokens, alone = [], 0, False
        yield self._submit(members, alone=alone)

    def _windows(
        self, texts: Iterable[str], order: deque[_Reading]
    ) -> Iterator[tuple[_Reading, Window | None]]:
        """Yield each window of each text, and None at the end of a text."""
        for text in texts:
            self._check_language(text)
            reading = _Reading(text, WindowAverage(self._weighting))
            order.append(reading)
            for window in windows(self._ids(reading), self._window, self._overlap):
                reading.waiting += 1
                yield reading, window
            reading.read = True
            yield reading, None

    def _ids(self, reading: _Reading) -> Iterator[IntArray]:
        begun = time.perf_counter()
        for tokens in self.tokenizer.encode_chunks(reading.text):
            reading.ends.append(tokens.ends)
            reading.spans.append((begun, time.perf_counter()))
            yield tokens.ids
            begun = time.perf_counter()

    def _submit(self, members: list[tuple[_Reading, Window]], *, alone: bool = False) -> _Pool:
        """Start running the windows; `alone` says that no others are running."""
        lengths = [len(window.ids) + 2 for _, window in members]
        together = list(batches(lengths, self._batch_tokens))
        # With fewer windows than cores, it is faster to run each window on all cores.
        logits = partial(self.network.logits, spread=alone and len(together) < self._threads)
        runs = [
            (batch, self._executor.submit(_timed, logits, [members[i][1].ids for i in batch]))
            for batch in together
        ]
        return members, runs


def open_segmenter(
    model: Path, tokenizer: Path, windowing: Windowing, runtime: Runtime, threads: int | None = None
) -> Segmenter:
    """Load a model for measuring: the results of a talk must not depend on other talks."""
    # If windows of several texts shared a batch, the other talks of the corpus, and on which
    # worker a talk runs, would change the results.
    return Segmenter(
        model,
        tokenizer,
        window=windowing.window,
        overlap=windowing.overlap,
        weighting=windowing.weighting,
        batch_tokens=0,
        threads=threads,
        runtime=runtime,
    )


def _level_of_caller() -> int:
    """Count the calls from the line outside this module to the function that asks."""
    level, frame = 0, sys._getframe(1)
    while frame.f_code.co_filename == __file__ and frame.f_back:
        level, frame = level + 1, frame.f_back
    return level + 1


def _timed(
    logits: Callable[[Sequence[IntArray]], list[FloatArray]], ids: Sequence[IntArray]
) -> tuple[list[FloatArray], _Span]:
    begun = time.perf_counter()
    rows = logits(ids)
    return rows, (begun, time.perf_counter())


def _finished(order: deque[_Reading]) -> Iterator[tuple[str, Probabilities]]:
    while order and order[0].read and not order[0].waiting:
        reading = order.popleft()
        yield reading.text, reading.probabilities()


def _average(pool: _Pool) -> None:
    """Wait for the pool and average its windows, in text order whatever order they ran in."""
    members, runs = pool
    logits: dict[int, FloatArray] = {}
    for batch, future in runs:
        rows, span = future.result()
        logits.update(zip(batch, rows, strict=True))
        for index in batch:
            members[index][0].spans.append(span)
    for index, (reading, window) in enumerate(members):
        reading.average.add(window.start, logits[index])
        reading.waiting -= 1


def covered_seconds(spans: Iterable[_Span]) -> float:
    """Sum the time that the spans cover; time that several of them share counts once."""
    seconds = until = 0.0
    for begun, ended in sorted(spans):
        seconds += max(0.0, ended - max(begun, until))
        until = max(ended, until)
    return seconds
