"""The workers of a cluster: the functions they run, and how to start some on this machine.

A worker opens a system once and reads texts with it. `python -m sat_bench.running.workers N` starts
N workers in a separate process, which prints the scheduler's address and ends when its standard
input is closed, so that it never outlives the process that started it. It has its own session,
because on Ctrl-C workers would print a page of tracebacks.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from sat_bench.defaults import Runtime
from sat_bench.models.answers import TextSystem
from sat_bench.models.cards import Windowing
from sat_bench.models.protocol import Probabilities
from sat_bench.models.segmenter import open_segmenter
from sat_bench.models.systems import find_system
from truemark import __version__
from truemark.errors import TruemarkError
from truemark.files import checksum, write_atomically
from truemark.services.keys import without_keys
from truemark.services.programs import group_options

if TYPE_CHECKING:
    from distributed import Worker
    from distributed.security import Security

MODELS_KEPT = 2
START_S = 60
CLOSE_S = 10
# Dask monitors itself many times a second; keep the cores free for the model.
_CALM = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.cycle": "10s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.scheduler.active-memory-manager.start": False,
}
_SECURITY_PARTS = (
    "tls_ca_file",
    *("tls_client_key", "tls_scheduler_key", "tls_worker_key"),
    *("tls_client_cert", "tls_scheduler_cert", "tls_worker_cert"),
)

_models: OrderedDict[Request, Callable[[str], Probabilities]] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Which model must read a text, and which version of truemark.

    The paths are those of the client; the checksums are of both files. A worker on another machine
    may have the files too, or is sent their content.
    """

    model: str
    tokenizer: str
    checksums: tuple[str, str]
    windowing: Windowing
    runtime: Runtime
    version: str = __version__


@dataclass(frozen=True, slots=True)
class SystemRequest:
    """Which system must read a text, by its name, and which version of truemark."""

    name: str
    timeout_s: float
    version: str = __version__


Request = ModelRequest | SystemRequest


class MissingFileError(Exception):
    """Raised on a worker that does not have the file, so that its content is sent."""


def read_texts_on_worker(request: Request, texts: list[str]) -> list[Probabilities]:
    """Read the texts with a model that stays loaded for the next ones."""
    if request.version != __version__:
        raise TruemarkError(
            f"the cluster has a worker with truemark {__version__}, expected {request.version}: "
            "install the same version everywhere"
        )
    with _lock:
        answer = _models.pop(request, None) or _load(request)
        _models[request] = answer
        while len(_models) > MODELS_KEPT:
            _models.popitem(last=False)
    return [answer(text) for text in texts]


def end_on_worker(request: SystemRequest) -> None:
    """End a system that no text is left for; the error of a program that ends badly is raised."""
    with _lock:
        answer = _models.pop(request, None)
    if isinstance(answer, _StartedSystem):
        answer.close()


def keep_on_worker(files: dict[str, bytes], dask_worker: Worker) -> None:
    """Store the content of files, by checksum, where this worker looks for them."""
    for digest, content in files.items():
        write_atomically(_sent_copy(digest, dask_worker), content)


def _load(request: Request) -> Callable[[str], Probabilities]:
    """Open a system, and return the function that answers a text."""
    from distributed import get_worker

    if isinstance(request, SystemRequest):
        return _start(request)
    worker = get_worker()
    model, tokenizer = (
        _local_path(path, digest, worker)
        for path, digest in zip((request.model, request.tokenizer), request.checksums, strict=True)
    )
    threads = worker.state.nthreads
    return open_segmenter(
        model, tokenizer, request.windowing, request.runtime, threads
    ).probabilities


def _start(request: SystemRequest) -> _StartedSystem:
    system = find_system(request.name, timeout_s=request.timeout_s)
    if not isinstance(system, TextSystem):
        raise TruemarkError(f"{without_keys(request.name)}: expected a system that reads texts")
    opened = ExitStack()
    return _StartedSystem(opened.enter_context(system.opened()), opened)


class _StartedSystem:
    """An open system, which the threads of a worker use one at a time."""

    def __init__(self, answer: Callable[[str], Probabilities], opened: ExitStack) -> None:
        self._answer, self._opened, self._lock = answer, opened, threading.Lock()
        weakref.finalize(self, _close_untold, opened)

    def __call__(self, text: str) -> Probabilities:
        with self._lock:
            return self._answer(text)

    def close(self) -> None:
        with self._lock:
            self._opened.close()


def _close_untold(opened: ExitStack) -> None:
    with suppress(TruemarkError):  # nobody is left to tell how a program ended
        opened.close()


def _local_path(client_path: str, digest: str, worker: Worker) -> Path:
    for path in (Path(client_path), _sent_copy(digest, worker)):
        if path.is_file() and checksum(path) == digest:
            return path
    raise MissingFileError(client_path)


def _sent_copy(digest: str, worker: Worker) -> Path:
    return Path(worker.local_directory) / digest


@contextmanager
def local_scheduler(workers: int) -> Iterator[tuple[str, Security]]:
    """Start a scheduler with this many single-threaded workers; all end with the block.

    Yield its address and the key that is needed to connect: without a key, anyone on this machine
    could connect and run code as this user.
    """
    from distributed.security import Security

    security = Security.temporary()  # type: ignore[no-untyped-call]  # typed in part
    parts = {name: getattr(security, name) for name in _SECURITY_PARTS}
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
        process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name, str(workers)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            encoding="utf-8",
            **group_options(),
        )
        assert process.stdin
        assert process.stdout
        address = ""
        too_late = threading.Timer(START_S, process.kill)
        try:
            too_late.start()
            with suppress(BrokenPipeError):  # the process has ended; its stderr says why
                # Through a pipe: other users can read a command line and an environment.
                process.stdin.write(json.dumps(parts) + "\n")
                process.stdin.flush()
            address = process.stdout.readline().strip()
            too_late.cancel()
            if not address:
                complaints.seek(0)
                reason = complaints.read().strip().rpartition("\n")[2]
                reason = reason or f"no response within {START_S} s"
                raise TruemarkError(f"local:{workers}: the workers did not start: {reason}")
            yield address, security
        finally:
            too_late.cancel()
            with suppress(BrokenPipeError):
                process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(CLOSE_S if address else 0)
            process.kill()
            process.wait()
            process.stdout.close()


def main() -> None:
    import dask
    from distributed import LocalCluster
    from distributed.security import Security

    dask.config.set(_CALM)
    parts = json.loads(sys.stdin.readline())
    security = Security(require_encryption=True, **parts)  # type: ignore[no-untyped-call]
    with LocalCluster(  # type: ignore[no-untyped-call]  # typed in part
        n_workers=int(sys.argv[1]),
        threads_per_worker=1,
        processes=True,
        memory_limit=None,
        dashboard_address=None,
        security=security,
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
