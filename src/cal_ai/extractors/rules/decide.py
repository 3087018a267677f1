"""Plans turned into calendar events: which ones stand, and how sure that is."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, time
from typing import Literal

from cal_ai.events import Confidence, ContextEvent, Event
from cal_ai.extractors.rules.naming import attendees_of, title_of
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.setting import Setting
from cal_ai.extractors.rules.timing import Timing, moved_timing, new_timing

Support = Literal["agreed", "announced", "implied"]


def decide(plan: Plan, setting: Setting, starts: dict[int, datetime]) -> Event | None:
    """The event that a plan amounts to; None without the owner's consent or without a time."""
    support, target = _support(plan, setting), plan.target
    if target is not None and plan.action is None and plan.asked and setting.owner in plan.refused:
        return _deletion(plan, target, "implied")  # "Are you coming?" "I can't."
    if support is None and plan.settled is not None and not (plan.dropped or plan.background):
        return decide(replace(plan.settled, topic=plan.topic), setting, starts)
    if support is None or plan.action is None:
        return None
    if plan.action == "delete":
        return _deletion(plan, target, support) if target is not None else None
    if target is not None:
        timing = moved_timing(plan, target, starts[target.id], setting)
    else:
        timing = new_timing(plan, setting)
        if timing is not None and not _is_plausible(plan, timing.start, setting.now):
            return None
    if timing is None:
        return None
    doubts = _doubts(plan, timing, support)
    if doubts > 1 and plan.is_timeless and plan.is_vague:
        return None
    if setting.crowded and (doubts > 1 or (doubts == 1 and plan.is_unnamed)):
        return None
    return Event(
        action=plan.action,
        title=title_of(plan, setting),
        start_time=timing.start,
        end_time=timing.end,
        location=plan.place or (target.location if target is not None else None),
        attendees=attendees_of(plan, setting),
        confidence=_confidence(plan, doubts),
        reasoning=_reasoning(plan),
        assumptions=tuple(timing.assumptions),
        existing_event_id=target.id if target is not None else None,
    )


def _is_plausible(plan: Plan, start: datetime, now: datetime) -> bool:
    """Whether anybody would plan this for then: not for the past, nor for the dead of night."""
    kind = plan.activity.kind.name if plan.activity is not None else "meeting"
    at_night = time(1) <= start.time() < time(6)
    return start.date() >= now.date() and not (at_night and kind not in ("flight", "chore"))


def _support(plan: Plan, setting: Setting) -> Support | None:
    """How the owner stands behind the plan, or None if he does not."""
    owner, others = setting.owner, setting.others
    if plan.dropped or plan.background or owner in plan.refused:
        return None
    if others and others <= plan.refused:
        return None
    if plan.announced and owner in plan.backing:
        return "announced"
    if owner in plan.backing and plan.backing & others:
        return "agreed"
    if plan.refused:
        return None
    if plan.target is not None and plan.announced:
        return "implied"
    if owner in plan.willing and plan.willing & others and not plan.asked:
        return "implied"
    return None


def _deletion(plan: Plan, target: ContextEvent, support: Support) -> Event:
    sure = support != "implied" and not plan.tentative
    return Event(
        action="delete",
        title=target.summary,
        start_time=target.start,
        end_time=target.end,
        location=target.location,
        confidence="high" if sure else "medium",
        reasoning=_reasoning(plan),
        existing_event_id=target.id,
    )


def _doubts(plan: Plan, timing: Timing, support: Support) -> int:
    """How much about time and agreement had to be filled in."""
    doubts = timing.inferred + 2 * timing.vague + plan.tentative + plan.optional
    if plan.target is not None:
        return doubts + (support == "implied")
    doubts += 2 * (support == "implied")
    doubts += plan.activity is None or plan.activity.guessed
    return doubts + (plan.when.day is None) + plan.overheard


def _confidence(plan: Plan, doubts: int) -> Confidence:
    """High if nothing is in doubt, low if much is, or if what is planned is a guess."""
    if doubts == 0:
        return "high"
    unknown = plan.activity is None or plan.activity.guessed or plan.overheard
    return "low" if doubts > 1 or (unknown and plan.target is None) else "medium"


def _reasoning(plan: Plan) -> str:
    lines = [*([plan.quoted_before] if plan.quoted_before is not None else []), *plan.lines]
    return " / ".join(f'{u.speaker} (line {u.line}): "{u.words}"' for u in lines[:6])
