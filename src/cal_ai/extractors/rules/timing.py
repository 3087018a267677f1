"""From what was said about a time to the start and end of an event, with what had to be assumed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta

from cal_ai.events import ContextEvent
from cal_ai.extractors.rules.activities import Kind
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.reckoning import minute_of
from cal_ai.extractors.rules.references import content_words
from cal_ai.extractors.rules.setting import Setting
from cal_ai.extractors.rules.times import Clock
from cal_ai.extractors.rules.zones import minutes_between, zone_named

_PART_HOURS = {"morning": 9, "lunchtime": 12, "afternoon": 14, "evening": 18, "night": 19}
_PART_ENDS = {"morning": 12, "lunchtime": 13, "afternoon": 17, "evening": 21, "night": 22}
_NOON = 720


@dataclass(slots=True)
class Timing:
    """Start and end; `inferred` counts what was filled in, `vague` means that no time was named."""

    start: datetime
    end: datetime
    assumptions: list[str] = field(default_factory=list)
    inferred: int = 0
    vague: bool = False

    def assume(self, what: str, *, doubts: int = 0) -> None:
        self.assumptions.append(what)
        self.inferred += doubts


def new_timing(plan: Plan, setting: Setting) -> Timing | None:
    """When a new event takes place; None if too little is known."""
    when = plan.when
    kind = plan.kind
    if when.clock is None and (when.day is None or plan.activity is None):
        return None
    if when.day is None and when.week is not None:
        return None
    timing = Timing(setting.now, setting.now, vague=when.vague_day)
    minute = _start_minute(plan, kind, setting, timing)
    day = when.day or _likely_day(plan, minute, setting, timing)
    if minute is None:
        return _whole_days(plan, day, timing)
    timing.start = _at(day, minute)
    if when.shift_minutes and not when.clock:
        timing.start += timedelta(minutes=when.shift_minutes)
    timing.end = _end(plan, kind, timing)
    return timing


def moved_timing(
    plan: Plan, target: ContextEvent, start: datetime, setting: Setting
) -> Timing | None:
    """When an event of the calendar that starts at `start` is to take place; None if as before."""
    when = plan.when
    length = (target.end - target.start) if target.end is not None else timedelta(hours=1)
    before = (start, start + length)
    timing = Timing(*before)
    day = when.day or start.date()
    if when.day is None and when.week is not None:
        day = when.week + timedelta(days=start.weekday())
        timing.assume("only the week was named: the same day of the week", doubts=1)
    timing.start = _at(day, _moved_minute(plan, start, day, setting, timing))
    timing.start += timedelta(days=when.shift_days, minutes=when.shift_minutes)
    if when.length is not None:
        length = timedelta(minutes=when.length)
    timing.end = timing.start + length + timedelta(minutes=when.longer)
    if when.until is not None:
        timing.end = _next_time(timing.start, when.until, when.until_certain)
    same_place = content_words(plan.place or "") <= content_words(target.location or "")
    same_time = (timing.start, timing.end) == before
    return None if same_time and same_place and not plan.people else timing


def _at(day: date, minute: int) -> datetime:
    """The time `minute` minutes after midnight, which may lie on another day."""
    return datetime.combine(day, time()) + timedelta(minutes=minute)


def _moved_minute(plan: Plan, start: datetime, day: date, setting: Setting, timing: Timing) -> int:
    when, minute = plan.when, minute_of(start)
    if when.clock is not None and when.clock.minute is not None:
        said = when.clock.minute
        if not when.clock.certain:
            # By day rather than at night, and then where it lies nearer to the old time.
            halves = (said % _NOON, said % _NOON + _NOON)
            if when.part is not None:
                said = halves[when.part != "morning"]
            else:
                said = min(halves, key=lambda m: (m < 7 * 60 <= minute, abs(m - minute), m))
        return _on_owners_clock(said, when.clock, setting, day, timing)
    if when.part is not None:
        minute = _PART_HOURS[when.part] * 60
        timing.vague = True
        timing.assume(f"only the {when.part} was named: {minute // 60}:00")
    return minute


def _on_owners_clock(minute: int, clock: Clock, setting: Setting, day: date, timing: Timing) -> int:
    """`minute` on the owner's clock; below 0 or above 1439 if that is on another day."""
    source = zone_named(clock.zone) if clock.zone else None
    if source is None:
        return minute
    difference = minutes_between(source, setting.zone, day) if setting.zone is not None else None
    if difference is None:
        timing.assume(f"the owner's time zone is not known: {clock.zone} kept as said", doubts=1)
        return minute
    return minute + difference


