"""Every kind of server, with every kind of answer that is none."""

from __future__ import annotations

import json
import time
import tracemalloc

import pytest
from testing.hostile_server import Answer, HostileServer, gzip_bomb, packed
from tests.cal_ai.sample_folders import CommandLine, Printed
from tests.hostile.kinds import KINDS, SECRETS, TRANSCRIPT, Kind

EVERY_KIND = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
OWN_SECRETS = {"google": ("google", "refresh", "client")}
TURNED = "\x1b]0;owned\x07\x1b[2J \u202eevil\u202c \x9b31m"


def ask(cal_ai: CommandLine, kind: Kind, answer: Answer, *flags: str) -> Printed:
    """One run against a server of this kind that answers so."""
    (cal_ai.folder / "talk.txt").write_text(TRANSCRIPT)
    with HostileServer(answer) as server:
        cal_ai.set(TIMEZONE="Europe/Berlin", **kind.settings(server.url, cal_ai.folder))
        return cal_ai("talk.txt", "--timeout", "1", *kind.arguments(server.url), *flags)


def assert_one_error(ran: Printed) -> None:
    assert (ran.status, ran.out) == (1, "")
    lines = [line for line in ran.err.splitlines() if "busy; asking it again" not in line]
    assert [line for line in lines if line.startswith("error: ")] == lines[-1:], ran.err
    printed = ran.out + ran.err
    assert not any(secret in printed for secret in SECRETS.values())
    assert all(char.isprintable() for char in printed.replace("\n", "")), repr(printed)


@EVERY_KIND
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(gzip_bomb(2_000), id="2 GB of spaces"),
        pytest.param(packed(gzip_bomb(200)), id="packed twice"),
    ],
)
def test_a_packed_answer_is_unpacked_within_bounds(
    cal_ai: CommandLine, kind: Kind, body: bytes
) -> None:
    answer = Answer(207 if kind.name == "caldav" else 200, body, {"Content-Encoding": "gzip"})
    tracemalloc.start()
    try:
        ran = ask(cal_ai, kind, answer)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert_one_error(ran)
    assert peak < 150_000_000


@EVERY_KIND
def test_a_large_plain_answer_is_not_read_to_its_end(cal_ai: CommandLine, kind: Kind) -> None:
    answer = Answer(207 if kind.name == "caldav" else 200, b" " * 1_000_000, repeat=200)
    ran = ask(cal_ai, kind, answer)
    assert_one_error(ran)
    assert "the answer is larger than 20 MB" in ran.err


@EVERY_KIND
@pytest.mark.parametrize("drips_head", [False, True], ids=["body", "head"])
def test_the_timeout_is_for_the_whole_answer(
    cal_ai: CommandLine, kind: Kind, drips_head: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "truemark.services.retry.CallPolicy.__init__.__defaults__", (1.0, 2, 0.1, 1.0)
    )
    begun_s = time.monotonic()
    ran = ask(cal_ai, kind, Answer(body=b"x" * 1_000, drip_s=0.2, drips_head=drips_head))
    assert_one_error(ran)
    assert time.monotonic() - begun_s < 8
    assert "no answer within 1 s" in ran.err


@EVERY_KIND
@pytest.mark.parametrize("status", [400, 403, 404, 418])
def test_what_a_server_says_cannot_command_the_terminal(
    cal_ai: CommandLine, kind: Kind, status: int
) -> None:
    own = [SECRETS[name] for name in OWN_SECRETS.get(kind.name, (kind.name,))]
    said = f"{TURNED} {' '.join(own)}"
    body = json.dumps({"error": {"message": said, "code": status, "status": said}}).encode()
    assert_one_error(ask(cal_ai, kind, Answer(status, body, {"Content-Type": "application/json"})))


