"""The HTTP client of CalDAV: requests, whose answers are read within bounds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urljoin

from urllib3.exceptions import HTTPError

from truemark.services.addresses import same_origin, shown_address
from truemark.services.bounded_http import REDIRECTIONS, UnfitAnswerError, Unpacker, run_within
from truemark.services.calls import TransientError
from truemark.services.retry import CallPolicy, call_patiently, parse_retry_after

_MOST_REDIRECTIONS = 5
_BUSY = frozenset({429, 503})


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
        """Return the whole answer; raise `UnfitAnswerError`, or `CallFailed` if there is none."""
        options["timeout"] = 2 * self._policy.timeout_s  # between bytes; `run_within` limits all
        for _ in range(_MOST_REDIRECTIONS):
            if not same_origin(url, self._home):
                raise UnfitAnswerError(
                    f"the server redirects to another server, {shown_address(url)}; name that one"
                )
            ask = partial(self._within_timeout, method, url, options)
            response = call_patiently(ask, self._policy, self._sleep)
            location = response.headers.get("Location")
            if response.status_code not in REDIRECTIONS or not location:
                return response
            url = urljoin(url, location)
        raise UnfitAnswerError("the server redirects endlessly")

    def close(self) -> None:
        self._session.close()

    def _within_timeout(self, method: str, url: str, options: dict[str, Any]) -> Any:
        try:
            send = partial(self._send, method, url, options)
            return run_within(self._policy.timeout_s, send)
        except TimeoutError as error:
            raise TransientError(f"no answer within {self._policy.timeout_s:g} s") from error

    def _send(self, method: str, url: str, options: dict[str, Any]) -> Any:
        response = self._session.request(method, url, stream=True, allow_redirects=False, **options)
        try:
            unpacker = Unpacker(response.headers.get("Content-Encoding"))
            content = unpacker.unpack_all(partial(response.raw.read, decode_content=False))
        except HTTPError as error:  # from urllib3, which the session does not translate
            raise ConnectionError("the answer is cut off") from error
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
