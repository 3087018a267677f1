"""The calendar as it is, and which of its events a clause speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from cal_ai.events import ContextEvent
from cal_ai.extractors.rules.activities import Activity
from cal_ai.extractors.rules.moments import Moments, names_day
from cal_ai.extractors.rules.patterns import found
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.reckoning import minute_of
from cal_ai.extractors.rules.references import (
    bulk_matches,
    content_words,
    is_unspecific,
    matches,
)


@dataclass(frozen=True, slots=True)
class Agenda:
    """The events of the calendar, when they start on the owner's clock, and who talks."""

    events: Sequence[ContextEvent]
    starts: dict[int, datetime]
    partners: frozenset[str]

    def match(self, reading: Reading, moments: Moments) -> ContextEvent | None:
        """The event that the clause names best, going by what it says of the present time."""
        best = next(iter(matches(reading, moments, self.events, self.starts, self.partners)), None)
        activity = reading.activity
        if best is not None or activity is None:
            return best
        known = activity.definite or (reading.announces and reading.own and not activity.weak)
        if is_unspecific(activity) and known and moments.dates and not _names_somebody(activity):
            return self.only_one_on(moments.dates)  # "tomorrow's appointment"
        if (activity.definite or reading.drops) and not activity.guessed:
            return self.only_one_called(activity)
        return None

    def listed(self, reading: Reading, moments: Moments) -> list[ContextEvent]:
        """The events that the clause names one after the other ("the sync and the review")."""
        good = matches(reading, moments, self.events, self.starts, self.partners)
        if not good:
            single = self.match(reading, moments)
            return [single] if single is not None else []
        if not found(r"\b(?:and|both)\b|,|&", reading.text):
            return [good[0]]
        left = content_words(reading.named)
        chosen: list[ContextEvent] = []
        for event in good:
            own = content_words(event.summary) & left
            if own or not chosen:
                chosen.append(event)
                left -= own
        return chosen

    def swept(self, reading: Reading, moments: Moments) -> list[ContextEvent]:
        """The events that the clause names all at once ("everything on Friday")."""
        return bulk_matches(reading, moments, self.events, self.starts)

    def on_days(self, days: frozenset[date]) -> list[ContextEvent]:
        """The events that start on one of the days."""
        return [event for event in self.events if self.starts[event.id].date() in days]

    def only_one_on(self, days: frozenset[date], partner: str = "") -> ContextEvent | None:
        """The event of a day that has no other, or none but one with the partner."""
        events = self.on_days(days)
        names = self.partners if not partner else content_words(partner.split(" ")[0])
        if len(events) > 1:
            events = [event for event in events if names & content_words(event.summary)]
        return _only(events)

    def names_partner(self, event: ContextEvent) -> bool:
        """Whether the title of an event names somebody who takes part in the talk."""
        return bool(self.partners & content_words(event.summary))

    def only_one_called(self, activity: Activity) -> ContextEvent | None:
        """The event whose title names the activity, if there is just one."""
        words_ = content_words(activity.title)
        events = [event for event in self.events if words_ <= content_words(event.summary)]
        return _only(events)

    def of_service(self, visit: str) -> ContextEvent | None:
        """The only event whose title names the same service as `visit`."""
        named = content_words(visit) - {"appointment"}
        events = [event for event in self.events if named & content_words(event.summary)]
        return _only(events)

    def only_one_of(self, activity: Activity, days: frozenset[date]) -> ContextEvent | None:
        """The event of one of the days that is of the kind named, if there is just one."""
        noun = content_words(activity.noun)
        events = [event for event in self.on_days(days) if noun <= content_words(event.summary)]
        return _only(events)

    def called_on(self, title: str, days: frozenset[date]) -> ContextEvent | None:
        """The event of that title on one of the days."""
        return next((event for event in self.on_days(days) if event.summary == title), None)

    def at(self, moments: Moments) -> ContextEvent | None:
        """The only event that starts on the day and at the time named."""
        return self.at_clock(moments, moments.dates) if moments.dates else None

    def at_clock(self, moments: Moments, days: frozenset[date]) -> ContextEvent | None:
        """The only event that starts at the time named, on one of `days` if there are any."""
        events, minutes = self.on_days(days) if days else self.events, moments.minutes
        events = [e for e in events if minute_of(self.starts[e.id]) % 720 in minutes]
        return _only(events)

    def is_own_time(self, event: ContextEvent, moments: Moments) -> bool:
        """Whether the time named, if any, is the one that the event has already."""
        start, end = self.starts[event.id], event.end
        ends = {minute_of(end) % 720} if end is not None else set()
        same_day = not moments.dates or names_day(moments, start.date())
        if end is not None and not moments.clocks:
            same_day = same_day or names_day(moments, end.date())
        own = {minute_of(start) % 720} | ends
        until = {c.until % 720 for c in moments.clocks if c.until is not None}
        return same_day and moments.minutes <= own and until <= ends and not moments.shifts


def _only(events: Sequence[ContextEvent]) -> ContextEvent | None:
    return events[0] if len(events) == 1 else None


def _names_somebody(activity: Activity) -> bool:
    """Whether it is with somebody known by name, so that it cannot be any event."""
    return any(name[:1].isupper() for name in activity.people)