def _likely_day(plan: Plan, minute: int | None, setting: Setting, timing: Timing) -> date:
    """The day talked about before, else the next on which the clock shows the time."""
    if plan.when.usual_day is not None:
        timing.assume("no day given: the day talked about before", doubts=1)
        return plan.when.usual_day
    now = minute_of(setting.now)
    timing.assume("no day given: the next time the clock shows this", doubts=2)
    return setting.now.date() + timedelta(days=0 if minute is not None and minute > now else 1)


def _start_minute(plan: Plan, kind: Kind, setting: Setting, timing: Timing) -> int | None:
    """Minutes from midnight to the start; None for something that takes whole days."""
    when = plan.when
    if when.clock is not None and when.clock.minute is not None:
        minute = when.clock.minute
        if not when.clock.certain:
            minute = _half_of_day(minute, plan, kind, setting, timing)
        timing.inferred += when.clock.approximate
        day = when.day or setting.now.date()
        return _on_owners_clock(minute, when.clock, setting, day, timing)
    if kind.all_day and when.part is None:
        return None
    timing.vague = True
    if when.part is not None:
        hour: float = _PART_HOURS[when.part]
        if kind.hour is not None and hour - 3 <= kind.hour < _PART_ENDS[when.part]:
            hour = kind.hour
        timing.assume(f"only the {when.part} was named: {int(hour)}:00")
        return int(hour * 60)
    hour = kind.hour if kind.hour is not None else 9
    timing.assume(f"no time given: {int(hour)}:00", doubts=2 if kind.hour is None else 0)
    return int(hour * 60)


def _half_of_day(minute: int, plan: Plan, kind: Kind, setting: Setting, timing: Timing) -> int:
    """`minute` of an unmarked hour as morning or afternoon, by part of day, activity and now."""
    early, part = minute % _NOON, plan.when.part
    if part is not None:
        past_midnight = part == "night" and early < 4 * 60
        return early if part == "morning" or past_midnight else early + _NOON
    chosen = early if early >= kind.window * 60 else early + _NOON
    now = minute_of(setting.now)
    if plan.when.day == setting.now.date() and chosen <= now < early + _NOON:
        chosen = early + _NOON
    half = "morning" if chosen < _NOON else "afternoon or evening"
    timing.assume(f"am or pm not said: {half}", doubts=early // 60 in (6, 7))
    return chosen


def _end(plan: Plan, kind: Kind, timing: Timing) -> datetime:
    when, start = plan.when, timing.start
    if when.until is not None:
        return _next_time(start, when.until, when.until_certain)
    if when.length is not None:
        return start + timedelta(minutes=when.length + when.longer)
    if when.last is not None and when.last > start.date():
        return datetime.combine(when.last, start.time()) + timedelta(hours=1)
    if when.whole_part and when.part is not None and start.hour < _PART_ENDS[when.part]:
        return datetime.combine(start.date(), time(_PART_ENDS[when.part]))
    minutes = 60 if kind.all_day else kind.minutes
    timing.assume(f"no duration given: {minutes} minutes")
    return start + timedelta(minutes=minutes)


def _next_time(start: datetime, until: int, certain: bool) -> datetime:
    """The first time after `start` at which the clock shows `until`."""
    step = 2 * _NOON if certain else _NOON
    end = _at(start.date(), until % step)
    while end <= start:
        end += timedelta(minutes=step)
    return end


def _whole_days(plan: Plan, day: date, timing: Timing) -> Timing:
    days = 1
    if plan.when.last is not None:
        days = max(1, (plan.when.last - day).days + 1)
    elif plan.when.length is not None:
        days = max(1, plan.when.length // 1440)
    timing.start = _at(day, 0)
    timing.end = timing.start + timedelta(days=days)
    timing.assume("no time given: the whole day", doubts=1)
    return timing
