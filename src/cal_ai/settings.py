"""Settings from flags, then the environment, then `.env`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from truemark.errors import TruemarkError
from truemark.services.settings import DEFAULT_GEMINI_MODEL, Sources, read_dotenv

DEFAULT_OWNER = "Alice"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user has set; keys stay out of the printed form."""

    owner: str = DEFAULT_OWNER
    timezone: ZoneInfo | None = None
    gemini_api_key: str | None = field(default=None, repr=False)
    gemini_model: str = DEFAULT_GEMINI_MODEL
    gemini_base_url: str | None = None
    openai_api_key: str | None = field(default=None, repr=False)
    openai_base_url: str | None = None
    openai_model: str | None = None
    caldav_username: str | None = None
    caldav_password: str | None = field(default=None, repr=False)
    google_credentials: str | None = None
    google_endpoint: str | None = None

    def now(self) -> datetime:
        """The present moment where the owner is; on this machine's clock by default."""
        if self.timezone is None:
            return datetime.now().astimezone()
        return datetime.now(self.timezone)


def _timezone(sources: Sources, name: str) -> ZoneInfo | None:
    place, value = sources.found(name)
    if value is None:
        return None
    try:
        return ZoneInfo(value)
    except (KeyError, ValueError, OSError):
        raise TruemarkError(
            f"{place}{name} is {value!r}, not a time zone such as Europe/Berlin{_hint(value)}"
        ) from None


def load_settings(
    environ: Mapping[str, str], *, dotenv: Path = Path(".env"), owner: str | None = None
) -> Settings:
    """The settings; `environ` is left as it is. Raises a `TruemarkError` for a bad value."""
    _check_clock(environ)
    flags = {"OWNER_NAME": owner}
    sources = Sources((("", flags), ("", environ), (f"{dotenv}: ", read_dotenv(dotenv))))
    return Settings(
        owner=sources.text("OWNER_NAME") or DEFAULT_OWNER,
        timezone=_timezone(sources, "TIMEZONE"),
        gemini_api_key=sources.key("GEMINI_API_KEY"),
        gemini_model=sources.text("GEMINI_MODEL") or DEFAULT_GEMINI_MODEL,
        gemini_base_url=sources.url("GOOGLE_GEMINI_BASE_URL"),
        openai_api_key=sources.key("OPENAI_API_KEY"),
        openai_base_url=sources.url("OPENAI_BASE_URL"),
        openai_model=sources.text("OPENAI_MODEL"),
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


def _hint(name: str) -> str:
    from difflib import get_close_matches
    from zoneinfo import available_timezones

    close = get_close_matches(name, available_timezones(), n=1)
    return f"; did you mean {close[0]}?" if close else ""
