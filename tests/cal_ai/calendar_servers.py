"""Real calendar servers on loopback: Radicale, and one that speaks Google's Calendar v3 form."""

from __future__ import annotations

import base64
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, quote, unquote, urlsplit
from zoneinfo import ZoneInfo

USER, PASSWORD = "alice", "radicale-secret-81"
_MKCALENDAR = (
    '<?xml version="1.0"?><C:mkcalendar xmlns:C="urn:ietf:params:xml:ns:caldav"></C:mkcalendar>'
)


@dataclass(frozen=True, slots=True)
class Radicale:
    """A running Radicale with one user."""

    url: str
    process: subprocess.Popen[bytes]

    def new_calendar(self, name: str) -> str:
        """The address of a new and empty calendar."""
        address = f"{self.url}/{USER}/{name}/"
        self.request("MKCALENDAR", address, _MKCALENDAR)
        return address

    def request(self, method: str, address: str, body: str = "") -> str:
        """Ask as a second client would, and return what the server says."""
        token = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        headers = {"Authorization": f"Basic {token}", "Content-Type": "text/calendar"}
        asked = urllib.request.Request(address, body.encode(), headers, method=method)
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return str(answer.read().decode())


@contextmanager
def radicale_server(folder: Path) -> Iterator[Radicale]:
    """Serve an empty Radicale from a folder for the length of a `with` block."""
    process, port = _started(folder)
    try:
        yield Radicale(f"http://127.0.0.1:{port}", process)
    finally:
        _ended(process)


def _started(folder: Path, attempts: int = 5) -> tuple[subprocess.Popen[bytes], int]:
    """A Radicale that listens, and where; it chooses no port, and one that was free may be taken.

    It is believed by its own word: whoever tries to connect before it listens may reach another
    server at that port, or itself.
    """
    users, log = folder / "users", folder / "log"
    users.write_text(f"{USER}:{PASSWORD}\n")
    for _ in range(attempts):
        port = _free_port()
        options = {
            "config": "",
            "server-hosts": f"127.0.0.1:{port}",
            "auth-type": "htpasswd",
            "auth-htpasswd-filename": str(users),
            "auth-htpasswd-encryption": "plain",
            "auth-delay": "0",
            "storage-filesystem-folder": str(folder / "collections"),
        }
        arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
        with log.open("wb") as said:
            command = [sys.executable, "-m", "radicale", *arguments]
            process = subprocess.Popen(command, stdout=said, stderr=said)
        if _listens(process, log):
            return process, port
        _ended(process)
    raise RuntimeError(f"Radicale did not start: {log.read_text()[-500:]}")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _listens(process: subprocess.Popen[bytes], log: Path) -> bool:
    """Whether it says so; not if it has ended."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if b"Listening on " in log.read_bytes():
            return True
        time.sleep(0.02)
    return False


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(timeout=10)


@dataclass(frozen=True, slots=True)
class Fault:
    """What to do instead of answering the next request."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    reason: str = "scripted"
    kind: Literal["status", "drop", "hang"] = "status"


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing: a client that is killed leaves its connection open."""


class GoogleServer:
    """Google's calendar and token endpoints, for the length of a `with` block.

    `events` are the stored resources by id; recurring ones are expanded when listed, and their
    changed or cancelled instances are stored under the instance's own id. `faults` are met by the
    next requests, one each, and titles in `refused` by every change.
    """

    def __init__(self) -> None:
        self.events: dict[str, dict[str, Any]] = {}
        self.requests: list[tuple[str, str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.faults: list[Fault] = []
        self.refused: set[str] = set()
        self.access_token = "access-1"
        self.refresh_token = "refresh-secret-77"
        self.refreshed = 0
        self.page_size = 250
        self._version = 0
        self._server = _QuietServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self.released = threading.Event()

    def __enter__(self) -> GoogleServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Go away; safe to call twice."""
        self.released.set()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join(timeout=10)
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def methods(self) -> list[str]:
        """The methods of the requests to the calendar, in order."""
        return [method for method, path in self.requests if "/calendar/v3/" in path]

    def put(self, resource: dict[str, Any]) -> dict[str, Any]:
        """Store a resource as another client would."""
        self._version += 1
        stored = {"status": "confirmed", **resource, "etag": f'"{self._version}"'}
        self.events[stored["id"]] = stored
        return stored

    def client_secrets(self) -> dict[str, Any]:
        """The content of a credentials.json that points here."""
        return {
            "installed": {
                "client_id": "desktop-client",
                "client_secret": "client-secret-55",
                "auth_uri": f"{self.url}/auth",
                "token_uri": f"{self.url}/token",
                "redirect_uris": ["http://localhost"],
            }
        }

    def token(self) -> dict[str, Any]:
        """The content of a saved sign-in that points here."""
        return {
            "token": self.access_token,
            "refresh_token": self.refresh_token,
            "token_uri": f"{self.url}/token",
            "client_id": "desktop-client",
            "client_secret": "client-secret-55",
            "scopes": ["https://www.googleapis.com/auth/calendar.events"],
        }

    def find(self, event_id: str) -> dict[str, Any] | None:
        """A stored resource, or an instance that a rule gives."""
        if event_id in self.events:
            return self.events[event_id]
        base, _, _ = event_id.rpartition("_")
        found = (i for i in self._instances(self.events.get(base, {})) if i["id"] == event_id)
        return next(found, None)

    def listing(self, query: dict[str, str]) -> dict[str, Any]:
        """Answer events.list with single events, in pages."""
        first, last = (datetime.fromisoformat(query[name]) for name in ("timeMin", "timeMax"))
        found: list[dict[str, Any]] = []
        for event in self.events.values():
            if "recurringEventId" not in event:
                found += self._instances(event) if "recurrence" in event else [event]
        found = [self.events.get(event["id"], event) for event in found]
        found = [event for event in found if event["status"] != "cancelled"]
        found = [e for e in found if _moment(e["start"]) < last and _moment(e["end"]) > first]
        found.sort(key=lambda event: _moment(event["start"]))
        begin = int(query.get("pageToken", "0"))
        end = begin + min(self.page_size, int(query["maxResults"]))
        more = {"nextPageToken": str(end)} if end < len(found) else {}
        return {"kind": "calendar#events", "items": found[begin:end], **more}

    def _instances(self, event: dict[str, Any]) -> Iterator[dict[str, Any]]:
        from dateutil.rrule import rrulestr  # type: ignore[import-untyped]  # ships no types

        if "recurrence" not in event:
            return
        zone = ZoneInfo(event["start"].get("timeZone", "UTC"))
        start, end = (_moment(event[name]).astimezone(zone) for name in ("start", "end"))
        for moment in rrulestr(event["recurrence"][0], dtstart=start)[:50]:
            own = {**event, "start": _form(moment), "end": _form(moment + (end - start))}
            del own["recurrence"]
            own["id"] = f"{event['id']}_{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"
            own["recurringEventId"] = event["id"]
            yield own


