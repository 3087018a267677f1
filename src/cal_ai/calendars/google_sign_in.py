"""Permission to change a Google calendar: requested once in the browser, then kept."""

from __future__ import annotations

import contextlib
import json
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cal_ai.calendars.protocol import AccessRefused
from truemark.files import PRIVATE, read_text, write_atomically, write_error

SCOPES = ("https://www.googleapis.com/auth/calendar.events",)
_SIGN_IN_WAIT_S = 300
_LARGEST_FILE = 1_000_000
_GUIDE = "https://developers.google.com/workspace/calendar/api/quickstart/python"


@dataclass(frozen=True, slots=True)
class SignIn:
    """The files of a sign-in: the OAuth client of this program, and the token of the user."""

    client_file: Path
    token_file: Path

    def credentials(self) -> Any:
        """Return the saved credentials, else ask for them in the browser."""
        if not self.token_file.exists():
            return self._ask()
        saved = read_text(self.token_file, _LARGEST_FILE)
        try:
            return _credentials(json.loads(saved))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise AccessRefused(
                f"{self.token_file}: is not a saved sign-in; remove it and sign in again"
            ) from error

    def keep(self, credentials: Any) -> None:
        """Save the token, readable by its owner alone from the start."""
        try:
            if self.token_file.exists():
                self.token_file.chmod(PRIVATE)  # the new content keeps the mode of the old
        except OSError as error:
            raise write_error(self.token_file, error) from error
        write_atomically(self.token_file, credentials.to_json())

    def _ask(self) -> Any:
        from google_auth_oauthlib.flow import (  # type: ignore[import-untyped]  # ships no types
            InstalledAppFlow,
            WSGITimeoutError,
        )
        from oauthlib.oauth2 import OAuth2Error  # type: ignore[import-untyped]  # ships no types

        if not self.client_file.exists():
            raise AccessRefused(
                f"{self.client_file}: no such file; make an OAuth client of type Desktop app"
                f" ({_GUIDE}), save its JSON there or name it in GOOGLE_CREDENTIALS"
            )
        try:
            client = json.loads(read_text(self.client_file, _LARGEST_FILE))
            flow = InstalledAppFlow.from_client_config(client, SCOPES)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise AccessRefused(
                f"{self.client_file}: is not the JSON of an OAuth client of type Desktop app"
            ) from error
        try:
            # The address to visit is not a result, so it goes to stderr.
            with contextlib.redirect_stdout(sys.stderr):
                credentials = flow.run_local_server(port=0, timeout_seconds=_SIGN_IN_WAIT_S)
        except WSGITimeoutError as error:
            raise AccessRefused(
                f"google: nobody signed in within {_SIGN_IN_WAIT_S} s; run it again"
            ) from error
        except OAuth2Error as error:
            raise AccessRefused(f"google: the sign-in failed: {error.description}") from error
        self.keep(credentials)
        return credentials


def _credentials(saved: dict[str, Any]) -> Any:
    """Read what `keep` saved; the library's own reader drops the address of the token server."""
    from google.oauth2.credentials import Credentials

    expiry = saved.get("expiry")
    fields = ("token", "refresh_token", "token_uri", "client_id", "client_secret")
    for name in fields:
        if not isinstance(saved[name], str) or not saved[name].isascii():
            raise TypeError(f"{name} must be text")
    if urlsplit(saved["token_uri"]).scheme not in ("http", "https"):
        raise ValueError("token_uri must be an address")
    return Credentials(  # type: ignore[no-untyped-call]  # not annotated in the library
        token=saved["token"],
        refresh_token=saved["refresh_token"],
        token_uri=saved["token_uri"],
        client_id=saved["client_id"],
        client_secret=saved["client_secret"],
        scopes=SCOPES,
        # The library compares it with a UTC time without a zone.
        expiry=datetime.fromisoformat(expiry).replace(tzinfo=None) if expiry else None,
    )
