"""A calendar on a CalDAV server such as Nextcloud, Radicale, Fastmail or iCloud."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit
from zoneinfo import ZoneInfo

from caldav.davclient import DAVClient
from caldav.lib import error
from caldav.response import DAVResponse

from cal_ai.calendars.document import EMPTY, Document, utc_stamp
from cal_ai.calendars.occurrences import Budget
from cal_ai.calendars.protocol import (
    PARSER_ERRORS,
    AlreadyThere,
    CalendarError,
    ChangedMeanwhile,
    Details,
    Entry,
    EventGone,
    Listing,
    Moment,
)
from cal_ai.calendars.servers import calendar_policy, wait_for_server
from truemark.services.addresses import same_origin, shown_address
from truemark.services.bounded_http import UnfitAnswerError
from truemark.services.bounded_requests import BoundedSession
from truemark.services.calls import CallFailed
from truemark.services.proxies import require_usable_proxies
from truemark.services.secrets import without_secrets

_CALDAV = "urn:ietf:params:xml:ns:caldav"
_QUERY = f"""\
<?xml version="1.0" encoding="utf-8"?>
<C:calendar-query xmlns:D="DAV:" xmlns:C="{_CALDAV}">
  <D:prop><D:getetag/><C:calendar-data/></D:prop>
  <C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">
    <C:time-range start="{{}}" end="{{}}"/>
  </C:comp-filter></C:comp-filter></C:filter>
