from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from testing.hostile_server import Answer, HostileServer
from tests.cal_ai.calendar_backends import BERLIN, CalDavBackend, at, vcalendar, vevent
from tests.cal_ai.calendar_servers import PASSWORD, USER, Radicale, radicale_server

from cal_ai.calendars.caldav import CalDavCalendar
from cal_ai.calendars.document import Document
from cal_ai.calendars.protocol import (
    AlreadyThere,
    CalendarError,
    ChangedMeanwhile,
    Details,
    Entry,
    EventGone,
)

LUNCH = Details("Lunch", at(24, 12), at(24, 13))


class Meddled(CalDavCalendar):
    """A calendar that someone else changes between our reading and our writing."""

    def __init__(self, address: str, meddle: Callable[[], object]) -> None:
        super().__init__(address, USER, PASSWORD, BERLIN, timeout_s=5)
        self._meddle = meddle

    def _unchanged(self, entry: Entry) -> tuple[Document, Entry]:
        unchanged = super()._unchanged(entry)
        self._meddle()
        return unchanged


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Radicale]:
    with radicale_server(tmp_path) as server:
        yield server


def open_calendar(
    url: str, user: str | None = USER, password: str | None = PASSWORD
) -> CalDavCalendar:
    return CalDavCalendar(url, user, password, BERLIN, timeout_s=5)


@pytest.mark.parametrize(
    ("user", "password", "advice"),
    [
        pytest.param(USER, "wrong-guess", "check CALDAV_USERNAME and CALDAV_PASSWORD", id="wrong"),
        pytest.param(None, None, "set CALDAV_USERNAME and CALDAV_PASSWORD", id="none"),
    ],
)
def test_a_refused_password_says_which_settings_to_look_at(
    radicale: Radicale, user: str | None, password: str | None, advice: str
) -> None:
    url = radicale.new_calendar(f"refused-{user}")
    with pytest.raises(CalendarError) as refused:
        open_calendar(url, user, password)
    assert str(refused.value) == f"caldav:{url}: the server refuses access; {advice}"


def test_a_user_in_the_address_is_used_and_never_shown(radicale: Radicale) -> None:
    url = radicale.new_calendar("in-the-address")
    secret = url.replace("://", f"://{USER}:{PASSWORD}@")
    calendar = open_calendar(secret, None, None)
    assert calendar.name == f"caldav:{url}"
    assert PASSWORD not in calendar.identity + repr(calendar)
    assert calendar.create("truemark01", LUNCH, "mark1").details == LUNCH
    calendar.close()


def test_a_refused_event_that_is_not_there_is_a_failure(radicale: Radicale) -> None:
    url = radicale.new_calendar("short-lived")
    calendar = open_calendar(url)
    radicale.request("DELETE", url)
    with pytest.raises(CalendarError, match="refuses the event, with status 409") as refused:
        calendar.create("truemark01", LUNCH, "mark1")
    assert not isinstance(refused.value, AlreadyThere)
    calendar.close()


def test_an_event_that_is_there_under_another_address_is_there(radicale: Radicale) -> None:
    url = radicale.new_calendar("moved")
    moved = vevent("truemark01", "Lunch", at(24, 12), at(24, 13), None)
    radicale.request("PUT", f"{url}elsewhere.ics", vcalendar(moved))
    calendar = open_calendar(url)
    with pytest.raises(AlreadyThere):
        calendar.create("truemark01", LUNCH, "mark1")
    calendar.close()


def test_an_address_above_the_calendars_will_do_when_there_is_one(own_server: Radicale) -> None:
    with pytest.raises(CalendarError, match="holds no calendar"):
        open_calendar(f"{own_server.url}/{USER}")
    work = own_server.new_calendar("work")
    calendar = open_calendar(own_server.url)
    calendar.close()
    assert calendar.name == f"caldav:{work}"
    home = own_server.new_calendar("home")
    with pytest.raises(CalendarError, match="holds 2 calendars, expected one; name one of") as many:
        open_calendar(own_server.url)
    assert work in str(many.value)
    assert home in str(many.value)


def test_an_address_where_nothing_is_says_so(radicale: Radicale) -> None:
    with pytest.raises(CalendarError, match=r"/alice/gone/: nothing is there \(404\)"):
        open_calendar(f"{radicale.url}/{USER}/gone")


def test_a_server_that_goes_away_is_one_clear_line(own_server: Radicale) -> None:
    url = own_server.new_calendar("work")
    calendar = open_calendar(url)
    entry = calendar.create("truemark01", LUNCH, "mark1")
    own_server.process.terminate()
    own_server.process.wait(timeout=10)
    for use in (
        lambda: calendar.coming(at(23, 0), at(31, 0)),
        lambda: calendar.get("truemark01"),
        lambda: calendar.create("truemark02", LUNCH, "mark1"),
        lambda: calendar.update(entry, LUNCH, "mark1"),
        lambda: calendar.delete(entry),
        lambda: open_calendar(url),
    ):
        with pytest.raises(CalendarError) as gone:
            use()
        assert str(gone.value).startswith(f"caldav:{url}: the server does not answer (")
    calendar.close()


