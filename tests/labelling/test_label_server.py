"""Who is answered by the server of a label page, and how much of a request it reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.labelling.conftest import Server, opened

from truemark.labelling.desk import Desk, Edit
from truemark.labelling.server import LARGEST_BODY

Make = Callable[..., Desk]
Serve = Callable[[Desk], Server]


@pytest.fixture
def server(desk_of: Make, served: Serve) -> Server:
    desk = desk_of()
    opened(desk, 1)
    return served(desk)


def change(server: Server, **fields: Any) -> dict[str, Any]:
    _, state, _ = server.call("GET", "texts/1")
    sent = {"session": "s", "count": 1, "stamp": state["stamp"], "content": state["content"]}
    return sent | fields


def test_the_page_and_its_files_are_served_with_a_policy(server: Server) -> None:
    for path in ("", "files/page.css", "files/shell.js", "files/label.js", "files/label.css"):
        status, content, headers = server.call("GET", path)
        assert status == 200
        assert content
        assert "default-src 'none'; script-src 'self'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"


def test_a_change_is_saved_and_answered(server: Server) -> None:
    status, said, _ = server.call("PUT", "texts/1", change(server, seen=[22]))
    assert (status, said["left"], said["problem"]) == (200, 0, "")


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_others_are_refused(server: Server, method: str, headers: dict[str, str]) -> None:
    body = change(server) if method == "PUT" else None
    status, said, _ = server.call(method, "texts/1", body, **headers)
    assert status in (400, 403)
    assert "content" not in str(said)


def test_a_change_without_an_origin_is_refused(server: Server) -> None:
    assert server.call("PUT", "texts/1", change(server), Origin="")[0] == 403


@pytest.mark.parametrize("path", ["../x/", "../", "../overview", "..//", "../%2e%2e/"])
def test_without_the_token_nothing_is_answered(server: Server, path: str) -> None:
    status, said, _ = server.call("GET", path)
    assert status in (403, 404)
    assert "texts" not in str(said)


@pytest.mark.parametrize(
    "path", ["files/desk.py", "files/..%2fserver.py", "files/", "texts/2", "texts/-1", "texts/x"]
)
def test_only_the_page_s_own_files_and_texts_are_there(server: Server, path: str) -> None:
    assert server.call("GET", path)[0] == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'{"session": 1}', 400),
        (b"\xff", 400),
        (b"[" * 100_000, 400),
        (b" " * (LARGEST_BODY + 1), 413),
    ],
    ids=["cut", "list", "types", "bytes", "deep", "large"],
)
def test_bodies_that_are_no_changes_are_refused(server: Server, body: bytes, status: int) -> None:
    assert server.call("PUT", "texts/1", body)[0] == status


def test_a_form_of_another_site_cannot_send_a_change(server: Server) -> None:
    sent = change(server)
    assert server.call("PUT", "texts/1", sent, Content_Type="text/plain")[0] == 415
    assert server.call("POST", "texts/1", sent)[0] in (404, 405)


def test_a_conflict_says_what_is_on_disk(server: Server, desk_of: Make) -> None:
    sent = change(server, content={"ends": [11, 32]})
    other = desk_of()
    server_state = opened(other, 1)
    other.save(1, Edit("other", 1, str(server_state["stamp"]), {"ends": [2, 32]}))
    status, said, _ = server.call("PUT", "texts/1", sent)
    assert (status, said["content"]) == (409, {"ends": [2, 32]})
