"""Secrets stay with the server that the user named, whatever addresses it gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from google_auth_oauthlib.flow import InstalledAppFlow  # type: ignore[import-untyped]
from testing.hostile_server import Answer, HostileServer
from tests.cal_ai.calendar_servers import GoogleServer
from tests.cal_ai.sample_folders import CommandLine
from tests.hostile.addresses import (
    CALENDAR,
    EVENT,
    HOMES,
    LISTED,
    REDIRECTIONS,
    multistatus,
    others,
)
from tests.hostile.kinds import KINDS, SECRETS, TRANSCRIPT, Kind, google_token
from tests.hostile.test_servers import ask, assert_one_error

from cal_ai.calendars.caldav import CalDavCalendar
from cal_ai.calendars.google_sign_in import SignIn
from cal_ai.calendars.protocol import CalendarError
from truemark.services.addresses import same_origin, shown_address

OF = {kind.name: kind for kind in KINDS}


@pytest.mark.parametrize("status", REDIRECTIONS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_no_client_follows_a_redirection_to_another_server(
    cal_ai: CommandLine, kind: Kind, status: int
) -> None:
    with HostileServer(Answer(200, b'{"items": []}')) as other:
        ran = ask(cal_ai, kind, Answer(status, headers={"Location": f"{other.url}/there"}))
        assert other.requests == []
        assert f"{other.url}/there" in ran.err
    assert_one_error(ran)


@pytest.mark.parametrize("status", REDIRECTIONS)
def test_a_refresh_token_is_not_posted_to_another_server(cal_ai: CommandLine, status: int) -> None:
    (cal_ai.folder / "talk.txt").write_text(TRANSCRIPT)
    with HostileServer(Answer(200, b'{"access_token": "a"}')) as other, GoogleServer() as google:
        moved = Answer(status, headers={"Location": f"{other.url}/token"})
        with HostileServer(moved) as tokens:
            cal_ai.set(**OF["google"].settings(google.url, cal_ai.folder))
            saved = google_token(tokens.url).replace(b"2999-", b"2001-")
            path = cal_ai.folder / "config" / "truemark" / "google-token.json"
            path.write_bytes(saved)
            ran = cal_ai("talk.txt", "--calendar", "google", "--timeout", "2")
            assert len(tokens.requests) >= 1
        assert other.requests == []
    assert_one_error(ran)


@pytest.mark.parametrize("status", REDIRECTIONS)
def test_the_code_of_a_sign_in_is_not_posted_to_another_server(
    tmp_path: Path, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    with HostileServer(Answer(200, b'{"access_token": "a"}')) as other, GoogleServer() as google:
        client = google.client_secrets()
        moved = Answer(status, headers={"Location": f"{other.url}/token"})
        with HostileServer(moved) as tokens:
            client["installed"]["token_uri"] = f"{tokens.url}/token"

            def visit(flow: object, **options: object) -> object:
                return flow.fetch_token(code="the-code")  # type: ignore[attr-defined]

            monkeypatch.setattr(InstalledAppFlow, "run_local_server", visit)
            file = tmp_path / "client.json"
            file.write_text(json.dumps(client))
            with pytest.raises(CalendarError, match="the sign-in failed"):
                SignIn(file, tmp_path / "token.json").credentials()
        assert other.requests == []


@pytest.mark.parametrize("status", REDIRECTIONS)
def test_the_token_of_the_hub_is_not_sent_to_another_server(tmp_path: Path, status: int) -> None:
    secret = "hf_canary0123456789"
    code = "from sat_bench.models.systems import find_model; find_model('a/b')"
    with HostileServer(Answer(404)) as other:
        moved = Answer(status, headers={"Location": f"{other.url}/there"})
        with HostileServer(moved) as hub:
            settings = {"HF_ENDPOINT": hub.url, "HF_TOKEN": secret, "HF_HOME": str(tmp_path)}
            done = subprocess.run(
                [sys.executable, "-c", code],
                env={**os.environ, **settings},
                capture_output=True,
                text=True,
                check=False,
            )
            assert any(secret.encode() in request for request in hub.requests)
        assert not any(secret.encode() in request for request in other.requests)
    assert "ModelError" in done.stderr
    assert secret not in done.stdout + done.stderr


@pytest.mark.parametrize("kind", ["host", "port", "scheme", "no scheme", "user"])
def test_an_event_on_another_server_is_neither_read_nor_changed(kind: str) -> None:
    with HostileServer(Answer(200, EVENT.encode())) as other, HostileServer(Answer(207)) as server:
        address = others(server.url, other.url)[kind]
        server.answer = Answer(207, multistatus(f"{address}one.ics", LISTED))
        home = f"{server.url}/alice/work/"
        calendar = CalDavCalendar(home, "alice", SECRETS["caldav"], None, timeout_s=2)
        window = (datetime(2099, 1, 1, tzinfo=UTC), datetime(2099, 12, 31, tzinfo=UTC))
        listing = calendar.coming(*window)
        assert listing.entries == ()
        assert "on another server" in listing.warnings[0]
        calendar._addresses["one"] = f"{address}one.ics"  # as if it had been listed
        with pytest.raises(CalendarError, match="another server"):
            calendar.get("one")
        calendar.close()
        assert other.requests == []


@pytest.mark.parametrize("kind", ["host", "port", "scheme", "no scheme", "user"])
@pytest.mark.parametrize("where", HOMES)
def test_a_home_on_another_server_is_not_asked(kind: str, where: str) -> None:
    with HostileServer(Answer(207)) as other, HostileServer(Answer(207)) as server:
        address = others(server.url, other.url)[kind]
        body = multistatus("/alice/", HOMES[where].format(address))
        server.answer = Answer(207, body)
        other.answer = Answer(207, multistatus("/alice/work/", CALENDAR))
        home = f"{server.url}/alice/"
        with pytest.raises(CalendarError) as refused:
            CalDavCalendar(home, "alice", SECRETS["caldav"], None, timeout_s=2)
        assert other.requests == []
        assert shown_address(address).split("//")[1].split("/")[0] in str(refused.value)
        assert "another server" in str(refused.value)


@pytest.mark.parametrize(
    ("address", "other", "same"),
    [
        ("http://a/x", "http://a:80/y", True),
        ("https://a/x", "https://A:443/y", True),
        ("http://a/", "https://a/", False),
        ("http://a/", "http://a:8080/", False),
        ("http://a/", "http://b/", False),
        ("http://a/", "http://a.evil/", False),
        ("http://a/", "http://[::1", False),
        ("http://a/", "http://a:99999/", False),
    ],
)
def test_an_origin_is_scheme_host_and_port(address: str, other: str, same: bool) -> None:
    assert same_origin(address, other) is same


@pytest.mark.parametrize(
    "calendar",
    [
        "caldav:http://alice:{}@127.0.0.1:9/work/",
        "CALDAV:http://alice:{}@127.0.0.1:9/work/",
        "http://alice:{}@127.0.0.1:9/work/",
        "caldav:http://alice:{}@127.0.0.1:none/work/",
        "caldav:alice:{}@127.0.0.1",
        "alice:{}@127.0.0.1",
    ],
)
def test_a_password_in_the_address_of_a_calendar_is_never_printed(
    cal_ai: CommandLine, calendar: str
) -> None:
    (cal_ai.folder / "talk.txt").write_text(TRANSCRIPT)
    named = calendar.format(SECRETS["caldav"])
    ran = cal_ai("talk.txt", "--calendar", named, "--timeout", "1", "--dry-run")
    assert ran.status in (1, 2)
    assert SECRETS["caldav"] not in ran.out + ran.err


@pytest.mark.parametrize("name", ["OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"])
@pytest.mark.parametrize(
    "address",
    ["http://a:{}@127.0.0.1:none/v1", "{}", "http://a:{}@", "http://{}", "http://a:{}@127.0.0.1:9"],
)
def test_a_secret_in_the_address_of_a_model_is_never_printed(
    cal_ai: CommandLine, name: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    defaults = (1.0, 1, 0.1, 1.0)
    monkeypatch.setattr("truemark.services.retry.CallPolicy.__init__.__defaults__", defaults)
    (cal_ai.folder / "talk.txt").write_text(TRANSCRIPT)
    secret = "canary-in-address-5c1e"
    cal_ai.set(**{name: address.format(secret)}, GEMINI_API_KEY="k" * 20, OPENAI_MODEL="m")
    extractor = "openai" if name.startswith("OPENAI") else "gemini"
    ran = cal_ai("talk.txt", "--extractor", extractor, "--timeout", "1")
    assert ran.status == 1
    assert secret not in ran.out + ran.err
