"""A folder of probabilities, so that texts a model has read before need no inference."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, fields, replace
from functools import cache
from io import BytesIO
from itertools import groupby
from math import inf, nan
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from sat_bench.corpus.talks import Talk
from sat_bench.models.protocol import CERTAIN, Loss, Probabilities, Read
from truemark.errors import TruemarkError
from truemark.files import read_bytes, write_atomically

_BYTES_PER_CHARACTER = 32  # upper bound of the arrays: four tokens end at each character
_LEAST_BYTES = 4_000
_LONGEST_TEXT = np.iinfo(np.int32).max
# The record that ends an archive; zipfile ignores anything after it.
_ARCHIVE_END, _ARCHIVE_END_BYTES = b"PK\x05\x06", 22
_TAG = "CACHEDIR.TAG"
_TAG_TEXT = """\
Signature: 8a477f597d28d172789f06886806bc55
# Probabilities kept by sat-bench -cache. The folder may be deleted at any time.
# Backup programs leave it out: https://bford.info/cachedir/
"""


def open_cache(folder: Path) -> Path:
    """Create the folder of a cache, or raise an error if it cannot be written."""
    if not (folder / _TAG).is_file():
        write_atomically(folder / _TAG, _TAG_TEXT)
    return folder


class CachedSystem:
    """A system that is loaded and run only for texts whose probabilities are not in the folder.

    `identity` names everything that answers depend on besides the text. Any number of processes
    may share the folder.
    """

    def __init__(
        self, folder: Path, identity: str, load: Callable[[], Read], note: Callable[[str], None]
    ) -> None:
        self._folder, self._identity = folder, identity.encode()
        self._load, self._note = cache(load), note
        self._stores = True
        self._hits = self._talks = 0

    @property
    def hits_in_words(self) -> str:
        """A sentence about how many talks needed no inference."""
        return f"{self._hits} of {self._talks} talks taken from the cache {self._folder}"

    def read(self, talks: Iterable[Talk]) -> Iterator[tuple[Talk, Probabilities]]:
        """Yield each talk with its probabilities, in order."""
        # Consecutive talks that are not in the cache go through the model together; a hit ends such
        # a group, so that at most one talk is read beyond what the model itself reads ahead.
        entries = ((talk, self._stored(talk.text)) for talk in talks)
        for missing, group in groupby(entries, lambda entry: entry[1] is None):
            if missing:
                for talk, probabilities in self._load()(talk for talk, _ in group):
                    self._store(talk.text, probabilities)
                    yield talk, probabilities
                continue
            for talk, stored in group:
                self._hits += 1
                assert stored
                yield talk, replace(stored, replayed=True)

    def _stored(self, text: str) -> Probabilities | None:
        """Read the entry of a text; return None without a valid file."""
        self._talks += 1
        key, path = self._place(text)
        largest = _LEAST_BYTES + _BYTES_PER_CHARACTER * len(text)
        try:
            stored = decoded(key, read_bytes(path, largest), largest) if path.exists() else None
        except TruemarkError:
            return None
        if stored is not None and len(stored.ends) and stored.ends[-1] > len(text):
            return None  # belongs to another text
        return stored

    def _store(self, text: str, probabilities: Probabilities) -> None:
        """Store the probabilities, completely or not at all; a full disk only ends the storing."""
        if not self._stores:
            return
        key, path = self._place(text)
        try:
            write_atomically(path, encoded(key, probabilities))
        except TruemarkError as error:
            self._stores = False
            self._note(f"probabilities are no longer cached: {error}")

    def _place(self, text: str) -> tuple[bytes, Path]:
        """Return the key of a text, and the file of its entry."""
        content = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
        key = hashlib.sha256(self._identity + content.digest()).digest()
        return key, self._folder / key.hex()[:2] / f"{key.hex()}.probabilities"


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
    except Exception:
        return None  # zipfile, zlib, numpy and Python's parser raise a dozen classes for damage
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
