"""HTTP answers read within bounds of size and time, whichever client library asks for them.

A few kilobytes can unpack to gigabytes, and a byte every few seconds keeps a connection busy for
hours; so answers are unpacked here, piece by piece, and counted. Each library has its own hook
for that: httpx2 (language models), requests (CalDAV), httplib2 (Google Calendar).
"""

from __future__ import annotations

import http.client
import ssl
import threading
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urljoin

from truemark.services.addresses import same_origin, shown_address
from truemark.services.calls import TransientError
from truemark.services.proxies import is_proxied, require_usable_proxies
from truemark.services.retry import CallPolicy, call_patiently, parse_retry_after

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
LARGEST_ANSWER = 20_000_000
"""Bytes of an answer, unpacked."""
_MOST_PARTS = 1_500_000
"""Lists, objects, items and tags in an answer; each takes many times its own length in memory."""
_PART_SIGNS = (b"[", b"{", b",", b"<")
_ENCODINGS = {"": None, "identity": None, "gzip": 31, "x-gzip": 31, "deflate": 15}
_PIECE = 65_536
_MOST_REDIRECTIONS = 5
_REDIRECTIONS = frozenset({300, 301, 302, 303, 305, 307, 308})
_BUSY = frozenset({429, 503})


class UnfitAnswerError(Exception):
    """An answer that is not read to its end; the text says why."""


def refuse_redirection(status: int, location: str | None) -> None:
    """Raise `UnfitAnswerError` for an answer that sends the client, and its secrets, elsewhere."""
    if status in _REDIRECTIONS:
        target = f" to {shown_address(location)}" if location else ""
        raise UnfitAnswerError(
            f"the server sends on{target} (status {status}), which is not followed;"
            " name the right address"
        )


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
        """Return the content of the next piece."""
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

    def unpack_all(self, read: Callable[[int], bytes]) -> bytes:
        """Return the content of all that `read`, given a size, returns until it is empty."""
        pieces = []
        while piece := read(_PIECE):
            pieces.append(self.unpack(piece))
        return b"".join(pieces)


def run_within(timeout_s: float, work: Callable[[], T]) -> T:
    """Return what `work` returns; raise `TimeoutError` if it takes longer, and let it run on.

    The timeouts of blocking clients count from one byte to the next; this one counts everything.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised again in the thread that waits
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout_s)
    if results:
        return results[0]
    if errors:
        raise errors[0]
    raise TimeoutError(f"no answer within {timeout_s:g} s")


def certificates_for(url: str | None) -> ssl.SSLContext:
    """Return the certificates to trust in calls to an address: none where nothing is encrypted.

    Loading the usual ones takes longer than loading the HTTP client.
    """
    import httpx2

    # A proxy may need them, wherever the call goes in the end.
    if url is not None and url.startswith("http://") and not is_proxied(url):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return httpx2.create_ssl_context()


async def read_whole(response: httpx2.Response) -> bytes:
    """Read the content of a streamed answer; raises `UnfitAnswerError` beyond the bounds."""
    import httpx2

    assert isinstance(response.stream, httpx2.AsyncByteStream)
    try:
        unpacker = Unpacker(response.headers.get("content-encoding"))
        return b"".join([unpacker.unpack(piece) async for piece in response.stream])
    finally:
        await response.aclose()


def bounded_client(
    url: str | None, certificates: ssl.SSLContext, headers: Mapping[str, str] | None = None
) -> httpx2.AsyncClient:
    """Make an httpx2 client that raises `UnfitAnswerError` for an answer beyond the bounds.

    It follows no redirection.
    Streams are not bounded here; the caller limits how much it reads. Timeouts and the number of
    connections are left to the caller too.
    """
    import httpx2

    require_usable_proxies(url, ("socksio", "socksio"))

    class Client(httpx2.AsyncClient):
        async def send(
            self, request: httpx2.Request, *, stream: bool = False, **options: Any
        ) -> httpx2.Response:
            # The secrets in the request are for the server that the user named.
            options["follow_redirects"] = False
            response = await super().send(request, stream=True, **options)
            try:
                refuse_redirection(response.status_code, response.headers.get("location"))
            except UnfitAnswerError:
                await response.aclose()
                raise
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
        trust_env=is_proxied(url),
        verify=certificates,
    )


class BoundedResponse(http.client.HTTPResponse):
    """An answer of the standard library's client whose content is unpacked within bounds."""

    def read(self, amt: int | None = None) -> bytes:
        if amt is not None:
            return super().read(amt)
        try:
            content = Unpacker(self.headers.get("Content-Encoding")).unpack_all(super().read)
        except BaseException:
            self.close()
            raise
        del self.headers["Content-Encoding"]  # or the client would unpack it once more
        return content


