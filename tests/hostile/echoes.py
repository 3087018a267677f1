"""Servers that give a secret back, escaped in every way, wherever they say something."""

from __future__ import annotations

import base64
import html
import json
import quopri
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from testing.hostile_server import Answer, HostileServer
from tests.cal_ai.sample_folders import GOT_LUNCH
from tests.hostile.addresses import EVENT, LISTED, TOKEN, multistatus
from tests.hostile.forked import Case, complaints, run
from tests.hostile.kills import Finding, Own
from tests.hostile.kinds import google_token
from tests.hostile.readers import SAID
from tests.hostile.server_answers import GEMINI, GOOGLE, OPENAI

from cal_ai.cli import main as cal_ai

SECRETS = 1  # of each encoding at each place
_CHARACTERS = "abcdefgXYZ0123456789-_.~+/=&<"


def json_escaped(text: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in text)


ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "json": json_escaped,
    "json in capitals": lambda text: json_escaped(text).upper().replace("U", "u"),
    "json twice": lambda text: json.dumps(json_escaped(text))[1:-1],
    "url": lambda text: "".join(f"%{octet:02X}" for octet in text.encode()),
    "url in part": quote,
    "html": html.escape,
    "html numbers": lambda text: "".join(f"&#{ord(character)};" for character in text),
    "html hex": lambda text: "".join(f"&#x{ord(character):X};" for character in text),
    "quoted-printable": lambda text: "".join(f"={octet:02X}" for octet in text.encode()),
    "quoted-printable in part": lambda text: quopri.encodestring(text.encode()).decode(),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 within": lambda text: base64.b64encode(f"a:{text} b".encode()).decode(),
    "base64 for urls": lambda text: base64.urlsafe_b64encode(f"ab{text}".encode()).decode(),
}


def _model_answer(form: object, field: str, echo: str) -> bytes:
    """An answer of a language model with the echo in a field of an event."""
    value = ["ECHO"] if field in ("attendees", "assumptions") else "ECHO"
    text = json.dumps({"events": [{**GOT_LUNCH, field: value}]}).replace("ECHO", echo)
    whole = json.dumps(form)
    old = json.dumps(json.dumps({"events": [GOT_LUNCH]}))
    if old not in whole:
        raise ValueError("the good answer must hold one event")
    return whole.replace(old, json.dumps(text)).encode()


def _caldav_answer(field: str, echo: str) -> bytes:
    event = EVENT.replace("SUMMARY:Standup", f"SUMMARY:Standup\r\n{field}:{echo}")
    event = event.replace("UID:one", f"UID:{echo}") if field == "UID" else event
    return multistatus("/alice/work/one.ics", LISTED.replace(EVENT, html.escape(event)))


def _google_answer(field: str, echo: str) -> bytes:
    return json.dumps({"items": [{**GOOGLE["items"][0], field: echo}]}).encode()


def _complaint(field: str, echo: str) -> bytes:
    return json.dumps({"error": {"message": echo, "code": 400, "status": echo}}).encode()


FIELDS = ("title", "location", "attendees", "reasoning", "assumptions")
Body = Callable[[str, str], bytes]
PLACES: Mapping[str, tuple[tuple[str, ...], Body]] = {
    "gemini": (FIELDS, lambda field, echo: _model_answer(GEMINI, field, echo)),
    "openai": (FIELDS, lambda field, echo: _model_answer(OPENAI, field, echo)),
    "caldav": (("SUMMARY", "LOCATION", "DESCRIPTION", "ATTENDEE;CN=A", "UID"), _caldav_answer),
    "google": (("summary", "location", "description", "id", "etag"), _google_answer),
}


def echo_cases(folder: str, seed: int, own: Own) -> Iterator[Finding]:
    """Each server with a secret of the client in each thing it says, in each encoding."""
    dice = random.Random(f"{seed} echoes")
    plans = [
        (kind, field, encoding, "".join(dice.choices(_CHARACTERS, k=dice.randrange(12, 40))))
        for kind, (fields, _) in PLACES.items()
        for field in (*fields, "complaint")
        for encoding in ENCODINGS
        for _ in range(SECRETS)
    ]
    for kind, field, encoding, secret in own(plans):
        place = Path(tempfile.mkdtemp(dir=folder))
        echo = ENCODINGS[encoding](secret)
        body = _complaint(field, echo) if field == "complaint" else PLACES[kind][1](field, echo)
        good = 207 if kind == "caldav" else 200
        with HostileServer(Answer(400 if field == "complaint" else good, body)) as server:
            case = _told(kind, server.url, secret, echo)
            found = complaints(case, run(case, place), place)
        yield f"echo of {kind}", f"{field} in {encoding}: {secret}", found


def _told(kind: str, url: str, secret: str, echo: str) -> Case:
    """A command to which the secret belongs, and that asks the server."""
    files, secrets = dict(SAID), (secret, echo)
    applied = ("talk.txt", "--timeout", "2", "--apply", "low", "--verbose", "--calendar")
    from_file = (*applied, "ics:c.ics", "--extractor", kind)
    listed = ("--dry-run", "--format", "json", "--extractor", "cmd:echo []")
    if kind == "gemini":
        settings = {"GEMINI_API_KEY": secret, "GOOGLE_GEMINI_BASE_URL": url}
        return Case(kind, "", cal_ai, from_file, files, settings, secrets)
    if kind == "openai":
        settings = {"OPENAI_API_KEY": secret, "OPENAI_BASE_URL": url, "OPENAI_MODEL": "m"}
        return Case(kind, "", cal_ai, from_file, files, settings, secrets)
    if kind == "caldav":
        settings = {"CALDAV_USERNAME": "alice", "CALDAV_PASSWORD": secret}
        arguments = (*applied, f"caldav:{url}/alice/work/", *listed)
        return Case(kind, "", cal_ai, arguments, files, settings, secrets)
    files[TOKEN] = google_token(url).replace(b"canary-google-access-4d2f8b6e", secret.encode())
    settings = {"GOOGLE_CALENDAR_ENDPOINT": url}
    return Case(kind, "", cal_ai, (*applied, "google", *listed), files, settings, secrets)
