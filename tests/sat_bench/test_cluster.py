from __future__ import annotations

import os
import re
import signal
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import dask
import pytest
from distributed import Client
from distributed.security import Security
from testing.measuring import counted, measured_at

from sat_bench import Segmenter, load_corpus
from sat_bench.cli import main
from sat_bench.corpus.talks import Talk, find_sentences
from sat_bench.defaults import BUNDLED_CORPUS
from sat_bench.measure import measure
from sat_bench.models.cards import Windowing
from sat_bench.models.systems import find_model
from sat_bench.running import cluster as cluster_module
from sat_bench.running.cluster import Cluster, ClusterModel, connected
from sat_bench.running.inference import Inference, read_talks
from sat_bench.running.workers import ModelRequest, local_scheduler
from truemark.curve import grid
from truemark.errors import TruemarkError
from truemark.imports import install_command

THRESHOLDS = grid(0.05, 1.0, 0.05)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with connected("local:2") as opened:
        yield opened


def talks(count: int) -> list[Talk]:
    """Talks of very different length."""
    texts = [f"Talk {n} begins. " + "It rained, and rained! Why? " * (n % 7) for n in range(count)]
    return [
        Talk(f"{n}", "test", "", "", text, find_sentences(text)) for n, text in enumerate(texts)
    ]


def running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_counts_are_those_of_a_local_run(cluster: Cluster, noisy_model: Path) -> None:
    files = find_model(str(noisy_model))
    for corpus in (load_corpus(BUNDLED_CORPUS), talks(30), []):
        here = measured_at(files, corpus, THRESHOLDS)
        there = measured_at(files, corpus, THRESHOLDS, inference=Inference(cluster=cluster))
        assert there == here


def test_each_talk_has_the_seconds_that_its_worker_took(
    cluster: Cluster, noisy_model: Path
) -> None:
    texts = ["It rained. " * count for count in (1, 20_000, 1)]
    spoken = [Talk("a", "", "", "", text, find_sentences(text)) for text in texts]
    inference = Inference(cluster=cluster)
    found = measured_at(find_model(str(noisy_model)), spoken, (0.5,), inference=inference)
    first, long, last = found.seconds
    assert long > 3 * first > 0
    assert long > 3 * last > 0


def test_each_worker_has_one_thread(cluster: Cluster) -> None:
    assert cluster.threads() == 2
    assert list(cluster.client.nthreads().values()) == [1, 1]


