"""What a provider's refusal or a broken connection means: wait, drop the sample, or stop."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

import httpx2

from truemark.services.calls import CallFailed, FatalCallError, RefusedRequestError, TransientError
from truemark.services.secrets import quoted, without_secrets

Fault = TransientError | CallFailed | FatalCallError
_WORTH_RETRYING = frozenset({408, 425, 429})
_REFUSALS = frozenset({400, 402, 403, 404, 405})
_LEAST_KEY_LENGTH = 12


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider of language models, with the names that messages to the user need."""

    name: str
    model: str
    key_name: str
    key: str | None = None

    def fault_of_status(
        self, status: int, message: str, *, retry_after_s: float | None = None
    ) -> Fault:
        """Return the error for a reply with this status."""
        reason = f"{self.name} answered {_status_text(status)}"
        # Some providers quote parts of a wrong key, so nothing of that reply is repeated.
        if status != HTTPStatus.UNAUTHORIZED and (quote := self.quote(message)):
            reason += f": {quote}"
        if status in _WORTH_RETRYING or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return TransientError(reason, retry_after_s=retry_after_s)
        if status == HTTPStatus.UNAUTHORIZED:
            return FatalCallError(f"{reason}; {self._advice(status, message)}")
        if status in _REFUSALS:
            return RefusedRequestError(f"{reason}; {self._advice(status, message)}")
        return CallFailed(reason)

    def fault_of_transport(self, error: httpx2.HTTPError | httpx2.InvalidURL) -> Fault:
        """Return the error for a request that got no complete reply."""
        reason = self.quote(str(error)) or type(error).__name__
        never_sent = httpx2.InvalidURL | httpx2.UnsupportedProtocol | httpx2.LocalProtocolError
        if isinstance(error, never_sent | httpx2.TooManyRedirects):
            return FatalCallError(f"{self.name} cannot be reached: {reason}; check its address")
        if isinstance(error, httpx2.ConnectError):
            advice = "check the network and its address"
            return TransientError(f"{self.name} cannot be reached: {reason}; {advice}")
        return TransientError(f"connection to {self.name} broke: {reason}")

    def quote(self, message: str) -> str:
        """Fit a server's message on one line, without the key; empty for a web page."""
        return quoted(message, self.key)

    def without_key(self, answer: str) -> str:
        """Replace the key in an answer, should a server echo it."""
        return without_secrets(answer, self.key, least=_LEAST_KEY_LENGTH)

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
