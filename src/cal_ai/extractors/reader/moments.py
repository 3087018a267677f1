"""All that one clause says about time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from cal_ai.extractors.reader.date_forms import Day
from cal_ai.extractors.reader.dates import find_days
from cal_ai.extractors.reader.lengths import (
    Length,
    Shift,
    find_from_now,
    find_lengths,
    find_shifts,
)
from cal_ai.extractors.reader.patterns import overlaps
from cal_ai.extractors.reader.reckoning import minute_of
from cal_ai.extractors.reader.times import Clock, DayPart, find_clocks, find_parts

Mention = Day | Clock | DayPart | Length | Shift


@dataclass(frozen=True, slots=True)
class Moments:
    """Days, times, parts of the day, durations and shifts of a clause, each in order."""

    days: tuple[Day, ...] = ()
    clocks: tuple[Clock, ...] = ()
    parts: tuple[DayPart, ...] = ()
    lengths: tuple[Length, ...] = ()
    shifts: tuple[Shift, ...] = ()


def find_moments(text: str, now: datetime) -> Moments:
    """What `text`, said at `now`, says about time."""
    days = find_days(text, now.date())
    clocks = find_clocks(text, frozenset(day.end for day in days))
    clocks = [clock for clock in clocks if not overlaps(days, clock.start, clock.end)]
    shifts = find_shifts(text)
    for ahead in find_from_now(text):
        at = now + timedelta(minutes=ahead.minutes)
        days.append(Day(ahead.start, ahead.end, day=at.date()))
        clocks.append(Clock(ahead.start, ahead.end, minute_of(at)))
    taken: list[Mention] = [*days, *clocks]
    shifts = [shift for shift in shifts if not overlaps(taken, shift.start, shift.end)]
    taken += shifts
    lengths = [
        length for length in find_lengths(text) if not overlaps(taken, length.start, length.end)
    ]
    clocks = [clock for clock in clocks if not _starts_in(clock, lengths)]
    parts = [part for part in find_parts(text) if not _starts_in(part, clocks)]
    return Moments(
        tuple(days),
        tuple(clocks),
        tuple(parts),
        tuple(lengths),
        tuple(shifts),
    )


def _starts_in(mention: Mention, others: Iterable[Mention]) -> bool:
    return any(each.start <= mention.start < each.end for each in others)
