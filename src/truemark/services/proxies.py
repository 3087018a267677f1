"""Proxies that the environment names (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY)."""

from __future__ import annotations

from importlib.util import find_spec
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from truemark.errors import TruemarkError

_KINDS = ("http", "https", "all")
_SOCKS = ("socks4", "socks4a", "socks5", "socks5h")


def is_proxied(url: str | None) -> bool:
    """Whether calls to the address go through a proxy."""
    if not any(getproxies().get(kind) for kind in _KINDS):
        return False
    return url is None or not proxy_bypass(urlsplit(url).hostname or "")


def require_usable_proxies(url: str | None, socks_library: tuple[str, str]) -> None:
    """Raise a `TruemarkError` for a proxy on the way to the address that cannot be used.

    `socks_library` is the module that the client needs for SOCKS, and the package it comes in.
    The proxy's address is not repeated, for it may hold a password.
    """
    for kind, proxy in getproxies().items() if is_proxied(url) else ():
        if kind not in _KINDS or not proxy:
            continue
        name = f"{kind.upper()}_PROXY"
        try:
            parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
            usable = bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable or parts.scheme not in ("http", "https", *_SOCKS):
            raise TruemarkError(f"{name} is not the address of a proxy such as http://proxy:3128")
        module, package = socks_library
        if parts.scheme in _SOCKS and find_spec(module) is None:
            raise TruemarkError(
                f"{name} names a SOCKS proxy, for which {package} is not installed:"
                f" pip install {package}, or name the server in NO_PROXY"
            )
