"""Every fault of each of the four kinds of server that `cal_ai` talks to."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from testing.hostile_server import Answer, HostileServer, gzip_bomb, packed
from tests.hostile.forked import Case, complaints, run
from tests.hostile.kinds import KINDS, SECRETS, TRANSCRIPT

from cal_ai.cli import main as cal_ai

TURNED = "\x1b]0;owned\x07\x1b[2J \u202eevil\u202c"
ECHO = json.dumps({"error": {"message": f"{TURNED} {' '.join(SECRETS.values())}"}}).encode()
BODIES = (
    b"<html>sign in</html>",
    b"",
    b"[]",
    b"null",
    b"{",
    b"[" * 100_000,
    b"9" * 10_000,
    b"\xff\xfe\x00",
    b'{"items": [5], "choices": [5], "candidates": [5]}',
    b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;">]><a>&d;</a>',
    b"<multistatus xmlns='DAV:'>" + b"<response/>" * 1_000 + b"</multistatus>",
    ECHO,
)
STATUSES = (200, 201, 204, 207, 301, 400, 403, 404, 409, 412, 422)
FAULTS: tuple[tuple[str, Answer], ...] = (
    *((f"{code} {body[:15]!r}", Answer(code, body)) for code in STATUSES for body in BODIES[::2]),
    *(
        (f"{code} {body[:15]!r}", Answer(code, body))
        for code in (200, 207)
        for body in BODIES[1::2]
    ),
    *((f"status {code}", Answer(code, ECHO)) for code in (100, 299, 401, 402, 418, 451, 600, 999)),
    ("bomb", Answer(200, gzip_bomb(500), {"Content-Encoding": "gzip"})),
    ("bomb 207", Answer(207, gzip_bomb(500), {"Content-Encoding": "deflate"})),
    ("bomb twice", Answer(200, packed(gzip_bomb(100)), {"Content-Encoding": "gzip, gzip"})),
    ("unknown packing", Answer(200, b"x", {"Content-Encoding": TURNED})),
    ("200 MB", Answer(200, b" " * 1_000_000, repeat=200)),
    ("200 MB 207", Answer(207, b"<" * 1_000_000, repeat=200)),
    ("cut", Answer(200, b"{", length=1_000)),
    ("negative length", Answer(200, b"{}", head=b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n")),
    ("no HTTP", Answer(head=b"SSH-2.0-OpenSSH\r\n")),
    ("endless head", Answer(head=b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000)),
    ("long header", Answer(head=b"HTTP/1.1 200 OK\r\nX: " + b"y" * 1_000_000 + b"\r\n\r\n")),
    ("odd reason", Answer(head=b"HTTP/1.1 403 \x1b[2J\x07\r\nContent-Length: 0\r\n\r\n")),
    ("endless redirections", Answer(302, headers={"Location": "/again"})),
    ("elsewhere", Answer(307, headers={"Location": "http://127.0.0.1:9/"})),
    ("odd redirection", Answer(302, headers={"Location": "http://[::1"})),
    ("drops", Answer(drops=True)),
    ("silent", Answer(silent=True)),
    ("drips", Answer(200, b"x" * 500, drip_s=0.3)),
    ("wait without end", Answer(429, b"{}", {"Retry-After": "1000000000"})),
    ("wait of many digits", Answer(503, b"{}", {"Retry-After": "9" * 5_000})),
    (
        "wait until the end of time",
        Answer(429, b"{}", {"Retry-After": "Fri, 31 Dec 9999 23:59:59 -2359"}),
    ),
)


def server_cases(
    folder: str, own: Callable[[Iterable[Any]], Iterator[Any]]
) -> Iterator[tuple[str, str, list[str]]]:
    """What was not as it should be, per fault and kind of server."""
    for kind, (name, answer) in own((kind, fault) for fault in FAULTS for kind in KINDS):
        place = Path(tempfile.mkdtemp(dir=folder))
        with HostileServer(answer) as server:
            settings = dict(kind.settings(server.url, place))
            case = Case(
                f"server {kind.name}",
                name,
                cal_ai,
                ("talk.txt", "--timeout", "1", *kind.arguments(server.url)),
                {"talk.txt": TRANSCRIPT.encode(), "config/truemark/google-token.json": b""}
                if kind.name != "google"
                else {"talk.txt": TRANSCRIPT.encode()},
                settings,
                () if kind.name == "google" else (SECRETS[kind.name],),
                waits_s=15.0,  # five times, after 1, 2, 4 and 8 s
            )
            outcome = run(case, place)
        found = complaints(case, outcome, place)
        printed = outcome.out + outcome.err
        own_secrets = [SECRETS[key] for key in ("google", "refresh", "client")]
        if kind.name == "google" and any(secret.encode() in printed for secret in own_secrets):
            found.append("secret in what is printed")
        if outcome.status == 0:
            found.append("status 0")
        if found:
            found.append(outcome.err.decode("utf-8", "replace")[-300:])
        yield case.kind, name, found
