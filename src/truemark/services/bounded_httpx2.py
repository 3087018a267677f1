"""The HTTP client of language models: httpx2, whose answers are read within bounds."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any

import httpx2

from truemark.services.bounded_http import Unpacker, refuse_redirection
from truemark.services.proxies import is_proxied, require_usable_proxies


def certificates_for(url: str | None) -> ssl.SSLContext:
    """Return the certificates to trust in calls to an address; none if the call is not encrypted.

    Loading the usual ones takes longer than loading the HTTP client.
    """
    # A proxy may need certificates even if the address does not.
    if url is not None and url.startswith("http://") and not is_proxied(url):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return httpx2.create_ssl_context()


class _Client(httpx2.AsyncClient):
    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        # The secrets in the request are for the server that the user named.
        options["follow_redirects"] = False
        response = await super().send(request, stream=True, **options)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        try:
            refuse_redirection(response.status_code, response.headers.get("location"))
            unpacker = Unpacker(response.headers.get("content-encoding"))
            content = b"".join([unpacker.unpack(piece) async for piece in response.stream])
        finally:
            await response.aclose()
        kept = [
            (name, value)
            for name, value in response.headers.multi_items()
            if name.lower() not in ("content-encoding", "content-length", "transfer-encoding")
        ]
        return httpx2.Response(response.status_code, headers=kept, content=content, request=request)


def bounded_client(
    url: str | None, certificates: ssl.SSLContext, headers: Mapping[str, str] | None = None
) -> httpx2.AsyncClient:
    """Make an httpx2 client that raises `UnfitAnswerError` for an answer beyond the bounds.

    It follows no redirection, and reads every answer whole. Timeouts and the number of connections
    are left to the caller.
    """
    require_usable_proxies(url, ("socksio", "socksio"))

    return _Client(
        headers={"Accept-Encoding": "gzip, deflate", **(headers or {})},
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
        timeout=None,
        trust_env=is_proxied(url),
        verify=certificates,
    )
