"""Plans turned into calendar events: which ones stand, when exactly, called what, how sure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo

from cal_ai.events import Confidence, ContextEvent, Event
from cal_ai.extractors.rules.activities import MEETING, Kind
from cal_ai.extractors.rules.patterns import found
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.times import Clock
from cal_ai.extractors.rules.zones import minutes_between, zone_named

_PART_HOURS = {"morning": 9, "lunchtime": 12, "afternoon": 14, "evening": 18, "night": 19}
_PART_ENDS = {"morning": 12, "lunchtime": 13, "afternoon": 17, "evening": 21, "night": 22}


@dataclass(frozen=True, slots=True)
class Setting:
    """Whose conversation it is, when it takes place, and who takes part."""

    owner: str
    speakers: frozenset[str]
    now: datetime
    zone: tzinfo | str | None = None


@dataclass(slots=True)
class _Timing:
    start: datetime
    end: datetime
    assumptions: list[str] = field(default_factory=list)
    inferred: int = 0
    vague: bool = False


def decide(plan: Plan, setting: Setting, starts: dict[int, datetime]) -> Event | None:
    """The event that a plan amounts to, or None if the owner did not agree to it or it has no time."""
    support = _support(plan, setting)
    if support is None or plan.action is None:
        return None
    if plan.action == "delete" and plan.target is not None:
        return _deletion(plan, plan.target, support, starts)
    if plan.target is not None:
        timing = _moved(plan, plan.target, setting, starts)
        if timing is None:
            return None
    else:
        timing = _timed(plan, setting)
        if timing is None or not _is_plausible(plan, timing.start, setting.now):
            return None
    return Event(
        action=plan.action,
        title=plan.target.summary if plan.target is not None else _title(plan, setting),
        start_time=timing.start,
        end_time=timing.end,
        location=plan.place or (plan.target.location if plan.target is not None else None),
        attendees=_attendees(plan, setting),
        confidence=_confidence(plan, timing, support),
        reasoning=_reasoning(plan),
        assumptions=tuple(timing.assumptions),
        existing_event_id=plan.target.id if plan.target is not None else None,
    )


def _is_plausible(plan: Plan, start: datetime, now: datetime) -> bool:
    """Whether anybody would plan this for then: not for the past, nor for the dead of night."""
    kind = plan.activity.kind.name if plan.activity is not None else "meeting"
    at_night = time(1) <= start.time() < time(5)
    return start.date() >= now.date() and not (at_night and kind not in ("flight", "chore"))


def _support(plan: Plan, setting: Setting) -> str | None:
    """How the owner stands behind the plan: "agreed", "announced", "implied", or None if he does not."""
    owner = setting.owner
    if plan.dropped or plan.background or owner in plan.refused:
        return None
    others = setting.speakers - {owner}
    if others and others <= plan.refused:
        return None
    if plan.announced and owner in plan.backing:
        return "announced"
    if owner in plan.backing and plan.backing & others:
        return "agreed"
    if plan.target is not None and plan.announced and not plan.refused:
        return "implied"
    if owner in plan.willing and plan.willing & others and not plan.asked and not plan.refused:
        return "implied"
    return None


def _deletion(plan: Plan, target: ContextEvent, support: str, starts: dict[int, datetime]) -> Event:
    return Event(
        action="delete",
        title=target.summary,
        start_time=target.start,
        end_time=target.end,
        location=target.location,
        confidence="high"
        if support in ("agreed", "announced") and not plan.tentative
        else "medium",
        reasoning=_reasoning(plan),
        existing_event_id=target.id,
    )


def _moved(
    plan: Plan, target: ContextEvent, setting: Setting, starts: dict[int, datetime]
) -> _Timing | None:
    """The new times of an event of the calendar; what was not mentioned stays as it is."""
    when, start = plan.when, starts[target.id]
    length = (target.end - target.start) if target.end is not None else timedelta(hours=1)
    timing = _Timing(start, start)
    minute = start.hour * 60 + start.minute
    if when.clock is not None and when.clock.minute is not None:
        minute = _near(when.clock, minute, setting, when.day or start.date(), timing)
    elif when.part is not None:
        minute = _PART_HOURS[when.part] * 60
        timing.vague = True
        timing.assumptions.append(f"only the {when.part} was named: {minute // 60}:00")
    day = when.day or start.date()
    if when.day is None and when.week is not None:
        day = when.week + timedelta(days=start.weekday())
        timing.inferred += 1
    moved = datetime.combine(day, time(minute // 60, minute % 60))
    moved += timedelta(days=when.shift_days, minutes=when.shift_minutes)
    if when.length is not None:
        length = timedelta(minutes=when.length)
    length += timedelta(minutes=when.longer)
    end = moved + length
    if when.until is not None:
        end = _ending(moved, when.until, when.until_certain)
    if (moved, end, plan.place or target.location) == (
        start,
        start + length,
        target.location,
    ) and not plan.people:
        if when.length is None and not when.longer:
            return None
    timing.start, timing.end = moved, end
    return timing


def _near(clock: Clock, minute: int, setting: Setting, day: date, timing: _Timing) -> int:
    """The minute meant by `clock`, in the half of the day that lies nearer to `minute` if unsaid."""
    said = clock.minute or 0
    if not clock.certain:
        said = min((said % 720, said % 720 + 720), key=lambda m: (abs(m - minute), m))
    return _local(said, clock, setting, day, timing)


def _local(minute: int, clock: Clock, setting: Setting, day: date, timing: _Timing) -> int:
    """`minute` on the owner's clock."""
    source = zone_named(clock.zone) if clock.zone else None
    if source is None:
        return minute
    if setting.zone is None:
        timing.assumptions.append(
            f"the owner's time zone is not known: {clock.zone} time kept as said"
        )
        timing.inferred += 1
        return minute
    difference = minutes_between(source, setting.zone, day)
    return minute if difference is None else (minute + difference) % 1440


