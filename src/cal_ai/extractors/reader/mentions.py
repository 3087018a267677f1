"""Find the times that a conversation mentions, with their places and values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from cal_ai.extractors.protocol import Request
from cal_ai.extractors.reader.dates import Day, find_days
from cal_ai.extractors.reader.lengths import Length, Shift, find_from_now, find_lengths, find_shifts
from cal_ai.extractors.reader.patterns import Span, overlaps, pattern
from cal_ai.extractors.reader.reckoning import coming, minute_of, next_nth
from cal_ai.extractors.reader.spelling import plain
from cal_ai.extractors.reader.times import Clock, DayPart, find_clocks, find_parts, in_part

MentionKind = Literal["day", "week", "clock", "until", "part", "length", "shift"]
Value = date | int | str | tuple[int, int]
Moment = Day | Clock | DayPart | Length | Shift
# Characters of a line before and after its spelling is unified; the rest is not read.
_LONGEST_SPELT, _LONGEST_LINE = 4500, 1500
# Longer sentences are cut, so that the search for times stays quick.
_LONGEST_SENTENCE = 500
_SENTENCE_ENDS = (
    r"(?<=[.!?])[\"')\]]*\s+|(?<=[a-z]{3})\.(?=[A-Z])|[;\n]|\s+-{1,2}\s+|\s*—\s*|\s–\s"
    r"|\.{2,}\s*|\s*[\U0001F300-\U0001FAFF]\s*(?=\w)|,?\s+(?:but|because|though)\s+|:\s+"
)
# For this many lines after a week was named, weekdays are taken to be in it; and one whose date or
# week was said means that day again; for so many, the number of a date whose month was said.
_WEEK_LASTS = 3
_DATE_LASTS = 14


@dataclass(frozen=True, slots=True)
class Mention:
    """A time named in `line` at text[start:end]; equal kind and value mean the same time.

    The value is a date for days, the Monday for weeks, minutes after midnight for clocks (or after
    noon, where neither am nor pm is said), the name for parts of the day, minutes and whether they
    are added for lengths, minutes and days for shifts. `last` is the last day of several, `loose`
    means a weekday whose week was not said, `clock` is how a clock time was said.
    """

    line: int
    start: int
    end: int
    kind: MentionKind
    value: Value
    last: date | None = None
    loose: bool = False
    clock: Clock | None = None


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A conversation in unified spelling: its lines and the times in them, in order."""

    request: Request
    lines: tuple[str, ...]
    mentions: tuple[Mention, ...]

    @property
    def now(self) -> datetime:
        """The time of speaking on the owner's clock."""
        return self.request.now.replace(tzinfo=None)


def read_dialogue(request: Request) -> Dialogue:
    """Unify the spelling of a conversation and find every time that it mentions."""
    utterances = request.transcript.utterances
    lines = tuple(plain(turn.words[:_LONGEST_SPELT])[:_LONGEST_LINE] for turn in utterances)
    days = _Days(request.now.date())
    now = request.now.replace(tzinfo=None)
    mentions = [
        mention
        for number, text in enumerate(lines)
        for at, sentence in _sentences(text)
        for moment in find_moments(sentence, now)
        if (mention := days.mention(number, at, moment)) is not None
    ]
    mentions.sort(key=lambda mention: (mention.line, mention.start, mention.kind))
    return Dialogue(request, lines, tuple(mentions))


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """Split a text into sentences, each with its place."""
    at = 0
    for part in pattern(_SENTENCE_ENDS).split(text):
        sentence = part.strip(" ,")[:_LONGEST_SENTENCE]
        if sentence.strip(".!?"):
            at = text.index(sentence, at)
            yield at, sentence
            at += len(sentence)


def find_moments(text: str, now: datetime) -> list[Moment]:
    """Find all times in a sentence that is spoken at `now`, days first, each kind in order."""
    days = find_days(text, now.date())
    clocks = find_clocks(text, frozenset(day.end for day in days))
    clocks = [clock for clock in clocks if not overlaps(days, clock.start, clock.end)]
    for ahead in find_from_now(text):
        at = now + timedelta(minutes=ahead.minutes)
        days.append(Day(ahead.start, ahead.end, day=at.date()))
        clocks.append(Clock(ahead.start, ahead.end, minute_of(at)))
    taken: list[Span] = [*days, *clocks]
    shifts = [shift for shift in find_shifts(text) if not overlaps(taken, shift.start, shift.end)]
    taken += shifts
    lengths = [
        length for length in find_lengths(text) if not overlaps(taken, length.start, length.end)
    ]
    parts = [part for part in find_parts(text) if not overlaps(clocks, part.start, part.start + 1)]
    return [*days, *(in_part(clock, parts, text) for clock in clocks), *parts, *lengths, *shifts]


class _Days:
    """Resolves moments; knows the last day, for "the day after", weekdays, and dates in full."""

    def __init__(self, today: date) -> None:
        self._today = today
        self._last = today
        self._named: dict[int, tuple[date, int]] = {}
        self._dates: dict[int, tuple[date, int]] = {}  # 0: the month

    def mention(self, line: int, at: int, moment: Moment) -> Mention | None:
        """Make a mention of a moment in the sentence that begins at `at`; None if it is past."""
        place = line, at + moment.start, at + moment.end
        match moment:
            case Day(past=True):
                return None
            case Day(week=date() as week):
                self._named |= {n: (week + timedelta(days=n), line) for n in range(7)}
                return Mention(*place, "week", week)
            case Day():
                value = self._date(line, moment)
                self._last = value or self._last
                if value and moment.weekday is not None and not moment.loose:
                    self._named[value.weekday()] = (value, line)
                said = moment.month or moment.weekday is not None or value != moment.day
                if value and moment.month is not None and said:
                    self._dates |= {value.day: (value, line), 0: (value.replace(day=1), line)}
                loose = moment.loose and value == moment.day
                return Mention(*place, "day", value, moment.last, loose) if value else None
            case Clock(minute=None):
                return Mention(*place, "until", (moment.until or 0) % 720, clock=moment)
            case Clock():
                minute = (moment.minute or 0) % (1440 if moment.certain else 720)
                return Mention(*place, "clock", minute, clock=moment)
            case DayPart():
                return Mention(*place, "part", moment.part)
            case Length():
                return Mention(*place, "length", (moment.minutes, int(moment.change)))
            case Shift():
                return Mention(*place, "shift", (moment.minutes, moment.days))

    def _date(self, line: int, day: Day) -> date | None:
        if day.offset is not None:
            if day.weekday is not None:
                return coming(self._last, day.weekday)
            return self._last + timedelta(days=day.offset)
        if day.weekday is not None and day.loose:
            named, at = self._named.get(day.weekday, (self._today, 0))
            if line - at <= _WEEK_LASTS and named > self._today:
                return named
        if day.day and day.month is False and day.weekday is None and day.last is None:
            number = day.day.day if day.day.day in self._dates else 0
            since, at = self._dates.get(number, (self._today, line))
            if line - at <= (_DATE_LASTS if number else 0):
                return next_nth(max(since, self._today), day.day.day)
        return day.day
