"""A folder of talks to label, and a real server for a desk."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from sat_bench.labelling import draft_task
from truemark.labelling.desk import Desk
from truemark.labelling.server import HOST, label_app
from truemark.labelling.storage import GOLD, Workspace

TOKEN = "a-token-that-nobody-guesses"
TALKS = {
    "one": "# Title: One\n\nWe sat there. Nobody spoke\n\nThen he left.",
    "two": "so i went home and he stayed that was all",
}


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    for name, text in TALKS.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def desk_of(talks: Path) -> Iterator[Callable[..., Desk]]:
    """Makes desks over the talks, with a made-up system that cuts after full stops."""
    desks: list[Desk] = []

    def make(
        annotator: str = GOLD, models: tuple[str, ...] = ("py:tests.labelling.cuts:at_stops",)
    ) -> Desk:
        desks.append(Desk(draft_task(talks, models, 10.0), Workspace(talks, annotator)))
        return desks[-1]

    yield make
    for desk in desks:
        desk.close()


@dataclass(frozen=True)
class Server:
    """A running server; `call` sends what a browser at its page would, unless told otherwise."""

    port: int

    def call(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> tuple[int, Any, Any]:
        connection = HTTPConnection(HOST, self.port, timeout=10)
        origin = f"http://{HOST}:{self.port}"
        sent = {"Host": f"{HOST}:{self.port}", "Origin": origin, "Content-Type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body else None
        shown = {name: value for name, value in sent.items() if value}
        connection.request(method, f"/{TOKEN}/{path}", data, shown)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        is_json = answer.headers.get_content_type() == "application/json"
        return answer.status, json.loads(content) if is_json else content, answer.headers


@pytest.fixture
def served() -> Iterator[Callable[[Desk], Server]]:
    started: list[tuple[uvicorn.Server, threading.Thread]] = []

    def start(desk: Desk) -> Server:
        import socket

        listener = socket.create_server((HOST, 0))
        port = listener.getsockname()[1]
        config = uvicorn.Config(label_app(desk, port, TOKEN), log_level="error")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        started.append((server, thread))
        while not server.started:
            time.sleep(0.01)
        return Server(port)

    yield start
    for server, thread in started:
        server.should_exit = True
        thread.join()


def opened(desk: Desk, number: int) -> dict[str, Any]:
    """Opens a text and waits for its draft."""
    while (state := desk.open(number))["drafting"]:
        time.sleep(0.01)
    return state
