"""A folder of probabilities, so that texts a model has read before need no inference."""

from __future__ import annotations

import struct
import tokenize
import zlib
from dataclasses import astuple, fields
from io import BytesIO
from math import inf, nan
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from sat_bench.models.protocol import CERTAIN, Loss, Probabilities
from truemark.errors import TruemarkError
from truemark.files import read_bytes, write_atomically

_BYTES_PER_CHARACTER = 32  # upper bound of the arrays: four tokens end at each character
_LEAST_BYTES = 4_000
_LONGEST_TEXT = np.iinfo(np.int32).max
# The record that ends an archive; zipfile ignores anything after it.
_ARCHIVE_END, _ARCHIVE_END_BYTES = b"PK\x05\x06", 22
_DAMAGES = (
    *(BadZipFile, EOFError, KeyError, MemoryError, NotImplementedError, OSError),
    *(OverflowError, RuntimeError, SyntaxError, TypeError, ValueError),
    *(struct.error, tokenize.TokenError, zlib.error),  # numpy parses a header as Python
)
_TAG = "CACHEDIR.TAG"
_TAG_TEXT = """\
Signature: 8a477f597d28d172789f06886806bc55
# Probabilities kept by sat-bench -cache. The folder may be deleted at any time.
# Backup programs leave it out: https://bford.info/cachedir/
"""


class ProbabilityCache:
    """A folder of probabilities by key; any number of processes may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / _TAG).is_file():
            write_atomically(folder / _TAG, _TAG_TEXT)

    def load(self, key: bytes, characters: int) -> Probabilities | None:
        """Load the entry of a text with this many characters; return None without a valid file."""
        path, largest = self._path(key), _LEAST_BYTES + _BYTES_PER_CHARACTER * characters
        try:
            return decoded(key, read_bytes(path, largest), largest) if path.exists() else None
        except TruemarkError:
            return None

    def store(self, key: bytes, probabilities: Probabilities) -> None:
        """Store the probabilities, completely or not at all."""
        write_atomically(self._path(key), encoded(key, probabilities))

    def _path(self, key: bytes) -> Path:
        name = key.hex()
        return self.folder / name[:2] / f"{name}.probabilities"


def encoded(key: bytes, probabilities: Probabilities) -> bytes:
    """Write the probabilities and their key as a compressed archive of numpy arrays."""
    seconds = nan if probabilities.seconds is None else probabilities.seconds
    content = BytesIO()
    np.savez_compressed(
        content,
        key=np.frombuffer(key, np.uint8),
        steps=np.diff(probabilities.ends, prepend=np.int32(0)),  # these compress better than ends
        values=probabilities.values,
        loss=np.array(astuple(probabilities.loss), np.int64),
        seconds=np.array(seconds),
    )
    return content.getvalue()


def decoded(key: bytes, content: bytes, largest: int) -> Probabilities | None:
    """Read the probabilities of a file; return None if it is damaged or has another key.

    A file that would unpack to more than `largest` bytes is not unpacked.
    """
    if content[-_ARCHIVE_END_BYTES:][:4] != _ARCHIVE_END:
        return None
    try:
        with ZipFile(BytesIO(content)) as archive:
            if sum(member.file_size for member in archive.infolist()) > largest:
                return None
        with np.load(BytesIO(content), allow_pickle=False) as archived:
            arrays = [archived[name] for name in ("key", "steps", "values", "loss", "seconds")]
    except _DAMAGES:
        return None
    # numpy returns a member that is not an array as bytes.
    if not all(isinstance(array, np.ndarray) for array in arrays) or arrays[0].tobytes() != key:
        return None
    return _checked(*arrays[1:])


def _checked(
    steps: NDArray[Any], values: NDArray[Any], loss: NDArray[Any], seconds: NDArray[Any]
) -> Probabilities | None:
    """Make probabilities of the arrays of a file; return None if they are not valid."""
    kinds = [array.dtype.str for array in (steps, values, loss, seconds)]
    shapes = (steps.shape, loss.shape, seconds.shape)
    if kinds != ["<i4", "<f4", "<i8", "<f8"]:
        return None
    if shapes != (values.shape, (len(fields(Loss)),), ()) or values.ndim != 1:
        return None
    likely = (values >= 0) & ((values <= 1) | (values == CERTAIN))
    total = steps.sum(dtype=np.int64)
    if not likely.all() or (steps < 0).any() or (loss < 0).any() or total > _LONGEST_TEXT:
        return None
    taken = float(seconds)
    return Probabilities(
        np.cumsum(steps, dtype=np.int32),
        values,
        Loss(*loss.tolist()),
        taken if 0 <= taken < inf else None,
    )
