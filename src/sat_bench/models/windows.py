"""Cut a text of any length into windows of a few hundred tokens, and average their logits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from sat_bench.defaults import WINDOW_TOKENS, Weighting
from sat_bench.models.protocol import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Window:
    """A run of a text's tokens; `start` is counted in tokens."""

    start: int
    ids: IntArray


def windows(chunks: Iterable[IntArray], size: int, overlap: int) -> Iterator[Window]:
    """Cut tokens into windows of `size`, each sharing `overlap` tokens with the previous one.

    The last window is moved back so that it is full; a text shorter than a window is one short
    window. At most a window and a chunk of tokens are held in memory.
    """
    if not 0 <= overlap < size:
        raise ValueError(
            f"overlap must be at least 0 and below the window of {size}, got {overlap}"
        )
    held = np.zeros(0, np.int32)
    held_from = start = 0
    for chunk in chunks:
        held = np.concatenate([held, chunk]) if len(held) else chunk
        # Wait for one token more than a window: the last window is placed when the end is known.
        while held_from + len(held) > start + size:
            yield Window(start, held[start - held_from : start - held_from + size])
            start += size - overlap
        # The last window may start up to a full window before the end.
        keep = min(len(held), max(held_from + len(held) - start, size))
        held, held_from = held[len(held) - keep :], held_from + len(held) - keep
    if len(held):
        last = held[max(0, len(held) - size) :]
        yield Window(held_from + len(held) - len(last), last)


@lru_cache(maxsize=2 * WINDOW_TOKENS)
def window_weights(length: int, weighting: Weighting) -> FloatArray:
    """Return the weights of a window's tokens in the average: equal, or lower near its edges.

    The array is read-only, since all windows of the same length share it.
    """
    ramp = np.arange(1, length + 1, dtype=np.float32)
    weights = np.ones_like(ramp) if weighting == "uniform" else np.minimum(ramp, ramp[::-1])
    weights.setflags(write=False)
    return weights


class WindowAverage:
    """Averages the logits of windows, added in order of their starts, into probabilities.

    Besides the result, only the last window is held in memory. Uniform weights are summed in half
    precision, as in wtpsplit, so that every boundary agrees with it.
    """

    def __init__(self, weighting: Weighting) -> None:
        self._weighting = weighting
        self._settled: list[FloatArray] = [np.zeros(0, np.float32)]
        self._open_from = 0
        self._kind: type[np.floating[Any]] = np.float16 if weighting == "uniform" else np.float32
        self._sums: npt.NDArray[np.floating[Any]] = np.zeros(0, self._kind)
        self._weights: npt.NDArray[np.floating[Any]] = np.zeros(0, self._kind)

    def add(self, start: int, logits: FloatArray) -> None:
        """Add the logits of the window that begins at token `start`."""
        settled = start - self._open_from
        if not 0 <= settled <= len(self._sums):
            raise ValueError(
                f"window must start from {self._open_from} to "
                f"{self._open_from + len(self._sums)}, got {start}"
            )
        self._settle(settled)
        weights = window_weights(len(logits), self._weighting)
        sums, shared = logits * weights, len(self._sums) - settled
        if shared:
            sums[:shared] += self._sums[settled:]
            weights = weights.copy()
            weights[:shared] += self._weights[settled:]
        self._sums = sums.astype(self._kind, copy=False)
        self._weights = weights.astype(self._kind, copy=False)
        self._open_from = start

    def finish(self) -> FloatArray:
        """Return one probability for each token of the text."""
        self._settle(len(self._sums))
        return np.concatenate(self._settled)

    def _settle(self, count: int) -> None:
        if not count:
            return
        average = self._sums[:count] / self._weights[:count]
        self._settled.append(sigmoid(average.astype(np.float32, copy=False)))


def sigmoid(logits: FloatArray) -> FloatArray:
    # The exponent is never positive, so nothing overflows and small values stay precise.
    small: FloatArray = np.exp(-np.abs(logits))
    return np.where(logits >= 0, 1, small).astype(np.float32) / (1 + small)


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Group windows of similar length to run together, at most `budget` tokens with padding.

    The longest come first; a window longer than the budget runs alone.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch and lengths[batch[0]] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
