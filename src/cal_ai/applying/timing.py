"""When a calendar event begins and ends, from what was said and what stands there already."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cal_ai.calendars.protocol import Details
from cal_ai.calendars.zones import in_zone, later, midnight, oddity
from cal_ai.events import Event

DEFAULT_LENGTH = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Span:
    """From the first moment to the first one after; `end` before `start` where that was said."""

    start: datetime
    end: datetime
    all_day: bool = False


@dataclass(frozen=True, slots=True)
class Timing:
    """Works out spans for an owner in a time zone, and notes what it has to assume."""

    zone: ZoneInfo | None
    assumptions: list[str] = field(default_factory=list)

    def of_new(self, event: Event) -> Span | None:
        """The span of a new event; None where no start was said."""
        if event.start_time is None:
            return None
        start = self._local(event.start_time)
        end = self._local(event.end_time) if event.end_time else start
        if _begins_day(start) and end == start:
            self.assumptions.append("no time of day was said: it is entered as an all-day event")
            return Span(start, self._days_after(start, 1), all_day=True)
        if _begins_day(start) and _begins_day(end) and end > start:
            return Span(start, end, all_day=True)
        if end == start:
            self.assumptions.append("no end was said: it is entered for one hour")
            end = later(start, DEFAULT_LENGTH)
        return Span(start, end)

    def of_change(self, event: Event, old: Details) -> Span:
        """The span after a change; what was not said stays as it is."""
        start = self._local(event.start_time) if event.start_time else old.start
        end = self._local(event.end_time) if event.end_time else None
        if end is None and event.start_time is None:
            return Span(old.start, old.end, old.all_day)
        if end is not None and end != start:
            return Span(start, end, old.all_day and _begins_day(start) and _begins_day(end))
        if not old.all_day:
            return self._of_move(start, old)
        days = (old.end.date() - old.start.date()).days
        if _begins_day(start):
            return Span(start, self._days_after(start, days), all_day=True)
        self.assumptions.append("no end was said: it is entered for one hour")
        return Span(start, later(start, DEFAULT_LENGTH))

    def _of_move(self, start: datetime, old: Details) -> Span:
        if _begins_day(start) and not _begins_day(old.start):
            start = self._local(datetime.combine(start.date(), old.start.time()))
            self.assumptions.append(f"no time of day was said: it stays at {start:%H:%M}")
        length = old.end.astimezone(UTC) - old.start.astimezone(UTC)
        self.assumptions.append(f"no end was said: it keeps its length of {_length(length)}")
        return Span(start, later(start, length))

    def _local(self, moment: datetime) -> datetime:
        if odd := oddity(moment, self.zone):
            self.assumptions.append(odd)
        return in_zone(moment, self.zone)

    def _days_after(self, moment: datetime, days: int) -> datetime:
        return midnight(moment.date() + timedelta(days=days), self.zone)


def _begins_day(moment: datetime) -> bool:
    return (moment.hour, moment.minute, moment.second) == (0, 0, 0)


def _length(length: timedelta) -> str:
    hours, minutes = divmod(round(length.total_seconds() / 60), 60)
    parts = [f"{hours} h" if hours else "", f"{minutes} min" if minutes or not hours else ""]
    return " ".join(filter(None, parts))
