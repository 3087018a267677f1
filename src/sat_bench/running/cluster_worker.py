"""What a worker of a cluster does: load a model once and read texts with it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from truemark import __version__
from truemark.errors import TruemarkError
from truemark.files import write_atomically
from truemark.signature import checksum

if TYPE_CHECKING:
    from distributed import Worker

    from sat_bench.models.boundaries import Probabilities
    from sat_bench.models.segmenter import Segmenter

MODELS_KEPT = 2

_models: OrderedDict[ModelRequest, Segmenter] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class SharedFile:
    """A file of whoever asks; a worker on another machine may have it, or get its content."""

    path: str
    checksum: str


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """The model that a text is to be read with, and the version that must read it."""

    model: SharedFile
    tokenizer: SharedFile
    overlap: int
    version: str = __version__


class MissingFileError(Exception):
    """The worker has not got the file: its content must be sent."""


def read_text_on_worker(request: ModelRequest, text: str) -> Probabilities:
    """The probabilities of the text, from a model that stays loaded for the next text."""
    if request.version != __version__:
        raise TruemarkError(
            f"the cluster has a worker with truemark {__version__}, expected {request.version}: "
            "install the same version everywhere"
        )
    with _lock:
        segmenter = _models.pop(request, None) or _load(request)
        _models[request] = segmenter
        while len(_models) > MODELS_KEPT:
            _models.popitem(last=False)
    return segmenter.probabilities(text)


def keep_on_worker(files: dict[str, bytes], dask_worker: Worker) -> None:
    """Keep the content of files, by checksum, where this worker looks for them."""
    for digest, content in files.items():
        write_atomically(_own_copy(digest, dask_worker), content)


def _load(request: ModelRequest) -> Segmenter:
    from distributed import get_worker

    from sat_bench.models.segmenter import Segmenter

    worker = get_worker()
    return Segmenter(
        _found(request.model, worker),
        _found(request.tokenizer, worker),
        overlap=request.overlap,
        batch_tokens=0,
        threads=worker.state.nthreads,
    )


def _found(file: SharedFile, worker: Worker) -> Path:
    for path in (Path(file.path), _own_copy(file.checksum, worker)):
        if path.is_file() and checksum(path) == file.checksum:
            return path
    raise MissingFileError(file.path)


def _own_copy(digest: str, worker: Worker) -> Path:
    return Path(worker.local_directory) / digest
