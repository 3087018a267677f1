"""A label command as a process, requests to its server, conversations for it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cal_ai.benchmark.samples import bundled_folder

WAIT_S = 60


def copy_conversation(name: str, folder: Path) -> None:
    """Copies a bundled conversation; its file says that it took place on a certain evening."""
    copied = shutil.copy(bundled_folder() / "crud" / f"{name}.txt", folder)
    evening = datetime(2025, 9, 1, 18, 40).timestamp()
    os.utime(copied, (evening, evening))


@contextmanager
def label_server(module: str, *arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a label command, and its process; Ctrl-C ends it."""
    command = [sys.executable, "-m", module, "label", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        said = []
        try:
            while line := process.stderr.readline():
                said.append(line)
                if address := re.search(r"http://\S+", line):
                    break
            else:
                raise AssertionError("".join(said))
            yield address[0], process
            process.send_signal(signal.SIGINT)
            process.wait(timeout=WAIT_S)
        finally:
            process.kill()


def request(
    address: str,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = 10,
) -> tuple[int, bytes]:
    """The status and the content of an answer; the headers are those of the page unless given."""
    parts = urlsplit(address)
    own = {"Origin": f"http://{parts.netloc}", "Content-Type": "application/json"}
    connection = HTTPConnection(parts.netloc, timeout=timeout_s)
    try:
        connection.request(method, parts.path + path, body, {**own, **(headers or {})})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def call(address: str, method: str, path: str, body: object = None, timeout_s: float = 10) -> Any:
    """What the server answers, read as JSON."""
    sent = None if body is None else json.dumps(body).encode()
    return json.loads(request(address, method, path, sent, timeout_s=timeout_s)[1])


def opened(address: str, number: int) -> Any:
    """The state of a text once its draft is made; an error where it cannot be opened."""
    state = call(address, "GET", f"texts/{number}")
    while state.get("drafting"):
        time.sleep(0.02)
        state = call(address, "GET", f"texts/{number}")
    return state
