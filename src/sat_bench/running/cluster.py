"""Spread talks over the workers of a Dask cluster, each of which loads the model once."""

from __future__ import annotations

import logging
import socket
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sat_bench.defaults import DEFAULT_RUNTIME, Runtime
from sat_bench.models.cards import Windowing
from sat_bench.models.protocol import Probabilities
from sat_bench.models.systems import ModelFiles
from sat_bench.running.workers import (
    MissingFileError,
    ModelRequest,
    Request,
    SystemRequest,
    end_on_worker,
    keep_on_worker,
    local_scheduler,
    read_texts_on_worker,
)
from truemark import __version__
from truemark.errors import TruemarkError, os_reason
from truemark.files import read_bytes
from truemark.imports import require

SCHEME = "tcp://"
LONGEST_GREETING = 1 << 20
CONNECT_S = 10
# How long to wait for a new worker when a cluster has lost all of them.
PATIENCE_S = 60
POLL_S = 2
# Enough that no worker waits for this process, which holds the texts in memory.
PORTIONS_PER_THREAD = 3
# Work in a portion: the round trip takes some milliseconds, a short talk takes less.
PORTION_S = 1.0
# How often the files are sent at most: workers that are replaced need them again.
SENDINGS = 50

_CONFIGURATION = {
    # Talks are sent inside tasks, which the scheduler keeps in case a worker dies.
    "distributed.admin.large-graph-warning-threshold": "1 TB",
}


@dataclass(frozen=True, slots=True)
class Cluster:
    """A connection to a scheduler that has workers."""

    address: str
    client: Any

    def model(
        self, files: ModelFiles, windowing: Windowing, runtime: Runtime = DEFAULT_RUNTIME
    ) -> ClusterModel:
        paths = (files.model, files.tokenizer)
        model, tokenizer = (str(path.resolve()) for path in paths)
        request = ModelRequest(model, tokenizer, files.checksums, windowing, runtime)
        return ClusterModel(self, request, dict(zip(files.checksums, paths, strict=True)))

    @contextmanager
    def system(self, name: str, timeout_s: float) -> Iterator[ClusterModel]:
        """Let the workers run the system of this name, which each must have, until the block ends.

        If it ends badly on one of them, its error is raised.
        """
        request = SystemRequest(name, timeout_s)
        yield ClusterModel(self, request, {})
        for answer in self.client.run(end_on_worker, request, on_error="return").values():
            if isinstance(answer, TruemarkError):  # other errors are from workers that are gone
                raise answer

    def threads(self) -> int:
        """Return how many talks can run at the same time."""
        try:
            threads: int = sum(self.client.nthreads().values())
        except OSError:
            raise self.lost() from None
        return threads

    def lost(self) -> TruemarkError:
        """Return the error for a scheduler that is gone."""
        return TruemarkError(
            f"{self.address}: the connection to the Dask scheduler was lost; start it again"
        )


@dataclass(slots=True)
class _Portion:
    """Texts that a worker reads one after another."""

    texts: list[str]
    future: Any
    files_sent: int  # how often files had been sent when the texts were

    @property
    def characters(self) -> int:
        return sum(map(len, self.texts))


