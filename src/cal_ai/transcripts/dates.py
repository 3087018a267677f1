"""When a conversation took place, from the dates in front of its lines.

`05/03/26` is 5 March or 3 May. The order of day and month is taken in which all dates exist and
none is before the one above it; the day comes first if both orders fit, or neither does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

_STAMP = re.compile(
    r"[\s\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]*(?:[\[(]\s*)?"
    r"(\d{1,4})[-./]\s?(\d{1,2})[-./]\s?(\d{1,4})\.?[T,\s]\s*(?:(?:à|klo)\s+)?"
    r"(\d{1,2})[:.](\d{2})(?:[:.]\d{2})?(?:\s?([AaPp])\.?\s?[Mm]\b)?"
)
DAY_FIRST, MONTH_FIRST = "day/month/year", "month/day/year"
_YEAR_FIRST = "year-month-day"
_YEARS = range(1990, 2100)


@dataclass(frozen=True, slots=True)
class Dating:
    """When the messages were sent; `assumed` is the order of the dates if the text is unclear.

    `last_day` is the number of the line with the first message of the last day.
    """

    first: datetime
    last: datetime
    assumed: str | None = None
    last_day: int = 1


def find_dating(messages: Iterable[tuple[int, str, bool]]) -> Dating | None:
    """Find when messages were sent from the numbers and texts of the lines they begin with.

    With each line comes whether somebody speaks there: the dates of notices only show their order.
    """
    stamps = [
        (match, number if spoken else None)
        for number, line, spoken in messages
        if (match := _STAMP.match(line))
    ]
    orders = [_YEAR_FIRST] if stamps and len(stamps[0][0][1]) == 4 else [DAY_FIRST, MONTH_FIRST]
    readings = {}
    for order in orders:
        moments = [(_moment(stamp, order), number) for stamp, number in stamps]
        readings[order] = [(moment, number) for moment, number in moments if moment is not None]
    most = max(map(len, readings.values()))
    possible = {order: dated for order, dated in readings.items() if len(dated) == most}
    fitting = [order for order, dated in possible.items() if _ascend(m for m, _ in dated)]
    fitting = fitting or list(possible)
    said = {order: [(m, n) for m, n in possible[order] if n is not None] for order in fitting}
    said = {order: messages for order, messages in said.items() if messages}
    if not said:
        return None
    order, chosen = next(iter(said.items()))
    first, last = chosen[0][0], chosen[-1][0]
    is_clear = all(others[-1][0] == last for others in said.values())
    last_day = min(number for moment, number in chosen if moment.date() == last.date())
    return Dating(first, last, None if is_clear else order, last_day)


def dating_line(dating: Dating) -> str:
    """Tell what dates count from, and the order of day and month where the text leaves it open."""
    line = f"dates count from {dating.last:%Y-%m-%d %H:%M}, the time of the last message"
    if dating.assumed:
        line += f", read as {dating.assumed}; if that is wrong, say when it was with --now DATETIME"
    if dating.first.date() < dating.last.date():
        line += (
            f'; so does "tomorrow" in older messages (since {dating.first:%Y-%m-%d}):'
            " remove those that are over"
        )
    return line


def _ascend(moments: Iterable[datetime]) -> bool:
    """Whether no day is before the one above it; messages of a day may be out of order."""
    return all(before.date() <= after.date() for before, after in pairwise(moments))


def _moment(stamp: re.Match[str], order: str) -> datetime | None:
    """Read a date and a time in one order; None where no such day exists."""
    first, second, third, hour, minute = (int(part) for part in stamp.groups()[:5])
    if half := stamp[6]:
        hour = hour % 12 + (12 if half in "Pp" else 0)
    if order == _YEAR_FIRST:
        year, month, day = first, second, third
    else:
        day, month = (first, second) if order == DAY_FIRST else (second, first)
        year = third if third > 99 else 2000 + third
    try:
        return datetime(year, month, day, hour, minute) if year in _YEARS else None
    except ValueError:
        return None
