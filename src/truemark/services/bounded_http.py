"""Read HTTP answers within bounds of size and time, for each client library.

A few kilobytes can unpack to gigabytes, and a byte every few seconds keeps a connection busy for
hours; so answers are unpacked and counted here, piece by piece. Each library has a hook for
that: `bounded_httpx2` (language models), `bounded_requests` (CalDAV) and `bounded_httplib2`
(Google Calendar).
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable
from typing import TypeVar

from truemark.services.addresses import shown_address

T = TypeVar("T")
LARGEST_ANSWER = 20_000_000
"""Bytes of an answer, unpacked."""
_MOST_PARTS = 1_500_000
"""Lists, objects, items and tags in an answer; each takes many times its own length in memory."""
_PART_SIGNS = (b"[", b"{", b",", b"<")
_ENCODINGS = {"": None, "identity": None, "gzip": 31, "x-gzip": 31, "deflate": 15}
_PIECE = 65_536
REDIRECTIONS = frozenset({300, 301, 302, 303, 305, 307, 308})


class UnfitAnswerError(Exception):
    """An answer that is not read to its end; the text says why."""


def refuse_redirection(status: int, location: str | None) -> None:
    """Raise `UnfitAnswerError` for an answer that sends the client, and its secrets, elsewhere."""
    if status in REDIRECTIONS:
        target = f" to {shown_address(location)}" if location else ""
        raise UnfitAnswerError(
            f"the server redirects{target} (status {status}), which is not followed;"
            " name the right address"
        )


class Unpacker:
    """Unpacks an answer piece by piece; raises `UnfitAnswerError` for one that is too large."""

    def __init__(self, encoding: str | None) -> None:
        name = (encoding or "").strip().lower()
        if name not in _ENCODINGS:
            raise UnfitAnswerError(f"the answer is compressed as {name[:40]!r}, expected gzip")
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
                raise UnfitAnswerError("the answer cannot be decompressed") from error
        self._size += len(piece)
        if self._size > LARGEST_ANSWER:
            raise UnfitAnswerError(f"the answer is larger than {LARGEST_ANSWER // 1_000_000} MB")
        self._parts += sum(piece.count(sign) for sign in _PART_SIGNS)
        if self._parts > _MOST_PARTS:
            raise UnfitAnswerError(f"the answer has more than {_MOST_PARTS} parts")
        return piece

    def unpack_all(self, read: Callable[[int], bytes]) -> bytes:
        """Call `read` with a size until it returns nothing, and return the unpacked content."""
        pieces = []
        while piece := read(_PIECE):
            pieces.append(self.unpack(piece))
        return b"".join(pieces)


def run_within(timeout_s: float, work: Callable[[], T]) -> T:
    """Return what `work` returns; raise `TimeoutError` if it takes longer, and let it run on.

    The timeouts of blocking clients limit the wait for the next byte; this one limits the whole.
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
