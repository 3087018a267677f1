"""Read settings from flags, then the environment, then `.env`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

from truemark.errors import TruemarkError
from truemark.services.models import (
    DOTENV,
    ModelSettings,
    Sources,
    read_dotenv,
    read_model_settings,
)

DEFAULT_OWNER = "Alice"


@dataclass(frozen=True, slots=True)
class Settings(ModelSettings):
    """Settings of language models, of the owner and of calendars."""

    owner: str = DEFAULT_OWNER
    owner_reason: str = "default"
    timezone: ZoneInfo | None = None
    caldav_username: str | None = None
    caldav_password: str | None = field(default=None, repr=False)
    google_credentials: str | None = None
    google_endpoint: str | None = None

    def now(self) -> datetime:
        """Return the current time in the owner's time zone, by default that of this machine."""
        if self.timezone is None:
            return datetime.now().astimezone()
        return datetime.now(self.timezone)


def _timezone(sources: Sources, name: str) -> ZoneInfo | None:
    place, value = sources.lookup(name)
    if value is None:
        return None
    try:
        return ZoneInfo(value)
    except (KeyError, ValueError, OSError):
        close = get_close_matches(value, available_timezones(), n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise TruemarkError(
            f"{place}{name} is {value!r}, not a time zone such as Europe/Berlin{hint}"
        ) from None


def load_settings(
    environ: Mapping[str, str], *, dotenv: Path = DOTENV, owner: str | None = None
) -> Settings:
    """Read the settings; raises a `TruemarkError` for a bad value. `environ` is not changed."""
    _check_clock(environ)
    flags = {"OWNER_NAME": owner}
    sources = Sources((("", flags), ("", environ), (f"{dotenv}: ", read_dotenv(dotenv))))
    owner_reason = "default"
    if sources.text("OWNER_NAME"):
        owner_reason = "OWNER_NAME" if owner is None else "--owner"
    return Settings(
        **asdict(read_model_settings(sources)),
        owner=sources.text("OWNER_NAME") or DEFAULT_OWNER,
        owner_reason=owner_reason,
        timezone=_timezone(sources, "TIMEZONE"),
        caldav_username=sources.text("CALDAV_USERNAME"),
        caldav_password=sources.text("CALDAV_PASSWORD"),
        google_credentials=sources.text("GOOGLE_CREDENTIALS"),
        google_endpoint=sources.url("GOOGLE_CALENDAR_ENDPOINT"),
    )


def _check_clock(environ: Mapping[str, str]) -> None:
    try:
        datetime.now().astimezone()
    except (ValueError, OverflowError, OSError):
        raise TruemarkError(
            f"TZ is {environ.get('TZ', '')!r}, not a time zone such as Europe/Berlin"
        ) from None
