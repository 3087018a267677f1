"""Time zones by the names people call them."""

from __future__ import annotations

from datetime import date, datetime, timedelta, tzinfo

from cal_ai.extractors.reader.patterns import any_of, pattern

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
ZONE = (
    rf"(?:{any_of(_ZONE_OF)})(?: standard| daylight)?(?: time)?\b"
    r"|(?:(?:my|our|your|local) time(?: zone)?|(?:for|over) (?:me|you)\b(?! to)|(?:my|your) end)"
)


def minutes_ahead(own: tzinfo | None, named: str, day: date) -> int:
    """What to add on `day` to a time in a zone, named as ZONE matches it, to get the own time."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    zone = _ZONE_OF.get(pattern(r"(?: standard| daylight)?(?: time)?$").sub("", named))
    if zone is None or own is None:
        return 0
    try:
        there = datetime(day.year, day.month, day.day, 12, tzinfo=ZoneInfo(zone))
        here = there.astimezone(own)
    except (ZoneInfoNotFoundError, OverflowError):
        return 0
    shift = (here.utcoffset() or timedelta()) - (there.utcoffset() or timedelta())
    return int(shift.total_seconds() // 60)
