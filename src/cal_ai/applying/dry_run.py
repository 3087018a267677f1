"""A calendar that only pretends to change, for `--dry-run`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from datetime import datetime

from cal_ai.calendars.protocol import (
    AlreadyThere,
    Calendar,
    Details,
    Entry,
    EventGone,
    Listing,
    Moment,
)


class DryRun:
    """Reads a calendar, holds changes in memory, and answers as if they had been made.

    Without a calendar to read, nothing is planned.
    """

    def __init__(self, calendar: Calendar | None, name: str = "") -> None:
        self._calendar = calendar
        self._changed: dict[tuple[str, Moment | None], Entry | None] = {}
        self.name = calendar.name if calendar else name
        self.changes_at_once = calendar.changes_at_once if calendar else 1

    @property
    def identity(self) -> str:
        return self._calendar.identity if self._calendar else ""

    def changing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def coming(self, start: datetime, end: datetime) -> Listing:
        return self._calendar.coming(start, end) if self._calendar else Listing(())

    def get(self, uid: str, recurrence: Moment | None = None) -> Entry:
        if self._calendar and (uid, recurrence) not in self._changed:
            return self._calendar.get(uid, recurrence)
        entry = self._changed.get((uid, recurrence))
        if entry is None:
            raise EventGone(f"{self.name}: the event is no longer there")
        return entry

    def create(self, uid: str, details: Details, mark: str) -> Entry:
        try:
            self.get(uid)
        except EventGone:
            entry = Entry(uid, details, marks=frozenset({mark}))
            self._changed[uid, None] = entry
            return entry
        raise AlreadyThere(f"{self.name}: has an event of this id already")

    def update(self, entry: Entry, details: Details, mark: str) -> Entry:
        changed = entry.changed(details, mark)
        self._changed[entry.uid, entry.recurrence] = changed
        return changed

    def delete(self, entry: Entry) -> None:
        self._changed[entry.uid, entry.recurrence] = None

    def close(self) -> None:
        if self._calendar:
            self._calendar.close()
