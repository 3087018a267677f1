"""Label texts with known truth, in place of a person: `python label_reader.py TRUTH.json ADDRESS`.

Set as `BROWSER`, this script is opened by `sat-bench label` and `cal-ai label` like a browser. It
marks every text in the truth, visits every place, and then ends the command as Ctrl-C would.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen


def read_texts(address: str, truth: dict[str, dict[str, Any]]) -> None:
    for number in range(len(truth)):
        state = _ask(address, f"texts/{number}")
        while state["drafting"]:
            time.sleep(0.05)
            state = _ask(address, f"texts/{number}")
        content = {**state["content"], **truth[state["name"]]}
        change = {"session": "reader", "count": 1, "stamp": state["stamp"], "content": content}
        saved = _ask(address, f"texts/{number}", {**change, "seen": state["places"]})
        if saved["left"] or saved["problem"]:
            raise SystemExit(f"{state['name']}: {saved}")


def _ask(address: str, path: str, change: object = None) -> Any:
    origin = address.rsplit("/", 2)[0]
    request = Request(
        address + path,
        data=None if change is None else json.dumps(change).encode(),
        headers={"Origin": origin, "Content-Type": "application/json"},
        method="GET" if change is None else "PUT",
    )
    with urlopen(request, timeout=60) as answer:
        return json.load(answer)


if __name__ == "__main__":
    try:
        read_texts(sys.argv[2], json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    finally:
        os.kill(os.getppid(), signal.SIGINT)
