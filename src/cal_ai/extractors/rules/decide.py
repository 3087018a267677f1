"""Plans turned into calendar events: which ones stand, and how sure that is."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, time

from cal_ai.events import Confidence, ContextEvent, Event
from cal_ai.extractors.rules.activities import CHORE
from cal_ai.extractors.rules.naming import attendees_of, is_visit, title_of
from cal_ai.extractors.rules.plans import Plan, Settled
from cal_ai.extractors.rules.setting import Setting
from cal_ai.extractors.rules.timing import Timing, moved_timing, new_timing


def decide(plan: Plan, setting: Setting, starts: dict[int, datetime]) -> Event | None:
    """The event that a plan amounts to; None without the owner's consent or without a time."""
    target, settled = plan.target, plan.settled
    if settled is None or plan.foreign:
        return None
    plan = replace(plan, when=settled.when, place=settled.place or plan.place)
    if settled.action == "delete":
        return _deletion(plan, target, settled) if target is not None else None
    if target is not None:
        timing = moved_timing(plan, target, starts[target.id], setting)
    else:
        timing = new_timing(plan, setting)
    if timing is None or (target is None and not _is_plausible(plan, timing.start, setting.now)):
        return None
    doubts = _doubts(plan, timing, settled, setting)
    if plan.is_vague and target is None:
        known = timing.start in starts.values()  # an event of the calendar by another name
        if known or not _is_firm(plan, settled, setting):
            return None
    if setting.crowded and target is None and doubts > 2:
        return None
    return Event(
        action=settled.action,
        title=title_of(plan, setting),
        start_time=timing.start,
        end_time=timing.end,
        location=plan.place or (target.location if target is not None else None),
        attendees=attendees_of(plan, setting),
        confidence=_confidence(plan, timing, settled, doubts, crowded=setting.crowded),
        reasoning=_reasoning(plan),
        assumptions=tuple(timing.assumptions),
        existing_event_id=target.id if target is not None else None,
    )


def _is_plausible(plan: Plan, start: datetime, now: datetime) -> bool:
    """Whether anybody would plan this for then: not for the past, nor for the dead of night."""
    kind = plan.kind.name
    at_night = time(1) <= start.time() < time(6)
    return start.date() >= now.date() and not (at_night and kind not in ("flight", "chore"))


def _deletion(plan: Plan, target: ContextEvent, settled: Settled) -> Event:
    return Event(
        action="delete",
        title=target.summary,
        start_time=target.start,
        end_time=target.end,
        location=target.location,
        confidence="high" if settled.sure and not settled.tentative else "medium",
        reasoning=_reasoning(plan),
        existing_event_id=target.id,
    )


def _is_firm(plan: Plan, settled: Settled, setting: Setting) -> bool:
    """Whether day, time and consent are so clear that the name does not matter."""
    chore = plan.kind is CHORE
    complete = plan.when.clock is not None and (plan.when.day is not None or chore)
    for_two = len(setting.others) == 1 or not plan.is_unnamed or bool(plan.topic)
    agreed = settled.backers > 1 or chore or (len(plan.willing) > 1 and is_visit(plan, setting))
    return complete and for_two and agreed and not setting.crowded


def _doubts(plan: Plan, timing: Timing, settled: Settled, setting: Setting) -> int:
    """How much about time, agreement and name had to be filled in."""
    doubts = timing.inferred + settled.tentative + plan.optional + (not settled.sure)
    doubts += setting.crowded
    timed = plan.when.clock is not None or plan.when.shift_minutes or plan.when.until is not None
    if plan.target is not None:
        changes = timed or plan.when.length is not None or plan.when.longer or plan.when.shift_days
        return doubts + (plan.when.day is not None and not changes)
    doubts += 2 * (plan.is_vague or timing.vague) + 2 * (plan.when.day is None)
    return doubts + (settled.backers < 2)


def _confidence(
    plan: Plan, timing: Timing, settled: Settled, doubts: int, *, crowded: bool
) -> Confidence:
    """High if nothing is in doubt; a new event without a time or a partner is the least sure."""
    if not doubts:
        return "high"
    if plan.target is None:
        return "low" if crowded or timing.vague or settled.backers < 2 else "medium"
    return "medium" if doubts == 1 else "low"


def _reasoning(plan: Plan) -> str:
    return " / ".join(f'{u.speaker} (line {u.line}): "{u.words}"' for u in plan.lines[:6])
