"""Sign in to Google Calendar: once in the browser, then with the saved token."""

from __future__ import annotations

import contextlib
import json
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from google.oauth2.credentials import Credentials
from google_auth_oauthlib.flow import (  # type: ignore[import-untyped]  # ships no types
    InstalledAppFlow,
    WSGITimeoutError,
)
from oauthlib.oauth2 import OAuth2Error  # type: ignore[import-untyped]  # ships no types
from requests.exceptions import RequestException

from cal_ai.calendars.protocol import CalendarError
from truemark.errors import TruemarkError
from truemark.files import PRIVATE, read_text, write_atomically, write_error
from truemark.jsontext import read_json

SCOPES = ("https://www.googleapis.com/auth/calendar.events",)
_SIGN_IN_WAIT_S = 300
_LARGEST_FILE = 1_000_000
_GUIDE = "https://developers.google.com/workspace/calendar/api/quickstart/python"


@dataclass(frozen=True, slots=True)
class _SavedSignIn:
    """The content of the token file."""

    token: str
    refresh_token: str
    token_uri: str
    client_id: str
    client_secret: str
    expiry: str | None = None

    def __post_init__(self) -> None:
        texts = (self.token, self.refresh_token, self.token_uri, self.client_id, self.client_secret)
        if not all(text.isascii() for text in texts):
            raise ValueError("tokens and ids must be ASCII")
        if urlsplit(self.token_uri).scheme not in ("http", "https"):
            raise ValueError("token_uri must be an address")


@dataclass(frozen=True, slots=True)
class SignIn:
    """The files of a sign-in: the OAuth client of this program, and the token of the user."""

    client_file: Path
    token_file: Path

    def credentials(self) -> Any:
        """Return the saved credentials, or ask for them in the browser if there are none."""
        if not self.token_file.exists():
            return self._ask()
        content = read_text(self.token_file, _LARGEST_FILE)
        try:
            return _credentials(read_json(_SavedSignIn, content, str(self.token_file)))
        except (TruemarkError, ValueError) as error:
            raise CalendarError(
                f"{self.token_file}: is not a saved sign-in; remove it and sign in again"
            ) from error

    def keep(self, credentials: Any) -> None:
        """Save the token in a file that only its owner can read."""
        try:
            if self.token_file.exists():
                self.token_file.chmod(PRIVATE)  # the new content keeps the mode of the old
        except OSError as error:
            raise write_error(self.token_file, error) from error
        write_atomically(self.token_file, credentials.to_json())

    def _ask(self) -> Any:
        if not self.client_file.exists():
            raise CalendarError(
                f"{self.client_file}: no such file; make an OAuth client of type Desktop app"
                f" ({_GUIDE}), save its JSON there or name it in GOOGLE_CREDENTIALS"
            )
        try:
            client = json.loads(read_text(self.client_file, _LARGEST_FILE))
            flow = InstalledAppFlow.from_client_config(client, SCOPES)
            flow.oauth2session.max_redirects = 0  # which could pass on the code and the secret
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise CalendarError(
                f"{self.client_file}: is not the JSON of an OAuth client of type Desktop app"
            ) from error
        try:
            # The address to visit is not a result, so it goes to stderr.
            with contextlib.redirect_stdout(sys.stderr):
                credentials = flow.run_local_server(port=0, timeout_seconds=_SIGN_IN_WAIT_S)
        except WSGITimeoutError as error:
            raise CalendarError(
                f"google: nobody signed in within {_SIGN_IN_WAIT_S} s; run it again"
            ) from error
        except RequestException as error:
            reason = type(error).__name__
            raise CalendarError(f"google: the sign-in failed: no answer ({reason})") from error
        except OAuth2Error as error:
            raise CalendarError(f"google: the sign-in failed: {error.description}") from error
        self.keep(credentials)
        return credentials


def _credentials(saved: _SavedSignIn) -> Any:
    """Make credentials; the library's from_authorized_user_info drops the token server."""
    return Credentials(  # type: ignore[no-untyped-call]  # not annotated in the library
        token=saved.token,
        refresh_token=saved.refresh_token,
        token_uri=saved.token_uri,
        client_id=saved.client_id,
        client_secret=saved.client_secret,
        scopes=SCOPES,
        # The library compares it with a UTC time without a zone.
        expiry=datetime.fromisoformat(saved.expiry).replace(tzinfo=None) if saved.expiry else None,
    )
