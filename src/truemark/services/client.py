"""The base of the clients of language models.

It decides what follows from a refusal or a broken connection: wait, drop the sample, or stop.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from http import HTTPStatus
from http.client import responses
from typing import TYPE_CHECKING

from truemark.services.calls import (
    CallFailed,
    FatalCallError,
    LLMCallResult,
    Prompt,
    RefusedRequestError,
    Tally,
    TransientError,
    plain_prompt,
)
from truemark.services.retry import Caller
from truemark.services.secrets import quoted, without_secrets

if TYPE_CHECKING:
    import httpx2

Fault = TransientError | CallFailed | FatalCallError
_WORTH_RETRYING = frozenset({408, 425, 429})
_REFUSALS = frozenset({400, 402, 403, 404, 405})


class LanguageModelClient(ABC):
    """Asks one language model; subclasses make the single call to their provider.

    `provider` and `key_name` are the names that messages to the user need.
    """

    provider: str
    key_name: str

    def __init__(self, model: str, key: str | None, caller: Caller | None) -> None:
        self.model = model
        self._key = key
        self._caller = caller or Caller()

    @abstractmethod
    async def call_api(self, prompt: Prompt) -> LLMCallResult:
        """Make one call and return its answer, or raise one of the errors of `calls`."""

    @abstractmethod
    async def close(self) -> None: ...

    async def complete(self, prompt: str) -> LLMCallResult:
        """Return the model's answer to free text."""
        tally = Tally()
        result = await self.ask(plain_prompt(prompt), tally)
        return replace(result, usage=tally.usage)

    async def ask(self, prompt: Prompt, tally: Tally) -> LLMCallResult:
        """Return the model's answer to a prompt, retried as the caller's policy allows."""
        try:
            result = await self._caller.call(lambda: self.call_api(prompt), tally)
        except CallFailed as failure:
            tally.usages.append(failure.usage)
            raise
        tally.usages.append(result.usage)
        # Half a surrogate pair, which JSON can spell, could be neither stored nor sent back.
        return replace(result, text=result.text.encode("utf-8", "replace").decode())

    def fault_of_status(
        self, status: int, message: str, *, retry_after_s: float | None = None
    ) -> Fault:
        """Return the error for a reply with this status."""
        reason = f"{self.provider} answered {status} {responses.get(status, '')}".rstrip()
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
        import httpx2

        reason = self.quote(str(error)) or type(error).__name__
        never_sent = httpx2.InvalidURL | httpx2.UnsupportedProtocol | httpx2.LocalProtocolError
        if isinstance(error, never_sent | httpx2.TooManyRedirects):
            return FatalCallError(f"{self.provider} cannot be reached: {reason}; check its address")
        if isinstance(error, httpx2.ConnectError):
            advice = "check the network and its address"
            return TransientError(f"{self.provider} cannot be reached: {reason}; {advice}")
        return TransientError(f"connection to {self.provider} broke: {reason}")

    def quote(self, message: str) -> str:
        """Fit a server's message on one line, without the key; empty for a web page."""
        return quoted(message, self._key)

    def without_key(self, answer: str) -> str:
        """Replace the key in an answer, should a server echo it."""
        return without_secrets(answer, self._key)

    def _advice(self, status: int, message: str) -> str:
        # Gemini answers 400, not 401, to a key that it does not know.
        about_key = status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
        if about_key or "api key" in message.casefold():
            return f"check {self.key_name}"
        if status == HTTPStatus.PAYMENT_REQUIRED:
            return "check the account's balance"
        return f"check the model {self.model!r} and the provider's address"
