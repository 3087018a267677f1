"""The HTTP client of Google Calendar: httplib2, whose answers are read within bounds."""

from __future__ import annotations

import http.client
from typing import Any

import httplib2  # type: ignore[import-untyped]  # ships no types

from truemark.services.bounded_http import Unpacker, refuse_redirection


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
        del self.headers["Content-Encoding"]  # otherwise the client would unpack it again
        return content


class _Plain(httplib2.HTTPConnectionWithTimeout):  # type: ignore[misc]  # as above
    response_class = BoundedResponse


class _Encrypted(httplib2.HTTPSConnectionWithTimeout):  # type: ignore[misc]  # as above
    response_class = BoundedResponse


class _Http(httplib2.Http):  # type: ignore[misc]  # as above
    def request(self, uri: str, *arguments: Any, **named: Any) -> Any:
        named["connection_type"] = _Encrypted if uri.startswith("https:") else _Plain
        response, content = super().request(uri, *arguments, **named)
        refuse_redirection(response.status, response.get("location"))
        return response, content


def bounded_httplib2(timeout_s: float) -> Any:
    """Make the HTTP client that Google's library needs: bounded answers, no redirections."""
    client = _Http(timeout=timeout_s)
    client.follow_redirects = False
    return client
