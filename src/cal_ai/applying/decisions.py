"""What an extracted event amounts to for one calendar: new details, assumptions, or doubts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from cal_ai.applying.timing import Timing
from cal_ai.calendars.protocol import Details, Entry
from cal_ai.events import Confidence, Event

DEFAULT_APPLY: Confidence = "medium"
_RANK: dict[Confidence, int] = {"low": 0, "medium": 1, "high": 2}


@dataclass(frozen=True, slots=True)
class Decision:
    """One calendar change, worked out.

    `target` is the event it is about, `details` what is to stand in the calendar afterwards (None
    for a removal, and where no start is known), `held_back` the reason not to apply it, and
    `apply` the level of --apply that would.
    """

    event: Event
    target: Entry | None
    details: Details | None
    assumptions: tuple[str, ...] = ()
    held_back: str | None = None
    apply: Confidence | None = None


def decide(
    event: Event,
    target: Entry | None,
    now: datetime,
    zone: ZoneInfo | None,
    apply: Confidence = DEFAULT_APPLY,
) -> Decision:
    """The change that `event` makes to `target`, or to the calendar where there is no target.

    It is held back when the event's confidence is below `apply`.
    """
    held_back = _doubt(event, apply)
    if event.action == "delete":
        return Decision(event, target, None, event.assumptions, held_back)
    if event.action == "create":
        target = None
    timing = Timing(zone, list(event.assumptions))
    span = timing.of_change(event, target.details) if target else timing.of_new(event)
    if span is None:
        return Decision(event, target, None, event.assumptions, "no start time was found")
    details = Details(
        title=_title(event, target),
        start=span.start,
        end=span.end,
        all_day=span.all_day,
        location=event.location or (target.details.location if target else None),
        description=_description(event, target),
    )
    would_apply = event.confidence if held_back and event.action == "create" else None
    if span.end < span.start:
        held_back = f"it would end at {span.end:%Y-%m-%d %H:%M}, before it starts"
        would_apply = None
    moved = target is None or target.details.start != span.start
    if moved and span.end < now:
        timing.assumptions.append("it lies in the past")
    return Decision(event, target, details, tuple(timing.assumptions), held_back, would_apply)


def admits(apply: Confidence, confidence: Confidence) -> bool:
    """Whether what is applied from `apply` on includes this confidence."""
    return _RANK[confidence] >= _RANK[apply]


def _doubt(event: Event, apply: Confidence) -> str | None:
    # A wrong new event is one too many; a wrong change or removal loses something.
    needed = apply if event.action == "create" else "high"
    if admits(needed, event.confidence):
        return None
    enough = "medium or high" if needed == "medium" else needed
    article = "an" if event.action == "update" else "a"
    return f"confidence is {event.confidence}, and {article} {event.action} needs {enough}"


def _title(event: Event, target: Entry | None) -> str:
    """The title said, except where it is the one in the calendar in other letters."""
    if target and same_title(event.title, target.details.title):
        return target.details.title
    return event.title


def same_title(first: str, second: str) -> bool:
    """Whether two titles differ in nothing but spaces and capitals."""
    return first.casefold().split() == second.casefold().split()


def _description(event: Event, target: Entry | None) -> str:
    """What stands there, with a line for the people whom nothing there names yet.

    Names are no addresses, and an address would make servers send invitations; so people go into
    the description.
    """
    before = target.details.description if target else ""
    people = target.people if target else ()
    known = " ".join((before, target.details.title if target else "", *people)).casefold()
    new = [name for name in event.attendees if name.casefold() not in known]
    lines = [before] if before else []
    return "\n".join([*lines, f"With: {', '.join(new)}"] if new else lines)