JSON_BODIES = (
    b"<html>sign in</html>",
    b"",
    b"[]",
    b"5",
    b"null",
    b'"text"',
    b"{",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"9" * 10_000,
    b"\xff\xfe\x00",
    b'{"items": 5}',
    b'{"items": [5]}',
    b'{"choices": [5], "candidates": [5]}',
    b'{"choices": 5, "candidates": 5}',
    b'{"choices": [{"message": 5}], "candidates": [{"content": 5}]}',
    b'{"error": 5}',
    b'{"error": {"message": 5, "errors": [5], "details": 5}}',
)


@EVERY_KIND
@pytest.mark.parametrize("status", [200, 207, 403, 409, 422])
def test_an_answer_of_the_wrong_shape_is_one_line(
    cal_ai: CommandLine, kind: Kind, status: int
) -> None:
    for body in JSON_BODIES:
        ran = ask(cal_ai, kind, Answer(status, body, {"Content-Type": "application/json"}))
        assert_one_error(ran)


GOOD = {"id": "a", "start": {"dateTime": "2999-01-01T10:00:00Z"}, "end": {"date": "2999-01-02"}}


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"id": "a"},
        {**GOOD, "id": 5},
        {**GOOD, "start": 5},
        {**GOOD, "start": {}},
        {**GOOD, "start": {"dateTime": "soon"}},
        {**GOOD, "start": {"dateTime": "0001-01-01T00:00:00+14:00"}},
        {**GOOD, "end": {"date": "9999-12-31"}},
        {**GOOD, "summary": 5},
        {**GOOD, "location": ["x"]},
        {**GOOD, "attendees": 5},
        {**GOOD, "extendedProperties": []},
        {**GOOD, "etag": 5},
    ],
    ids=str,
)
def test_an_event_of_google_that_cannot_be_read_costs_itself(
    cal_ai: CommandLine, item: dict[str, object]
) -> None:
    (kind,) = (kind for kind in KINDS if kind.name == "google")
    body = json.dumps({"items": [item]}).encode()
    ran = ask(cal_ai, kind, Answer(200, body), "--dry-run")
    assert "the server sent an event that cannot be read" in ran.err


def test_pages_without_end_are_not_turned_for_ever(cal_ai: CommandLine) -> None:
    (kind,) = (kind for kind in KINDS if kind.name == "google")
    ran = ask(cal_ai, kind, Answer(200, b'{"items": [], "nextPageToken": "more"}'))
    assert_one_error(ran)


@pytest.mark.parametrize(
    "wait",
    ["1000000000", "9" * 5_000, "Fri, 31 Dec 9999 23:59:59 -2359", "Fri, 31 Dec 99999", "-1"],
)
@EVERY_KIND
def test_no_wait_that_a_server_asks_for_is_without_end(
    cal_ai: CommandLine, kind: Kind, wait: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "truemark.services.retry.CallPolicy.__init__.__defaults__", (1.0, 2, 0.1, 1.0)
    )
    begun_s = time.monotonic()
    ran = ask(cal_ai, kind, Answer(429, b"{}", {"Retry-After": wait}))
    assert_one_error(ran)
    assert time.monotonic() - begun_s < 8


@EVERY_KIND
def test_an_answer_that_breaks_off_is_one_line(
    cal_ai: CommandLine, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    defaults = (1.0, 2, 0.1, 1.0)
    monkeypatch.setattr("truemark.services.retry.CallPolicy.__init__.__defaults__", defaults)
    assert_one_error(ask(cal_ai, kind, Answer(207, b"{", length=1_000)))


@EVERY_KIND
def test_endless_interim_answers_are_one_line(cal_ai: CommandLine, kind: Kind) -> None:
    head = b"HTTP/1.1 100 Continue\r\n\r\n" * 50_000
    assert_one_error(ask(cal_ai, kind, Answer(head=head)))


def test_a_password_is_not_sent_on_to_another_server(cal_ai: CommandLine) -> None:
    (kind,) = (kind for kind in KINDS if kind.name == "caldav")
    with HostileServer(Answer(207, b"<a/>")) as other:
        ran = ask(cal_ai, kind, Answer(302, headers={"Location": f"{other.url}/alice/"}))
        assert other.requests == []
    assert_one_error(ran)
    assert "the server redirects to another server" in ran.err
