"""A calendar of Google Calendar, through Google's client."""

from __future__ import annotations

import http.client
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import date, datetime
from functools import partial
from typing import Annotated, Any, NotRequired, TypedDict
from zoneinfo import ZoneInfo

import google_auth_httplib2  # type: ignore[import-untyped]  # ships no types
import httplib2  # type: ignore[import-untyped]  # as above
from google.auth.exceptions import GoogleAuthError, TransportError
from googleapiclient.discovery import build  # type: ignore[import-untyped]  # as above
from googleapiclient.errors import Error, HttpError  # type: ignore[import-untyped]  # as above
from msgspec import Meta

from cal_ai.calendars.google_sign_in import SignIn
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
from cal_ai.calendars.zones import in_zone, midnight
from truemark.errors import TruemarkError
from truemark.jsontext import read_value, shown
from truemark.services.bounded_http import UnfitAnswerError, run_within
from truemark.services.bounded_httplib2 import bounded_httplib2
from truemark.services.calls import CallFailed, TransientError
from truemark.services.proxies import require_usable_proxies
from truemark.services.retry import CallPolicy, call_patiently, parse_retry_after
from truemark.services.secrets import quoted, without_secrets
from truemark.text import one_line

_PAGE = 250
_MOST_PAGES = 40
_SLOW_DOWN = frozenset({"rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded"})

_MARK = "truemark"
_YEARS = range(1900, 3000)


class _Time(TypedDict):
    """A time in Google's form: a day, or a moment."""

    date: NotRequired[str | None]
    dateTime: NotRequired[str | None]


class _Event(TypedDict):
    """The fields of an event in Google's form that are read."""

    id: Annotated[str, Meta(min_length=1)]
    start: _Time
    end: _Time
    summary: NotRequired[str | None]
    location: NotRequired[str | None]
    description: NotRequired[str | None]
    etag: NotRequired[str | None]
    extendedProperties: NotRequired[dict[str, object] | None]
    attendees: NotRequired[list[object] | None]


