"""The four kinds of server that `cal_ai` talks to, each told to talk to one on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

SECRETS = {
    "gemini": "canary-gemini-7f3a9c1e5b2d",
    "openai": "canary-openai-2b8d6f4a0c9e",
    "caldav": "canary-caldav-9e1c5a7f3b0d",
    "google": "canary-google-access-4d2f8b6e",
    "refresh": "canary-google-refresh-1a9c7e5b",
    "client": "canary-google-client-6f0b3d8a",
}
TRANSCRIPT = "[Alice]: Lunch tomorrow at noon?\n[Bob]: Yes, at Luigi's.\n[Alice]: Great.\n"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of server: the settings that lead to it, and the arguments of a command that asks."""

    name: str
    settings: Callable[[str, Path], Mapping[str, str]]
    arguments: Callable[[str], tuple[str, ...]]


def _gemini(url: str, folder: Path) -> Mapping[str, str]:
    return {"GEMINI_API_KEY": SECRETS["gemini"], "GOOGLE_GEMINI_BASE_URL": url}


def _openai(url: str, folder: Path) -> Mapping[str, str]:
    return {"OPENAI_API_KEY": SECRETS["openai"], "OPENAI_BASE_URL": url, "OPENAI_MODEL": "m"}


def _caldav(url: str, folder: Path) -> Mapping[str, str]:
    return {"CALDAV_USERNAME": "alice", "CALDAV_PASSWORD": SECRETS["caldav"]}


def google_token(url: str) -> bytes:
    """A stored token that is renewed at the server."""
    token = {
        "token": SECRETS["google"],
        "refresh_token": SECRETS["refresh"],
        "token_uri": f"{url}/token",
        "client_id": "someone",
        "client_secret": SECRETS["client"],
        "expiry": "2999-01-01T00:00:00",
    }
    return json.dumps(token).encode()


def _google(url: str, folder: Path) -> Mapping[str, str]:
    config = folder / "config"
    (config / "truemark").mkdir(parents=True, exist_ok=True)
    (config / "truemark" / "google-token.json").write_bytes(google_token(url))
    return {"GOOGLE_CALENDAR_ENDPOINT": url, "XDG_CONFIG_HOME": str(config)}


KINDS = (
    Kind("gemini", _gemini, lambda url: ("--extractor", "gemini")),
    Kind("openai", _openai, lambda url: ("--extractor", "openai")),
    Kind("caldav", _caldav, lambda url: ("--calendar", f"caldav:{url}/alice/work/")),
    Kind("google", _google, lambda url: ("--calendar", "google")),
)
