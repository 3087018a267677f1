"""Settings from flags, then the environment, then `.env`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from io import StringIO
from pathlib import Path
from zoneinfo import ZoneInfo

from truemark.errors import TruemarkError

DEFAULT_OWNER = "Alice"
DEFAULT_GEMINI_MODEL = "gemini-2.5-pro"

_LARGEST_DOTENV = 1_000_000
# What can stand in an HTTP header; a key with anything else was pasted wrongly.
_KEY = re.compile(r"[\x21-\x7e]+")


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


@dataclass(frozen=True, slots=True)
class _Sources:
    """Named places in which a setting may stand, the most important first."""

    places: tuple[tuple[str, Mapping[str, str | None]], ...]

    def text(self, name: str) -> str | None:
        return self._found(name)[1]

    def key(self, name: str) -> str | None:
        place, value = self._found(name)
        if value is not None and not _KEY.fullmatch(value):
            raise TruemarkError(f"{place}{name} has spaces or other characters that no key has")
        return value

    def url(self, name: str) -> str | None:
        place, value = self._found(name)
        if value is not None and not re.match(r"https?://[^/\s]", value):
            raise TruemarkError(
                f"{place}{name} is {value!r}, not an address such as http://localhost:11434/v1"
            )
        return value

    def timezone(self, name: str) -> ZoneInfo | None:
        place, value = self._found(name)
        if value is None:
            return None
        try:
            return ZoneInfo(value)
        except (KeyError, ValueError, OSError):
            raise TruemarkError(
                f"{place}{name} is {value!r}, not a time zone such as Europe/Berlin{_hint(value)}"
            ) from None

    def _found(self, name: str) -> tuple[str, str | None]:
        for place, values in self.places:
            if value := (values.get(name) or "").strip():
                return place, value
        return "", None


def load_settings(
    environ: Mapping[str, str], *, dotenv: Path = Path(".env"), owner: str | None = None
) -> Settings:
    """The settings; `environ` is left as it is. Raises a `TruemarkError` for a bad value."""
    flags = {"OWNER_NAME": owner}
    sources = _Sources((("", flags), ("", environ), (f"{dotenv}: ", _read_dotenv(dotenv))))
    return Settings(
        owner=sources.text("OWNER_NAME") or DEFAULT_OWNER,
        timezone=sources.timezone("TIMEZONE"),
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


def _read_dotenv(path: Path) -> Mapping[str, str | None]:
    if not path.exists():
        return {}
    from dotenv import dotenv_values

    from truemark.files import read_text

    return dotenv_values(stream=StringIO(read_text(path, _LARGEST_DOTENV)), interpolate=False)


def _hint(name: str) -> str:
    from difflib import get_close_matches
    from zoneinfo import available_timezones

    close = get_close_matches(name, available_timezones(), n=1)
    return f"; did you mean {close[0]}?" if close else ""
