"""A calendar that only pretends to change, for `--dry-run`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from datetime import datetime

from cal_ai.calendars.protocol import (
    AlreadyThere,
    Calendar,
    CalendarError,
    Details,
    Entry,
    EventGone,
    Listing,
    Moment,
)


class NoCalendar:
    """A calendar that holds nothing, for a dry run without one."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.identity = ""
        self.changes_at_once = 1

    def changing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def coming(self, start: datetime, end: datetime) -> Listing:
        return Listing(())

    def get(self, uid: str, recurrence: Moment | None = None) -> Entry:
        raise EventGone(f"{self.name}: the event is no longer there")

    def create(self, uid: str, details: Details, mark: str) -> Entry:
        raise self._refusal()

    def update(self, entry: Entry, details: Details, mark: str) -> Entry:
        raise self._refusal()

    def delete(self, entry: Entry) -> None:
        raise self._refusal()

    def close(self) -> None:
        """Nothing is held open."""

    def _refusal(self) -> CalendarError:
        return CalendarError(f"{self.name}: cannot be changed in a dry run")


class DryRun:
    """Reads another calendar, keeps the changes to itself, and answers as if they were made."""

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar
        self._changed: dict[tuple[str, Moment | None], Entry | None] = {}
        self.name = calendar.name
        self.changes_at_once = calendar.changes_at_once

    @property
    def identity(self) -> str:
        return self._calendar.identity

    def changing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def coming(self, start: datetime, end: datetime) -> Listing:
        return self._calendar.coming(start, end)

    def get(self, uid: str, recurrence: Moment | None = None) -> Entry:
        if (uid, recurrence) not in self._changed:
            return self._calendar.get(uid, recurrence)
        entry = self._changed[uid, recurrence]
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
        self._calendar.close()
