"""The servers that other tests ask: that they are there when they say so."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from tests.cal_ai import calendar_servers


def test_radicale_is_not_taken_for_whoever_has_its_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        ports = iter([other.getsockname()[1], calendar_servers._free_port()])
        monkeypatch.setattr(calendar_servers, "_free_port", lambda: next(ports))
        with calendar_servers.radicale_server(tmp_path) as server:
            assert "BEGIN:VEVENT" not in server.request("GET", server.new_calendar("work"))
