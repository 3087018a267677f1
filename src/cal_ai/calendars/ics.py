"""A calendar in a standard iCalendar file, which every calendar program can open."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from filelock import FileLock, Timeout

from cal_ai.calendars.document import EMPTY, Document
from cal_ai.calendars.protocol import CalendarError, Details, Entry, Listing, Moment
from truemark.files import LARGEST_TEXT, read_bytes, write_atomically, write_error

LOCK_WAIT_S = 30.0
_IDENTITY = "X-WR-RELCALID"


def _now() -> datetime:
    return datetime.now(UTC)


class IcsCalendar:
    """The events in one file; a missing file is an empty calendar until the first event.

    A change is read, made and written under a lock, and the file is replaced in one step, so that
    neither another writer nor a crash can lose what is in it.
    """

    def __init__(
        self,
        path: Path,
        zone: ZoneInfo | None,
        *,
        clock: Callable[[], datetime] = _now,
        lock_wait_s: float = LOCK_WAIT_S,
    ) -> None:
        self._path = path
        self._zone = zone
        self._clock = clock
        self._lock_wait_s = lock_wait_s

    @property
    def name(self) -> str:
        return f"ics:{self._path}"

    @property
    def identity(self) -> str:
        """The id in the file; a new file at the same place is another calendar."""
        line = self._read().content.calendars[0].line(_IDENTITY)
        return f"ics:{line.text.partition(':')[2]}" if line else ""

    def coming(self, start: datetime, end: datetime) -> Listing:
        return self._read().coming(start, end)

    def get(self, uid: str, recurrence: Moment | None = None) -> Entry:
        return self._read().get(uid, recurrence)

    def create(self, uid: str, details: Details, mark: str) -> Entry:
        with self._changing() as document:
            document.add(uid, details, mark, self._clock())
        return self.get(uid)

    def update(self, entry: Entry, details: Details, mark: str) -> Entry:
        with self._changing() as document:
            document.change(entry, details, mark, self._clock())
        return self.get(entry.uid, entry.recurrence)

    def delete(self, entry: Entry) -> None:
        with self._changing() as document:
            document.remove(entry, self._clock())

    def close(self) -> None:
        """Nothing is held open."""

    def _read(self) -> Document:
        data = read_bytes(self._path, LARGEST_TEXT) if os.path.lexists(self._path) else EMPTY
        return Document.parse(data, str(self._path), self._zone)

    @contextmanager
    def _changing(self) -> Iterator[Document]:
        """Yield the document to change; it is written if the block ends without an error."""
        with self._locked():
            document = self._read()
            yield document
            calendar = document.content.calendars[0]
            if calendar.line(_IDENTITY) is None:
                identity = f"{_IDENTITY}:{secrets.token_hex(16)}"
                calendar.add(document.content.new_line(identity))
            write_atomically(self._path, document.raw())

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # Two names of one file share a lock.
        target = Path(os.path.realpath(self._path))
        lock = FileLock(target.with_name(f"{target.name}.lock"), timeout=self._lock_wait_s)
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
            lock.release()