def _timed(plan: Plan, setting: Setting) -> _Timing | None:
    """The times of a new event, with what had to be assumed; None if too little is known."""
    when = plan.when
    kind = plan.activity.kind if plan.activity is not None else MEETING
    if when.clock is None and (when.day is None or plan.activity is None):
        return None
    if when.day is None and when.week is not None:
        return None
    timing = _Timing(setting.now, setting.now)
    minute = _start_minute(plan, kind, setting, timing)
    day = when.day
    if day is None and when.usual_day is not None:
        day = when.usual_day
        timing.assumptions.append("no day given: the day talked about before")
        timing.inferred += 1
    if day is None:
        later_today = minute is not None and minute > setting.now.hour * 60 + setting.now.minute
        day = setting.now.date() + timedelta(days=0 if later_today else 1)
        timing.assumptions.append("no day given: the next time the clock shows this")
        timing.inferred += 2
    if when.vague_day:
        timing.vague = True
    if minute is None:
        return _all_day(plan, kind, day, timing)
    timing.start = datetime.combine(day, time(minute // 60, minute % 60))
    timing.end = _end(plan, kind, timing)
    if when.shift_minutes and not when.clock:
        timing.start += timedelta(minutes=when.shift_minutes)
        timing.end += timedelta(minutes=when.shift_minutes)
    return timing


def _start_minute(plan: Plan, kind: Kind, setting: Setting, timing: _Timing) -> int | None:
    when = plan.when
    day = when.day or setting.now.date()
    if when.clock is not None and when.clock.minute is not None:
        minute = when.clock.minute
        if not when.clock.certain:
            minute = _half_of_day(minute, plan, kind, setting, timing)
        if when.clock.approximate:
            timing.inferred += 1
        return _local(minute, when.clock, setting, day, timing)
    if kind.all_day and when.part is None:
        return None
    if when.part is not None:
        hour: float = _PART_HOURS[when.part]
        if (
            kind.hour is not None
            and _PART_HOURS[when.part] - 3 <= kind.hour < _PART_ENDS[when.part]
        ):
            hour = kind.hour
        timing.assumptions.append(f"only the {when.part} was named: {int(hour)}:00")
        timing.vague = True
        return int(hour * 60)
    hour = kind.hour if kind.hour is not None else 9
    timing.assumptions.append(f"no time given: {int(hour)}:00")
    timing.vague = True
    timing.inferred += 2 if kind.hour is None else 0
    return int(hour * 60)


def _half_of_day(minute: int, plan: Plan, kind: Kind, setting: Setting, timing: _Timing) -> int:
    """`minute` of an unmarked hour as morning or afternoon, by part of day, activity and now."""
    part = plan.when.part
    early = minute % 720
    if part is not None:
        return (
            early
            if part == "morning"
            else early + 720
            if not (part == "night" and early < 240)
            else early
        )
    window = kind.window * 60
    chosen = early if early >= window else early + 720
    now = setting.now.hour * 60 + setting.now.minute
    if plan.when.day == setting.now.date() and chosen <= now and early + 720 > now:
        chosen = early + 720
    if early // 60 in (6, 7):
        timing.inferred += 1
    half = "morning" if chosen < 720 else "afternoon or evening"
    timing.assumptions.append(f"am or pm not said: {half}")
    return chosen


def _end(plan: Plan, kind: Kind, timing: _Timing) -> datetime:
    when, start = plan.when, timing.start
    if when.until is not None:
        return _ending(start, when.until, when.until_certain)
    if when.length is not None:
        return start + timedelta(minutes=when.length + when.longer)
    if when.last is not None and when.day is not None:
        return datetime.combine(when.last, time(start.hour, start.minute)) + timedelta(hours=1)
    if when.whole_part and when.part is not None:
        return datetime.combine(start.date(), time(_PART_ENDS[when.part]))
    minutes = kind.minutes if not kind.all_day else 60
    timing.assumptions.append(f"no duration given: {minutes} minutes")
    return start + timedelta(minutes=minutes)


def _ending(start: datetime, until: int, certain: bool) -> datetime:
    """The first time after `start` at which the clock shows `until`."""
    day = datetime.combine(start.date(), time())
    choices = [until] if certain else [until % 720, until % 720 + 720]
    choices += [choice + 1440 for choice in choices]
    return next(
        end for choice in sorted(choices) if (end := day + timedelta(minutes=choice)) > start
    )


def _all_day(plan: Plan, kind: Kind, day: date, timing: _Timing) -> _Timing:
    last = plan.when.last or day
    if plan.when.length and plan.when.length >= 1440:
        last = day + timedelta(days=plan.when.length // 1440 - 1)
    timing.start = datetime.combine(day, time())
    timing.end = datetime.combine(last, time()) + timedelta(days=1)
    timing.assumptions.append("no time given: the whole day")
    timing.inferred += 1
    return timing


def _title(plan: Plan, setting: Setting) -> str:
    """A short title: what it is, and with whom if it is a matter of two."""
    activity = plan.activity
    if activity is None and (visit := _visit(plan, setting)):
        return visit
    title = activity.title if activity is not None else "Meeting"
    kind = activity.kind if activity is not None else MEETING
    named = [*(activity.people if activity is not None else ()), *plan.people]
    others = _partners(plan, setting)
    first_names = {name.lower().split(" ")[0] for name in setting.speakers | {setting.owner}}
    outsiders = [name for name in named if name.lower() not in first_names]
    if outsiders:
        return f"{title} with {' and '.join(outsiders[:2])}"
    of_many = found(r"\b(?:team|all|board|company|family|staff|group|committee|class)\b", title)
    if kind.shared and not of_many and len(others) == 1 and " with " not in title:
        return f"{title} with {_called(others[0])}"
    return title


_VISITS = (
    (r"\b(?:dr|doctor|physician|gp)\b", "Doctor appointment"),
    (r"\bdent", "Dentist appointment"),
    (r"\bvet", "Vet appointment"),
    (r"\b(?:salon|barber|hair)", "Haircut"),
    (r"\b(?:garage|mechanic)", "Car service"),
    (r"\b(?:clinic|practice|hospital|reception|physio)", "Appointment"),
)


def _visit(plan: Plan, setting: Setting) -> str | None:
    """The title of an appointment with a practice or shop that speaks in the conversation."""
    names = " ".join(_partners(plan, setting))
    return next((title for source, title in _VISITS if found(source, names)), None)


def _called(speaker: str) -> str:
    """A speaker by first name, unless the first word is no name ("Dr Patel", "Prof Weber")."""
    first = speaker.split(" ")[0]
    titled = first.lower().rstrip(".") in ("dr", "mr", "mrs", "ms", "prof", "coach", "the")
    return speaker if titled else first


def _partners(plan: Plan, setting: Setting) -> list[str]:
    """The other speakers whom the plan involves."""
    others = sorted(setting.speakers - {setting.owner})
    if len(others) <= 1:
        return others
    named = [name.lower() for name in (plan.activity.people if plan.activity is not None else ())]
    called = [name for name in others if name.lower().split(" ")[0] in named]
    return called or sorted((plan.willing | plan.addressees) - {setting.owner})


def _attendees(plan: Plan, setting: Setting) -> tuple[str, ...]:
    named = [*(plan.activity.people if plan.activity is not None else ()), *plan.people]
    kind = plan.activity.kind if plan.activity is not None else MEETING
    backers = sorted((plan.willing | plan.addressees) - {setting.owner} - plan.refused)
    joint = bool(plan.willing - {setting.owner}) and not (plan.announced and not kind.shared)
    names = [*(backers if joint or not named else ()), *named]
    known: dict[str, str] = {}
    for name in names:
        known.setdefault(name.lower().split(" ")[0], name)
    return tuple(known.values())


def _confidence(plan: Plan, timing: _Timing, support: str) -> Confidence:
    """High if time and agreement are explicit, low if the time is vague or the agreement weak."""
    doubts = timing.inferred + (2 if timing.vague else 0) + (1 if plan.tentative else 0)
    doubts += {"agreed": 0, "announced": 0, "implied": 2}[support]
    doubts += 1 if plan.optional else 0
    if plan.target is None:
        doubts += 1 if plan.activity is None else 0
        doubts += 1 if plan.when.day is None else 0
    if doubts == 0:
        return "high"
    return "medium" if doubts == 1 else "low"


def _reasoning(plan: Plan) -> str:
    lines = [plan.quoted_before, *plan.lines] if plan.quoted_before else plan.lines
    return " / ".join(f'{u.speaker} (line {u.line}): "{u.words}"' for u in lines[:6] if u)