</C:calendar-query>
"""
_UID_CONFLICT = "no-uid-conflict"
_ICALENDAR = {"Content-Type": "text/calendar; charset=utf-8"}


class CalDavCalendar:
    """The events of one calendar collection, one resource per event.

    Each change names the version that it is based on, so that the server rejects it if someone
    else has changed the event meanwhile.
    """

    def __init__(
        self,
        address: str,
        username: str | None,
        password: str | None,
        zone: ZoneInfo | None,
        *,
        timeout_s: float | None = None,
    ) -> None:
        self._home, self._username, self._password = _sign_in(address, username, password)
        self._zone = zone
        require_usable_proxies(self._home, ("python_socks", "python-socks"))
        self._client = DAVClient(
            url=self._home,
            username=self._username,
            password=self._password,
            enable_rfc6764=False,
        )
        session: Any = BoundedSession(
            self._client.session, self._home, calendar_policy(timeout_s), wait_for_server
        )
        self._client.session = session
        self._addresses: dict[str, str] = {}
        try:
            self._collection = self._find_collection()
        except CalendarError:
            self._client.close()
            raise
        self.name = self._clean(f"caldav:{self._collection}")
        self.identity = f"{self.name} {self._username or ''}".strip()
        self.changes_at_once = 1

    def changing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def coming(self, start: datetime, end: datetime) -> Listing:
        entries: list[Entry] = []
        warnings: list[str] = []
        budget = Budget()
        for address, text, etag in self._overlapping(start, end):
            if not same_origin(address, self._home):
                where = shown_address(address)
                warnings.append(f"{self.name}: an event on another server, {where}, is left out")
                continue
            try:
                listing = self._document(text).coming(start, end, budget)
            except CalendarError as error:
                warnings.append(self._clean(f"{error} ({address})"))
                continue
            entries += (self._received(entry, etag) for entry in listing.entries)
            warnings += map(self._clean, listing.warnings)
            self._addresses.update((entry.uid, address) for entry in listing.entries)
        entries.sort(key=lambda entry: entry.details.start)
        return Listing(tuple(entries), tuple(warnings))

    def get(self, uid: str, recurrence: Moment | None = None) -> Entry:
        document, etag = self._fetch(uid)
        return self._received(document.get(uid, recurrence), etag)

    def create(self, uid: str, details: Details, mark: str) -> Entry:
        document = self._document(EMPTY)
        document.add(uid, details, mark, datetime.now(UTC))
        self._put(uid, document, {"If-None-Match": "*"})
        return self.get(uid)

    def update(self, entry: Entry, details: Details, mark: str) -> Entry:
        document, current = self._unchanged(entry)
        document.change(current, details, mark, datetime.now(UTC))
        with self._gone_or_changed(entry):
            self._put(entry.uid, document, _if_match(entry.version))
        return self.get(entry.uid, entry.recurrence)

    def delete(self, entry: Entry) -> None:
        document, current = self._unchanged(entry)
        document.remove(current, datetime.now(UTC))
        condition = _if_match(entry.version)
        with self._gone_or_changed(entry):
            if any(part.name == "VEVENT" for part in document.content.components[0].components):
                self._put(entry.uid, document, condition)
                return
            with self._faults():
                response = self._client.request(
                    self._address(entry.uid), "DELETE", headers=condition
                )
            self._check(response)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _find_collection(self) -> str:
        """Find the calendar at the given address, else the only calendar of the user."""
        with self._faults():
            response = self._client.propfind(self._home, ["resourcetype"], depth=0)
            if response.status == 404:
                raise CalendarError(f"caldav:{self._home}: nothing is there (404)")
            if response.status != 207:
                raise CalendarError(
                    f"caldav:{self._home}: is no CalDAV server (it answers"
                    f" {response.status} to PROPFIND); check the address"
                )
            if (
                response.tree is not None
                and response.tree.find(f".//{{{_CALDAV}}}calendar") is not None
            ):
                return self._home
            try:
                calendars = [str(calendar.url) for calendar in self._client.get_calendars()]
            except ValueError as error:  # its text has the address that the library rejects
                self._require_own_server(*(word for word in str(error).split() if "//" in word))
                raise
        if len(calendars) == 1:
            self._require_own_server(*calendars)
            return calendars[0]
        what = "holds no calendar" if not calendars else f"holds {len(calendars)} calendars"
        choice = f"; name one of {', '.join(map(shown_address, calendars))}" if calendars else ""
        raise CalendarError(f"caldav:{self._home}: {what}, expected one{choice}")

    def _require_own_server(self, *addresses: str) -> None:
        for address in addresses:
            if not same_origin(urljoin(self._home, address), self._home):
                raise CalendarError(
                    f"caldav:{self._home}: the calendar is on another server,"
                    f" {shown_address(address)}; name that one"
                )

    def _overlapping(self, start: datetime, end: datetime) -> list[tuple[str, str, str]]:
        """Fetch address, text and version of each resource with an event in the window."""
        query = _QUERY.format(utc_stamp(start), utc_stamp(end))
        with self._faults():
            response = self._client.report(self._collection, query, depth=1)
            if response.status != 207 or response.tree is None:
                raise CalendarError(f"{self.name}: the server answered {response.status}")
            return [
                (
                    urljoin(self._collection, part.findtext("{DAV:}href")),
                    part.findtext(f".//{{{_CALDAV}}}calendar-data") or "",
                    part.findtext(".//{DAV:}getetag") or "",
                )
                for part in response.tree.iter("{DAV:}response")
            ]

    def _received(self, entry: Entry, etag: str) -> Entry:
        return replace(entry.without_secrets(self._password), version=etag)

    def _clean(self, text: str) -> str:
        """Remove the password from what the server sends."""
        return without_secrets(text, self._password)

    def _address(self, uid: str) -> str:
        default = urljoin(self._collection, f"{quote(uid, safe='@')}.ics")
        return self._addresses.get(uid, default)

    def _fetch(self, uid: str) -> tuple[Document, str]:
        with self._faults():
            response = self._client.request(self._address(uid), "GET")
            text = response.raw
        self._check(response)
        return self._document(text), response.headers.get("ETag", "")

    def _unchanged(self, entry: Entry) -> tuple[Document, Entry]:
        document, etag = self._fetch(entry.uid)
        if etag != entry.version:
            raise self._changed_meanwhile()
        return document, document.get(entry.uid, entry.recurrence)

    def _put(self, uid: str, document: Document, condition: Mapping[str, str]) -> None:
        with self._faults():
            response = self._client.put(
                self._address(uid), document.content.raw().decode(), {**_ICALENDAR, **condition}
            )
        if "If-None-Match" in condition and response.status in (409, 412):
            if self._is_taken(uid, response):
                raise AlreadyThere(f"{self.name}: has an event {uid} already")
            raise CalendarError(
                f"{self.name}: the server refuses the event, with status {response.status}"
            )
        self._check(response)

    def _is_taken(self, uid: str, refusal: DAVResponse) -> bool:
        """Whether the event was refused because the uid is taken, and not, say, for its size."""
        with self._faults():
            complaint = str(refusal.raw)
        if _UID_CONFLICT in complaint:  # the event has another address
            return True
        try:
            self._fetch(uid)
        except EventGone:
            return False
        return True

    def _document(self, text: str | bytes) -> Document:
        data = text.encode() if isinstance(text, str) else text
        # The client returns lines that end with LF; servers expect CRLF.
        data = data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        return Document.parse(data, self.name, self._zone)

    def _check(self, response: DAVResponse) -> None:
        if response.status in (404, 410):
            raise EventGone(f"{self.name}: the event is no longer there")
        if response.status == 412:
            raise self._changed_meanwhile()
        if not 200 <= response.status < 300:
            raise CalendarError(f"{self.name}: the server answered {response.status}")

    def _changed_meanwhile(self) -> ChangedMeanwhile:
        return ChangedMeanwhile(f"{self.name}: the event was changed by someone else meanwhile")

    @contextmanager
    def _gone_or_changed(self, entry: Entry) -> Iterator[None]:
        try:
            yield
        except ChangedMeanwhile:
            self.get(entry.uid, entry.recurrence)  # raises EventGone, which is more exact
            raise

    @contextmanager
    def _faults(self) -> Iterator[None]:
        where = f"caldav:{self._home}"
        try:
            yield
        except error.AuthorizationError as refusal:
            verb = "set" if self._username is None else "check"
            reason = f"the server refuses access; {verb} CALDAV_USERNAME and CALDAV_PASSWORD"
            if getattr(refusal, "status", None) == 403:
                reason = "the server forbids it (403); the calendar may be for reading only"
            raise CalendarError(f"{where}: {reason}") from refusal
        except CallFailed as failure:
            raise CalendarError(f"{where}: {failure.reason}") from failure
        except UnfitAnswerError as unfit:
            raise CalendarError(f"{where}: {unfit}") from unfit
        except error.DAVError as fault:
            status = getattr(fault, "status", None) or type(fault).__name__
            raise CalendarError(f"{where}: the server answered {status}") from fault
        except OSError as broken:
            reason = type(broken).__name__
            raise CalendarError(f"{where}: the server does not answer ({reason})") from broken
        except (SyntaxError, *PARSER_ERRORS) as malformed:
            raise CalendarError(
                f"{where}: the server's answer is no WebDAV; check the address"
            ) from malformed


def _sign_in(
    address: str, username: str | None, password: str | None
) -> tuple[str, str | None, str | None]:
    """Return the address without credentials, the user and the password.

    Those in the address are used if no other user is given.
    """
    parts = urlsplit(address)
    if parts.username and username is None:
        username = unquote(parts.username)
        password = unquote(parts.password) if parts.password else password
    host = parts.netloc.rpartition("@")[2]
    path = parts.path if parts.path.endswith("/") else f"{parts.path}/"
    return urlunsplit((parts.scheme, host, path, "", "")), username, password


def _if_match(version: str) -> dict[str, str]:
    # A weak tag never matches, so a server that has only those is written to unconditionally.
    return {} if not version or version.startswith("W/") else {"If-Match": version}
