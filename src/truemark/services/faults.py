"""What a refusal or a broken connection means for the run: wait, drop the sample, or stop."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from truemark.services.answers import quoted
from truemark.services.protocol import (
    CallFailed,
    FatalCallError,
    RefusedRequestError,
)
from truemark.services.retry import TransientError

if TYPE_CHECKING:
    import httpx2

Fault = TransientError | CallFailed | FatalCallError

_PATIENCE_HELPS = frozenset({408, 425, 429})
_REFUSALS = frozenset({400, 402, 403, 404, 405})
_LEAST_KEY_LENGTH = 12


@dataclass(frozen=True, slots=True)
class Provider:
    """Whom the calls go to, and the names to use when telling the user about it."""

    name: str
    model: str
    key_name: str
    key: str | None = None

    def fault_of_status(
        self, status: int, message: str, *, retry_after_s: float | None = None
    ) -> Fault:
        """The error that a reply with this status amounts to."""
        reason = f"{self.name} answered {_status_text(status)}"
        # Some providers quote parts of a wrong key, so nothing of that reply is repeated.
        if status != HTTPStatus.UNAUTHORIZED and (said := self.quote(message)):
            reason += f": {said}"
        if status in _PATIENCE_HELPS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return TransientError(reason, retry_after_s=retry_after_s)
        if status == HTTPStatus.UNAUTHORIZED:
            return FatalCallError(f"{reason}; {self._advice(status, message)}")
        if status in _REFUSALS:
            return RefusedRequestError(f"{reason}; {self._advice(status, message)}")
        return CallFailed(reason)

    def fault_of_transport(self, error: httpx2.HTTPError | httpx2.InvalidURL) -> Fault:
        """The error that a request without a whole reply amounts to."""
        import httpx2

        said = self.quote(str(error)) or type(error).__name__
        never_sent = httpx2.InvalidURL | httpx2.UnsupportedProtocol | httpx2.LocalProtocolError
        if isinstance(error, never_sent | httpx2.TooManyRedirects):
            return FatalCallError(f"{self.name} cannot be reached: {said}; check its address")
        return TransientError(f"connection to {self.name} broke: {said}")

    def quote(self, message: str) -> str:
        """A foreign message fit for one line, without the key; a web page says nothing."""
        return quoted(message, self.key)

    def without_key(self, answer: str) -> str:
        """An answer in which the key, should a server echo it, is blotted out."""
        # What is shorter stands for "no key" on a local server, and may be any word of the answer.
        if self.key is None or len(self.key) < _LEAST_KEY_LENGTH:
            return answer
        return answer.replace(self.key, "[key]")

    def _advice(self, status: int, message: str) -> str:
        # Gemini answers 400, not 401, to a key that it does not know.
        about_key = status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
        if about_key or "api key" in message.casefold():
            return f"check {self.key_name}"
        if status == HTTPStatus.PAYMENT_REQUIRED:
            return "check the account's balance"
        return f"check the model {self.model!r} and the provider's address"


def _status_text(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
