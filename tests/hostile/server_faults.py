"""Every fault of each of the four kinds of server that `cal_ai` talks to."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from testing.hostile_server import Answer, Behind, HostileServer, gzip_bomb, packed
from tests.hostile.forked import Case, complaints, run
from tests.hostile.kinds import KINDS, SECRETS
from tests.hostile.readers import CORPUS, SAID
from tests.hostile.writers import Writer, servers, writers

from cal_ai.cli import main as cal_ai
from sat_bench.cli import main as sat_bench

Own = Callable[[Iterable[Any]], Iterator[Any]]
Finding = tuple[str, str, list[str]]

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


WAITS_S = 15.0  # five times, after 1, 2, 4 and 8 s
GOOGLE_OWN = tuple(SECRETS[name] for name in ("google", "refresh", "client"))
# What may befall a conversation that began well; the first also befalls an answer alone.
ON_THE_WAY: tuple[tuple[str, Answer], ...] = (
    ("drops", Answer(drops=True)),
    ("silent", Answer(silent=True)),
    ("cut", Answer(200, b"{", length=1_000)),
    ("500", Answer(500, ECHO)),
    ("401", Answer(401, ECHO)),
    ("409", Answer(409, ECHO)),
    ("html", Answer(200, b"<html>sign in</html>")),
)


def fault_cases(folder: str, own: Own) -> Iterator[Finding]:
    """A server that never answers as it should, asked by each command that asks servers."""
    plans = [(fault, kind) for fault in FAULTS for kind in KINDS]
    for (name, answer), kind in own(plans):
        place = Path(tempfile.mkdtemp(dir=folder))
        with HostileServer(answer) as server:
            arguments = ("talk.txt", "--timeout", "1", *kind.arguments(server.url))
            case = Case(f"server {kind.name}", name, cal_ai, arguments, SAID, waits_s=WAITS_S)
            yield _answered(case, dict(kind.settings(server.url, place)), kind.name, place)
    segmented = ("-corpus", "corpus", "-timeout", "1", "-model")
    for (name, answer), kind in own([(fault, it) for fault in FAULTS[::3] for it in KINDS[:2]]):
        place = Path(tempfile.mkdtemp(dir=folder))
        with HostileServer(answer) as server:
            arguments = (*segmented, f"llm:{kind.name}:m")
            case = Case(f"llm: {kind.name}", name, sat_bench, arguments, CORPUS, waits_s=WAITS_S)
            yield _answered(case, dict(kind.settings(server.url, place)), kind.name, place)


def _answered(case: Case, settings: dict[str, str], kind: str, place: Path) -> Finding:
    secrets = GOOGLE_OWN if kind == "google" else (SECRETS[kind],)
    token = "config/truemark/google-token.json"  # which `settings` has written
    given = {**case.files, token: (place / token).read_bytes()} if kind == "google" else case.files
    failing = frozenset({1})
    case = replace(case, settings=settings, secrets=secrets, files=given, statuses=failing)
    outcome = run(case, place)
    found = complaints(case, outcome, place)
    if found:
        found.append(outcome.err.decode("utf-8", "replace")[-300:])
    return case.kind, case.name, found


def faults_on_the_way(folder: str, own: Own) -> Iterator[Finding]:
    """Servers that fail after some requests, or do as asked and lose the answer; then are well."""
    with servers() as asked:
        by_name = {writer.name: writer for writer in writers(asked)}
        ports = {
            "cal_ai run caldav": _port(asked.radicale.url),
            "cal_ai run google": _port(asked.google.url),
            "cal_ai benchmark": _port(asked.llm.gemini_url),
        }
        plans = [
            (by_name[name], port, good, lost, fault)
            for name, port in ports.items()
            for good in (1, 2, 3)
            for lost in (False, True)
            for fault in (ON_THE_WAY if not lost else ON_THE_WAY[:3])
        ]
        for writer, port, good, lost, (name, answer) in own(plans):
            with HostileServer(answer, Behind(port, good, lost)) as server:
                found = _then_well(_at(writer, port, server.url), server, folder)
            what = f"{name} after {good}" + (", answers lost" if lost else "")
            yield f"on the way {writer.name}", what, found


def _then_well(writer: Writer, server: HostileServer, folder: str) -> list[str]:
    place = writer.new_place(folder)
    case = writer.case(place, waits_s=2 * WAITS_S)
    case = replace(case, arguments=(*case.arguments, "--timeout", "1"))
    outcome = run(case, place)
    found = writer.check(place, outcome) + complaints(case, outcome, place)
    server.behind = Behind(server.behind.port if server.behind else 0, sys.maxsize)
    case = replace(case, statuses=frozenset({0}))
    outcome = run(case, place)
    found += writer.check(place, outcome) + complaints(case, outcome, place)
    return found + ([outcome.err.decode("utf-8", "replace")[-300:]] if found else [])


def _at(writer: Writer, port: int, url: str) -> Writer:
    """The writer, asking the server at this address in place of the one at that port."""
    old = f"http://127.0.0.1:{port}"
    arguments = tuple(it.replace(old, url) for it in writer.arguments)
    settings = {name: value.replace(old, url) for name, value in writer.settings.items()}
    return replace(writer, arguments=arguments, settings=settings)


def _port(url: str) -> int:
    return urlsplit(url).port or 0
