"""A server on loopback that answers every request with the same bytes, however wrong.

with HostileServer(Answer(status=200, body=b"<html>")) as server:
    server.url
"""

from __future__ import annotations

import gzip
import socket
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType


@dataclass(frozen=True, slots=True)
class Answer:
    """What to send: complete, slowly, cut off, endless, or nothing at all.

    `head` replaces the status line and the headers; `length` is the Content-Length claimed.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    head: bytes | None = None
    length: int | None = None
    drip_s: float = 0.0
    drips_head: bool = False
    repeat: int = 1
    silent: bool = False
    drops: bool = False

    def rendered_head(self) -> bytes:
        if self.head is not None:
            return self.head
        length = len(self.body) * self.repeat if self.length is None else self.length
        lines = [f"HTTP/1.1 {self.status} Said", f"Content-Length: {length}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")

    def pieces(self) -> Iterator[bytes]:
        head = self.rendered_head()
        if self.drips_head:
            yield from (head[index : index + 1] for index in range(len(head)))
        else:
            yield head
        if self.drip_s:
            yield from (self.body[index : index + 1] for index in range(len(self.body)))
            return
        for _ in range(self.repeat):
            yield self.body


def gzip_bomb(megabytes: int) -> bytes:
    """Return spaces packed to a thousandth, as a stream without an end."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = packer.compress(b" ") + packer.flush(zlib.Z_FULL_FLUSH)
    megabyte = packer.compress(b" " * 1_000_000) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + megabytes * megabyte


def packed(body: bytes) -> bytes:
    return gzip.compress(body)


@dataclass(frozen=True, slots=True)
class Behind:
    """A good server, which gets the first `good` requests, or all of them with `all_`.

    With `all_`, the good server executes every request, and only its answers are lost.
    """

    port: int
    good: int
    all_: bool = False


class HostileServer:
    """Serves the answer from background threads during a `with` block."""

    def __init__(self, answer: Answer, behind: Behind | None = None) -> None:
        self.answer = answer
        self.behind = behind
        self.requests: list[bytes] = []
        self._over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> HostileServer:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while not self._over.is_set():
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            request = _message(connection)
            self.requests.append(request)
            if self.behind is not None:
                is_good = len(self.requests) <= self.behind.good
                passed_on = is_good or self.behind.all_
                answer = _passed_on(request, self.behind.port) if passed_on else b""
                if is_good:
                    connection.sendall(answer)
                    return
            if self.answer.drops:
                return
            if self.answer.silent:
                self._over.wait(timeout=60)
                return
            for piece in self.answer.pieces():
                if self._over.is_set():
                    return
                connection.sendall(piece)
                if self.answer.drip_s:
                    time.sleep(self.answer.drip_s)


def _passed_on(request: bytes, port: int) -> bytes:
    """Forward the request to the port; return the answer, changed to close the connection."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(request)
        first, _, rest = _message(connection).partition(b"\r\n")
        return first + b"\r\nConnection: close\r\n" + rest


def _message(connection: socket.socket) -> bytes:
    """Read a request or an answer, with its body if it has a length."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65_536)
        if not piece:
            return data
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    wanted = int(lengths[0].partition(b":")[2]) if lengths else 0
    while len(body) < wanted and (piece := connection.recv(65_536)):
        body += piece
    return head + b"\r\n\r\n" + body
