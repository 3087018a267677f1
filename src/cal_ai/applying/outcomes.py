"""Outcomes of decisions, as text for people and as JSON for scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from cal_ai.applying.decisions import Decision
from truemark.text import counted, one_line

Result = Literal["created", "updated", "deleted", "unchanged", "skipped", "held back", "failed"]
RESULTS: tuple[Result, ...] = get_args(Result)
CHANGES: tuple[Result, ...] = ("created", "updated", "deleted")


@dataclass(frozen=True, slots=True)
class Outcome:
    """One decision with its calendar, its result, and a reason where one is needed.

    Times are ISO 8601: for an update the new ones, with the old ones in `before`, and for a removal
    those of the removed event. `apply` is the level of --apply that would apply a decision that is
    held back for its confidence. `overlaps` are the events at the same time as one that was entered
    or moved, such as `Lunch 12:00`.
    """

    action: str
    title: str
    start_time: str | None
    end_time: str | None
    all_day: bool
    before: str | None
    location: str | None
    attendees: tuple[str, ...]
    calendar: str
    confidence: str
    reasoning: str
    assumptions: tuple[str, ...]
    existing_event_id: int | None
    event_id: str | None
    result: Result
    reason: str
    apply: str | None = None
    overlaps: tuple[str, ...] = ()


def outcome_of(
    decision: Decision,
    calendar: str,
    result: Result,
    reason: str,
    event_id: str | None,
    overlaps: tuple[str, ...],
) -> Outcome:
    event, target = decision.event, decision.target
    old = target.details if target else None
    shown = decision.details or old
    moved = shown and old and (shown.start, shown.end) != (old.start, old.end)
    return Outcome(
        action=event.action,
        title=shown.title if shown else event.title,
        start_time=shown.start.isoformat() if shown else None,
        end_time=shown.end.isoformat() if shown else None,
        all_day=shown.all_day if shown else False,
        before=when(old.start, old.end, all_day=old.all_day) if old and moved else None,
        location=shown.location if shown else event.location,
        attendees=event.attendees,
        calendar=calendar,
        confidence=event.confidence,
        reasoning=event.reasoning,
        assumptions=decision.assumptions,
        existing_event_id=event.existing_event_id,
        event_id=event_id or (target.id if target else None),
        result=result,
        reason=reason,
        apply=decision.apply,
        overlaps=overlaps,
    )


def outcomes_text(outcomes: Sequence[Outcome], *, dry_run: bool, command: str) -> str:
    """Write each outcome as a block of lines, then how many there are of each kind.

    Decisions that are held back are shown with the `command` that would apply them.
    """
    blocks = []
    for outcome in outcomes:
        facts = _facts(outcome, dry_run, command)
        lines = (f"  {label:<12}{one_line(text)}\n" for label, text in facts)
        blocks.append(f"{outcome.action} {one_line(outcome.title)}\n{''.join(lines)}")
    return "\n".join([*blocks, _count_line(outcomes, dry_run) + "\n"])


def outcome_facts(outcomes: Sequence[Outcome], heading: Mapping[str, object]) -> dict[str, object]:
    """Return the facts for JSON: the heading, a count per result, the decisions in order."""
    counts = Counter(outcome.result for outcome in outcomes)
    return {
        **heading,
        "counts": {result.replace(" ", "_"): counts[result] for result in RESULTS},
        "decisions": [asdict(outcome) for outcome in outcomes],
    }


def when(start: datetime, end: datetime, *, all_day: bool) -> str:
    """Write a span for people, such as `Fri 2026-02-20 10:00 - 11:00`."""
    if all_day:
        last = end - timedelta(days=1)
        until = f" - {last:%a %Y-%m-%d}" if last.date() > start.date() else ""
        return f"{start:%a %Y-%m-%d}{until}, all day"
    until = f"{end:%H:%M}" if end.date() == start.date() else f"{end:%a %Y-%m-%d %H:%M}"
    return f"{start:%a %Y-%m-%d %H:%M} - {until}"


def _facts(outcome: Outcome, dry_run: bool, command: str) -> Iterator[tuple[str, str]]:
    if outcome.start_time is None or outcome.end_time is None:
        yield "time", "unknown"
    else:
        start, end = map(datetime.fromisoformat, (outcome.start_time, outcome.end_time))
        yield "time", when(start, end, all_day=outcome.all_day)
    if outcome.before:
        yield "before", outcome.before
    if outcome.location:
        yield "place", outcome.location
    if outcome.attendees:
        yield "with", ", ".join(outcome.attendees)
    yield "calendar", outcome.calendar
    yield "confidence", outcome.confidence
    yield "reasoning", outcome.reasoning or "none given"
    for assumption in outcome.assumptions:
        yield "assumption", assumption
    for overlap in outcome.overlaps:
        yield "overlaps", overlap
    reason = f": {outcome.reason}" if outcome.reason else ""
    yield "result", f"{_result(outcome.result, dry_run)}{reason}"
    if outcome.apply:
        yield "to apply", f"{command} --apply {outcome.apply}"


def _result(result: Result, dry_run: bool) -> str:
    return f"would be {result}" if dry_run and result in CHANGES else result


def _count_line(outcomes: Sequence[Outcome], dry_run: bool) -> str:
    counts = Counter(outcome.result for outcome in outcomes)
    parts = [f"{counts[result]} {_result(result, dry_run)}" for result in RESULTS if counts[result]]
    line = counted(len(outcomes), "decision") + (f": {', '.join(parts)}" if parts else "")
    unchanged = dry_run or not any(counts[result] for result in CHANGES)
    return f"{line}; nothing was changed" if unchanged else line
