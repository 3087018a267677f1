from __future__ import annotations

import json
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cal_ai.calendar_backends import BERLIN, QUICK, GoogleBackend, at
from tests.cal_ai.calendar_servers import Fault, GoogleServer

from cal_ai.calendars.google import GoogleCalendar
from cal_ai.calendars.google_sign_in import SignIn
from cal_ai.calendars.protocol import (
    AlreadyThere,
    CalendarError,
    Details,
    Entry,
    EventGone,
)

LUNCH = Details("Lunch", at(24, 12), at(24, 13))
SECRETS = ("access-", "refresh-secret-77", "client-secret-55", "the-code")


@pytest.fixture
def backend(google: GoogleServer, tmp_path: Path) -> Iterator[GoogleBackend]:
    made = GoogleBackend.make(google, tmp_path)
    yield made
    made.calendar.close()


def coming(backend: GoogleBackend) -> tuple[Entry, ...]:
    return backend.calendar.coming(at(23, 0), at(31, 0)).entries


def test_a_list_of_many_pages_is_read_to_its_end(backend: GoogleBackend) -> None:
    for number in range(7):
        backend.seed(f"event{number}", f"{number}", at(24, 8 + number), at(24, 9 + number))
    backend.server.page_size = 3
    assert [entry.details.title for entry in coming(backend)] == list("0123456")
    assert backend.server.methods == ["GET"] * 3


def test_a_refused_event_that_is_not_there_is_a_failure(backend: GoogleBackend) -> None:
    backend.server.faults = [Fault(409), Fault(409)]
    with pytest.raises(CalendarError, match="answered 409") as refused:
        backend.calendar.create("truemark01", LUNCH, "mark1")
    assert not isinstance(refused.value, AlreadyThere)


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(429), id="429"),
        pytest.param(Fault(429, {"Retry-After": "0"}), id="429-retry-after"),
        pytest.param(Fault(403, reason="rateLimitExceeded"), id="403-rate-limit"),
        pytest.param(Fault(500), id="500"),
        pytest.param(Fault(503), id="503"),
        pytest.param(Fault(kind="drop"), id="dropped"),
    ],
)
def test_times_of_unrest_are_waited_out(backend: GoogleBackend, fault: Fault) -> None:
    backend.server.faults = [fault, fault]
    entry = backend.calendar.create("truemark01", LUNCH, "mark1")
    assert entry.details == LUNCH
    assert coming(backend) == (entry,)


def test_the_server_is_given_the_time_it_asks_for(backend: GoogleBackend) -> None:
    backend.server.faults = [Fault(429, {"Retry-After": "0.4"})]
    began = time.monotonic()
    assert coming(backend) == ()
    assert time.monotonic() - began >= 0.4


def test_a_server_that_asks_for_too_much_time_is_given_up_on(backend: GoogleBackend) -> None:
    backend.server.faults = [Fault(429, {"Retry-After": "3600"})]
    with pytest.raises(CalendarError) as gave_up:
        coming(backend)
    assert str(gave_up.value) == (
        "google: the server answered 429; asked to wait 3600 s, longer than the 5 s allowed"
    )


def test_a_server_that_stays_busy_is_given_up_on(backend: GoogleBackend) -> None:
    backend.server.faults = [Fault(503)] * 9
    with pytest.raises(CalendarError, match="the server answered 503; gave up after 3 attempts"):
        coming(backend)
    assert len(backend.server.methods) == 3


def test_a_server_that_goes_away_is_one_clear_line(backend: GoogleBackend) -> None:
    backend.server.stop()
    with pytest.raises(
        CalendarError, match=r"google: no answer \(ConnectionRefusedError\); gave up"
    ):
        coming(backend)


def test_a_server_that_never_answers_is_given_up_on(google: GoogleServer, tmp_path: Path) -> None:
    google.faults = [Fault(kind="hang")] * 3
    sign_in = GoogleBackend.make(google, tmp_path).sign_in
    hasty = GoogleCalendar(
        sign_in,
        BERLIN,
        endpoint=google.url,
        policy=type(QUICK)(timeout_s=0.2, attempts=1),
    )
    with pytest.raises(CalendarError, match=r"no answer within 0.2 s; gave up after 1 attempt"):
        hasty.get("anything")
    hasty.close()


def test_an_event_deleted_for_good_is_gone(backend: GoogleBackend) -> None:
    entry = backend.calendar.create("truemark01", LUNCH, "mark1")
    backend.server.faults = [Fault(410, reason="deleted")]
    with pytest.raises(EventGone):
        backend.calendar.delete(entry)
    backend.server.faults = [Fault(404, reason="notFound")]
    with pytest.raises(EventGone):
        backend.calendar.update(entry, LUNCH, "mark1")


def test_an_expired_sign_in_is_renewed_and_kept(backend: GoogleBackend) -> None:
    backend.server.access_token = "access-9"
    assert coming(backend) == ()
    assert backend.server.refreshed == 1
    saved = json.loads(backend.sign_in.token_file.read_text())
    assert saved["token"] == backend.server.access_token == "access-2"
    assert saved["refresh_token"] == backend.server.refresh_token
    assert stat.S_IMODE(backend.sign_in.token_file.stat().st_mode) == 0o600
    again = GoogleCalendar(backend.sign_in, BERLIN, endpoint=backend.server.url)
    assert again.coming(at(23, 0), at(31, 0)).entries == ()
    assert backend.server.refreshed == 1
    again.close()