class GoogleCalendar:
    """The events of one Google calendar; an occurrence of a recurring event has its own id.

    When the server is busy, requests are retried after the wait that it asks for, within limits.
    """

    def __init__(
        self,
        sign_in: SignIn,
        zone: ZoneInfo | None,
        *,
        calendar_id: str = "primary",
        endpoint: str | None = None,
        policy: CallPolicy | None = None,
    ) -> None:
        require_usable_proxies(endpoint, ("socks", "PySocks"))
        self.name = "google" if calendar_id == "primary" else f"google:{calendar_id}"
        self.identity = self.name
        self.changes_at_once = 1
        self._sign_in = sign_in
        self._calendar_id = calendar_id
        self._zone = zone
        self._policy = policy or calendar_policy()
        self._credentials = sign_in.credentials()
        self._kept = self._credentials.token
        self._http = google_auth_httplib2.AuthorizedHttp(
            self._credentials, http=bounded_httplib2(self._policy.timeout_s)
        )
        # Set explicitly, because the environment may name the cloud of another product.
        options = {"universe_domain": "googleapis.com"}
        if endpoint is not None:
            options["api_endpoint"] = f"{endpoint.rstrip('/')}/calendar/v3/"
        try:
            # The description of the API ships with the client, so it need not be fetched.
            service = build(
                "calendar", "v3", http=self._http, static_discovery=True, client_options=options
            )
        except (Error, GoogleAuthError, ValueError) as error:  # settings of clouds, such as mTLS
            raise CalendarError(f"{self.name}: cannot be set up: {one_line(str(error))}") from error
        self._events = service.events()

    def changing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def coming(self, start: datetime, end: datetime) -> Listing:
        entries: list[Entry] = []
        warnings: list[str] = []
        page: str | None = None
        for _ in range(_MOST_PAGES):
            request = self._events.list(
                calendarId=self._calendar_id,
                timeMin=start.isoformat(),
                timeMax=end.isoformat(),
                singleEvents=True,
                orderBy="startTime",
                maxResults=_PAGE,
                pageToken=page,
            )
            try:
                answer = self._call(request)
            except EventGone as error:
                raise CalendarError(f"{self.name}: there is no such calendar") from error
            items = answer.get("items")
            if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
                raise self._malformed()
            for item in items:
                try:
                    entries += [self._entry(item)] if is_active(item) else []
                except CalendarError as error:
                    warnings.append(without_secrets(str(error), *self._secrets))
            page = answer.get("nextPageToken")
            if not isinstance(page, str):
                return Listing(tuple(entries), tuple(warnings))
        raise CalendarError(
            f"{self.name}: has more than {_PAGE * _MOST_PAGES} events in these days"
        )

    def get(self, uid: str, recurrence: Moment | None = None) -> Entry:
        item = self._call(self._events.get(calendarId=self._calendar_id, eventId=uid))
        if not is_active(item):
            raise EventGone(f"{self.name}: the event is no longer there")
        return self._entry(item)

    def create(self, uid: str, details: Details, mark: str) -> Entry:
        body = {"id": uid, **event_body(details, None, mark, self._zone)}
        insert = self._events.insert(calendarId=self._calendar_id, body=body)
        try:
            return self._entry(self._call(insert))
        except AlreadyThere:
            # Google keeps the id of a removed event, so the event is restored instead.
            event = {"calendarId": self._calendar_id, "eventId": uid}
            try:
                existing = self._call(self._events.get(**event))
            except AlreadyThere as conflict:
                raise CalendarError(f"{self.name}: the server answered 409") from conflict
            if is_active(existing):
                raise
            body["status"] = "confirmed"
            return self._entry(self._call(self._events.update(**event, body=body)))

    def update(self, entry: Entry, details: Details, mark: str) -> Entry:
        patch = self._events.patch(
            calendarId=self._calendar_id,
            eventId=entry.uid,
            body=event_body(details, entry.details, mark, self._zone),
        )
        return self._entry(self._call_if_unchanged(patch, entry))

    def delete(self, entry: Entry) -> None:
        removal = self._events.delete(calendarId=self._calendar_id, eventId=entry.uid)
        self._call_if_unchanged(removal, entry)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _entry(self, item: Mapping[str, object]) -> Entry:
        return read_event(item, self.name, self._zone).without_secrets(*self._secrets)

    def _call_if_unchanged(self, request: Any, entry: Entry) -> Mapping[str, Any]:
        request.headers["If-Match"] = entry.version
        try:
            return self._call(request)
        except ChangedMeanwhile:
            self.get(entry.uid)  # raises EventGone, which is more exact
            raise

    def _call(self, request: Any) -> Mapping[str, Any]:
        """Send the request, again while the server may recover, and return the answer."""
        try:
            return call_patiently(partial(self._answer, request), self._policy, wait_for_server)
        except CallFailed as failure:
            raise CalendarError(f"{self.name}: {failure.reason}") from failure
        finally:
            if self._credentials.token != self._kept:
                self._sign_in.keep(self._credentials)
                self._kept = self._credentials.token

    def _answer(self, request: Any) -> Mapping[str, Any]:
        try:
            answer = run_within(self._policy.timeout_s, request.execute) or {}
        except HttpError as error:
            raise self._fault(error) from error
        except TimeoutError as error:
            raise TransientError(f"no answer within {self._policy.timeout_s:g} s") from error
        except (OSError, http.client.HTTPException, httplib2.HttpLib2Error) as error:
            raise TransientError(f"no answer ({type(error).__name__})") from error
        except TransportError as error:
            raise TransientError("no answer while refreshing the sign-in") from error
        except GoogleAuthError as error:
            raise self._signed_out() from error
        except UnfitAnswerError as error:
            raise CalendarError(f"{self.name}: {error}") from error
        except (Error, *PARSER_ERRORS) as error:
            raise self._malformed() from error
        if not isinstance(answer, dict):
            raise self._malformed()
        return answer

    def _fault(self, error: Any) -> Exception:
        status = error.status_code
        quote = quoted(str(error.reason), *self._secrets)
        reason = f": {quote}" if quote else ""
        details = error.error_details if isinstance(error.error_details, list) else []
        reasons = {str(part.get("reason")) for part in details if isinstance(part, dict)}
        if status == 429 or status >= 500 or (status == 403 and reasons & _SLOW_DOWN):
            wait_s = parse_retry_after(error.resp.get("retry-after"))
            return TransientError(f"the server answered {status}", retry_after_s=wait_s)
        if status in (404, 410):
            return EventGone(f"{self.name}: the event is no longer there")
        if status == 409:
            return AlreadyThere(f"{self.name}: has an event of this id already")
        if status == 412:
            return ChangedMeanwhile(f"{self.name}: the event was changed by someone else meanwhile")
        if status == 401:
            return self._signed_out()
        if status == 403:
            return CalendarError(f"{self.name}: the server refuses access{reason}")
        return CalendarError(f"{self.name}: the server answered {status}{reason}")

    @property
    def _secrets(self) -> tuple[str | None, ...]:
        signed_in = self._credentials
        return signed_in.token, signed_in.refresh_token, signed_in.client_secret

    def _malformed(self) -> CalendarError:
        return CalendarError(f"{self.name}: the server's answer is no use")

    def _signed_out(self) -> CalendarError:
        return CalendarError(
            f"{self.name}: the sign-in is no longer accepted;"
            f" remove {self._sign_in.token_file} and sign in again"
        )


