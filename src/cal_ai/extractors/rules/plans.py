"""A plan that takes shape over the lines of a conversation."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta

from cal_ai.events import Action, ContextEvent
from cal_ai.extractors.rules.dates import Day
from cal_ai.extractors.rules.moments import Moments
from cal_ai.extractors.rules.times import Clock, Part
from cal_ai.extractors.rules.titles import Activity
from cal_ai.transcript import Utterance


@dataclass(slots=True)
class When:
    """What is known so far about the time of a plan."""

    day: date | None = None
    last: date | None = None
    week: date | None = None
    vague_day: bool = False
    clock: Clock | None = None
    until: int | None = None
    until_certain: bool = True
    part: Part | None = None
    whole_part: bool = False
    length: int | None = None
    longer: int = 0
    shift_minutes: int = 0
    shift_days: int = 0

    def take(self, moments: Moments, *, today: date, base: date | None = None) -> bool:
        """Fills in what `moments` say; True if that changed the time of the plan."""
        before = (
            self.day,
            self.clock,
            self.until,
            self.part,
            self.length,
            self.shift_minutes,
            self.shift_days,
        )
        for day in moments.days:
            if self._take_day(day, today, base):
                break
        self._take_clocks(moments)
        if moments.parts:
            self.part = moments.parts[0].part
            self.whole_part = moments.parts[0].whole
            if moments.days and not moments.clocks:
                self.clock = self.until = None
        if moments.lengths:
            if moments.lengths[0].change:
                self.longer = moments.lengths[0].minutes
            else:
                self.length = moments.lengths[0].minutes
                self.until = None
        for shift in moments.shifts:
            self.shift_minutes, self.shift_days = shift.minutes, shift.days
        after = (
            self.day,
            self.clock,
            self.until,
            self.part,
            self.length,
            self.shift_minutes,
            self.shift_days,
        )
        return before != after

    def _take_day(self, day: Day, today: date, base: date | None) -> bool:
        """Whether `day` names one day; a whole week only narrows down later weekdays."""
        anchor = self.day or base
        if day.week is not None:
            self.week = day.week
            if self.day is not None:
                self.day = day.week + timedelta(days=self.day.weekday())
            return False
        if day.offset is not None:
            if anchor is None:
                return False
            ahead = (
                (day.weekday - anchor.weekday() - 1) % 7 + 1
                if day.weekday is not None
                else day.offset
            )
            self.day = anchor + timedelta(days=ahead)
            return True
        if day.day is None:
            return False
        self.day, self.last, self.vague_day = day.day, day.last, day.vague
        if day.weekday is not None and self.week is not None:
            self.day = self.week + timedelta(days=day.weekday)
            if self.day < today:
                self.day += timedelta(days=7)
        return True

    def _take_clocks(self, moments: Moments) -> None:
        starts = [clock for clock in moments.clocks if clock.minute is not None]
        if starts:
            clock = next(
                (c for c in starts if c.zone.startswith(("my", "our", "local", "for me"))),
                starts[0],
            )
            same = (
                self.clock is not None
                and self.clock.minute is not None
                and clock.minute is not None
            )
            if (
                same
                and self.clock
                and clock.minute
                and self.clock.certain
                and not clock.certain
                and self.clock.minute is not None
            ):
                # "3pm" said again as "3" keeps its afternoon, and its zone.
                if self.clock.minute % 720 == clock.minute % 720 and clock.until is None:
                    return
            if self.clock is not None and (self.clock.minute, self.clock.until) != (
                clock.minute,
                clock.until,
            ):
                self.until = None
            self.clock = clock
            if clock.until is not None:
                self.until, self.until_certain, self.length = clock.until, clock.until_certain, None
            if not moments.parts:
                self.part = None if clock.certain else self.part
        for clock in moments.clocks:
            if clock.minute is None and clock.until is not None:
                self.until, self.until_certain, self.length = clock.until, clock.until_certain, None


@dataclass(slots=True)
class Plan:
    """Something to be put into the calendar, changed or removed, and who stands behind it.

    `backing` are the speakers who agreed to what the plan says now, `willing` those who ever did.
    """

    action: Action | None
    activity: Activity | None = None
    when: When = field(default_factory=When)
    place: str | None = None
    people: list[str] = field(default_factory=list)
    target: ContextEvent | None = None
    backing: set[str] = field(default_factory=set)
    willing: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    addressees: frozenset[str] = frozenset()
    announced: bool = False
    asked: bool = False
    background: bool = False
    tentative: bool = False
    optional: bool = False
    dropped: bool = False
    touched: int = 0
    lines: list[Utterance] = field(default_factory=list)

    def quote(self, utterance: Utterance) -> None:
        if utterance not in self.lines:
            self.lines.append(utterance)

    def put_forward(self, speaker: str, *, asked: bool) -> None:
        """Notes that the content of the plan is now what `speaker` says."""
        self.backing = {speaker}
        self.willing.add(speaker)
        self.refused.clear()
        self.asked = asked
        self.dropped = False

    def back(self, speaker: str) -> None:
        self.backing.add(speaker)
        self.willing.add(speaker)
        self.refused.discard(speaker)
