"""Time zones by the names people call them."""

from __future__ import annotations

from datetime import date, datetime, timedelta, tzinfo

from cal_ai.extractors.rules.patterns import any_of, pattern

_NAMES = {
    "America/New_York": "eastern, et, est, edt, east coast, new york, nyc, boston, toronto,"
    " atlanta",
    "America/Chicago": "central, ct, cst, cdt, chicago, austin, dallas, houston",
    "America/Denver": "mountain, mt, mst, mdt, denver, boulder",
    "America/Los_Angeles": "pacific, pt, pst, pdt, west coast, sf, san francisco, seattle, la,"
    " los angeles, california, portland",
    "UTC": "utc, gmt, zulu",
    "Europe/London": "bst, uk, london, british",
    "Europe/Paris": "cet, cest, central european, berlin, paris, madrid, amsterdam, munich, rome",
    "Asia/Kolkata": "ist, india, bangalore, mumbai, delhi",
    "Asia/Tokyo": "jst, tokyo, japan",
    "Asia/Singapore": "sgt, singapore",
    "Australia/Sydney": "aest, aedt, sydney, melbourne",
}
_ZONE_OF = {name: zone for zone, names in _NAMES.items() for name in names.split(", ")}
# "ct", "la" and "mt" are words of their own; after a clock time they are zones.
_ALONE = [name for name in _ZONE_OF if name not in ("ct", "la", "mt", "et", "pt", "sf", "uk")]

ZONE = rf"(?:{any_of(_ZONE_OF)})(?: standard| daylight)?(?: time)?\b"
OWN_ZONE = (
    r"(?:(?:my|our|your|local) time(?: zone)?|(?:for|over) (?:me|you)\b(?! to)|(?:my|your) end)"
)
_LIVES_IN = (
    rf"\bI'?(?:m| am) (?:(?:based |over |out |here )?(?:in|on)|at) (?:the )?({any_of(_ALONE)})\b"
)


def zone_named(words: str) -> str | None:
    """The IANA key of a zone named as ZONE matches it."""
    name = pattern(r"(?: standard| daylight)?(?: time)?$").sub("", words.strip().lower())
    return _ZONE_OF.get(name)


def zone_lived_in(text: str) -> str | None:
    """The zone a speaker places himself in ("I'm in Chicago", "I'm on Pacific time"), if any."""
    match = pattern(_LIVES_IN).search(text)
    return _ZONE_OF.get(match[1].lower()) if match else None


def minutes_between(source: str, target: tzinfo | str, day: date) -> int | None:
    """What to add to a time in `source` on `day` to get that in `target`; None if unknown."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        here = datetime(day.year, day.month, day.day, 12, tzinfo=ZoneInfo(source))
        there = here.astimezone(ZoneInfo(target) if isinstance(target, str) else target)
    except (ZoneInfoNotFoundError, OverflowError):
        return None
    shift = (there.utcoffset() or timedelta()) - (here.utcoffset() or timedelta())
    return int(shift.total_seconds() // 60)