def bounded_httplib2(timeout_s: float) -> Any:
    """Make the HTTP client that Google's library needs: bounded answers, no redirections."""
    import httplib2  # type: ignore[import-untyped]  # ships no types

    class Plain(httplib2.HTTPConnectionWithTimeout):  # type: ignore[misc]  # as above
        response_class = BoundedResponse

    class Encrypted(httplib2.HTTPSConnectionWithTimeout):  # type: ignore[misc]  # as above
        response_class = BoundedResponse

    class Http(httplib2.Http):  # type: ignore[misc]  # as above
        def request(self, uri: str, *arguments: Any, **named: Any) -> Any:
            named["connection_type"] = Encrypted if uri.startswith("https:") else Plain
            response, content = super().request(uri, *arguments, **named)
            refuse_redirection(response.status, response.get("location"))
            return response, content

    client = Http(timeout=timeout_s)
    client.follow_redirects = False
    return client


class BoundedSession:
    """Replaces the requests session of a CalDAV client: bounded answers, retried by a policy.

    Every request carries the password, so it goes to the server of `home` and no other, whatever
    addresses and redirections that server gives.
    """

    def __init__(
        self, session: Any, home: str, policy: CallPolicy, sleep: Callable[[float], None]
    ) -> None:
        self._session = session
        self._home = home
        self._policy = policy
        self._sleep = sleep

    def request(self, method: str, url: str, **options: Any) -> Any:
        """Return the whole answer; raises `UnfitAnswerError`, or `CallFailed` without one."""
        options["timeout"] = 2 * self._policy.timeout_s  # between bytes; `run_within` counts it all
        for _ in range(_MOST_REDIRECTIONS):
            if not same_origin(url, self._home):
                raise UnfitAnswerError(
                    f"the server sends on to another server, {shown_address(url)}; name that one"
                )
            ask = partial(self._within_timeout, method, url, options)
            response = call_patiently(ask, self._policy, self._sleep)
            location = response.headers.get("Location")
            if response.status_code not in _REDIRECTIONS or not location:
                return response
            url = urljoin(url, location)
        raise UnfitAnswerError("the server sends on without end")

    def close(self) -> None:
        self._session.close()

    def _within_timeout(self, method: str, url: str, options: dict[str, Any]) -> Any:
        try:
            send = partial(self._send, method, url, options)
            return run_within(self._policy.timeout_s, send)
        except TimeoutError as error:
            raise TransientError(f"no answer within {self._policy.timeout_s:g} s") from error

    def _send(self, method: str, url: str, options: dict[str, Any]) -> Any:
        from urllib3.exceptions import HTTPError

        response = self._session.request(method, url, stream=True, allow_redirects=False, **options)
        try:
            unpacker = Unpacker(response.headers.get("Content-Encoding"))
            content = unpacker.unpack_all(partial(response.raw.read, decode_content=False))
        except HTTPError as error:  # of the library below the session, which would hide it
            raise ConnectionError("the answer breaks off") from error
        finally:
            response.close()
        response._content = content
        response._content_consumed = True
        if response.status_code in _BUSY:
            wait_s = parse_retry_after(response.headers.get("Retry-After"))
            raise TransientError(
                f"the server answered {response.status_code}", retry_after_s=wait_s
            )
        return response
