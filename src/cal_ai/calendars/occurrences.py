"""The occurrences of an event in a window, found within bounds whatever its rule says.

A rule of one line can name a moment in every second since 1970, one that never comes, or the same
one for ever; the library that expands rules would be at it for hours.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

MOST_OCCURRENCES = 1_000
MOST_STEPS = 1_500_000
"""Function calls that the expansion of one event may take: well under a second."""

# Rules as people make them: a few days in each week, month or year. They need no watching.
_DAY = r"(-?[1-4])?(MO|TU|WE|TH|FR|SA|SU)"
_PLAIN_RULES = (
    re.compile(rf"FREQ=(WEEKLY|MONTHLY|YEARLY)(;INTERVAL=[1-9]\d?)?;BYDAY={_DAY}(,{_DAY}){{0,6}}"),
    re.compile(r"FREQ=(DAILY|WEEKLY|MONTHLY|YEARLY)(;INTERVAL=[1-9]\d?)?"),
)
_HARMLESS = re.compile(r";(COUNT=\d{1,4}|UNTIL=[\dTZ]{8,16}|WKST=[A-Z]{2})(?=;|$)")
_EARLIEST_PLAIN_YEAR = 2000


class BeyondBoundsError(Exception):
    """An event with more occurrences, or more work to find them, than is allowed."""


@dataclass(slots=True)
class Budget:
    """What may still be spent on the events of one calendar together."""

    steps: int = 3 * MOST_STEPS
    plain_events: int = 500
    """Recurring ones; those that do not recur are found at once, however many they are."""

    def occurrences(self, parsed: Any, start: datetime, end: datetime) -> list[Any]:
        """The occurrences of the events in `parsed` that overlap the window.

        Raises `BeyondBoundsError` rather than look for them for long.
        """
        import recurring_ical_events  # type: ignore[import-untyped]  # ships no types

        def find() -> list[Any]:
            return list(recurring_ical_events.of(parsed).between(start, end))

        recurs = any("RRULE" in event or "RDATE" in event for event in parsed.subcomponents)
        self.plain_events -= recurs
        watched = recurs and (self.plain_events < 0 or not _is_plain(parsed))
        found = self._watched(find) if watched else find()
        if len(found) > MOST_OCCURRENCES:
            raise BeyondBoundsError(f"it occurs more than {MOST_OCCURRENCES} times in these days")
        return found

    def _watched(self, find: Callable[[], list[Any]]) -> list[Any]:
        """What `find` finds; an error as soon as it has called too many functions.

        Counted, not timed: whether an event is seen must not depend on how busy the machine is.
        """
        allowed = left = min(self.steps, MOST_STEPS)
        before = sys.getprofile()

        def count(frame: object, event: str, argument: object) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                sys.setprofile(before)
                raise BeyondBoundsError("its rule names too many days and times to look through")

        sys.setprofile(count)
        try:
            return find()
        finally:
            sys.setprofile(before)
            self.steps -= allowed - left


def _is_plain(parsed: Any) -> bool:
    """Whether every rule is of a kind that is expanded at once."""
    for event in parsed.subcomponents:
        rules = event.get("RRULE")
        if rules is None:
            continue
        begin = getattr(event.get("DTSTART"), "dt", None)
        if isinstance(rules, list) or begin is None or begin.year < _EARLIEST_PLAIN_YEAR:
            return False
        rule = _HARMLESS.sub("", rules.to_ical().decode())
        if not any(plain.fullmatch(rule) for plain in _PLAIN_RULES):
            return False
    return True
