"""Answers of servers that are nearly as they should be: mutations of good ones."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from testing.hostile_server import Answer, HostileServer
from testing.loopback import LoopbackLLM, answer, says
from tests.cal_ai.calendar_servers import GoogleServer
from tests.cal_ai.calendar_texts import REAL_WORLD
from tests.cal_ai.sample_folders import GOT_LUNCH
from tests.hostile.forked import Case
from tests.hostile.kinds import SECRETS, google_token
from tests.hostile.readers import CORPUS, DRY, EVENTS, SAID, SENTENCES, Reader

from cal_ai.cli import main as cal_ai
from cal_ai.extractors.prompt import BUILT_IN
from sat_bench.cli import main as sat_bench

ANSWER = "answer"  # the name of what is no file but said by a server
GEMINI = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"text": EVENTS.decode()}]}, "finishReason": "STOP"}
    ],
    "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 6, "totalTokenCount": 11},
}
OPENAI = {
    "choices": [
        {"message": {"role": "assistant", "content": EVENTS.decode()}, "finish_reason": "stop"}
    ],
    "usage": {"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11},
}
GOOGLE = {
    "items": [
        {
            "id": "abc",
            "status": "confirmed",
            "etag": '"1"',
            "summary": "Standup",
            "start": {"dateTime": "2099-03-02T09:15:00+01:00", "timeZone": "Europe/Berlin"},
            "end": {"dateTime": "2099-03-02T09:30:00+01:00"},
            "attendees": [{"displayName": "Bob", "email": "bob@example.org"}],
            "extendedProperties": {"private": {"a": "b"}},
        }
    ]
}
CALDAV = (
    '<?xml version="1.0"?><multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">'
    "<response><href>/alice/work/one.ics</href><propstat><prop><resourcetype><collection/>"
    "<C:calendar/></resourcetype><getetag>&quot;1&quot;</getetag><C:calendar-data>"
    f"{REAL_WORLD.decode().replace('&', '&amp;').replace('<', '&lt;')}</C:calendar-data></prop>"
    "<status>HTTP/1.1 200 OK</status></propstat></response></multistatus>"
)
# A server that knows one answer can only be asked once: for what is planned.
NOTHING_AGREED = {"none.json": b'{"events": []}'}
ASKED_ONCE = ("--timeout", "2", "--extractor", "cmd:cat none.json")
WAITS_S = 15.0
GEMINI_FLAGS = ("talk.txt", *DRY, "--extractor", "gemini", "--timeout", "2")
OPENAI_FLAGS = ("talk.txt", *DRY, "--extractor", "openai", "--model", "m", "--timeout", "2")


def answer_cases(dice: random.Random) -> Iterator[Case]:
    """Cases during which a server says what stands in their file `answer`."""
    with HostileServer(Answer()) as server, LoopbackLLM() as llm, GoogleServer() as google:

        def say(body: bytes) -> None:
            server.answer = Answer(server.answer.status, body)

        def write(body: bytes) -> None:
            llm.set_script([says(body.decode("utf-8", "replace"))])

        for reader in _envelopes(server.url):
            yield from _told(reader, say, dice)
        server.answer = Answer(207)
        yield from _told(_caldav(server.url), say, dice)
        for reader in _texts(llm):
            yield from _told(reader, write, dice)
        llm.set_script([answer(events=[GOT_LUNCH])])
        for reader in (_prompt(llm), _token(google)):
            yield from reader.cases(dice)


def _told(reader: Reader, tell: Callable[[bytes], None], dice: random.Random) -> Iterator[Case]:
    for case in reader.cases(dice):
        if not case.odd:  # what is said is no file
            tell(case.files[ANSWER])
            yield replace(case, waits_s=WAITS_S)


def _envelopes(url: str) -> Iterator[Reader]:
    keys = {"GEMINI_API_KEY": SECRETS["gemini"], "GOOGLE_GEMINI_BASE_URL": url}
    good = json.dumps(GEMINI).encode()
    secrets = (SECRETS["gemini"],)
    yield Reader("gemini answer", 50, ANSWER, good, cal_ai, GEMINI_FLAGS, SAID, keys, secrets)
    keys = {"OPENAI_API_KEY": SECRETS["openai"], "OPENAI_BASE_URL": url}
    good = json.dumps(OPENAI).encode()
    secrets = (SECRETS["openai"],)
    yield Reader("openai answer", 50, ANSWER, good, cal_ai, OPENAI_FLAGS, SAID, keys, secrets)
    beside = {**SAID, **NOTHING_AGREED, "CONFIG/truemark/google-token.json": google_token(url)}
    arguments = ("talk.txt", "--dry-run", "--calendar", "google", *ASKED_ONCE)
    good = json.dumps(GOOGLE).encode()
    tokens = tuple(SECRETS[name] for name in ("google", "refresh", "client"))
    endpoint = {"GOOGLE_CALENDAR_ENDPOINT": url}
    yield Reader("google answer", 50, ANSWER, good, cal_ai, arguments, beside, endpoint, tokens)


def _caldav(url: str) -> Reader:
    address = f"caldav:{url}/alice/work/"
    arguments = ("talk.txt", "--dry-run", "--calendar", address, *ASKED_ONCE)
    keys = {"CALDAV_USERNAME": "alice", "CALDAV_PASSWORD": SECRETS["caldav"]}
    good, secrets, beside = CALDAV.encode(), (SECRETS["caldav"],), {**SAID, **NOTHING_AGREED}
    return Reader("caldav answer", 50, ANSWER, good, cal_ai, arguments, beside, keys, secrets)


def _texts(llm: LoopbackLLM) -> Iterator[Reader]:
    gemini = {"GEMINI_API_KEY": SECRETS["gemini"], "GOOGLE_GEMINI_BASE_URL": llm.gemini_url}
    secrets = (SECRETS["gemini"],)
    yield Reader("model text", 50, ANSWER, EVENTS, cal_ai, GEMINI_FLAGS, SAID, gemini, secrets)
    flags = ("-corpus", "corpus", "-model", "llm:gemini:m", "-timeout", "2", "-per-talk")
    yield Reader("llm: text", 50, ANSWER, SENTENCES, sat_bench, flags, CORPUS, gemini, secrets)


def _prompt(llm: LoopbackLLM) -> Reader:
    keys = {"OPENAI_API_KEY": SECRETS["openai"], "OPENAI_BASE_URL": llm.openai_url}
    good, secrets = str(BUILT_IN).encode(), (SECRETS["openai"],)
    arguments = (*OPENAI_FLAGS, "--prompt", "p.txt")
    return Reader("prompt", 40, "p.txt", good, cal_ai, arguments, SAID, keys, secrets)


def _token(google: GoogleServer) -> Reader:
    endpoint = {"GOOGLE_CALENDAR_ENDPOINT": google.url}
    arguments = ("talk.txt", "--dry-run", "--calendar", "google", "--timeout", "1")
    good = json.dumps(google.token()).encode()
    secrets = ("client-secret-55", google.refresh_token)
    name = "CONFIG/truemark/google-token.json"
    return Reader("token", 40, name, good, cal_ai, arguments, SAID, endpoint, secrets)
