"""All that one clause says about time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import lru_cache

from cal_ai.extractors.rules.date_forms import Day
from cal_ai.extractors.rules.dates import find_days
from cal_ai.extractors.rules.lengths import (
    Length,
    Shift,
    find_from_now,
    find_lengths,
    find_shifts,
)
from cal_ai.extractors.rules.patterns import found
from cal_ai.extractors.rules.reckoning import minute_of
from cal_ai.extractors.rules.spans import overlaps
from cal_ai.extractors.rules.times import Clock, DayPart, find_clocks, find_parts

Mention = Day | Clock | DayPart | Length | Shift


@dataclass(frozen=True, slots=True)
class Moments:
    """Days, times, parts of the day, durations and shifts of a clause, each in order."""

    days: tuple[Day, ...] = ()
    clocks: tuple[Clock, ...] = ()
    parts: tuple[DayPart, ...] = ()
    lengths: tuple[Length, ...] = ()
    shifts: tuple[Shift, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.days or self.clocks or self.parts or self.lengths or self.shifts)

    @property
    def names_a_time(self) -> bool:
        return bool(self.days or self.clocks or self.parts)

    @property
    def names_more_than_a_week(self) -> bool:
        return bool(self.clocks or self.parts or any(day.week is None for day in self.days))

    @property
    def dates(self) -> frozenset[date]:
        return frozenset(day.day for day in self.days if day.day is not None)

    @property
    def minutes(self) -> frozenset[int]:
        """The clock times as minutes after midnight or noon."""
        return frozenset(clock.minute % 720 for clock in self.clocks if clock.minute is not None)

    def as_ends(self) -> Moments:
        """The same with clock times as ends ("extend it to 4")."""
        ends = (
            replace(clock, minute=None, until=clock.minute, until_certain=clock.certain)
            if clock.until is None
            else clock
            for clock in self.clocks
        )
        return replace(self, clocks=tuple(ends))

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        mentions: tuple[Mention, ...] = (
            *self.days,
            *self.clocks,
            *self.parts,
            *self.lengths,
            *self.shifts,
        )
        return tuple((mention.start, mention.end) for mention in mentions)


@lru_cache(maxsize=1024)
def find_moments(text: str, now: datetime) -> Moments:
    """What `text`, said at `now`, says about time; a time that is only denied is left out."""
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
        tuple(day for day in days if not _denied(text, day)),
        tuple(clock for clock in clocks if not _denied(text, clock)),
        tuple(parts),
        tuple(lengths),
        tuple(shifts),
    )


def _starts_in(mention: Mention, others: Iterable[Mention]) -> bool:
    return any(each.start <= mention.start < each.end for each in others)


def _denied(text: str, mention: Mention) -> bool:
    return found(
        r"(?:\bnot|\bsince(?:, what)?,?|\binstead of|\brather than|\bno longer|\bnor|\bthan)\s+"
        r"(?:on |at |the |until "
        r"|till )?$",
        text[: mention.start],
    )


def split_moved(text: str, moments: Moments) -> tuple[Moments, Moments]:
    """What a clause that moves something says about the old time and about the new one."""
    old: list[Mention] = []
    new: list[Mention] = []
    unclear: list[Mention] = []
    mentions: list[Mention] = [*moments.days, *moments.clocks, *moments.parts]
    for mention in sorted(mentions, key=lambda m: m.start):
        before, after = text[: mention.start], text[mention.end :]
        if isinstance(mention, Clock) and mention.joint == "to" and not found(r"\bto\s*$", before):
            old.append(replace(mention, until=None, joint=""))
            new.append(
                replace(
                    mention,
                    minute=mention.until,
                    certain=mention.until_certain,
                    until=None,
                    joint="",
                )
            )
        elif found(r"^'s\b", after):
            old.append(mention)
        elif found(
            r"\b(?:to|until|till|til|into|for|make (?:it|that)|do|instead,?|try)\s+(?:like |maybe "
            r"|around |about |the |say |on )?$",
            before,
        ):
            new.append(mention)
        elif found(
            r"\b(?:from|our|my|the|your|of|that|this|was|originally|scheduled for)\s+$", before
        ) or found(
            r"^(?:'s\b| (?:meeting|call|lunch|dinner|slot|one|appointment|thing|session|review"
            r"|sync|standup)\b)",
            after,
        ):
            old.append(mention)
        else:
            unclear.append(mention)
    first_new = min((m.start for m in new), default=None)
    for mention in unclear:
        follows_old = (
            bool(old) and not new and mention.start > old[-1].start and found(r"\bfrom\b", text)
        )
        if follows_old or (first_new is not None and mention.start < first_new):
            old.append(mention)
        else:
            new.append(mention)
    return _collect(old), replace(_collect(new), lengths=moments.lengths, shifts=moments.shifts)


def names_day(moments: Moments, day: date) -> bool:
    """Whether one of the days named is `day`, if only by its weekday."""
    plain = (d.weekday for d in moments.days if d.offset is None and d.weekday is not None)
    return day in moments.dates or day.weekday() in plain


def _collect(mentions: Iterable[Mention]) -> Moments:
    mentions = list(mentions)
    return Moments(
        tuple(m for m in mentions if isinstance(m, Day)),
        tuple(m for m in mentions if isinstance(m, Clock)),
        tuple(m for m in mentions if isinstance(m, DayPart)),
    )
