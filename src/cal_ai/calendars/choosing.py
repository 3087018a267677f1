"""Open the calendar that `--calendar` names."""

from __future__ import annotations

import os
from pathlib import Path
from zoneinfo import ZoneInfo

from platformdirs import user_config_path, user_data_path

from cal_ai.calendars.protocol import Calendar, CalendarError
from cal_ai.calendars.servers import calendar_policy
from cal_ai.settings import Settings
from truemark.imports import require
from truemark.services.addresses import is_address, shown_address

CALENDARS = ("ics:PATH", "caldav:URL", "google")
_FOLDER = "truemark"
_ICALENDAR = ("icalendar", "recurring_ical_events")


def data_folder() -> Path:
    """Return the user's folder for the data of this program."""
    return user_data_path(_FOLDER, appauthor=False)


def check_calendar(name: str) -> str:
    """Return the name if it has the form of a calendar's; raises a `CalendarError` otherwise."""
    kind, colon, place = name.partition(":")
    if kind == "caldav" and not is_address(place):
        # The message does not repeat the text, which may contain a password.
        raise CalendarError(
            "caldav: is followed by no address such as https://cloud.example.org/dav/alice/work"
        )
    if (kind in ("ics", "google") and (place or not colon)) or kind == "caldav":
        return name
    # An address may contain a password, so the message repeats only what is no address.
    shown = "that" if "@" in name or "//" in name else repr(name)
    raise CalendarError(f"{shown} is not one of {', '.join(CALENDARS)}")


def shown_calendar(name: str) -> str:
    """Return the name without the user and password of an address, for printing."""
    kind, _, place = name.partition(":")
    return f"{kind}:{shown_address(place)}" if kind == "caldav" else name


def choose_calendar(
    name: str | None, settings: Settings, zone: ZoneInfo | None, *, timeout_s: float | None = None
) -> Calendar:
    """Open the calendar of this name, by default an iCalendar file in the user's data folder."""
    kind, _, place = check_calendar(name or "ics").partition(":")
    if kind == "caldav":
        require("caldav", "--calendar caldav", "caldav", *_ICALENDAR)
        from cal_ai.calendars.caldav import CalDavCalendar

        user, password = settings.caldav_username, settings.caldav_password
        return CalDavCalendar(place, user, password, zone, timeout_s=timeout_s)
    if kind == "google":
        libraries = ("googleapiclient", "google_auth_oauthlib", *_ICALENDAR)
        require("google", "--calendar google", *libraries)
        from cal_ai.calendars.google import GoogleCalendar
        from cal_ai.calendars.google_sign_in import SignIn

        folder = user_config_path(_FOLDER, appauthor=False)
        given = settings.google_credentials
        client_file = _user_path(given) if given else folder / "credentials.json"
        return GoogleCalendar(
            SignIn(client_file, folder / "google-token.json"),
            zone,
            calendar_id=place or "primary",
            endpoint=settings.google_endpoint,
            policy=calendar_policy(timeout_s),
        )
    require("calendar", "--calendar ics", *_ICALENDAR)
    from cal_ai.calendars.ics import IcsCalendar

    path = _user_path(place) if place else data_folder() / "calendar.ics"
    return IcsCalendar(path, zone)


def _user_path(text: str) -> Path:
    return Path(os.path.expanduser(text))  # noqa: PTH111 - Path.expanduser fails for unknown users
