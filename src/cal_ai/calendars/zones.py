"""Times as the owner means them: local where no zone is said, whatever daylight saving does."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
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

    Without a named zone the machine's rules for that day apply. A time that the clocks skip
    becomes the one that they show instead.
    """
    if zone is None:
        return moment.astimezone()
    return _aware(moment, zone).astimezone(UTC).astimezone(zone)


def midnight(day: date, zone: ZoneInfo | None) -> datetime:
    """The moment at which the day begins for the owner."""
    return in_zone(datetime.combine(day, time()), zone)


def later(moment: datetime, by: timedelta) -> datetime:
    """The moment after this much time has passed, whatever the clocks do meanwhile."""
    return (moment.astimezone(UTC) + by).astimezone(moment.tzinfo)


def oddity(moment: datetime, zone: ZoneInfo | None) -> str | None:
    """What is odd about a time as it was said: the clocks skip it, or show it twice."""
    if zone is None:
        return None
    said = _aware(moment, zone)
    meant = said.astimezone(UTC).astimezone(said.tzinfo)
    shown = f"{said:%H:%M} on {said:%Y-%m-%d}"
    if meant.replace(tzinfo=None) != said.replace(tzinfo=None):
        return f"the clocks skip {shown}: taken as {meant:%H:%M}"
    if said.replace(fold=0).utcoffset() != said.replace(fold=1).utcoffset():
        return f"the clocks show {shown} twice: the {'second' if said.fold else 'first'} is meant"
    return None


def _aware(moment: datetime, zone: ZoneInfo) -> datetime:
    return moment.replace(tzinfo=zone) if moment.tzinfo is None else moment
