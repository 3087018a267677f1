"""Files of JSON objects, one per line, that crashes and concurrent writers cannot corrupt."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from io import BufferedReader, FileIO
from pathlib import Path

from filelock import FileLock, Timeout

from truemark.errors import TruemarkError
from truemark.files import (
    PRIVATE,
    open_regular,
    read_bytes,
    read_error,
    release_and_remove,
    sync_folder,
    write_atomically,
    write_error,
)
from truemark.jsontext import to_json

LOCK_WAIT_S = 60.0
DAMAGED_SUFFIX = ".damaged"
LONGEST_LINE = 50_000_000
"""Bytes; a longer line cannot be a record and is skipped piece by piece."""


def append(path: str | os.PathLike[str], *records: Mapping[str, object]) -> None:
    """Add each record as one whole line and return when all are on disk."""
    with closing(Appender(path)) as file:
        file.write(*records)
        file.sync()


class Appender:
    """Appends records to a file; other writers wait until it is closed."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._is_new = False
        # One thread may open the file and another close it.
        self._lock = FileLock(
            self._path.with_name(self._path.name + ".lock"),
            timeout=LOCK_WAIT_S,
            mode=PRIVATE,
            thread_local=False,
        )
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
            try:
                # A new file is readable by its owner alone.
                self._stream = FileIO(
                    self._path, "a+b", opener=lambda name, flags: os.open(name, flags, PRIVATE)
                )
            except OSError:
                self._lock.release()
                raise
        except Timeout as error:
            raise TruemarkError(
                f"{path}: locked by another run for {LOCK_WAIT_S:.0f} s; let it end, then try again"
            ) from error
        except OSError as error:
            raise write_error(path, error) from error

    def write(self, *records: Mapping[str, object]) -> None:
        """Add each record as one whole line; they survive this process, not yet a power cut."""
        lines = b"".join(to_json(record).encode() + b"\n" for record in records)
        try:
            size = self._stream.seek(0, os.SEEK_END)
            self._is_new |= not size
            self._stream.seek(max(0, size - 1))
            if self._stream.read(1) not in (b"", b"\n"):
                # A crash tore the last line; nothing may be glued to it.
                lines = b"\n" + lines
            try:
                while lines:
                    lines = lines[self._stream.write(lines) :]
            except OSError:
                self._stream.truncate(size)
                raise
        except OSError as error:
            raise write_error(self._path, error) from error

    def sync(self) -> None:
        """Return when everything written is on disk; may run in another thread than `write`."""
        try:
            os.fsync(self._stream.fileno())
        except OSError as error:
            raise write_error(self._path, error) from error
        if self._is_new:
            sync_folder(self._path.parent)
            self._is_new = False

    def close(self) -> None:
        """Close the file and release its lock."""
        self._stream.close()
        release_and_remove(self._lock)


def scan(
    path: str | os.PathLike[str], warnings: list[str]
) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield each whole record with the offset of its line, one line in memory at a time.

    Each skipped line adds a warning to `warnings`.
    """
    offset = 0
    try:
        if not Path(path).exists():
            return
        with BufferedReader(open_regular(path)) as lines:
            for number, line in enumerate(iter(lambda: lines.readline(LONGEST_LINE), b""), start=1):
                record = _parsed(line)
                if record is not None:
                    yield offset, record
                elif line.strip():
                    torn = not line.endswith(b"\n")
                    what = "the last line is torn" if torn else "not a JSON object"
                    warnings.append(f"{path}:{number}: {what}, skipped")
                offset += len(line)
    except OSError as error:
        raise read_error(path, error) from error


def set_aside(path: str | os.PathLike[str], whole: Callable[[Mapping[str, object]], bool]) -> int:
    """Move the lines that are not a complete record to a file next to it, and return how many.

    They are kept because a person may be able to repair them.
    """
    with closing(Appender(path)):
        good: list[bytes] = []
        damaged: list[bytes] = []
        for line in read_bytes(path).splitlines(keepends=True):
            record = _parsed(line)
            fits = record is not None and whole(record)
            (good if fits or not line.strip() else damaged).append(line)
        if damaged:
            aside = Path(path).with_name(Path(path).name + DAMAGED_SUFFIX)
            before = read_bytes(aside) if aside.exists() else b""
            lines = b"".join(line.rstrip(b"\r\n") + b"\n" for line in damaged)
            write_atomically(aside, before + lines)
            write_atomically(path, b"".join(good))
        return len(damaged)


def read_record(path: str | os.PathLike[str], offset: int) -> dict[str, object] | None:
    """Return the record at an offset that `scan` gave; None when it is gone."""
    try:
        with BufferedReader(open_regular(path)) as lines:
            lines.seek(offset)
            return _parsed(lines.readline(LONGEST_LINE))
    except OSError as error:
        raise read_error(path, error) from error


def _parsed(line: bytes) -> dict[str, object] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
