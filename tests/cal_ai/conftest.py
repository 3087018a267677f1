from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from testing.loopback import LoopbackLLM
from tests.cal_ai.calendar_servers import GoogleServer, Radicale, radicale_server
from tests.cal_ai.sample_folders import KEY, CommandLine


@pytest.fixture
def llm() -> Iterator[LoopbackLLM]:
    """Serve a language model on loopback that finds no events until it is given a script."""
    with LoopbackLLM() as server:
        yield server


@pytest.fixture
def cal_ai(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> CommandLine:
    """The command line in an empty folder, without settings."""
    return CommandLine(tmp_path, monkeypatch, capsys)


@pytest.fixture
def gemini(cal_ai: CommandLine, llm: LoopbackLLM) -> CommandLine:
    """The command line with a key for a Gemini that is the loopback server."""
    cal_ai.set(GEMINI_API_KEY=KEY, GOOGLE_GEMINI_BASE_URL=llm.gemini_url)
    return cal_ai


@pytest.fixture(scope="session")
def radicale(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Radicale]:
    """A CalDAV server for all tests; each makes a calendar of its own there."""
    with radicale_server(tmp_path_factory.mktemp("radicale")) as server:
        yield server


@pytest.fixture
def google() -> Iterator[GoogleServer]:
    """A server in the form of Google Calendar, empty."""
    with GoogleServer() as server:
        yield server
