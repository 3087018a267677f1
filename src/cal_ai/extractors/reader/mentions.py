"""The times a conversation mentions, each with its place and the value it stands for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from cal_ai.extractors.protocol import Request
from cal_ai.extractors.reader.clauses import clauses
from cal_ai.extractors.reader.date_forms import Day
from cal_ai.extractors.reader.moments import find_moments
from cal_ai.extractors.reader.reckoning import coming
from cal_ai.extractors.reader.spelling import plain
from cal_ai.extractors.reader.times import Clock

MentionKind = Literal["day", "week", "clock", "until", "part", "length", "shift"]
Value = date | int | str | tuple[int, int]
# Longer than anybody speaks in one go; what follows in such a line is not read.
_LONGEST_LINE = 1500
# How many lines a named week goes on to be meant by the weekdays that follow it.
_WEEK_LASTS = 3


@dataclass(frozen=True, slots=True)
class Mention:
    """A time named in `line` at text[start:end]; equal kind and value mean the same time.

    The value is a date for days, the Monday for weeks, minutes after midnight for clocks (or after
    noon, where neither am nor pm is said), the name for parts of the day, minutes and whether they
    are added for lengths, minutes and days for shifts. `last` is the last day of several, `clock`
    how a clock time was said.
    """

    line: int
    start: int
    end: int
    kind: MentionKind
    value: Value
    last: date | None = None
    clock: Clock | None = None


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A conversation in one spelling: its lines and the times in them, in order."""

    request: Request
    lines: tuple[str, ...]
    mentions: tuple[Mention, ...]

    @property
    def now(self) -> datetime:
        """The time of speaking by the owner's clock."""
        return self.request.now.replace(tzinfo=None)


def read_dialogue(request: Request) -> Dialogue:
    """The conversation of a request, with every time that is mentioned in it."""
    lines = tuple(plain(each.words)[:_LONGEST_LINE] for each in request.transcript.utterances)
    mentions = _Days(request.now.date()).resolved(lines, request.now.replace(tzinfo=None))
    return Dialogue(
        request, lines, tuple(sorted(mentions, key=lambda it: (it.line, it.start, it.kind)))
    )


class _Days:
    """The day that was spoken of last, from which "the day after" counts, and the last week."""

    def __init__(self, today: date) -> None:
        self._today = today
        self._last = today
        self._week: tuple[date, int] | None = None

    def resolved(self, lines: Sequence[str], now: datetime) -> Iterator[Mention]:
        for number, text in enumerate(lines):
            at = 0
            for clause in clauses(text):
                at = max(text.find(clause, at), 0)
                found = find_moments(clause, now)
                for day in found.days:
                    if (mention := self._day(number, at, day)) is not None:
                        yield mention
                yield from (_clock(number, at, clock) for clock in found.clocks)
                for part in found.parts:
                    yield Mention(number, at + part.start, at + part.end, "part", part.part)
                for length in found.lengths:
                    value = (length.minutes, int(length.change))
                    yield Mention(number, at + length.start, at + length.end, "length", value)
                for shift in found.shifts:
                    value = (shift.minutes, shift.days)
                    yield Mention(number, at + shift.start, at + shift.end, "shift", value)
                at += len(clause)

    def _day(self, line: int, at: int, day: Day) -> Mention | None:
        start, end = at + day.start, at + day.end
        if day.past:
            return None
        if day.week is not None:
            self._week = (day.week, line)
            return Mention(line, start, end, "week", day.week)
        value = self._date(line, day)
        if value is None:
            return None
        self._last = value
        return Mention(line, start, end, "day", value, last=day.last)

    def _date(self, line: int, day: Day) -> date | None:
        if day.offset is not None:
            if day.weekday is not None:
                return coming(self._last, day.weekday)
            return self._last + timedelta(days=day.offset)
        if day.weekday is not None and self._week and line - self._week[1] <= _WEEK_LASTS:
            in_week = self._week[0] + timedelta(days=day.weekday)
            if in_week > self._today:
                return in_week
        return day.day


def _clock(line: int, at: int, clock: Clock) -> Mention:
    start, end = at + clock.start, at + clock.end
    if clock.minute is None:
        return Mention(line, start, end, "until", (clock.until or 0) % 720, clock=clock)
    minute = clock.minute if clock.certain else clock.minute % 720
    return Mention(line, start, end, "clock", minute, clock=clock)
