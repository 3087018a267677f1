"""A calendar of Google Calendar, through Google's own client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from cal_ai.calendars.google_sign_in import SignIn
from cal_ai.calendars.protocol import (
    AccessRefused,
    AlreadyThere,
    CalendarError,
    ChangedMeanwhile,
    Details,
    Entry,
    EventGone,
    Listing,
    Unreachable,
)
from cal_ai.calendars.reading import Moment
from cal_ai.calendars.zones import in_zone, midnight
from cal_ai.extractors.protocol import ExtractionFailed
from cal_ai.extractors.retry import Caller, CallPolicy, Tally, TransientError, parse_retry_after

TIMEOUT_S = 30.0
POLICY = CallPolicy(timeout_s=TIMEOUT_S, attempts=5, backoff_s=0.5, longest_wait_s=60.0)
_MARK = "truemark"
_PAGE = 250
_SLOW_DOWN = frozenset({"rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded"})


@dataclass(frozen=True, slots=True)
class GoogleAccount:
    """Which calendar, how to sign in, and the server to ask where it is not Google's."""

    sign_in: SignIn
    calendar_id: str = "primary"
    endpoint: str | None = None


class GoogleCalendar:
    """The events of one Google calendar; an occurrence of a recurring event has its own id.

    Times of unrest at the server are waited out, as long as it asks for, within reason.
    """

    def __init__(
        self, account: GoogleAccount, zone: ZoneInfo | None, *, policy: CallPolicy = POLICY
    ) -> None:
        import google_auth_httplib2  # type: ignore[import-untyped]  # ships no types
        import httplib2  # type: ignore[import-untyped]  # ships no types
        from googleapiclient.discovery import build  # type: ignore[import-untyped]  # no types

        self._account = account
        self._zone = zone
        self._caller = Caller(policy)
        self._credentials = account.sign_in.credentials()
        self._kept = self._credentials.token
        self._http = google_auth_httplib2.AuthorizedHttp(
            self._credentials, http=httplib2.Http(timeout=policy.timeout_s)
        )
        options = None
        if account.endpoint is not None:
            options = {"api_endpoint": f"{account.endpoint.rstrip('/')}/calendar/v3/"}
        # The description of the interface that ships with the client saves asking for it.
        service = build(
            "calendar", "v3", http=self._http, static_discovery=True, client_options=options
        )
        self._events = service.events()

    @property
    def name(self) -> str:
        own = self._account.calendar_id
        return "google" if own == "primary" else f"google:{own}"

    @property
    def identity(self) -> str:
        return self.name

    def coming(self, start: datetime, end: datetime) -> Listing:
        entries: list[Entry] = []
        page: str | None = None
        while True:
            request = self._events.list(
                calendarId=self._account.calendar_id,
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
            entries += (self._entry(item) for item in answer.get("items", ()) if _stands(item))
            page = answer.get("nextPageToken")
            if page is None:
                return Listing(tuple(entries))

    def get(self, uid: str, recurrence: Moment | None = None) -> Entry:
        item = self._call(self._events.get(calendarId=self._account.calendar_id, eventId=uid))
        if not _stands(item):
            raise EventGone(f"{self.name}: the event is no longer there")
        return self._entry(item)

    def create(self, uid: str, details: Details, mark: str) -> Entry:
        body = {"id": uid, **self._body(details, None, mark)}
        insert = self._events.insert(calendarId=self._account.calendar_id, body=body)
        try:
            return self._entry(self._call(insert))
        except AlreadyThere:
            # Google never forgets an id: that of a removed event is taken, and can be revived.
            event = {"calendarId": self._account.calendar_id, "eventId": uid}
            if _stands(self._call(self._events.get(**event))):
                raise
            body["status"] = "confirmed"
            return self._entry(self._call(self._events.update(**event, body=body)))

    def update(self, entry: Entry, details: Details, mark: str) -> Entry:
        patch = self._events.patch(
            calendarId=self._account.calendar_id,
            eventId=entry.uid,
            body=self._body(details, entry.details, mark),
        )
        return self._entry(self._call_if_unchanged(patch, entry))

    def delete(self, entry: Entry) -> None:
        removal = self._events.delete(calendarId=self._account.calendar_id, eventId=entry.uid)
        self._call_if_unchanged(removal, entry)

    def close(self) -> None:
        """Ends the connections."""
        self._http.close()

    def _body(self, details: Details, before: Details | None, mark: str) -> dict[str, Any]:
        """The fields that differ from those before, in Google's form."""
        body: dict[str, Any] = {"extendedProperties": {"private": {f"{_MARK}{mark}": "1"}}}
        for field, own in (
            ("summary", "title"),
            ("location", "location"),
            ("description", "description"),
        ):
            value = getattr(details, own)
            if before is None or value != getattr(before, own):
                body[field] = value
        moments = (details.start, details.end, details.all_day)
        if before is None or moments != (before.start, before.end, before.all_day):
            body["start"] = self._moment(details.start, details.all_day)
            body["end"] = self._moment(details.end, details.all_day)
        return body

    def _moment(self, moment: datetime, all_day: bool) -> dict[str, str | None]:
        # A patch leaves what it does not name, so the other form is named as empty.
        if all_day:
            return {"date": moment.date().isoformat(), "dateTime": None, "timeZone": None}
        zone = self._zone.key if self._zone else None
        return {"date": None, "dateTime": moment.isoformat(), "timeZone": zone}

    def _entry(self, item: dict[str, Any]) -> Entry:
        all_day = "date" in item["start"]
        details = Details(
            title=(item.get("summary") or "").strip() or "(no title)",
            start=self._local(item["start"]),
            end=self._local(item["end"]),
            all_day=all_day,
            location=(item.get("location") or "").strip() or None,
            description=(item.get("description") or "").strip(),
        )
        private = item.get("extendedProperties", {}).get("private", {})
        return Entry(
            item["id"],
            details,
            people=tuple(_people(item)),
            marks=frozenset(key.removeprefix(_MARK) for key in private if key.startswith(_MARK)),
            version=item.get("etag", ""),
        )

    def _local(self, moment: dict[str, str]) -> datetime:
        if "date" in moment:
            return midnight(date.fromisoformat(moment["date"]), self._zone)
        return in_zone(datetime.fromisoformat(moment["dateTime"]), self._zone)

    def _call_if_unchanged(self, request: Any, entry: Entry) -> Any:
        request.headers["If-Match"] = entry.version
        try:
            return self._call(request)
        except ChangedMeanwhile:
            self.get(entry.uid)  # to be gone is a change too, and the one to tell
            raise

    def _call(self, request: Any) -> Any:
        """The answer; asked for again while the server says that this may help."""

        async def ask() -> Any:
            return self._answer(request)

        try:
            return asyncio.run(self._caller.call(ask, Tally()))
        except ExtractionFailed as failure:
            raise Unreachable(f"{self.name}: {failure.reason}") from failure
        finally:
            if self._credentials.token != self._kept:
                self._account.sign_in.keep(self._credentials)
                self._kept = self._credentials.token

    def _answer(self, request: Any) -> Any:
        import http.client

        import httplib2
        from google.auth.exceptions import GoogleAuthError, TransportError
        from googleapiclient.errors import Error, HttpError  # type: ignore[import-untyped]

        try:
            return request.execute()
        except HttpError as error:
            raise self._fault(error) from error
        except (OSError, http.client.HTTPException, httplib2.HttpLib2Error) as error:
            raise TransientError(f"no answer ({type(error).__name__})") from error
        except TransportError as error:
            raise TransientError("no answer to the refreshing of the sign-in") from error
        except GoogleAuthError as error:
            raise self._signed_out() from error
        except (Error, json.JSONDecodeError) as error:
            raise CalendarError(f"{self.name}: the server's answer is no use") from error

    def _fault(self, error: Any) -> Exception:
        status, reason = error.status_code, " ".join(error.reason.split())[:200]
        reasons = {str(part.get("reason")) for part in _parts(error.error_details)}
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
            return AccessRefused(f"{self.name}: the server refuses access: {reason}")
        return CalendarError(f"{self.name}: the server answered {status}: {reason}")

    def _signed_out(self) -> AccessRefused:
        return AccessRefused(
            f"{self.name}: the sign-in is no longer accepted;"
            f" remove {self._account.sign_in.token_file} and sign in again"
        )


def _stands(item: dict[str, Any]) -> bool:
    return item.get("status") != "cancelled"


def _people(item: dict[str, Any]) -> Iterator[str]:
    for person in item.get("attendees", ()):
        if not person.get("self"):
            yield person.get("displayName") or person.get("email") or ""


def _parts(details: object) -> Iterator[dict[str, Any]]:
    if isinstance(details, list):
        yield from (part for part in details if isinstance(part, dict))
