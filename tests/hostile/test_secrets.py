"""Secrets that a server gives back in another encoding."""

from __future__ import annotations

import html
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from testing.hostile_server import Answer, HostileServer
from testing.loopback import LoopbackLLM, says
from tests.cal_ai.sample_folders import GOT_LUNCH, CommandLine, write_samples
from tests.hostile.addresses import EVENT, LISTED, multistatus
from tests.hostile.echoes import ENCODINGS
from tests.hostile.kinds import SECRETS, TRANSCRIPT

from truemark.services.keys import without_keys
from truemark.services.secrets import quoted, without_secrets


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(deadline=None)
@given(st.text('abcXYZ012-_/+.=&<"\\ é€', min_size=12, max_size=40))
def test_a_secret_is_found_in_every_encoding(encoding: str, secret: str) -> None:
    if encoding == "quoted-printable in part" and secret != secret.strip():
        return
    encoded = ENCODINGS[encoding](secret)
    cleaned = without_secrets(f"before {encoded} after", secret)
    assert encoded not in cleaned
    assert "[key]" in cleaned


def test_a_short_secret_may_be_a_word_and_stays() -> None:
    assert without_secrets("lunch with ollama", "ollama") == "lunch with ollama"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_key_that_a_model_writes_reaches_no_file_and_no_output(
    cal_ai: CommandLine, llm: LoopbackLLM, encoding: str
) -> None:
    secret = SECRETS["openai"]
    raw = json.dumps({"events": [{**GOT_LUNCH, "title": "TITLE"}]})
    written = ENCODINGS[encoding](secret)
    if encoding != "json twice":
        raw = raw.replace("TITLE", f"Lunch {written}")
    llm.set_script([says(raw)])
    (cal_ai.folder / "talk.txt").write_text(TRANSCRIPT)
    cal_ai.set(OPENAI_BASE_URL=llm.openai_url, OPENAI_MODEL="m", OPENAI_API_KEY=secret)
    ran = cal_ai("talk.txt", "--extractor", "openai", "--calendar", "ics:c.ics")
    assert ran.status == 0
    files = [path.read_text() for path in cal_ai.folder.rglob("*") if path.is_file()]
    for text in (ran.out, ran.err, *files):
        assert secret not in text
        assert written not in text or encoding == "json twice"


@pytest.mark.parametrize("encoding", ["plain", "url", "html numbers", "base64"])
def test_a_password_that_a_server_gives_back_as_a_title_is_not_shown(
    cal_ai: CommandLine, encoding: str
) -> None:
    written = ENCODINGS[encoding](SECRETS["caldav"])
    event = EVENT.replace("Standup", written).replace("UID:one", f"UID:{written}")
    day = "20990302"
    (cal_ai.folder / "talk.txt").write_text(TRANSCRIPT)
    (cal_ai.folder / "answer.json").write_text('{"events": []}')
    body = multistatus("/alice/work/one.ics", LISTED.replace(EVENT, html.escape(event)))
    with HostileServer(Answer(207, body)) as server:
        cal_ai.set(CALDAV_USERNAME="alice", CALDAV_PASSWORD=SECRETS["caldav"])
        flags = ("--extractor", "cmd:tee request.json", "--verbose", "--dry-run")
        ran = cal_ai("talk.txt", "--calendar", f"caldav:{server.url}/alice/work/", *flags)
    assert day in event
    assert SECRETS["caldav"] not in ran.out + ran.err
    assert written not in ran.out + ran.err


ANSWER = {"events": [{**GOT_LUNCH, "title": "Lunch KEY"}]}
LEAKS = f"""
import json, os
from truemark.services.calls import CallFailed

KEY = os.environ["OPENAI_API_KEY"]

def raises(request):
    raise KeyError(KEY)

def fails(request):
    raise CallFailed(f"no answer with {{KEY}}", raw=KEY)

def titled(request):
    return json.dumps({ANSWER}).replace("KEY", KEY)
"""


@pytest.mark.parametrize(
    "extractor",
    [
        "cmd:sh -c 'echo \"> Authorization: Bearer $OPENAI_API_KEY\" >&2; exit 22'",
        "cmd:sh -c 'printf %0290d 0 >&2; echo \"$OPENAI_API_KEY\" >&2; exit 22'",
        "cmd:sh -c 'echo \"$OPENAI_API_KEY\"'",
        f"cmd:sh -c 'sed \"s/KEY/$OPENAI_API_KEY/\" answer.json #{SECRETS['openai']}'",
        "py:leaks:raises",
        "py:leaks:fails",
        "py:leaks:titled",
        "py:leaks_on_import:extract",
    ],
)
def test_a_key_that_a_users_own_extractor_quotes_reaches_no_file_and_no_output(
    cal_ai: CommandLine, monkeypatch: pytest.MonkeyPatch, extractor: str
) -> None:
    secret = SECRETS["openai"]
    folder = cal_ai.folder
    write_samples(folder / "samples", 1)
    (folder / "answer.json").write_text(json.dumps(ANSWER))
    (folder / "leaks.py").write_text(LEAKS)
    (folder / "leaks_on_import.py").write_text('import os\nos.stat(os.environ["OPENAI_API_KEY"])\n')
    monkeypatch.delitem(sys.modules, "leaks", raising=False)
    cal_ai.set(OPENAI_API_KEY=secret)
    ran = cal_ai.benchmark("--extractor", extractor, "--output", "reports")
    files = [path.read_text() for path in folder.glob("reports/*")]
    assert "[key]" in ran.out + ran.err + "".join(files)
    for text in (ran.out, ran.err, *files):
        assert secret[-8:] not in text
    monkeypatch.delitem(sys.modules, "leaks", raising=False)


def test_keys_of_every_name_and_those_in_the_settings_file_are_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("CALDAV_PASSWORD='open sesame'\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
    said = without_keys("401: bad key sk-ant-0123456789, or bad password open sesame")
    assert said == "401: bad key [key], or bad password [key]"


def test_of_a_key_that_is_longer_than_what_is_quoted_no_part_is_shown() -> None:
    assert quoted(f"bad key {'k3y' * 5_000} here", "k3y" * 5_000) == "bad key [key]"
