"""Signatures: what a score depends on, as one line or a few hex digits.

Scores with equal signatures are comparable.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

_SHORT = 12
_ESCAPES = str.maketrans({"%": "%25", "|": "%7C", "\n": "%0A", "\r": "%0D"})


def signature_line(parts: Mapping[str, object]) -> str:
    """Write named parts such as version, data, model, tolerance as `name:value|name:value`."""
    for name in parts:
        if not name or set(name) & set("|:%\r\n"):
            raise ValueError(f"signature part name must be a plain word, got {name!r}")
    return "|".join(f"{name}:{str(value).translate(_ESCAPES)}" for name, value in parts.items())


def data_hash(*parts: bytes | str, digits: int = _SHORT) -> str:
    """Hash the parts, their order and their lengths to hex digits."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(b"%d:" % len(content))
        digest.update(content)
    return digest.hexdigest()[:digits]