def test_short_talks_are_sent_in_portions_of_about_a_second(
    cluster: Cluster, noisy_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    submit = ClusterModel._submit

    def counting(self: ClusterModel, texts: list[str]) -> object:
        sizes.append(len(texts))
        return submit(self, texts)

    monkeypatch.setattr(ClusterModel, "_submit", counting)
    model = cluster.model(find_model(str(noisy_model)), Windowing())
    texts = [talk.text for talk in talks(400)]
    there = list(model.probabilities_many(texts))
    assert sizes[:6] == [1] * 6  # the speed is not known before the first answer
    assert len(sizes) < 40
    assert [len(answer.ends) for answer in there] == [
        len(answer.ends) for answer in Segmenter(noisy_model).probabilities_many(texts)
    ]


def test_a_few_talks_are_sent_ahead_and_no_more(
    cluster: Cluster, noisy_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "PORTION_S", 0.0)
    sent = 0

    def texts() -> Iterator[str]:
        nonlocal sent
        for talk in talks(50):
            sent += 1
            yield talk.text

    model = cluster.model(find_model(str(noisy_model)), Windowing())
    for done, _ in enumerate(model.probabilities_many(texts())):
        assert sent - done <= 6


def test_workers_without_the_files_are_sent_them(cluster: Cluster, noisy_model: Path) -> None:
    files = find_model(str(noisy_model))
    model = cluster.model(files, Windowing(510, 32))
    assert isinstance(model.request, ModelRequest)
    model.request = replace(model.request, model="/on/another/machine")
    here = measured_at(files, talks(20), THRESHOLDS, inference=Inference(overlap=32))
    assert counted(measure(partial(read_talks, model), talks(20)), THRESHOLDS) == here
    assert model.files_sent == 1


def test_a_file_that_differs_over_there_is_not_taken(
    cluster: Cluster, noisy_model: Path, model_path: Path
) -> None:
    files = find_model(str(noisy_model))
    model = cluster.model(files, Windowing(510, 16))
    assert isinstance(model.request, ModelRequest)
    model.request = replace(model.request, model=str(model_path))
    here = measured_at(files, talks(4), THRESHOLDS, inference=Inference(overlap=16))
    assert counted(measure(partial(read_talks, model), talks(4)), THRESHOLDS) == here


def test_a_worker_of_another_version_is_refused(cluster: Cluster, noisy_model: Path) -> None:
    model = cluster.model(find_model(str(noisy_model)), Windowing())
    model.request = replace(model.request, version="0.0.1")
    with pytest.raises(TruemarkError, match=r"truemark .*, expected 0\.0\.1: install the same"):
        list(model.probabilities_many(["One."]))


def test_a_model_that_a_worker_cannot_load_is_named(
    cluster: Cluster, noisy_model: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"not a model")
    files = replace(find_model(str(noisy_model)), model=broken)
    with pytest.raises(TruemarkError, match=r"broken\.onnx: not an ONNX model"):
        measured_at(files, talks(3), THRESHOLDS, inference=Inference(cluster=cluster))


def test_a_worker_killed_in_the_middle_costs_no_result(noisy_model: Path) -> None:
    files = find_model(str(noisy_model))
    corpus = talks(40)
    with connected("local:2") as cluster:
        first, second = cluster.client.run(os.getpid).values()

        def shaken() -> Iterator[Talk]:
            for number, talk in enumerate(corpus):
                if number == 15:
                    os.kill(first, signal.SIGKILL)
                yield talk

        measurement = measured_at(files, shaken(), THRESHOLDS, inference=Inference(cluster=cluster))
        assert measurement == measured_at(files, corpus, THRESHOLDS)
        assert not running(first)
        survivors = cluster.client.run(os.getpid).values()
        assert second in survivors
    # Nothing of the cluster is left behind.
    until_s = time.monotonic() + 10
    while any(map(running, survivors)) and time.monotonic() < until_s:
        time.sleep(0.05)
    assert not any(map(running, survivors))


def test_the_command_spreads_talks_and_prints_the_same(
    noisy_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["-model", str(noisy_model), "-corpus", str(BUNDLED_CORPUS), "-per-talk"]
    assert main(flags) == 0
    here = capsys.readouterr()
    assert main([*flags, "-cluster", "local:1"]) == 0
    assert capsys.readouterr() == here


@contextmanager
def port(greeting: bytes | None) -> Iterator[str]:
    """The address of a server that greets whoever connects, or keeps silent."""
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:

        def serve() -> None:
            line, _ = server.accept()
            with line:
                if greeting is None:
                    line.recv(1)  # returns when the other side gives up
                else:
                    line.sendall(greeting)

        pool.submit(serve)
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize(
    ("greeting", "reason"),
    [(None, "timed out"), (b"SSH-2.0-OpenSSH_9\r\n", "something else"), (b"", "something else")],
    ids=["silence", "another protocol", "hangs up"],
)
def test_a_port_without_a_scheduler_is_told_in_time(
    greeting: bytes | None, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT_S", 0.5)
    with port(greeting) as address:
        expected = rf"{re.escape(address)}: no Dask scheduler responds there \({reason}"
        with pytest.raises(TruemarkError, match=expected), connected(address):
            pass


def test_a_closed_port_is_an_error_of_one_line(
    noisy_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    flags = ["-model", str(noisy_model), "-corpus", str(BUNDLED_CORPUS)]
    assert main([*flags, "-cluster", address]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == (
        f"error: {address}: no Dask scheduler responds there (Connection refused); "
        "start one with: dask scheduler\n"
    )


def certified(security: Any) -> AbstractContextManager[object]:
    """Let Dask's configuration hold these certificates, as for a cluster with TLS."""
    parts = {
        "ca-file": security.tls_ca_file,
        "client.key": security.tls_client_key,
        "client.cert": security.tls_client_cert,
    }
    settings = {f"distributed.comm.tls.{name}": value for name, value in parts.items()}
    return dask.config.set(settings)


def test_a_scheduler_without_workers_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT_S", 1)
    with (
        local_scheduler(workers=0) as (address, security),
        certified(security),
        pytest.raises(TruemarkError, match=f"{address}: the Dask scheduler has no workers"),
        connected(address),
    ):
        pass


def test_a_running_scheduler_is_joined_if_it_has_the_same_version(
    cluster: Cluster, noisy_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = cluster.client.scheduler.address
    files = find_model(str(noisy_model))
    with certified(cluster.client.security):
        with connected(address) as joined:
            there = measured_at(files, talks(9), THRESHOLDS, inference=Inference(cluster=joined))
        assert there == measured_at(files, talks(9), THRESHOLDS)
        monkeypatch.setattr(cluster_module, "__version__", "9.9.9")
        expected = (
            rf"{address}: the worker tls:\S+ has truemark \S+, expected 9\.9\.9; .* pip install"
        )
        with pytest.raises(TruemarkError, match=expected), connected(address):
            pass


def test_without_dask_the_error_says_what_to_install(
    noisy_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    flags = ["-model", str(noisy_model), "-corpus", str(BUNDLED_CORPUS)]
    assert main([*flags, "-cluster", "local:2"]) == 1
    assert install_command("cluster") in capsys.readouterr().err


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("exec sleep 60", "no response within 0.5 s"),
        ("exec 0<&-; echo no dask here >&2", "no dask here"),
    ],
    ids=["hang", "end"],
)
def test_workers_that_do_not_start_are_an_error(
    program: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{program}\n")
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr("sat_bench.running.workers.START_S", 0.5)
    expected = f"^local:2: the workers did not start: {reason}$"
    with pytest.raises(TruemarkError, match=expected), connected("local:2"):
        pass


def test_nobody_without_its_key_can_speak_to_a_local_cluster() -> None:
    with local_scheduler(1) as (address, _):
        assert address.startswith("tls://127.0.0.1:")
        plain = address.replace("tls://", "tcp://")
        stranger = Security.temporary()  # type: ignore[no-untyped-call]
        for where, security in ((plain, None), (address, stranger)):
            with pytest.raises((OSError, TimeoutError)):
                Client(  # type: ignore[no-untyped-call]
                    where, security=security, timeout=2, set_as_default=False
                )
