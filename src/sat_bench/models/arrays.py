"""The arrays that tokens, logits and probabilities are kept in."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float32]
Number = TypeVar("Number", bound=np.generic)


class GrowingArray(Generic[Number]):
    """An array that is appended to in place: what it holds is never there twice."""

    def __init__(self, dtype: type[Number]) -> None:
        self._room = np.empty(1024, dtype)
        self._length = 0

    def append(self, values: npt.NDArray[Number]) -> None:
        """Appends the values."""
        length = self._length + len(values)
        if length > len(self._room):
            # Large arrays are extended where they are, and room takes no memory until it is used.
            self._room.resize(2 * length, refcheck=False)
        self._room[self._length : length] = values
        self._length = length

    def finish(self) -> npt.NDArray[Number]:
        """All values; nothing can be appended afterwards."""
        self._room.resize(self._length, refcheck=False)
        return self._room
