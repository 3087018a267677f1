"""Probabilities kept in a folder: texts that a model has read before need no inference."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, replace
from itertools import groupby
from math import inf, nan
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sat_bench.models.boundaries import Probabilities
from sat_bench.models.protocol import CERTAIN, BoundaryModel, Loss, tagged_answers
from truemark.errors import TruemarkError
from truemark.files import read_bytes, write_atomically
from truemark.signature import Signature

# Names the layout below; a file of another layout is taken for damaged.
MAGIC = b"truemark probabilities 3\n"
_DIGEST_BYTES = 32
_BYTES_PER_CHARACTER = 32  # of columns, at most: four tokens end at each
_LEAST_BYTES = 1_000
_FACTS = struct.Struct("<4Qd")
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
        """What is kept under the key for a text of so many characters.

        Nothing where there is no file, or a damaged one.
        """
        path, most = self._path(key), _LEAST_BYTES + _BYTES_PER_CHARACTER * characters
        try:
            return decoded(key, read_bytes(path, most), most) if path.exists() else None
        except TruemarkError:
            return None

    def store(self, key: bytes, probabilities: Probabilities) -> None:
        """Keep the probabilities, whole or not at all."""
        write_atomically(self._path(key), encoded(key, probabilities))

    def _path(self, key: bytes) -> Path:
        name = key.hex()
        return self.folder / name[:2] / f"{name}.probabilities"


class CachedModel:
    """A model that is opened and run only for texts whose probabilities are not in the cache."""

    def __init__(
        self,
        cache: ProbabilityCache,
        identity: Signature,
        open_model: Callable[[], BoundaryModel],
        note: Callable[[str], None],
    ) -> None:
        self._cache, self._identity = cache, str(identity).encode()
        self._open_model, self._note = open_model, note
        self._model: BoundaryModel | None = None
        self._keeps = True
        self._hits = self._texts = 0

    @property
    def hits_in_words(self) -> str:
        """How many texts needed no inference."""
        return f"{self._hits} of {self._texts} talks taken from the cache {self._cache.folder}"

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        """The probabilities of each text, in order."""
        # Texts that follow each other and miss go through the model together; a hit ends such a
        # run, so that no more than one text is read beyond what the model itself reads ahead.
        for missing, entries in groupby(map(self._look_up, texts), lambda entry: entry[2] is None):
            if missing:
                yield from self._computed((text, key) for text, key, _ in entries)
                continue
            for _, _, found in entries:
                self._hits += 1
                assert found
                yield replace(found, replayed=True)

    def _look_up(self, text: str) -> tuple[str, bytes, Probabilities | None]:
        self._texts += 1
        content = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
        key = hashlib.sha256(self._identity + content.digest()).digest()
        found = self._cache.load(key, len(text))
        if found is not None and len(found.ends) and found.ends[-1] > len(text):
            found = None  # of another text, or made up
        return text, key, found

    def _computed(self, entries: Iterable[tuple[str, bytes]]) -> Iterator[Probabilities]:
        self._model = self._model or self._open_model()
        for key, found in tagged_answers(self._model, entries):
            self._keep(key, found)
            yield found

    def _keep(self, key: bytes, found: Probabilities) -> None:
        try:
            if self._keeps:
                self._cache.store(key, found)
        except TruemarkError as error:
            # A full disk costs the cache; the numbers have cost more.
            self._keeps = False
            self._note(f"no more probabilities are kept: {error}")


def encoded(key: bytes, probabilities: Probabilities) -> bytes:
    """A file: magic, SHA-256 of what follows, key, loss, seconds, the two columns compressed."""
    steps = np.diff(probabilities.ends, prepend=np.int32(0)).astype("<i4")
    columns = _byte_planes(steps) + _byte_planes(probabilities.values.astype("<f4"))
    seconds = nan if probabilities.seconds is None else probabilities.seconds
    facts = _FACTS.pack(*astuple(probabilities.loss), seconds)
    content = key + facts + zlib.compress(columns, level=1)
    return MAGIC + hashlib.sha256(content).digest() + content


def decoded(key: bytes, file: bytes, most: int) -> Probabilities | None:
    """The probabilities of a file, in columns of at most so many bytes.

    Nothing when it is damaged or belongs to another key.
    """
    start = len(MAGIC) + _DIGEST_BYTES
    content = file[start:]
    if file[:start] != MAGIC + hashlib.sha256(content).digest() or not content.startswith(key):
        return None
    try:
        *loss, seconds = _FACTS.unpack_from(content, len(key))
        columns = _unpacked(content[len(key) + _FACTS.size :], most)
        planes = np.frombuffer(columns, np.uint8).reshape(2, 4, -1)
    except (struct.error, zlib.error, ValueError):
        return None
    steps, values = (np.ascontiguousarray(column.T) for column in planes)
    ends = np.cumsum(steps.view("<i4").ravel(), dtype=np.int32)
    found = values.view("<f4").ravel().astype(np.float32, copy=False)
    likely = (found >= 0) & ((found <= 1) | (found == CERTAIN))
    if not likely.all() or (ends < 0).any() or (steps.view("<i4") < 0).any():
        return None
    return Probabilities(ends, found, Loss(*loss), seconds if 0 <= seconds < inf else None)


def _unpacked(packed: bytes, most: int) -> bytes:
    """The columns; `ValueError` for what unpacks to more than so many bytes."""
    unpacking = zlib.decompressobj()
    columns = unpacking.decompress(packed, most)
    if not unpacking.eof:
        raise ValueError("the columns are too large, or break off")
    return columns


def _byte_planes(column: npt.NDArray[np.generic]) -> bytes:
    """The first bytes of all numbers, then the second and so on: alike, so they compress well."""
    return column.view(np.uint8).reshape(-1, 4).T.tobytes()
