"""A file of runs, one JSON object per line, that crashes and concurrent runs cannot spoil."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from truemark.errors import TruemarkError
from truemark.files import read_error, sync_folder, write_error
from truemark.jsontext import to_json

LOCK_WAIT_S = 60.0


@dataclass(frozen=True, slots=True)
class History:
    """The readable records, oldest first, and one warning per line that was skipped."""

    records: tuple[dict[str, object], ...]
    warnings: tuple[str, ...]


def append(path: str | os.PathLike[str], record: Mapping[str, object]) -> None:
    """Adds `record` as one whole line and returns when it is on disk."""
    from filelock import FileLock, Timeout

    line = to_json(record).encode() + b"\n"
    file = Path(path)
    lock = FileLock(file.with_name(file.name + ".lock"), timeout=LOCK_WAIT_S)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with lock:
            _append_line(file, line)
    except Timeout as error:
        raise TruemarkError(
            f"{path}: locked by another run for {LOCK_WAIT_S:.0f} s; let it end, then try again"
        ) from error
    except OSError as error:
        raise write_error(path, error) from error


def _append_line(file: Path, line: bytes) -> None:
    with file.open("a+b", buffering=0) as stream:
        size = stream.seek(0, os.SEEK_END)
        if size:
            stream.seek(size - 1)
            if stream.read(1) != b"\n":
                # A crash tore the last line; nothing may be glued to it.
                line = b"\n" + line
        try:
            while line:
                line = line[stream.write(line) :]
            os.fsync(stream.fileno())
        except OSError:
            stream.truncate(size)
            raise
    if not size:
        sync_folder(file.parent)


def read(path: str | os.PathLike[str]) -> History:
    """All whole records of the file, none when there is no file yet."""
    warnings: list[str] = []
    records = tuple(record for _, record in scan(path, warnings))
    return History(records, tuple(warnings))


def scan(
    path: str | os.PathLike[str], warnings: list[str]
) -> Iterator[tuple[int, dict[str, object]]]:
    """Each whole record with the offset of its line, one line in memory at a time.

    Lines that are skipped add to `warnings`.
    """
    offset = 0
    try:
        with Path(path).open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                record = _parsed(line)
                if record is not None:
                    yield offset, record
                elif line.strip():
                    torn = not line.endswith(b"\n")
                    what = "the last line is torn" if torn else "not a JSON object"
                    warnings.append(f"{path}:{number}: {what}, skipped")
                offset += len(line)
    except FileNotFoundError:
        return
    except OSError as error:
        raise read_error(path, error) from error


def record_at(path: str | os.PathLike[str], offset: int) -> dict[str, object] | None:
    """The record whose line begins at an offset that `scan` gave; None when it is gone."""
    try:
        with Path(path).open("rb") as lines:
            lines.seek(offset)
            return _parsed(lines.readline())
    except OSError as error:
        raise read_error(path, error) from error


def _parsed(line: bytes) -> dict[str, object] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
