"""What is known about the time of a plan, filled in as the conversation goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from cal_ai.extractors.rules.date_forms import Day
from cal_ai.extractors.rules.moments import Moments
from cal_ai.extractors.rules.patterns import found
from cal_ai.extractors.rules.reckoning import coming, monday_of
from cal_ai.extractors.rules.times import Clock, Part


@dataclass(frozen=True, slots=True)
class Saying:
    """The circumstances under which a time is named.

    `day_of_target` is the day of the calendar event that is talked about, `by_owner` says whose
    clock "my time" is.
    """

    today: date
    day_of_target: date | None
    by_owner: bool


@dataclass(slots=True)
class When:
    """Day, clock time, part of the day, end and duration of a plan, as far as they were named.

    `usual_day` is the day talked about before this plan came up, `week` the Monday of the week in
    which a weekday is to be understood, `also` are further days with their own times or the same.
    """

    day: date | None = None
    last: date | None = None
    usual_day: date | None = None
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
    options: tuple[tuple[date, Clock], ...] = ()
    also: tuple[tuple[date, Clock | None], ...] = ()

    def take(self, moments: Moments, saying: Saying) -> bool:
        """Fills in what `moments` say; True if that changed anything."""
        before, day_before = self._facts(), self.day
        for day in sorted(moments.days, key=lambda day: day.week is None):
            if self._take_day(day, saying):
                break
        if day_before is not None and self.day not in (None, day_before):
            self.part = None  # "Wednesday afternoon?" "Thursday, at eight."
        self._take_parts(moments)
        self._take_clocks(moments, saying)
        self._choose(moments)
        for length in moments.lengths[:1]:
            if length.change:
                self.longer = length.minutes
            else:
                self.length, self.until, self.longer = length.minutes, None, 0
        if moments.clocks:
            self.shift_minutes = 0
        if moments.dates:
            self.shift_days = 0
        for shift in moments.shifts:
            self.shift_minutes, self.shift_days = shift.minutes, shift.days
        return before != self._facts()

    @property
    def is_known(self) -> bool:
        return self.day is not None or self.clock is not None

    @property
    def minute(self) -> int | None:
        """When on the day it starts, in minutes since midnight."""
        return self.clock.minute if self.clock is not None else None

    @property
    def point(self) -> tuple[object, ...]:
        """When it starts, as far as that is known: what people agree to."""
        minute = self.minute % 720 if self.minute is not None else None
        shift = (self.shift_minutes, self.shift_days)
        return self.day, minute, self.part if self.clock is None else None, shift, self.week

    def _facts(self) -> tuple[object, ...]:
        part = self.part if self.clock is None else None
        shift = (self.shift_minutes, self.shift_days)
        return self.day, self.minute, self.until, part, self.length, self.longer, shift, self.week

    def _choose(self, moments: Moments) -> None:
        """Keeps a choice of day and time ("Monday at 9 or Tuesday at 4"), or the one chosen."""
        if len(moments.dates) > 1 and len(moments.days) == len(moments.clocks):
            pairs = zip(moments.days, moments.clocks, strict=True)
            self.options = tuple((day.day, clock) for day, clock in pairs if day.day is not None)
            return
        starts = [clock for clock in moments.clocks if clock.minute is not None]
        if len(starts) > 1 and self.day is not None:
            self.options = tuple((self.day, clock) for clock in starts)
            return
        for day, clock in self.options:
            by_day = bool(moments.days) and not moments.clocks and self.day is not None
            if by_day and self.day is not None and day.weekday() == self.day.weekday():
                self.day, self.clock = day, clock
            by_time = bool(moments.clocks) and not moments.days and clock.minute is not None
            if by_time and moments.minutes == {(clock.minute or 0) % 720}:
                self.day = day

    def pick(self, text: str) -> None:
        """Takes the one of the times on offer that `text` points at ("the later one")."""
        if len(self.options) < 2:
            return
        if found(r"\bthe (?:second|later|latter|last|other)\b", text):
            self.day, self.clock = self.options[-1]
        elif found(r"\bthe (?:first|earlier|former)\b", text):
            self.day, self.clock = self.options[0]

    def _take_day(self, day: Day, saying: Saying) -> bool:
        """Whether `day` names one day; a whole week only tells which weekdays are meant."""
        if day.week is not None:
            self.week, self.day = day.week, None
            return False
        meant = self._counted(day, saying) if day.offset is not None else day.day
        if meant is None:
            return False
        if day.weekday is not None and day.offset is None and self.week is not None:
            in_week = self.week + timedelta(days=day.weekday)
            meant = in_week if in_week > saying.today else meant
        target = saying.day_of_target
        if target is not None and self.day is None and day.weekday == target.weekday():
            meant = target
        elif target is not None and self.week is None and day.is_plain and day.weekday is not None:
            monday = monday_of(target)
            meant = max(meant, monday + timedelta(days=day.weekday))
        self.day, self.last, self.vague_day = meant, day.last, day.vague
        self.week = monday_of(meant)
        return True

    def _counted(self, day: Day, saying: Saying) -> date | None:
        """The day that counts from another one ("the day after", "the following Monday")."""
        anchor = self.day or saying.day_of_target or self.usual_day
        if day.offset == 0 and day.weekday is None:
            anchor = self.usual_day or anchor
        if anchor is None:
            return None
        if day.weekday is not None:
            return coming(anchor, day.weekday)
        return anchor + timedelta(days=day.offset or 0)

    def _take_parts(self, moments: Moments) -> None:
        for part in moments.parts[:1]:
            self.part, self.whole_part = part.part, part.whole
            if moments.days and not moments.clocks:
                self.clock = self.until = None

    def _take_clocks(self, moments: Moments, saying: Saying) -> None:
        for clock in moments.clocks:
            if clock.minute is None and clock.until is not None:
                self._end_at(clock)
        named = _owners(moments.clocks, saying.by_owner)
        if named is None or self._is_repeated(named) or self._is_end(named):
            return
        if self.clock is not None and self.clock.minute != named.minute:
            self.until = None
        self.clock = named
        if named.until is not None:
            self._end_at(named)
        if named.certain and not moments.parts:
            self.part = None

    def _end_at(self, clock: Clock) -> None:
        self.until, self.until_certain, self.length = clock.until, clock.until_certain, None

    def _is_bound(self, clock: Clock) -> bool:
        """Whether "any time after ten" only says that the half past ten on the table will do."""
        held = self.clock
        if held is None or held.minute is None or held.approximate or clock.minute is None:
            return False
        return clock.approximate and 0 < (held.minute - clock.minute) % 720 <= 60

    def _is_end(self, clock: Clock) -> bool:
        """Whether the time only repeats when it ends, all that is known of it so far."""
        if self.until is None or self.clock is not None:
            return False
        if clock.minute is None or clock.until is not None:
            return False
        return self.until % 720 == clock.minute % 720

    def _is_repeated(self, clock: Clock) -> bool:
        """Whether "3" only repeats the "3pm" that is known, with its zone."""
        if self._is_bound(clock):
            return True
        held = self.clock.minute if self.clock is not None and self.clock.certain else None
        if held is None or clock.minute is None or clock.certain or clock.until is not None:
            return False
        return held % 720 == clock.minute % 720


def _owners(clocks: Sequence[Clock], by_owner: bool) -> Clock | None:
    """Of the times named, the one on the owner's clock; of a range of zones, the first."""
    starts = [clock for clock in clocks if clock.minute is not None]
    own = r"^(?:my|our|local|for me|over me)" if by_owner else r"^(?:your|for you|over you)"
    foreign = r"^(?:your|for you)" if by_owner else r"^(?:my|for me)"
    ours = [clock for clock in starts if found(own, clock.zone)]
    rest = [clock for clock in starts if not found(foreign, clock.zone)]
    return next(iter((*ours, *rest)), None)
