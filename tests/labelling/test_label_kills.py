"""A label server that is killed at random moments loses nothing that it said it saved."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

WORDS = 60
ROUNDS = 6


def call(address: str, method: str, path: str, body: object = None) -> Any:
    parts = urlsplit(address)
    connection = HTTPConnection(parts.netloc, timeout=10)
    headers = {"Origin": f"http://{parts.netloc}", "Content-Type": "application/json"}
    try:
        connection.request(method, parts.path + path, json.dumps(body) if body else None, headers)
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def test_a_killed_server_keeps_every_change_that_it_answered(tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text(" ".join(["word"] * WORDS), encoding="utf-8")
    chance = random.Random(20260220)
    command = [sys.executable, "-m", "sat_bench", "label", str(tmp_path), "-models", "none"]
    answered: list[int] = [4 * WORDS]
    for _ in range(ROUNDS):
        with subprocess.Popen(
            [*command, "-no-browser"], stderr=subprocess.PIPE, text=True
        ) as server:
            assert server.stderr is not None
            found = re.search(r"http://\S+", server.stderr.readline())
            assert found
            address = found[0]
            state = call(address, "GET", "texts/0")
            while state["drafting"]:
                time.sleep(0.02)
                state = call(address, "GET", "texts/0")
            assert set(answered) <= set(state["content"]["ends"])
            timer = threading.Timer(chance.uniform(0.02, 0.4), server.kill)
            timer.start()
            ends, stamp = set(state["content"]["ends"]), state["stamp"]
            for count, place in enumerate(chance.sample(state["places"], WORDS - 1)):
                ends.add(place)
                change = {"session": "s", "count": count, "stamp": stamp, "seen": [place]}
                try:
                    said = call(
                        address, "PUT", "texts/0", change | {"content": {"ends": sorted(ends)}}
                    )
                except (OSError, HTTPException, ValueError):
                    break
                stamp = said["stamp"]
                answered = sorted(ends)
            timer.join()
    stored = json.loads((tmp_path / ".annotations/.gold/talk.json").read_text(encoding="utf-8"))
    assert set(answered) <= set(stored["content"]["ends"])
