"""Run a label command as a process, send requests to its server, and copy conversations for it."""

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
    """Copy a bundled conversation; the time of its file is a certain evening."""
    copied = shutil.copy(bundled_folder() / "crud" / f"{name}.txt", folder)
    evening = datetime(2025, 9, 1, 18, 40).timestamp()
    os.utime(copied, (evening, evening))


@contextmanager
def label_server(module: str, *arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start a label command; yield its address and process, and end it by Ctrl-C."""
    command = [sys.executable, "-m", module, "label", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        lines = []
        try:
            while line := process.stderr.readline():
                lines.append(line)
                if address := re.search(r"http://\S+", line):
                    break
            else:
                raise AssertionError("".join(lines))
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
    """Return the status and content of an answer; the default headers are those of the page."""
    parts = urlsplit(address)
    defaults = {"Origin": f"http://{parts.netloc}", "Content-Type": "application/json"}
    connection = HTTPConnection(parts.netloc, timeout=timeout_s)
    try:
        connection.request(method, parts.path + path, body, {**defaults, **(headers or {})})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def call(address: str, method: str, path: str, body: object = None, timeout_s: float = 10) -> Any:
    """Return the JSON that the server answers."""
    sent = None if body is None else json.dumps(body).encode()
    return json.loads(request(address, method, path, sent, timeout_s=timeout_s)[1])


def opened(address: str, number: int) -> Any:
    """Wait for the draft of a text and return its state, or the error if it cannot be opened."""
    state = call(address, "GET", f"texts/{number}")
    while state.get("drafting"):
        time.sleep(0.02)
        state = call(address, "GET", f"texts/{number}")
    return state
