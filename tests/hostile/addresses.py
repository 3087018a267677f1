"""Servers that send their clients, and the secrets in their requests, to another server."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from testing.hostile_server import Answer, HostileServer
from tests.cal_ai.sample_folders import GOT_LUNCH
from tests.hostile.forked import Case, complaints, run
from tests.hostile.kills import Finding, Own, interrupted
from tests.hostile.kinds import KINDS, SECRETS, google_token
from tests.hostile.readers import CORPUS, SAID

from cal_ai.cli import main as cal_ai
from sat_bench.cli import main as sat_bench

REDIRECTIONS = (300, 301, 302, 303, 305, 307, 308)
WAITS_S = 15.0
TOKEN = "CONFIG/truemark/google-token.json"
HUB_TOKEN = "hf_canary0123456789"
EVENT = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:one\r\n"
    "DTSTAMP:20260101T000000Z\r\nDTSTART:20990302T090000Z\r\nDTEND:20990302T100000Z\r\n"
    "SUMMARY:Standup\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)
CALENDAR = "<resourcetype><collection/><C:calendar/></resourcetype>"
LISTED = f"{CALENDAR}<getetag>1</getetag><C:calendar-data>{EVENT}</C:calendar-data>"
HOMES = {
    "principal": "<current-user-principal><href>{0}</href></current-user-principal>",
    "home": "<C:calendar-home-set><href>{0}</href></C:calendar-home-set>",
    "both": (
        "<current-user-principal><href>{0}</href></current-user-principal>"
        "<C:calendar-home-set><href>{0}</href></C:calendar-home-set>"
    ),
}


def multistatus(href: str, prop: str) -> bytes:
    """The answer of a CalDAV server that tells properties of one address."""
    return (
        '<?xml version="1.0"?><multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">'
        f"<response><href>{href}</href><propstat><prop>{prop}</prop>"
        "<status>HTTP/1.1 200 OK</status></propstat></response></multistatus>"
    ).encode()


def others(url: str, other: str) -> dict[str, str]:
    """Addresses on another server than that at `url`, by what differs."""
    port = other.rpartition(":")[2]
    return {
        "host": f"http://localhost:{port}/alice/",
        "port": f"{other}/alice/",
        "scheme": f"{url.replace('http:', 'https:')}/alice/",
        "no scheme": f"//{other.partition('//')[2]}/alice/",
        "user": f"http://127.0.0.1@localhost:{port}/alice/",
    }


def address_cases(folder: str, own: Own) -> Iterator[Finding]:
    """Each client sent on with each status, and a calendar server that names other servers."""
    forms = tuple(others("", ""))
    clients = (*(kind.name for kind in KINDS), "token", "llm gemini", "llm openai")
    redirections = [
        (it, status, form) for it in clients for status in REDIRECTIONS for form in forms
    ]
    for client, status, form in own([*redirections, *(("hub", it, "port") for it in REDIRECTIONS)]):
        place = Path(tempfile.mkdtemp(dir=folder))
        with (
            HostileServer(Answer(200, b'{"items": []}')) as other,
            HostileServer(Answer()) as server,
        ):
            address = others(server.url, other.url)[form]
            server.answer = Answer(status, headers={"Location": address})
            case = _asking(client, server.url, place)
            alone = client == "hub"  # its library reads its settings when it is imported
            outcome = interrupted(case, place, None) if alone else run(case, place)
            found = complaints(case, outcome, place) + _sent(other, alone)
            if alone:  # the hub's library keeps no secrets, and leaves its files open
                found = [it for it in found if "open to others" not in it]
            found += [] if server.requests else ["did not ask"]
            yield f"redirected {client}", f"{status} to another {form}", found
    events = [(f"{action} of an event", form) for action in ("update", "delete") for form in forms]
    for what, form in own([*events, *((home, form) for home in HOMES for form in forms)]):
        place = Path(tempfile.mkdtemp(dir=folder))
        with HostileServer(Answer(200, EVENT.encode())) as other, HostileServer(Answer()) as server:
            address = others(server.url, other.url)[form]
            prop = HOMES[what].format(address) if what in HOMES else LISTED
            href = "/alice/" if what in HOMES else f"{address}one.ics"
            server.answer = Answer(207, multistatus(href, prop))
            event = {**GOT_LUNCH, "action": what.split()[0], "existing_event_id": 1}
            case = _asking("caldav", server.url, place)
            beside = {**case.files, "answer.json": json.dumps({"events": [event]}).encode()}
            arguments = (*case.arguments, "--extractor", "cmd:cat answer.json")
            case = replace(case, files=beside, arguments=arguments, statuses=frozenset({0, 1}))
            found = complaints(case, run(case, place), place) + _sent(other, False)
            yield "addresses of caldav", f"{what} on another {form}", found


def _sent(other: HostileServer, may_be_asked: bool) -> list[str]:
    """What is wrong with what the other server got; files of the hub lie on others."""
    told = any(b"authorization:" in request.lower() for request in other.requests)
    if told:
        return ["sent a secret to another server"]
    return ["asked another server"] if other.requests and not may_be_asked else []


def _asking(client: str, url: str, place: Path) -> Case:
    """A command that asks the server."""
    failing = frozenset({1})
    secrets = tuple(SECRETS.values())
    if client == "hub":
        settings = {"HF_ENDPOINT": url, "HF_TOKEN": HUB_TOKEN, "HF_HUB_OFFLINE": "0"}
        named = ("-corpus", "corpus", "-model", "a/b")
        secrets = (HUB_TOKEN,)
        return Case("hub", "", sat_bench, named, CORPUS, settings, secrets, statuses=failing)
    kind = next(it for it in KINDS if it.name == client.split()[-1].replace("token", "google"))
    files = dict(SAID)
    if kind.name == "google":
        settings = {"GOOGLE_CALENDAR_ENDPOINT": url}
        token = google_token(url)
        files[TOKEN] = token.replace(b"2999-", b"2001-") if client == "token" else token
    else:
        settings = dict(kind.settings(url, place))
    arguments: tuple[str, ...] = ("talk.txt", "--timeout", "1", *kind.arguments(url))
    main = cal_ai
    if client.startswith("llm"):
        arguments = ("-corpus", "corpus", "-timeout", "1", "-model", f"llm:{kind.name}:m")
        main, files = sat_bench, CORPUS
    return Case(
        client, "", main, arguments, files, settings, secrets, statuses=failing, waits_s=WAITS_S
    )
