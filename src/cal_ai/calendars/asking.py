"""Asking a calendar server: whole answers, in time, with patience that ends."""

from __future__ import annotations

import asyncio
import http.client
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

from truemark.command import note
from truemark.services.answers import UnfitAnswerError, Unpacker, within
from truemark.services.calls import Caller, CallPolicy, Tally, TransientError, parse_retry_after

T = TypeVar("T")

TIMEOUT_S = 30.0
_PIECE = 65_536
_MOST_REDIRECTIONS = 5
_REDIRECTIONS = frozenset({301, 302, 307, 308})
_BUSY = frozenset({429, 503})
_WORTH_TELLING_S = 3.0


def calendar_policy(timeout_s: float | None = None) -> CallPolicy:
    """How long and how often a calendar server is asked."""
    return CallPolicy(
        timeout_s=timeout_s or TIMEOUT_S, attempts=3, backoff_s=0.5, longest_wait_s=60.0
    )


def ask_patiently(policy: CallPolicy, ask: Callable[[], T]) -> T:
    """What `ask` returns, asked again after a `TransientError` while the policy allows it.

    Raises `ExtractionFailed` when it no longer does. Waits that a person would notice are told.
    """

    async def wait(seconds: float) -> None:
        if seconds >= _WORTH_TELLING_S:
            note(f"the calendar server is busy; asking it again in {seconds:.0f} s")
        await asyncio.sleep(seconds)

    async def once() -> T:
        return ask()

    return asyncio.run(Caller(policy, sleep=wait).call(once, Tally()))


class BoundedResponse(http.client.HTTPResponse):
    """An answer of the standard library's client whose content is unpacked within bounds."""

    def read(self, amt: int | None = None) -> bytes:
        if amt is not None:
            return super().read(amt)
        pieces = []
        try:
            unpacker = Unpacker(self.headers.get("Content-Encoding"))
            while piece := super().read(_PIECE):
                pieces.append(unpacker.unpack(piece))
        except BaseException:
            self.close()
            raise
        del self.headers["Content-Encoding"]  # or the client would unpack it once more
        return b"".join(pieces)


def bounded_google_http(timeout_s: float) -> Any:
    """The HTTP client that Google's library wants, reading within bounds."""
    import httplib2  # type: ignore[import-untyped]  # ships no types

    class Plain(httplib2.HTTPConnectionWithTimeout):  # type: ignore[misc]  # as above
        response_class = BoundedResponse

    class Encrypted(httplib2.HTTPSConnectionWithTimeout):  # type: ignore[misc]  # as above
        response_class = BoundedResponse

    class Http(httplib2.Http):  # type: ignore[misc]  # as above
        def request(self, uri: str, *arguments: Any, **named: Any) -> Any:
            named["connection_type"] = Encrypted if uri.startswith("https:") else Plain
            return super().request(uri, *arguments, **named)

    return Http(timeout=timeout_s)


class BoundedSession:
    """In the place of the session of the CalDAV client: bounded answers, and patience that ends.

    Redirections are followed on the same server only, for the password goes along.
    """

    def __init__(self, session: Any, policy: CallPolicy) -> None:
        self._session = session
        self._policy = policy

    def request(self, method: str, url: str, **options: Any) -> Any:
        """The answer, read to its end; raises as `ask_patiently` does."""
        options["timeout"] = 2 * self._policy.timeout_s  # between bytes; `within` counts it all
        for _ in range(_MOST_REDIRECTIONS):
            ask = partial(self._once, method, url, options)
            timed = partial(within, self._policy.timeout_s, ask)
            response = ask_patiently(self._policy, timed)
            if response.status_code not in _REDIRECTIONS:
                return response
            target = urljoin(url, response.headers.get("Location") or "")
            if urlsplit(target)[:2] != urlsplit(url)[:2]:
                raise UnfitAnswerError("the server sends on to another server; name that one")
            url = target
        raise UnfitAnswerError("the server sends on without end")

    def close(self) -> None:
        """Ends the connections."""
        self._session.close()

    def _once(self, method: str, url: str, options: dict[str, Any]) -> Any:
        from urllib3.exceptions import HTTPError

        response = self._session.request(method, url, stream=True, allow_redirects=False, **options)
        try:
            unpacker = Unpacker(response.headers.get("Content-Encoding"))
            pieces = []
            while piece := response.raw.read(_PIECE, decode_content=False):
                pieces.append(unpacker.unpack(piece))
        except HTTPError as error:  # of the library below the session, which would hide it
            raise ConnectionError("the answer breaks off") from error
        finally:
            response.close()
        response._content = b"".join(pieces)
        response._content_consumed = True
        if response.status_code in _BUSY:
            wait_s = parse_retry_after(response.headers.get("Retry-After"))
            raise TransientError(
                f"the server answered {response.status_code}", retry_after_s=wait_s
            )
        return response
