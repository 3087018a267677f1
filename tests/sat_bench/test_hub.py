import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from sat_bench.models.hub import is_hub_name
from truemark.imports import install_command

OWN = "segment-any-text/own-tokenizer"
SAT = "segment-any-text/sat-tiny"
ODD = "segment-any-text/odd-name"
TWO = "segment-any-text/two-models"
EMPTY = "segment-any-text/no-model"
ROBERTA = "facebookAI/xlm-roberta-base"
COMMIT = "0123456789abcdef0123456789abcdef01234567"

FIND = """
import sys
from sat_bench.models.systems import find_model
from truemark.errors import TruemarkError
try:
    files = find_model(sys.argv[1])
    print(files.model.read_text(), files.tokenizer.read_text())
except TruemarkError as error:
    print("error:", error)
"""


@dataclass
class Hub:
    """A model hub on loopback, with the answers of the real one."""

    files: Mapping[str, Mapping[str, bytes]]
    requests: list[str] = field(default_factory=list)
    status: int = 200

    def start(self) -> None:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                hub.answer(self, with_body=False)

            def do_GET(self) -> None:
                hub.answer(self, with_body=True)

            def log_message(self, format: str, *args: object) -> None:
                hub.requests.append(f"{self.command} {self.path}")

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, request: BaseHTTPRequestHandler, *, with_body: bool) -> None:
        path = request.path.split("?")[0].removeprefix("/api/models/").strip("/")
        owner, name, *rest = path.split("/")
        repository = self.files.get(f"{owner}/{name}")
        headers = {"X-Repo-Commit": COMMIT}
        status, body = self.status, b""
        if status != 200:
            pass
        elif repository is None:
            status, headers = 404, {"X-Error-Code": "RepoNotFound"}
        elif rest[:1] != ["resolve"]:
            listed = [{"type": "file", "path": file, "oid": "0", "size": 1} for file in repository]
            siblings = [{"rfilename": file} for file in repository]
            model = {"id": f"{owner}/{name}", "sha": COMMIT, "siblings": siblings}
            body = json.dumps(listed if rest[:1] == ["tree"] else model).encode()
            headers["Content-Type"] = "application/json"
        elif rest[2] in repository:
            body = repository[rest[2]]
            headers["ETag"] = f'"{COMMIT}{rest[2]}"'
        else:
            status = 404
            headers["X-Error-Code"] = "EntryNotFound"
        request.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(body))}.items():
            request.send_header(key, value)
        request.end_headers()
        if with_body:
            request.wfile.write(body)


@pytest.fixture
def hub() -> Iterator[Hub]:
    server = Hub(
        {
            OWN: {
                "model.onnx": b"own-model",
                "model_optimized.onnx": b"own-optimized",
                "sentencepiece.bpe.model": b"own-tokenizer",
            },
            SAT: {"model.onnx": b"sat-model", "config.json": b"{}"},
            ODD: {"weights.onnx": b"odd-model"},
            TWO: {"a.onnx": b"a", "b.onnx": b"b"},
            EMPTY: {"config.json": b"{}"},
            ROBERTA: {"sentencepiece.bpe.model": b"roberta-tokenizer"},
        }
    )
    server.start()
    yield server
    server.stop()


@pytest.fixture
def environment(hub: Hub, tmp_path: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    return kept | {
        "HF_ENDPOINT": hub.address,
        "HF_HOME": str(tmp_path / "cache"),
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_XET": "1",
        "NO_PROXY": "127.0.0.1",
    }


def find(name: str, environment: dict[str, str], script: str = FIND) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, name],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.strip()


def test_the_optimized_model_and_the_repository_s_own_tokenizer_come_first(
    environment: dict[str, str],
) -> None:
    assert find(OWN, environment) == "own-optimized own-tokenizer"


def test_what_was_downloaded_serves_without_the_hub(hub: Hub, environment: dict[str, str]) -> None:
    assert find(SAT, environment) == "sat-model roberta-tokenizer"
    asked = len(hub.requests)
    assert find(SAT, environment) == "sat-model roberta-tokenizer"
    assert len(hub.requests) == asked
    assert find(SAT, environment | {"HF_HUB_OFFLINE": "1"}) == "sat-model roberta-tokenizer"
    gone = environment | {"HF_ENDPOINT": "http://127.0.0.1:9"}
    assert find(SAT, gone) == "sat-model roberta-tokenizer"


def test_the_only_onnx_file_of_a_repository_is_taken_whatever_its_name(
    environment: dict[str, str],
) -> None:
    assert find(ODD, environment) == "odd-model roberta-tokenizer"


FAILURES = {
    "unknown repository": ("someone/nothing", {}, "no such repository at http://127.0.0.1"),
    "no model": (EMPTY, {}, "the hub repository holds no ONNX file; expected model_optimized.onnx"),
    "two models": (TWO, {}, "the hub repository holds the ONNX files a.onnx, b.onnx; expected"),
    "offline": (SAT, {"HF_HUB_OFFLINE": "1"}, "cannot be reached (HF_HUB_OFFLINE is set); go"),
    "hub gone": (
        SAT,
        {"HF_ENDPOINT": "http://127.0.0.1:9"},
        "http://127.0.0.1:9 cannot be reached",
    ),
    "no such name": ("a--b/c", {}, "no such repository at http://127.0.0.1"),
}


@pytest.mark.parametrize(("name", "more", "message"), FAILURES.values(), ids=FAILURES)
def test_a_name_that_leads_nowhere_is_explained_in_one_line(
    environment: dict[str, str], name: str, more: dict[str, str], message: str
) -> None:
    printed = find(name, environment | more)
    assert printed.startswith(f"error: {name}: ")
    assert message in printed
    assert "\n" not in printed


def test_a_hub_that_is_ill_is_named_with_its_status(hub: Hub, environment: dict[str, str]) -> None:
    hub.status = 503
    assert f"{hub.address} cannot be reached (status 503)" in find(SAT, environment)


def test_without_the_hub_client_the_extra_is_named(environment: dict[str, str]) -> None:
    blocked = "import sys; sys.modules['huggingface_hub'] = None" + FIND
    printed = find(SAT, environment, blocked)
    assert f"huggingface_hub is not installed: {install_command('hub')}" in printed


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("segment-any-text/sat-3l-sm", True),
        ("owner/name.v2", True),
        ("owner/model.onnx", False),
        ("../name", False),
        ("./name", False),
        ("/name", False),
        ("a/b/c", False),
        ("small", False),
    ],
)
def test_hub_names_have_an_owner_and_a_name(name: str, expected: bool) -> None:
    assert is_hub_name(name) is expected
