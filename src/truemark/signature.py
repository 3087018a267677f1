"""What a number depends on; numbers with equal signatures are comparable."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

from truemark.files import open_regular, read_error

_SHORT = 12
_ESCAPES = str.maketrans({"%": "%25", "|": "%7C", "\n": "%0A", "\r": "%0D"})


@dataclass(frozen=True, slots=True)
class Signature:
    """Named parts such as version, data, model, tolerance; prints as `name:value|name:value`."""

    parts: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        names = [name for name, _ in self.parts]
        for name in names:
            if not name or set(name) & set("|:%\r\n"):
                raise ValueError(f"signature part name must be a plain word, got {name!r}")
        if len(set(names)) < len(names):
            raise ValueError(f"signature part names must differ, got {', '.join(names)}")

    def __str__(self) -> str:
        return "|".join(f"{name}:{value.translate(_ESCAPES)}" for name, value in self.parts)

    @property
    def short(self) -> str:
        """Twelve hex digits that stand for the whole signature."""
        return data_hash(str(self))


def data_hash(*parts: bytes | str, digits: int = _SHORT) -> str:
    """Hash the parts, their order and where one ends and the next begins, to hex digits."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(b"%d:" % len(content))
        digest.update(content)
    return digest.hexdigest()[:digits]


def checksum(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of the file in hex."""
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise read_error(path, error) from error
