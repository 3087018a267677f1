"""Times as the owner means them: local where no zone is said, whatever daylight saving does."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from pathlib import Path
from zoneinfo import ZoneInfo

_LOCALTIME = Path("/etc/localtime")


def machine_zone(environ: Mapping[str, str], localtime: Path = _LOCALTIME) -> ZoneInfo | None:
    """The machine's time zone by name; None where only its present offset can be known."""
    named = environ.get("TZ", "").removeprefix(":")
    if not named:
        target = os.path.realpath(localtime)
        named = target.partition("/zoneinfo/")[2]
    try:
        return ZoneInfo(named) if named else None
    except (KeyError, ValueError, OSError):
        return None


def in_zone(moment: datetime, zone: ZoneInfo | None) -> datetime:
    """The moment in the owner's zone; one without a zone is taken as local there.

    Without a named zone the machine's rules for that day apply.
    """
    if zone is None:
        return moment.astimezone()
    return moment.replace(tzinfo=zone) if moment.tzinfo is None else moment.astimezone(zone)


def midnight(day: date, zone: ZoneInfo | None) -> datetime:
    """The moment at which the day begins for the owner."""
    return in_zone(datetime.combine(day, time()), zone)


def oddity(moment: datetime) -> str | None:
    """What is odd about a local time: the clock skips it, or shows it twice."""
    if moment.tzinfo is None:
        return None
    there = moment.astimezone(UTC).astimezone(moment.tzinfo)
    shown = f"{moment:%H:%M} on {moment:%Y-%m-%d}"
    if there.replace(tzinfo=None) != moment.replace(tzinfo=None):
        return f"the clocks skip {shown}; taken as {there:%H:%M}"
    if moment.replace(fold=0).utcoffset() != moment.replace(fold=1).utcoffset():
        return f"the clocks show {shown} twice; the {'second' if moment.fold else 'first'} is meant"
    return None
