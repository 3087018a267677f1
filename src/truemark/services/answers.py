"""Answers from servers, read whole: within a size, within a time, whatever is sent.

A few kilobytes can unpack to gigabytes, and a byte every few seconds keeps a connection busy for
hours; so answers are unpacked here, piece by piece, and counted. What a refusal or a broken
connection means for the run is told here as well: wait, drop the sample, or stop.
"""

from __future__ import annotations

import ssl
import threading
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.request import getproxies

from truemark.services.calls import (
    CallFailed,
    FatalCallError,
    RefusedRequestError,
    TransientError,
)
from truemark.text import one_line

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
LARGEST_ANSWER = 20_000_000
"""Bytes of an answer, unpacked."""
_MOST_PARTS = 1_500_000
"""Lists, objects, items and tags in an answer; each takes many times its own length in memory."""
_LONGEST_QUOTE = 300
_PART_SIGNS = (b"[", b"{", b",", b"<")
_ENCODINGS = {"": None, "identity": None, "gzip": 31, "x-gzip": 31, "deflate": 15}
Fault = TransientError | CallFailed | FatalCallError
_PATIENCE_HELPS = frozenset({408, 425, 429})
_REFUSALS = frozenset({400, 402, 403, 404, 405})
_LEAST_KEY_LENGTH = 12


class UnfitAnswerError(Exception):
    """An answer that is not read to its end; the text says what is the matter with it."""


class Unpacker:
    """Unpacks an answer piece by piece; raises `UnfitAnswerError` for one that is too large."""

    def __init__(self, encoding: str | None) -> None:
        name = (encoding or "").strip().lower()
        if name not in _ENCODINGS:
            raise UnfitAnswerError(f"the answer is packed as {name[:40]!r}, expected gzip")
        window = _ENCODINGS[name]
        self._decompressor = None if window is None else zlib.decompressobj(window)
        self._size = 0
        self._parts = 0

    def unpack(self, piece: bytes) -> bytes:
        """The content of the next piece."""
        if self._decompressor is not None:
            try:
                piece = self._decompressor.decompress(piece, LARGEST_ANSWER + 1 - self._size)
            except zlib.error as error:
                raise UnfitAnswerError("the answer cannot be unpacked") from error
        self._size += len(piece)
        if self._size > LARGEST_ANSWER:
            raise UnfitAnswerError(f"the answer is larger than {LARGEST_ANSWER // 1_000_000} MB")
        self._parts += sum(piece.count(sign) for sign in _PART_SIGNS)
        if self._parts > _MOST_PARTS:
            raise UnfitAnswerError(f"the answer has more than {_MOST_PARTS} parts")
        return piece


def trust_for(url: str | None) -> ssl.SSLContext:
    """Whom to trust in calls to an address: nobody where nobody has to prove who they are.

    To load the certificates that are trusted otherwise takes longer than to load the HTTP client.
    """
    import httpx2

    # A proxy may have to prove it, wherever the call goes in the end.
    if url is not None and url.startswith("http://") and not getproxies():
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return httpx2.create_ssl_context()


async def read_whole(response: httpx2.Response) -> bytes:
    """The content of an answer; raises `UnfitAnswerError` where it is beyond the bounds."""
    import httpx2

    assert isinstance(response.stream, httpx2.AsyncByteStream)
    try:
        unpacker = Unpacker(response.headers.get("content-encoding"))
        return b"".join([unpacker.unpack(piece) async for piece in response.stream])
    finally:
        await response.aclose()


def bounded_client(
    trust: ssl.SSLContext, headers: Mapping[str, str] | None = None
) -> httpx2.AsyncClient:
    """An HTTP client that reads no answer beyond the bounds; it raises `UnfitAnswerError`.

    Who asks for a stream has to read it within the bounds himself. It has no timeout and no ceiling
    on connections of its own: the caller has both.
    """
    import httpx2

    class Client(httpx2.AsyncClient):
        async def send(
            self, request: httpx2.Request, *, stream: bool = False, **options: Any
        ) -> httpx2.Response:
            response = await super().send(request, stream=True, **options)
            if stream:
                return response
            content = await read_whole(response)
            kept = [
                (name, value)
                for name, value in response.headers.multi_items()
                if name.lower() not in ("content-encoding", "content-length", "transfer-encoding")
            ]
            return httpx2.Response(
                response.status_code, headers=kept, content=content, request=request
            )

    return Client(
        headers={"Accept-Encoding": "gzip, deflate", **(headers or {})},
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
        timeout=None,
        verify=trust,
    )


def quoted(message: str, *secrets: str | None) -> str:
    """What a server said, fit for one line and without the secrets; a web page says nothing."""
    for secret in filter(None, secrets):
        message = message.replace(secret, "[key]")
    line = one_line(message[: 10 * _LONGEST_QUOTE]).rstrip(".")
    if line.startswith("<"):
        return ""
    return line if len(line) <= _LONGEST_QUOTE else f"{line[:_LONGEST_QUOTE]}..."


def within(timeout_s: float, work: Callable[[], T]) -> T:
    """What `work` returns; `TimeoutError` when it has not ended in time, and nobody waits for it.

    The timeouts of blocking clients count from one byte to the next; this one counts it all.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # told to whoever waits, as it is
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout_s)
    if results:
        return results[0]
    if errors:
        raise errors[0]
    raise TimeoutError(f"no answer within {timeout_s:g} s")


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
