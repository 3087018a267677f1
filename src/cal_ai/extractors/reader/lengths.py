"""Durations, shifts and waiting times named in a text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cal_ai.extractors.reader.patterns import found, overlaps, small, small_pattern
from cal_ai.extractors.reader.reckoning import NUMBER, number


@dataclass(frozen=True, slots=True)
class Length:
    """A duration; `change` is True where it is added to the one there is ("an extra hour")."""

    start: int
    end: int
    minutes: int
    change: bool = False


@dataclass(frozen=True, slots=True)
class Shift:
    """How far to move a time, in minutes or whole days ("an hour later", "up 30 minutes")."""

    start: int
    end: int
    minutes: int = 0
    days: int = 0


_AMOUNT = (
    rf"(?:(?P<count>{NUMBER}|half(?: an?)?|three[ -]quarters of an?|(?:a )?quarter of an|\d+\.5"
    r"|an? half)[ -]?(?P<unit>hours?|(?<=\d)h\b|minutes?|(?<=\d)m\b|days?)(?P<half> and a half| "
    rf"and a quarter)?(?: (?:and )?(?P<extra>\d{{1,2}}) ?(?:minutes?|m\b)?)?)"
)
_ONE_HALF = rf"(?:(?P<count2>{NUMBER}) and a half hours?)"
_LENGTH = rf"(?<![\w.])(?:{_ONE_HALF}|{_AMOUNT})"
_UNIT = r"hour|minute|day|week|\d ?[hm]\b"
_LATER = r"(?:later|back|out|after(?: that)?|behind)"
_EARLIER = r"(?:earlier|sooner|forward|ahead|up)"


_BEFORE = rf"\b(?P<way>{_LATER}|{_EARLIER})(?: by)? (?:about |around )?{_LENGTH}"
_AFTER = rf"{_LENGTH} (?P<way>{_LATER}|{_EARLIER})\b"
_BY = (
    rf"\b(?P<way>push|delay|postpone|bump|slide)\w* (?:it |that |this |the [\w ]+? |our [\w"
    rf" ]+? |my [\w ]+? )?(?:by |back )?(?:about )?{_LENGTH}"
)
_WEEKS = (
    rf"\b(?:back|out|by|forward|up|wait)(?: by)?(?: exactly| about)?"
    rf" (?P<count>{NUMBER}) (?P<unit>days?|weeks?)\b"
    rf"|\b(?P<count2>{NUMBER}) (?P<unit2>days?|weeks?) (?P<way>{_LATER}|{_EARLIER})\b"
)
_AHEAD = rf"\bin (?:about |around |like )?{_LENGTH}\b(?! (?:meeting|call))"


def minutes_of(match: re.Match[str]) -> int:
    """The minutes that a match of _LENGTH stands for."""
    if match["count2"]:
        return number(match["count2"]) * 60 + 30
    said, unit = match["count"], match["unit"]
    if "half" in said:
        amount = 0.5
    elif "quarter" in said:
        amount = 0.75 if said.startswith("three") else 0.25
    elif "." in said:
        amount = float(said)
    else:
        amount = float(number(said))
    per = 24 * 60 if unit.startswith("d") else 60 if unit.startswith("h") else 1
    minutes = int(amount * per)
    if match["half"]:
        minutes += per // 2 if "half" in match["half"] else per // 4
    return minutes + int(match["extra"] or 0)


def find_shifts(text: str) -> list[Shift]:
    """How far a time is moved, where a distance is named instead of a new time."""
    shifts: list[Shift] = []
    if not found(_UNIT, text):
        return shifts
    text = small(text)
    for match in small_pattern(_WEEKS).finditer(text):
        days = number(match["count"] or match["count2"]) * (7 if "week" in match[0] else 1)
        sign = -1 if found(rf"\b{_EARLIER}\b", match[0]) else 1
        shifts.append(Shift(match.start(), match.end(), days=sign * days))
    for source in (_AFTER, _BEFORE, _BY):
        for match in small_pattern(source).finditer(text):
            if overlaps(shifts, *match.span()):
                continue
            sign = -1 if found(rf"^{_EARLIER}$", match["way"]) else 1
            shifts.append(Shift(match.start(), match.end(), minutes=sign * minutes_of(match)))
    return shifts


def find_from_now(text: str) -> list[Length]:
    """Minutes from the time of speaking ("in half an hour")."""
    if not found(_UNIT, text):
        return []
    return [
        Length(match.start(), match.end(), minutes_of(match))
        for match in small_pattern(_AHEAD).finditer(small(text))
        if not (match["unit"] or "h").startswith("d")
    ]


def find_lengths(text: str) -> list[Length]:
    """Durations ("for an hour and a half", "a 30-minute call", "half an hour")."""
    lengths: list[Length] = []
    if not found(_UNIT, text):
        return lengths
    text = small(text)
    for match in small_pattern(_LENGTH).finditer(text):
        before, after = text[: match.start()], text[match.end() :]
        if found(
            r"^\s*(?:ago|later|earlier|before|after|from|away|back|drive|walk|flight|notice|late"
            r"|into|straight|left)\b",
            after,
        ):
            continue
        if found(
            r"\b(?:in|every|last|past|next|within|took|after|waited|been|drive|(?<!'s )(?<!be "
            r")(?<!takes )only|at least)\s*(?:about |around |the )?$",
            before,
        ):
            continue
        change = found(r"^\s*(?:longer|more|extra)\b", after)
        change = change or found(
            r"\b(?:extra|another|additional|extend(?:ed)?(?: \w+){0,4} by|add|lengthen(?:"
            r" \w+){0,3} by)\s*(?:an? )?$",
            before,
        )
        lengths.append(Length(match.start(), match.end(), minutes_of(match), change))
    return lengths
