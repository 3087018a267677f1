"""What is in the calendar already, with small integers in place of real ids.

Models confuse long ids, so they are shown 1, 2, 3 …; the way back stays outside the prompt.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from cal_ai.events import ContextEvent


@dataclass(frozen=True, slots=True)
class CalendarEntry:
    """An event as a calendar knows it; `real_id` never reaches a prompt."""

    real_id: str
    summary: str
    start: datetime
    end: datetime | None = None
    location: str | None = None


@dataclass(frozen=True, slots=True)
class CalendarContext:
    """The numbered events for an extractor, and the calendar's entries that they stand for."""

    events: tuple[ContextEvent, ...]
    entries: tuple[CalendarEntry, ...]

    def entry(self, number: int | None) -> CalendarEntry | None:
        """Return the entry shown under this number; None for a number that was never shown."""
        if number is None or not 1 <= number <= len(self.entries):
            return None
        return self.entries[number - 1]


def number_entries(entries: Iterable[CalendarEntry]) -> CalendarContext:
    """Return the entries under the numbers 1, 2, 3 … in the order given."""
    kept = tuple(entries)
    events = tuple(
        ContextEvent(number, entry.summary, entry.start, entry.end, entry.location)
        for number, entry in enumerate(kept, start=1)
    )
    return CalendarContext(events, kept)