def _moment(form: Mapping[str, Any]) -> datetime:
    if form.get("date"):
        return datetime.combine(date.fromisoformat(form["date"]), datetime.min.time(), UTC)
    return datetime.fromisoformat(form["dateTime"])


def _form(moment: datetime) -> dict[str, str]:
    return {"dateTime": moment.isoformat()}


def _without_nulls(value: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _without_nulls(part) if isinstance(part, dict) else part
        for name, part in value.items()
        if part is not None
    }


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    merged = dict(old)
    for name, part in new.items():
        nested = isinstance(part, dict) and isinstance(old.get(name), dict)
        merged[name] = _merged(old[name], part) if nested else part
    return merged


def _handler(server: GoogleServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Keep the tests' output clean."""

        def _answer(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            server.requests.append((self.command, parts.path))
            if parts.path == "/token":
                return self._token({k: v[0] for k, v in parse_qs(body.decode()).items()})
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if parts.path == "/auth":
                return self._authorize(query)
            if server.faults:
                return self._fail(server.faults.pop(0))
            if self.headers.get("Authorization") != f"Bearer {server.access_token}":
                return self._error(401, "Invalid Credentials", "authError")
            content = json.loads(body) if body else {}
            if content.get("summary") in server.refused:
                return self._error(400, "Bad Request", "invalid")
            server.bodies.append(content)
            _, _, rest = parts.path.partition("/calendar/v3/calendars/")
            calendar, _, event_id = rest.partition("/events")
            if calendar != "primary":
                return self._error(404, "Not Found", "notFound")
            return self._events(unquote(event_id.strip("/")), query, content)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _answer  # noqa: N815

        def _events(self, event_id: str, query: dict[str, str], body: dict[str, Any]) -> None:
            if not event_id:
                if self.command == "GET":
                    return self._send(200, server.listing(query))
                if body["id"] in server.events:
                    return self._error(409, "The requested identifier already exists.", "duplicate")
                return self._send(200, server.put(_without_nulls(body)))
            event = server.find(event_id)
            if event is None:
                return self._error(404, "Not Found", "notFound")
            match = self.headers.get("If-Match")
            if match is not None and match != event["etag"]:
                return self._error(412, "Precondition Failed", "conditionNotMet")
            if self.command == "GET":
                return self._send(200, event)
            if self.command == "PUT":
                return self._send(200, server.put(_without_nulls(body)))
            if event["status"] == "cancelled":
                return self._error(410, "Resource has been deleted", "deleted")
            if self.command == "DELETE":
                server.put({**event, "status": "cancelled"})
                return self._send(204, None)
            return self._send(200, server.put(_without_nulls(_merged(event, body))))

        def _token(self, form: dict[str, str]) -> None:
            granted = {
                "refresh_token": form.get("refresh_token") == server.refresh_token,
                "authorization_code": form.get("code") == "the-code",
            }
            if not granted.get(form.get("grant_type", ""), False):
                return self._send(400, {"error": "invalid_grant"})
            server.refreshed += 1
            server.access_token = f"access-{server.refreshed + 1}"
            answer = {
                "access_token": server.access_token,
                "expires_in": 3600,
                "token_type": "Bearer",
                "refresh_token": server.refresh_token,
                "scope": "https://www.googleapis.com/auth/calendar.events",
            }
            return self._send(200, answer)

        def _authorize(self, query: dict[str, str]) -> None:
            state = quote(query["state"])
            self.send_response(302)
            self.send_header("Location", f"{query['redirect_uri']}?code=the-code&state={state}")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _fail(self, fault: Fault) -> None:
            if fault.kind == "hang":
                server.released.wait(timeout=30)
            if fault.kind in ("drop", "hang"):
                self.close_connection = True
                return
            self._error(fault.status, "scripted", fault.reason, fault.headers)

        def _error(
            self, status: int, message: str, reason: str, headers: Mapping[str, str] | None = None
        ) -> None:
            error = {"code": status, "message": message, "errors": [{"reason": reason}]}
            self._send(status, {"error": error}, headers)

        def _send(
            self, status: int, content: object, headers: Mapping[str, str] | None = None
        ) -> None:
            body = b"" if content is None else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    return Handler
