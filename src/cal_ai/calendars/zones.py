"""Convert times to the owner's zone across clock changes, and write zones as iCalendar."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

_LOCALTIME = Path("/etc/localtime")

_YEARS = 10
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")

# What a clock change begins: whether it is summer time, its name, old and new offset.
_Hours = tuple[bool, str, timedelta, timedelta]


def machine_zone(environ: Mapping[str, str], localtime: Path = _LOCALTIME) -> ZoneInfo | None:
    """Return the machine's time zone; None if only its current offset is known."""
    named = environ.get("TZ", "").removeprefix(":")
    if not named:
        target = os.path.realpath(localtime)
        named = target.partition("/zoneinfo/")[2]
    try:
        return ZoneInfo(named) if named else None
    except (KeyError, ValueError, OSError):
        return None


def in_zone(moment: datetime, zone: ZoneInfo | None) -> datetime:
    """Convert a moment to the owner's zone; without a zone of its own it is local time there.

    If `zone` is None, the machine's rules for that day apply. A time that the clocks skip becomes
    the time that they show instead.
    """
    if zone is None:
        return moment.astimezone()
    return _aware(moment, zone).astimezone(UTC).astimezone(zone)


def midnight(day: date, zone: ZoneInfo | None) -> datetime:
    """Return the moment at which the day begins for the owner."""
    return in_zone(datetime.combine(day, time()), zone)


def later(moment: datetime, by: timedelta) -> datetime:
    """Add elapsed time to a moment, across any change of the clocks."""
    return (moment.astimezone(UTC) + by).astimezone(moment.tzinfo)


def oddity(moment: datetime, zone: ZoneInfo | None) -> str | None:
    """Tell that the clocks skip a local time or show it twice; None for all other times."""
    if zone is None:
        return None
    local = _aware(moment, zone)
    actual = local.astimezone(UTC).astimezone(local.tzinfo)
    shown = f"{local:%H:%M} on {local:%Y-%m-%d}"
    if actual.replace(tzinfo=None) != local.replace(tzinfo=None):
        return f"the clocks skip {shown}: taken as {actual:%H:%M}"
    if local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset():
        return f"the clocks show {shown} twice: the {'second' if local.fold else 'first'} is meant"
    return None


def _aware(moment: datetime, zone: ZoneInfo) -> datetime:
    return moment.replace(tzinfo=zone) if moment.tzinfo is None else moment


def vtimezone(zone: ZoneInfo, year: int) -> str:
    """Write the VTIMEZONE of a zone, correct from the beginning of the year on."""
    begin = datetime(year - 1, 1, 1, tzinfo=UTC)
    changes: dict[_Hours, list[datetime]] = {}
    for onset, hours in _changes(zone, begin):
        changes.setdefault(hours, []).append(onset)
    if not any(onset.year < year for onsets in changes.values() for onset in onsets):
        here = begin.astimezone(zone)
        first = (
            _is_summer(here, here),
            here.tzname() or zone.key,
            _utc_offset(here),
            _utc_offset(here),
        )
        changes = {first: [begin.replace(tzinfo=None)], **changes}
    lines = ["BEGIN:VTIMEZONE", f"TZID:{zone.key}"]
    for hours, onsets in changes.items():
        lines += _observance(hours, onsets)
    return "".join(f"{line}\r\n" for line in [*lines, "END:VTIMEZONE"])


def _changes(zone: ZoneInfo, begin: datetime) -> Iterator[tuple[datetime, _Hours]]:
    """Yield each change of the clocks: its wall time by the old offset, and what begins then."""
    for day in range(_YEARS * 366):
        early, late = begin + timedelta(days=day), begin + timedelta(days=day + 1)
        before = early.astimezone(zone)
        if _hours(before) == _hours(late.astimezone(zone)):
            continue
        while late - early > timedelta(seconds=1):
            middle = early + timedelta(seconds=(late - early) // timedelta(seconds=2))
            if _hours(middle.astimezone(zone)) == _hours(before):
                early = middle
            else:
                late = middle
        after = late.astimezone(zone)
        old, new = _utc_offset(before), _utc_offset(after)
        onset = (late + old).replace(tzinfo=None)
        yield onset, (_is_summer(before, after), after.tzname() or zone.key, old, new)


def _is_summer(before: datetime, after: datetime) -> bool:
    """Whether a clock change begins summer time.

    In Ireland and Morocco summer time is the standard time, and the clocks are set back in winter
    or Ramadan. Few programs understand that, so their zones are written the usual way round.
    """
    nothing = timedelta()
    saved = [moment.dst() or nothing for moment in (before, after)]
    if min(saved) < nothing:
        return _utc_offset(after) > _utc_offset(before)
    return saved[1] > nothing


def _utc_offset(moment: datetime) -> timedelta:
    return moment.utcoffset() or timedelta()


def _hours(moment: datetime) -> tuple[object, ...]:
    return moment.utcoffset(), moment.tzname(), bool(moment.dst())


def _observance(hours: _Hours, onsets: list[datetime]) -> list[str]:
    summer, name, old, new = hours
    kind = "DAYLIGHT" if summer else "STANDARD"
    lines = [f"BEGIN:{kind}", f"DTSTART:{onsets[0]:%Y%m%dT%H%M%S}"]
    if rule := _rule(onsets):
        lines.append(rule)
    elif onsets[1:]:
        lines.append("RDATE:" + ",".join(f"{onset:%Y%m%dT%H%M%S}" for onset in onsets[1:]))
    lines += [f"TZNAME:{name}", f"TZOFFSETFROM:{_offset(old)}", f"TZOFFSETTO:{_offset(new)}"]
    return [*lines, f"END:{kind}"]


def _rule(onsets: list[datetime]) -> str | None:
    """Return the yearly rule for the onsets, such as the last Sunday in March, if there is one."""
    first = onsets[0]
    if len(onsets) < _YEARS - 1 or len({(o.month, o.weekday(), o.time()) for o in onsets}) > 1:
        return None
    weeks = {(onset.day - 1) // 7 + 1 for onset in onsets}
    last = all((onset + timedelta(days=7)).month != onset.month for onset in onsets)
    if len(weeks) > 1 and not last:
        return None
    which = -1 if last else weeks.pop()
    return f"RRULE:FREQ=YEARLY;BYMONTH={first.month};BYDAY={which}{_DAYS[first.weekday()]}"


def _offset(offset: timedelta) -> str:
    seconds = int(offset.total_seconds())
    hours, rest = divmod(abs(seconds), 3600)
    minutes, rest = divmod(rest, 60)
    return f"{'-' if seconds < 0 else '+'}{hours:02}{minutes:02}" + (f"{rest:02}" if rest else "")
