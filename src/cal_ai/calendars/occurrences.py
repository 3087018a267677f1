"""Find the occurrences of an event in a window, with bounded work whatever its rule is.

A rule of one line can name every second since 1970, or a day that never comes, and the library
that expands rules would take hours. So the work is estimated from the rule beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import islice
from math import inf, prod
from typing import Any

import recurring_ical_events  # type: ignore[import-untyped]  # ships no types
from dateutil.rrule import rrulestr  # type: ignore[import-untyped]  # ships no types

from cal_ai.calendars.protocol import CalendarError

MOST_OCCURRENCES = 1_000
MOST_EVENTS = 10_000
MOST_MOMENTS = 250_000
"""Days and times to examine for one event; they take well under a second."""
_TOO_MANY = "its rule names too many days and times"
_DAY_PARTS = ("BYDAY", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYEASTER")
_TIME_PARTS = ("BYHOUR", "BYMINUTE", "BYSECOND")
# The calendar, with its weekdays, repeats after this many years; datetime ends in 9999.
_CYCLE = 400
_LATE_YEARS = 9200
_READ_AHEAD = 10  # occurrences that dateutil finds at once


@dataclass(frozen=True, slots=True)
class _Frequency:
    """The period of a FREQ, and the work of expanding one period.

    `looked` is the work of going through a period, measured in occurrences of a daily event, and
    `weeks` is how many weeks a period has. `times` are the parts of a rule that multiply its
    occurrences in a period.
    """

    length: timedelta
    looked: int = 1
    weeks: int = 0
    times: tuple[str, ...] = _TIME_PARTS


_FREQUENCIES = {
    "YEARLY": _Frequency(timedelta(days=365), looked=20, weeks=53),
    "MONTHLY": _Frequency(timedelta(days=28), looked=4, weeks=5),
    "WEEKLY": _Frequency(timedelta(days=7), looked=2, weeks=1),
    "DAILY": _Frequency(timedelta(days=1)),
    "HOURLY": _Frequency(timedelta(hours=1), times=("BYMINUTE", "BYSECOND")),
    "MINUTELY": _Frequency(timedelta(minutes=1), times=("BYSECOND",)),
    "SECONDLY": _Frequency(timedelta(seconds=1), times=()),
}


@dataclass(slots=True)
class Budget:
    """The work that may still be done for all events of one calendar together.

    `moments` are days and times to examine, `searches` are rules that turn out to name hardly any
    day, and `events` are events and their occurrences.
    """

    moments: float = 4 * MOST_MOMENTS
    searches: int = 10
    events: int = MOST_EVENTS

    def occurrences(self, parsed: Any, start: datetime, end: datetime) -> list[Any]:
        """Find the occurrences of the events in `parsed` that overlap the window.

        Raises a `CalendarError` before it searches if that would take too long.
        """
        self._count(len(parsed.subcomponents))
        for event in parsed.subcomponents:
            for rule in _rules(event):
                begin, last = _wall_clock(event["DTSTART"].dt), _wall_clock(end)
                if until := rule.get("UNTIL"):
                    last = min(last, _wall_clock(until[0]) + timedelta(days=1))
                # The library expands a rule from its beginning, wherever the window lies.
                self._spend(_moments(rule, last - begin))
                self._expect_days(rule, begin)
        occurrences = list(recurring_ical_events.of(parsed).between(start, end))
        if len(occurrences) > MOST_OCCURRENCES:
            raise CalendarError(f"it occurs more than {MOST_OCCURRENCES} times in these days")
        self._count(len(occurrences))
        return occurrences

    def _count(self, events: int) -> None:
        if events > self.events:
            raise CalendarError(f"there are more than {MOST_EVENTS:,} events in these days")
        self.events -= events

    def _spend(self, moments: float) -> None:
        if moments > min(self.moments, MOST_MOMENTS):
            raise CalendarError(_TOO_MANY)
        self.moments -= moments

    def _expect_days(self, rule: Any, begin: datetime) -> None:
        """Raise an error for a rule such as the 30th of February, which is expanded until 9999."""
        if not any(name.startswith("BY") for name in rule):
            return  # it includes the day on which it begins
        if self.searches <= 0:
            raise CalendarError(_TOO_MANY)
        gap = _gap(rule, begin)
        moments = inf if gap is None else _moments(rule, _READ_AHEAD * gap)
        if moments > MOST_MOMENTS:
            self.searches -= 1
            raise CalendarError("its rule names days that almost never occur")
        self._spend(moments)


def _rules(event: Any) -> Iterator[Any]:
    rules = event.get("RRULE", [])
    for rule in rules if isinstance(rules, list) else [rules]:
        if not isinstance(rule, Mapping):
            raise CalendarError("its rule cannot be read")
        yield rule


def _moments(rule: Any, span: timedelta) -> float:
    """Estimate how many days and times are examined when a rule is expanded over a span."""
    frequency = _FREQUENCIES.get(str(rule.get("FREQ", [""])[0]).upper())
    interval = int(rule.get("INTERVAL", [1])[0])
    if frequency is None or interval < 1:
        raise CalendarError(_TOO_MANY)
    periods = max(span, timedelta()) / (frequency.length * interval) + 1
    named = sum(len(rule.get(name, ())) for name in _DAY_PARTS)
    days = frequency.looked + frequency.weeks * named
    return periods * days * prod(len(rule.get(name, [0])) for name in frequency.times)


def _gap(rule: Any, begin: datetime) -> timedelta | None:
    """Return the time from the beginning to the second occurrence; None if there is none at all.

    The search for the first occurrence may run to the year 9999, so the rule is moved to the last
    centuries before that, by whole cycles of the calendar.
    """
    late = begin.replace(year=_LATE_YEARS + begin.year % _CYCLE)
    parts = rule.to_ical().decode().split(";")
    endless = ";".join(part for part in parts if not part.startswith(("UNTIL=", "COUNT=")))
    first_two = list(islice(rrulestr(endless, dtstart=late), 2))
    return first_two[-1] - late if first_two else None


def _wall_clock(moment: date) -> datetime:
    """Return the moment without its zone; a day becomes its midnight."""
    if isinstance(moment, datetime):
        return moment.replace(tzinfo=None)
    return datetime.combine(moment, time())