def test_a_server_that_never_answers_is_given_up_on() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/alice/"
        with pytest.raises(CalendarError, match="no answer within 1 s; gave up after 3"):
            CalDavCalendar(url, USER, PASSWORD, BERLIN, timeout_s=1)


def answer(status: str, body: str = "", kind: str = "xml") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/{kind}\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Connection: close\r\n\r\n{body}".encode()


@contextmanager
def answering(reply: bytes) -> Iterator[str]:
    """The address of a server that says the same to everyone."""

    def serve(listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(reply)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(timeout=5)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param(
            answer("200 OK", "hello", "html"),
            "is no CalDAV server (it answers 200 to PROPFIND); check the address",
            id="web-page",
        ),
        pytest.param(
            answer("207 Multi-Status", "<torn"),
            "the server's answer is no WebDAV; check the address",
            id="torn-xml",
        ),
        pytest.param(
            answer("207 Multi-Status"),
            "the server's answer is no WebDAV; check the address",
            id="empty",
        ),
        pytest.param(
            answer("403 Forbidden"),
            "the server forbids it (403); the calendar may be for reading only",
            id="403",
        ),
        pytest.param(
            answer("503 Service Unavailable"),
            "the server answered 503; gave up after 3 attempts",
            id="503",
        ),
    ],
)
def test_an_answer_that_is_no_use_is_one_clear_line(reply: bytes, expected: str) -> None:
    with answering(reply) as url, pytest.raises(CalendarError) as refused:
        open_calendar(url)
    assert str(refused.value).startswith(f"caldav:{url}: {expected}")


COLLECTION = (
    b'<multistatus xmlns="DAV:"><response><href>/</href><propstat><prop><resourcetype>'
    b'<calendar xmlns="urn:ietf:params:xml:ns:caldav"/></resourcetype></prop>'
    b"<status>HTTP/1.1 200 OK</status></propstat></response></multistatus>"
)


@pytest.mark.parametrize(
    ("status", "act"),
    [
        pytest.param(200, lambda calendar: calendar.get("one"), id="event"),
        pytest.param(412, lambda calendar: calendar.create("one", LUNCH, "m"), id="refusal"),
    ],
)
def test_an_answer_that_is_not_utf_8_is_one_clear_line(
    status: int, act: Callable[[CalDavCalendar], object]
) -> None:
    with HostileServer(Answer(207, COLLECTION)) as server:
        calendar = open_calendar(f"{server.url}/")
        server.answer = Answer(status, b"\xff\xfe")
        with pytest.raises(CalendarError, match="the server's answer is no WebDAV"):
            act(calendar)


def test_other_parts_of_a_resource_survive_a_change(radicale: Radicale) -> None:
    backend = CalDavBackend.make(radicale, "parts")
    alarm = "BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:x\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\n"
    event = vevent("a", "Lunch", at(24, 12), at(24, 13), None)
    event = event.replace("END:VEVENT", f"X-COLOUR;X-SHADE=dark:blue\r\n{alarm}END:VEVENT")
    address = f"{backend.address}somewhere-else.ics"
    radicale.request("PUT", address, vcalendar(event))
    (entry,) = backend.calendar.coming(at(23, 0), at(31, 0)).entries
    backend.calendar.update(entry, Details("Dinner", at(24, 18), at(24, 19)), "mark1")
    text = radicale.request("GET", address)
    for kept in ("X-COLOUR;X-SHADE=dark:blue", "TRIGGER:-PT5M", "PRODID:-//Someone else//EN"):
        assert kept in text
    backend.calendar.close()


@pytest.mark.parametrize("action", ["update", "delete"])
def test_the_server_refuses_a_change_of_what_is_no_longer_there_or_the_same(
    radicale: Radicale, action: str
) -> None:
    backend = CalDavBackend.make(radicale, f"meddled-{action}")
    for meddle, error in (
        (lambda: backend.rename("shared", "Lunch at noon"), ChangedMeanwhile),
        (lambda: backend.remove("shared"), EventGone),
    ):
        backend.seed("shared", "Lunch", LUNCH.start, LUNCH.end)
        calendar = Meddled(backend.address, meddle)
        (entry,) = calendar.coming(at(23, 0), at(31, 0)).entries
        moved = Details("Lunch", at(25, 12), at(25, 13))
        with pytest.raises(error):
            calendar.update(entry, moved, "mark1") if action == "update" else calendar.delete(entry)
        calendar.close()
    assert backend.calendar.coming(at(23, 0), at(31, 0)).entries == ()
    backend.calendar.close()