def is_active(item: Mapping[str, object]) -> bool:
    """Whether the event has not been removed; Google keeps removed events."""
    return item.get("status") != "cancelled"


def read_event(item: Mapping[str, object], where: str, zone: ZoneInfo | None) -> Entry:
    """Read an event that the server sent; raises a `CalendarError` that says what is wrong."""
    try:
        event = read_value(_Event, item, "event")
        start, all_day = _read_time(event["start"], "start", zone)
        end, _ = _read_time(event["end"], "end", zone)
    except TruemarkError as error:
        raise CalendarError(
            f"{where}: the server sent an event that cannot be read: {error}"
        ) from error
    details = Details(
        title=(event.get("summary") or "").strip() or "(no title)",
        start=start,
        end=end,
        all_day=all_day,
        location=(event.get("location") or "").strip() or None,
        description=(event.get("description") or "").strip(),
    )
    private = (event.get("extendedProperties") or {}).get("private")
    marks = private if isinstance(private, dict) else {}
    return Entry(
        event["id"].strip(),
        details,
        people=tuple(_people(event.get("attendees") or [])),
        marks=frozenset(key.removeprefix(_MARK) for key in marks if key.startswith(_MARK)),
        version=(event.get("etag") or "").strip(),
    )


def event_body(
    details: Details, before: Details | None, mark: str, zone: ZoneInfo | None
) -> dict[str, Any]:
    """Return the fields that differ from those in `before`, in Google's form."""
    body: dict[str, Any] = {"extendedProperties": {"private": {f"{_MARK}{mark}": "1"}}}
    for field, name in (
        ("summary", "title"),
        ("location", "location"),
        ("description", "description"),
    ):
        value = getattr(details, name)
        if before is None or value != getattr(before, name):
            body[field] = value
    moments = (details.start, details.end, details.all_day)
    if before is None or moments != (before.start, before.end, before.all_day):
        body["start"] = _moment_body(details.start, details.all_day, zone)
        body["end"] = _moment_body(details.end, details.all_day, zone)
    return body


def _moment_body(moment: datetime, all_day: bool, zone: ZoneInfo | None) -> dict[str, str | None]:
    # A patch keeps what it does not name, so the fields of the other form are set to null.
    if all_day:
        return {"date": moment.date().isoformat(), "dateTime": None, "timeZone": None}
    return {"date": None, "dateTime": moment.isoformat(), "timeZone": zone.key if zone else None}


def _read_time(form: _Time, name: str, zone: ZoneInfo | None) -> tuple[datetime, bool]:
    """Read the start or end of an event; also return whether it is a whole day."""
    day, moment = form.get("date"), form.get("dateTime")
    with suppress(ValueError):
        if day is not None and (read_day := date.fromisoformat(day)).year in _YEARS:
            return midnight(read_day, zone), True
        if moment is not None and (read := datetime.fromisoformat(moment)).year in _YEARS:
            return in_zone(read, zone), False
    raise TruemarkError(f"event: {name} is {shown(form)}, not a date or a dateTime")


def _people(attendees: list[object]) -> Iterator[str]:
    for person in attendees:
        if isinstance(person, dict) and not person.get("self"):
            names = (person.get("displayName"), person.get("email"))
            yield next((name for name in names if isinstance(name, str) and name), "")
