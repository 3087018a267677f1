"""Addresses of servers: check them, compare their origins, show them without secrets."""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}


def is_address(text: str) -> bool:
    """Whether the text is the address of a web server."""
    try:
        parts = urlsplit(text)
        known = parts.scheme in _DEFAULT_PORTS and bool(parts.hostname)
        return known and parts.port != 0 and not re.search(r"[\s\x00-\x1f\x7f]", text)
    except ValueError:  # half a bracket, a port that is no number
        return False


def same_origin(address: str, other: str) -> bool:
    """Whether both addresses have the same scheme, host and port; credentials may go no further."""
    try:
        return _origin(address) == _origin(other)
    except ValueError:
        return False


def _origin(address: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(address)
    return parts.scheme, parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme)


def shown_address(address: str) -> str:
    """Return the address without user, password, query and fragment, any of which may be secret."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "(not an address)"
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
