"""Remove the user's keys from what his own programs and callables say."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TextIO

from truemark.errors import TruemarkError
from truemark.services.calls import CallFailed
from truemark.services.models import DOTENV, read_dotenv
from truemark.services.secrets import without_secrets

_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)$", re.I)
_keys_of_own_code: ContextVar[tuple[str, ...] | None] = ContextVar(
    "_keys_of_own_code", default=None
)
_lock = threading.Lock()
_running: list[object] = []  # one for each block that runs


def without_keys(text: str, *, cut: bool = False) -> str:
    """Replace the keys and passwords that the environment and `.env` hold, whoever they are for.

    Programs inherit the environment, and nobody knows which of its keys they use. If the text is
    `cut` out of a longer one, parts of keys at its ends are replaced too.
    """
    return without_secrets(text, *_keys(), cut=cut)


@contextmanager
def keys_removed_from_errors() -> Iterator[None]:
    """Remove keys from the text of an error that a user's own code raises."""
    try:
        yield
    except CallFailed as failure:
        failure.reason = without_keys(failure.reason)
        failure.raw = failure.raw and without_keys(failure.raw)
        raise
    except TruemarkError as error:
        error.args = (without_keys(str(error)),)
        raise


@contextmanager
def printed_on_stderr() -> Iterator[None]:
    """Send what a user's own code prints in this block to standard error, without keys.

    Other threads print as before: a block may still run in a thread that nobody waits for.
    """
    with _lock:
        _running.append(None)
        if not isinstance(sys.stdout, _Routed):
            for name, stream in (("stdout", sys.stdout), ("stderr", sys.stderr)):
                setattr(sys, name, _Routed(stream, sys.stderr))
    token = _keys_of_own_code.set(tuple(_keys()))
    try:
        yield
    finally:
        _keys_of_own_code.reset(token)
        with _lock:
            _running.pop()
            for name in ("stdout", "stderr"):
                stream = getattr(sys, name)
                if not _running and isinstance(stream, _Routed):
                    setattr(sys, name, stream.stream)


class _Routed:
    """A stream; what a user's own code writes to it goes to standard error, without keys."""

    def __init__(self, stream: TextIO, errors: TextIO) -> None:
        self.stream = stream
        self._errors = errors

    @property
    def buffer(self) -> object:
        return self.stream.buffer if _keys_of_own_code.get() is None else _RoutedBytes(self)

    def write(self, text: str) -> int:
        keys = _keys_of_own_code.get()
        if keys is None:
            return self.stream.write(text)
        with suppress(OSError, ValueError, AttributeError):  # as `note` does
            self._errors.write(without_secrets(text, *keys))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def close(self) -> None:
        if _keys_of_own_code.get() is None:  # others still write here
            self.stream.close()

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream if _keys_of_own_code.get() is None else self._errors, name)


class _RoutedBytes:
    """The bytes below a stream; what is written goes where its text goes."""

    def __init__(self, text: _Routed) -> None:
        self._text = text

    def write(self, data: bytes | bytearray | memoryview) -> int:
        content = bytes(data)
        self._text.write(content.decode("utf-8", "replace"))
        return len(content)

    def writelines(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> object:
        return getattr(self._text, name)


def _keys() -> Iterator[str]:
    sources = [dict[str, str | None](os.environ)]
    with suppress(TruemarkError):  # a file that cannot be read gave nobody a key
        sources.append(dict(read_dotenv(DOTENV)))
    for source in sources:
        yield from ((value or "").strip() for name, value in source.items() if _NAME.search(name))