@dataclass(slots=True)
class ClusterModel:
    """A model on the workers, which read a few portions ahead of the one in use."""

    cluster: Cluster
    request: Request
    files: Mapping[str, Path]  # the files of the request, by checksum
    files_sent: int = 0
    characters_per_s: float = 0.0  # of one worker, once it is known

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        waiting: deque[_Portion] = deque()
        try:
            for together in self._portions(texts):
                waiting.append(_Portion(together, self._submit(together), self.files_sent))
                if len(waiting) >= PORTIONS_PER_THREAD * max(1, self.cluster.threads()):
                    yield from self._answers(waiting[0])
                    waiting.popleft()
            while waiting:
                yield from self._answers(waiting[0])
                waiting.popleft()
        finally:
            for portion in waiting:
                with suppress(Exception):  # the scheduler may be what failed
                    portion.future.cancel()

    def _portions(self, texts: Iterable[str]) -> Iterator[list[str]]:
        """Group texts into portions of about a second; single texts until the speed is known."""
        portion: list[str] = []
        characters = 0
        for text in texts:
            portion.append(text)
            characters += len(text)
            if characters >= PORTION_S * self.characters_per_s:
                yield portion
                portion, characters = [], 0
        if portion:
            yield portion

    def _submit(self, texts: list[str]) -> Any:
        # Not `pure`: hashing the texts for a task name would take time for nothing.
        return self.cluster.client.submit(read_texts_on_worker, self.request, texts, pure=False)

    def _answers(self, portion: _Portion) -> list[Probabilities]:
        """Wait for the answers of a portion, and learn the speed of a worker from them."""
        without_workers_since: float | None = None
        while True:
            try:
                answers: list[Probabilities] = portion.future.result(timeout=POLL_S)
            except MissingFileError as error:
                if portion.files_sent == self.files_sent:  # not sent since then
                    self._send_files(error)
                portion.files_sent = self.files_sent
                portion.future = self._submit(portion.texts)
            except TimeoutError:
                if self.cluster.threads():
                    without_workers_since = None
                    continue
                now = time.monotonic()
                without_workers_since = without_workers_since or now
                if now - without_workers_since > PATIENCE_S:
                    raise TruemarkError(
                        f"{self.cluster.address}: the Dask cluster has had no worker for "
                        f"{PATIENCE_S} s; start one: dask worker {self.cluster.address}"
                    ) from None
            except (CancelledError, OSError):
                raise self.cluster.lost() from None
            except _distributed().KilledWorker:
                talks = "a talk" if len(portion.texts) == 1 else f"{len(portion.texts)} talks"
                raise TruemarkError(
                    f"{self.cluster.address}: {talks} of {portion.characters:,} characters ended "
                    "each worker that tried; give the workers more memory"
                ) from None
            else:
                seconds = sum(answer.seconds or 0.0 for answer in answers)
                if seconds > 0:
                    self.characters_per_s = portion.characters / seconds
                return answers

    def _send_files(self, missing: MissingFileError) -> None:
        if self.files_sent == SENDINGS:
            raise TruemarkError(
                f"{self.cluster.address}: workers repeatedly lost the file {missing} although it"
                f" was sent; put it there at the same path"
            )
        files = {digest: read_bytes(path) for digest, path in self.files.items()}
        answers = self.cluster.client.run(keep_on_worker, files, on_error="return")
        for answer in answers.values():
            if isinstance(answer, TruemarkError):  # other errors are from workers that are gone
                raise answer
        self.files_sent += 1


@contextmanager
def connected(where: str) -> Iterator[Cluster]:
    """Connect to the cluster at an address, or start one of N processes for `local:N`."""
    distributed = _distributed()
    _silence()
    kind, _, workers = where.partition(":")
    is_local = kind == "local"
    # For TLS, the certificates are named in Dask's own configuration.
    scheduler = local_scheduler(int(workers)) if is_local else nullcontext((where, None))
    with scheduler as (address, security), distributed.dask.config.set(_CONFIGURATION):
        try:
            if address.startswith(SCHEME):
                _expect_a_scheduler(address)
            client = distributed.Client(
                address, timeout=CONNECT_S, set_as_default=False, security=security
            )
        except OSError as error:
            raise TruemarkError(
                f"{where}: no Dask scheduler responds there ({os_reason(error)}); "
                "start one with: dask scheduler"
            ) from None
        with client:
            try:
                client.wait_for_workers(1, timeout=CONNECT_S)
            except TimeoutError:
                raise TruemarkError(
                    f"{where}: the Dask scheduler has no workers; "
                    f"start one with: dask worker {where}"
                ) from None
            if not is_local:
                _expect_our_version(where, client)
            yield Cluster(where, client)


def _expect_a_scheduler(address: str) -> None:
    """Raise an OSError unless a Dask scheduler answers there."""
    # The client would wait forever for a port that does not answer, and take the first eight bytes
    # of any other protocol for the length of a message.
    host, _, port = address.removeprefix(SCHEME).rpartition(":")
    with socket.create_connection((host.strip("[]"), int(port)), CONNECT_S) as line:
        greeting = line.recv(8, socket.MSG_WAITALL)
    if len(greeting) < 8 or int.from_bytes(greeting, "little") > LONGEST_GREETING:
        raise ConnectionError("something else is there")


def _expect_our_version(where: str, client: Any) -> None:
    """Raise an error unless the scheduler and all workers have this version of truemark."""
    # Use a function of the standard library: ours would crash a worker without truemark.
    answers = client.run(version, "truemark", on_error="return")
    try:
        answers[where] = client.run_on_scheduler(version, "truemark")
    except PackageNotFoundError as error:
        answers[where] = error
    for place, answer in answers.items():
        if answer != __version__:
            who = "scheduler" if place == where else f"worker {place}"
            what = f"truemark {answer}" if isinstance(answer, str) else "no truemark"
            raise TruemarkError(
                f"{where}: the {who} has {what}, expected {__version__}; on it and on every "
                f"worker: pip install 'truemark[cluster]=={__version__}'"
            )


def _silence() -> None:
    """Silence Dask's log: our own errors already report a lost connection."""
    # Never undone: the client's thread still logs while the client is being closed.
    for handler in logging.getLogger("distributed").handlers:
        handler.setLevel(logging.CRITICAL)


def _distributed() -> Any:
    """Import the library; its annotations are incomplete, so its values are not checked."""
    require("cluster", "-cluster", "distributed", "cryptography")
    import distributed

    return distributed
