"""A calendar in a standard iCalendar file, which every calendar program can open."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from filelock import FileLock, Timeout

from cal_ai.calendars.document import EMPTY, Document
from cal_ai.calendars.protocol import CalendarError, Details, Entry, Listing, Moment
from truemark.files import (
    LARGEST_TEXT,
    PRIVATE,
    read_bytes,
    release_and_remove,
    write_atomically,
    write_error,
)

LOCK_WAIT_S = 30.0
_IDENTITY = "X-WR-RELCALID"


class IcsCalendar:
    """The events in one file; a missing file is an empty calendar.

    Changes are made under a lock, and the file is replaced in one step, so that neither another
    writer nor a crash can lose events. A `changing` block reads and writes the file only once.
    """

    def __init__(
        self,
        path: Path,
        zone: ZoneInfo | None,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        lock_wait_s: float = LOCK_WAIT_S,
    ) -> None:
        self.name = f"ics:{path}"
        self.changes_at_once = sys.maxsize
        self._path = path
        self._zone = zone
        self._clock = clock
        self._lock_wait_s = lock_wait_s
        self._group: ExitStack | None = None
        self._held: Document | None = None
        self._is_changed = False
        self._known: tuple[tuple[int, int, int], Document] | None = None

    @property
    def identity(self) -> str:
        """The id in the file, so that a new file at the same place is another calendar."""
        identity = self._read().content.components[0].value(_IDENTITY)
        return f"ics:{identity}" if identity else ""

    @contextmanager
    def changing(self) -> Iterator[None]:
        with ExitStack() as self._group:
            try:
                yield
                if self._held is not None and self._is_changed:
                    self._write(self._held)
            finally:
                self._group = self._held = None
                self._is_changed = False

    def coming(self, start: datetime, end: datetime) -> Listing:
        return self._read().coming(start, end)

    def get(self, uid: str, recurrence: Moment | None = None) -> Entry:
        return self._read().get(uid, recurrence)

    def create(self, uid: str, details: Details, mark: str) -> Entry:
        with self._changing() as document:
            return document.add(uid, details, mark, self._clock())

    def update(self, entry: Entry, details: Details, mark: str) -> Entry:
        with self._changing() as document:
            return document.change(entry, details, mark, self._clock())

    def delete(self, entry: Entry) -> None:
        with self._changing() as document:
            document.remove(entry, self._clock())

    def close(self) -> None:
        """Nothing is held open."""

    def _read(self) -> Document:
        """Return the document to read from; parse it again only if the file has changed."""
        if self._held is not None:
            return self._held
        try:
            status = self._path.stat()
        except OSError:
            return self._parse()
        version = (status.st_ino, status.st_size, status.st_mtime_ns)
        if self._known is None or self._known[0] != version:
            self._known = version, self._parse()
        return self._known[1]

    def _parse(self) -> Document:
        data = read_bytes(self._path, LARGEST_TEXT) if os.path.lexists(self._path) else EMPTY
        return Document.parse(data, str(self._path), self._zone)

    @contextmanager
    def _changing(self) -> Iterator[Document]:
        """Yield the document to change; it is written when the block of changes ends."""
        if self._group is None:
            with self.changing(), self._changing() as document:
                yield document
            return
        if self._held is None:
            self._group.enter_context(self._locked())
            self._held = self._parse()
        yield self._held
        self._is_changed = True

    def _write(self, document: Document) -> None:
        calendar = document.content.components[0]
        if calendar.line(_IDENTITY) is None:
            calendar.add(f"{_IDENTITY}:{secrets.token_hex(16)}")
        write_atomically(self._path, document.content.raw())

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # Two names of one file share a lock.
        target = Path(os.path.realpath(self._path))
        place = target.with_name(f"{target.name}.lock")
        lock = FileLock(place, timeout=self._lock_wait_s, mode=PRIVATE)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except Timeout as error:
            raise CalendarError(
                f"{self._path}: locked by another run for {self._lock_wait_s:g} s;"
                " let it end, then try again"
            ) from error
        except OSError as error:
            raise write_error(self._path, error) from error
        try:
            yield
        finally:
            release_and_remove(lock)
