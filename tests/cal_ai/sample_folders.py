"""Folders of small samples, a script that answers them, and the command line in this process."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from testing.loopback import Call, Reply, answer

from cal_ai.cli import main

KEY = "loopback-key-3f9a1c"
LUNCH: dict[str, object] = {
    "action": "create",
    "title": "Lunch",
    "start_time": "2026-02-21T12:00:00",
    "end_time": "2026-02-21T13:00:00",
}
CIRCUMSTANCES = {"owner": "Alice", "reference_datetime": "2026-02-20T10:00:00"}
GOT_LUNCH: dict[str, object] = {
    **LUNCH,
    "location": None,
    "attendees": [],
    "confidence": "high",
    "reasoning": "Both agree.",
    "assumptions": [],
    "existing_event_id": None,
}


def write_sample(
    folder: Path,
    name: str,
    *,
    expected: Sequence[Mapping[str, object]] | None = (LUNCH,),
    text: str | None = None,
    **fields: object,
) -> None:
    """Writes one sample whose words are its name; `expected=None` leaves out the sidecar."""
    path = folder / f"{name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"[Alice]: sample <{name}>" if text is None else text, encoding="utf-8")
    if expected is not None:
        truth = {**CIRCUMSTANCES, "expected_events": list(expected), **fields}
        path.with_suffix(".expected.json").write_text(json.dumps(truth), encoding="utf-8")


def write_samples(folder: Path, count: int) -> list[str]:
    """Writes samples that all expect one lunch and returns their names."""
    names = [f"crud/s{number:03}" for number in range(count)]
    for name in names:
        write_sample(folder, name)
    return names


def asked_sample(call: Call) -> str:
    """The name of the sample that a call is about; empty for the AI summary."""
    found = re.search(r"sample <([^>]+)>", call.prompt)
    return found[1] if found else ""


def finds_lunch(_: Call) -> Reply:
    return answer(events=[GOT_LUNCH])


@dataclass(frozen=True, slots=True)
class Printed:
    """What a command left behind: its status and both of its streams."""

    status: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """What stands on stderr below the line that tells the extractor."""
        first, _, rest = self.err.partition("\n")
        assert first.startswith("extractor: ")
        return rest

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class CommandLine:
    """Runs `cal_ai` in this process, in a folder and an environment of its own."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder = folder
        self.extractor = "reader"
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        monkeypatch.chdir(folder)
        for name in ("GEMINI_API_KEY", "GEMINI_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
            monkeypatch.delenv(name, raising=False)
        for name in ("OPENAI_MODEL", "OWNER_NAME", "TIMEZONE", "GOOGLE_GEMINI_BASE_URL"):
            monkeypatch.delenv(name, raising=False)
        for name in ("CALDAV_USERNAME", "CALDAV_PASSWORD", "GOOGLE_CREDENTIALS", "TZ"):
            monkeypatch.delenv(name, raising=False)
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            monkeypatch.setenv(name, str(folder / "home"))

    def set(self, **environment: str) -> None:
        for name, value in environment.items():
            self._monkeypatch.setenv(name, value)

    def __call__(self, *arguments: str | Path) -> Printed:
        self._capsys.readouterr()
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as left:
            status = int(left.code or 0)
        streams = self._capsys.readouterr()
        return Printed(status, streams.out, streams.err)

    def benchmark(self, *arguments: str | Path) -> Printed:
        return self("benchmark", "samples", *arguments)

    @property
    def history(self) -> list[dict[str, Any]]:
        path = self.folder / "reports" / "benchmark_history.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    @property
    def report(self) -> str:
        return max((self.folder / "reports").glob("*.md")).read_text(encoding="utf-8")

    @property
    def answers(self) -> list[dict[str, Any]]:
        files = sorted((self.folder / "reports").glob("*.answers.jsonl"))
        lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
        return [json.loads(line) for line in lines]

    def files(self) -> dict[Path, str]:
        """The text of every file that a run has written."""
        return {
            path: path.read_text(encoding="utf-8")
            for path in (self.folder / "reports").rglob("*")
            if path.is_file()
        }
