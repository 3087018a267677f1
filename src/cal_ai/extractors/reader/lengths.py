"""Find durations, shifts and times counted from now in a text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cal_ai.extractors.reader.patterns import Span, matches, occurs, overlaps
from cal_ai.extractors.reader.reckoning import NUMBER, number


@dataclass(frozen=True, slots=True)
class Length(Span):
    """A duration; `change` is True where it is added to the present one ("an extra hour")."""

    minutes: int
    change: bool = False


@dataclass(frozen=True, slots=True)
class Shift(Span):
    """How far to move a time, in minutes or whole days ("an hour later", "up 30 minutes")."""

    minutes: int = 0
    days: int = 0


_LENGTH = (
    rf"(?<![\w.])(?:(?P<count>{NUMBER}|half(?: an?)?|three[ -]quarters of an?|(?:a )?quarter of an"
    r"|\d+\.5|an? half)(?P<before> and a half)?[ -]?(?P<unit>hours?|(?<=\d)h\b|minutes?"
    r"|(?<=\d)m\b|days?)(?P<half> and a half| and a quarter)?(?: (?:and )?(?P<extra>\d{1,2})"
    r" ?(?:minutes?|m\b)?)?)"
)
_LATER = r"(?:later|back|out|after(?: that)?|behind)"
_EARLIER = r"(?:earlier|sooner|forward|ahead|up)"
_BEFORE = rf"\b(?P<way>{_LATER}|{_EARLIER})(?: by)? (?:about |around )?{_LENGTH}"
_AFTER = rf"{_LENGTH} (?P<way>{_LATER}|{_EARLIER})\b"
_BY = (
    r"\b(?P<way>push|delay|postpone|bump|slide|move(?= .{0,40}\bby\b))\w*"
    rf" (?:it |that |this |(?:the|our|my) [\w ]+? )?(?:by |back )?(?:about )?{_LENGTH}"
)
_WEEKS = (
    rf"\b(?:back|out|by|forward|up|wait)(?: by)?(?: exactly| about)?"
    rf" (?P<count>{NUMBER}) (?P<unit>days?|weeks?)\b"
    rf"|\b(?P<count2>{NUMBER}) (?P<unit2>days?|weeks?) (?P<way>{_LATER}|{_EARLIER})\b"
)
_AHEAD = rf"\bin (?:about |around |like )?{_LENGTH}\b(?! (?:meeting|call))"

# Words around a length that show that it is not the duration of an event.
_AWAY_BEFORE = (
    r"\b(?:in|every|last|past|next|within|took|after|waited|been|drive"
    r"|(?<!'s )(?<!be )(?<!takes )only|at least)\s*(?:about |around |the )?$"
)
_AWAY_AFTER = (
    r"^\s*(?:ago|later|earlier|before|after|from|away|back|drive|walk|flight|notice|late|into"
    r"|straight|left)\b"
)
_ADDED_BEFORE = (
    r"\b(?:extra|another|additional|extend(?:ed)?(?: \w+){0,4} by|add|lengthen(?: \w+){0,3} by)\s*"
    r"(?:an? )?$"
)
_ADDED_AFTER = r"^\s*(?:longer|more|extra)\b"


def _minutes(match: re.Match[str]) -> int:
    """Return the minutes that a match of _LENGTH stands for."""
    count, unit = match["count"], match["unit"]
    if "half" in count:
        amount = 0.5
    elif "quarter" in count:
        amount = 0.75 if count.startswith("three") else 0.25
    else:
        amount = float(count) if "." in count else number(count)
    more = (match["before"] or "") + (match["half"] or "")
    amount += 0.5 if "half" in more else 0.25 if more else 0
    per = 24 * 60 if unit.startswith("d") else 60 if unit.startswith("h") else 1
    return int(amount * per) + int(match["extra"] or 0)


def find_shifts(text: str) -> list[Shift]:
    """Find how far times are moved ("an hour later", "back a week")."""
    shifts: list[Shift] = []
    for match in matches(_WEEKS, text):
        days = number(match["count"] or match["count2"]) * (7 if "week" in match[0] else 1)
        sign = -1 if occurs(rf"\b{_EARLIER}\b", match[0]) else 1
        shifts.append(Shift(*match.span(), days=sign * days))
    for source in (_AFTER, _BEFORE, _BY):
        for match in matches(source, text):
            if not overlaps(shifts, *match.span()):
                sign = -1 if occurs(rf"^{_EARLIER}$", match["way"]) else 1
                # A day may be named between the verb and the length.
                start = match.start("count") if source == _BY else match.start()
                shifts.append(Shift(start, match.end(), minutes=sign * _minutes(match)))
    return shifts


def find_from_now(text: str) -> list[Length]:
    """Find times that are counted from now ("in half an hour")."""
    return [
        Length(*match.span(), _minutes(match))
        for match in matches(_AHEAD, text)
        if not match["unit"].startswith("d")
    ]


def find_lengths(text: str) -> list[Length]:
    """Find durations ("for an hour and a half", "a 30-minute call", "half an hour")."""
    lengths = []
    for match in matches(_LENGTH, text):
        before, after = match.string[: match.start()], match.string[match.end() :]
        if not occurs(_AWAY_AFTER, after) and not occurs(_AWAY_BEFORE, before):
            added = occurs(_ADDED_AFTER, after) or occurs(_ADDED_BEFORE, before)
            lengths.append(Length(*match.span(), _minutes(match), added))
    return lengths