def test_a_revoked_sign_in_says_what_to_remove(backend: GoogleBackend) -> None:
    backend.server.access_token, backend.server.refresh_token = "access-9", "another"
    with pytest.raises(CalendarError) as refused:
        coming(backend)
    assert str(refused.value) == (
        "google: the sign-in is no longer accepted;"
        f" remove {backend.sign_in.token_file} and sign in again"
    )


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        pytest.param(
            Fault(403, reason="accessNotConfigured"),
            "google: the server refuses access: scripted",
            id="403",
        ),
        pytest.param(Fault(400), "google: the server answered 400: scripted", id="400"),
    ],
)
def test_a_refusal_is_not_repeated(backend: GoogleBackend, fault: Fault, message: str) -> None:
    backend.server.faults = [fault]
    with pytest.raises(CalendarError) as refused:
        coming(backend)
    assert str(refused.value) == message
    assert len(backend.server.methods) == 1


def test_a_calendar_that_does_not_exist_says_so(backend: GoogleBackend) -> None:
    other = GoogleCalendar(
        backend.sign_in,
        BERLIN,
        calendar_id="nobody@example.org",
        endpoint=backend.server.url,
        policy=QUICK,
    )
    with pytest.raises(CalendarError, match=r"google:nobody@example\.org: there is no such"):
        other.coming(at(23, 0), at(31, 0))
    other.close()


def test_a_change_sends_what_differs_and_no_more(backend: GoogleBackend) -> None:
    backend.seed("shared", "Lunch", LUNCH.start, LUNCH.end)
    entry = backend.calendar.get("shared")
    backend.calendar.update(entry, Details("Brunch", LUNCH.start, LUNCH.end), "mark1")
    assert backend.server.bodies[-1] == {
        "summary": "Brunch",
        "extendedProperties": {"private": {"truemarkmark1": "1"}},
    }


UNREADABLE = {
    "deep list": "[" * 100_000,
    "deep object": '{"a":' * 50_000,
    "digits": "9" * 10_000,
    "numbers": json.dumps(dict.fromkeys(("token", "refresh_token", "installed"), 5)),
    "lists": json.dumps({"token": [], "installed": []}),
    "no address": json.dumps(
        dict.fromkeys(("token", "refresh_token", "client_id", "client_secret"), "x")
        | {"token_uri": "http://[::1", "installed": {"client_id": 5}}
    ),
}


@pytest.mark.parametrize(
    ("saved", "client", "message"),
    [
        pytest.param("{}", None, "token.json: is not a saved sign-in; remove it", id="token-empty"),
        pytest.param("no", None, "token.json: is not a saved sign-in; remove it", id="token-text"),
        pytest.param("[]", None, "token.json: is not a saved sign-in; remove it", id="token-list"),
        *(
            pytest.param(text, None, "token.json: is not a saved sign-in; remove it", id=f"{what}")
            for what, text in UNREADABLE.items()
        ),
        *(
            pytest.param(
                None, text, "credentials.json: is not the JSON of an OAuth", id=f"c {what}"
            )
            for what, text in UNREADABLE.items()
        ),
        pytest.param(None, None, "credentials.json: no such file; make an OAuth", id="no-client"),
        pytest.param(None, "{}", "credentials.json: is not the JSON of an OAuth", id="client"),
        pytest.param(None, "no", "credentials.json: is not the JSON of an OAuth", id="client-text"),
    ],
)
def test_files_of_a_sign_in_that_cannot_be_used_are_named(
    tmp_path: Path, saved: str | None, client: str | None, message: str
) -> None:
    sign_in = SignIn(tmp_path / "credentials.json", tmp_path / "token.json")
    for path, text in ((sign_in.token_file, saved), (sign_in.client_file, client)):
        if text is not None:
            path.write_text(text)
    with pytest.raises(CalendarError, match=message):
        sign_in.credentials()


BROWSER = """
import sys, urllib.request
urllib.request.urlopen(sys.argv[1], timeout=10).read()
"""
TALK = "[Bob]: Lunch on Friday at 12:30?\n[Alice]: Yes, see you there.\n"


def test_the_first_run_signs_in_through_the_browser_and_keeps_the_token_private(
    google: GoogleServer, tmp_path: Path
) -> None:
    browser, talk = tmp_path / "browser.py", tmp_path / "talk.txt"
    browser.write_text(BROWSER)
    talk.write_text(TALK)
    credentials = tmp_path / "client.json"
    credentials.write_text(json.dumps(google.client_secrets()))
    environment = {
        "PATH": "",
        "BROWSER": f"{sys.executable} {browser} %s &",
        "OAUTHLIB_INSECURE_TRANSPORT": "1",
        "GOOGLE_CREDENTIALS": str(credentials),
        "GOOGLE_CALENDAR_ENDPOINT": google.url,
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "TIMEZONE": "Europe/Berlin",
    }
    command = [sys.executable, "-m", "cal_ai", str(talk), "--calendar", "google"]
    runs = [
        subprocess.run(
            [*command, "--extractor", "reader", "--apply", "low", "--format", "json"],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )
        for _ in range(2)
    ]
    assert [ran.returncode for ran in runs] == [0, 0], runs[0].stderr
    assert runs[0].stderr.startswith("Please visit this URL to authorize this application:")
    assert json.loads(runs[0].stdout)["counts"]["created"] == 1
    assert json.loads(runs[1].stdout)["counts"]["unchanged"] == 1
    assert [event["summary"] for event in google.events.values()] == ["Lunch"]
    token = tmp_path / "config" / "truemark" / "google-token.json"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    printed = "".join(ran.stdout + ran.stderr for ran in runs)
    kept = "".join(path.read_text() for path in (tmp_path / "data").rglob("*") if path.is_file())
    for secret in SECRETS:
        assert secret not in printed + kept
    assert google.refresh_token in token.read_text()
