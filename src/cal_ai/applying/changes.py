"""Apply decisions to a calendar, each of them once, however often a transcript is run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from cal_ai.applying.decisions import Decision, same_title
from cal_ai.applying.journal import Earlier
from cal_ai.applying.outcomes import Outcome, Result, outcome_of
from cal_ai.calendars.protocol import (
    AlreadyThere,
    Calendar,
    CalendarError,
    ChangedMeanwhile,
    Details,
    Entry,
    EventGone,
)
from cal_ai.events import Event
from cal_ai.transcripts.conversation import Transcript
from truemark.signature import data_hash

_Step = tuple[Result, str, str | None]  # the result, the reason, and the event's id
_EARLIER = "applied by an earlier run"

_ID_LENGTH = 32
_MOST_NAMED = 3  # overlapping events
_MOST_LOOKUPS = 50  # spans beyond the horizon for which the calendar is searched for overlaps


@dataclass(slots=True)
class Applier:
    """Applies the decisions of one transcript to a calendar.

    `planned` are the entries of the calendar that begin before `horizon`.
    """

    calendar: Calendar
    transcript: str
    planned: list[Entry]
    earlier: Earlier
    horizon: datetime
    _updated: dict[str, Entry] = field(default_factory=dict)
    _looked_up: dict[tuple[datetime, datetime], tuple[Entry, ...]] = field(default_factory=dict)

    def apply(self, decisions: Sequence[Decision]) -> Iterator[tuple[str, Outcome]]:
        """Apply each decision and yield its key and outcome; a failure does not stop the others."""
        keys = change_keys(decision.event for decision in decisions)
        for key, decision in zip(keys, decisions, strict=True):
            result, reason, event_id = self._step(key, decision)
            overlaps: tuple[str, ...] = ()
            if result in ("created", "updated") and decision.details is not None:
                overlaps = self._overlaps(decision.details, event_id)
            yield (
                key,
                outcome_of(decision, self.calendar.name, result, reason, event_id, overlaps),
            )

    def _step(self, key: str, decision: Decision) -> _Step:
        if decision.held_back is not None:
            return "held back", decision.held_back, None
        if key in self.earlier.changes:
            change = self.earlier.changes[key]
            return "unchanged", change.reason, change.event_id
        try:
            if decision.event.action == "create":
                return self._create(key, decision, "")
            return self._change(key, decision)
        except CalendarError as error:
            return "failed", str(error), None

    def _create(self, key: str, decision: Decision, reason: str) -> _Step:
        details = decision.details
        assert details is not None, "a decision without details is held back or a removal"
        for entry in self.planned:
            same = same_title(entry.details.title, details.title)
            if same and entry.details.start == details.start:
                return "unchanged", "it is in the calendar already", entry.id
        uid = f"truemark{_digest(self.transcript, key)}"  # characters that Google allows
        try:
            entry = self.calendar.create(uid, details, self.transcript)
        except AlreadyThere:
            return "unchanged", _EARLIER, uid
        self.planned.append(entry)
        return "created", reason, entry.id

    def _change(self, key: str, decision: Decision) -> _Step:
        """Update or delete an event; if it is gone, create it again or skip the removal."""
        target, details = decision.target, decision.details
        if target is None:
            return self._without_target(key, decision, "no event in the calendar fits")
        if self.transcript in target.marks:
            return "unchanged", _EARLIER, target.id
        try:
            current = self._current(target)
            if details is None:
                self.calendar.delete(current)
                self._forget(target)
                return "deleted", "", target.id
            if details == current.details:
                return "unchanged", "the calendar says so already", target.id
            self._updated[target.id] = self.calendar.update(current, details, self.transcript)
        except EventGone:
            self._forget(target)
            return self._without_target(key, decision, "the event is gone from the calendar")
        return "updated", "", target.id

    def _current(self, target: Entry) -> Entry:
        """Return the current event, if it has not changed since the decision was made."""
        current = self.calendar.get(target.uid, target.recurrence)
        if current.details != self._updated.get(target.id, target).details:
            raise ChangedMeanwhile(
                f"{self.calendar.name}: the event was changed by someone else meanwhile; run again"
            )
        return current

    def _overlaps(self, details: Details, event_id: str | None) -> tuple[str, ...]:
        """List the other events at that time; all-day events overlap nothing."""
        if details.all_day:
            return ()
        planned = {entry.id: entry for entry in self._after_horizon(details.start, details.end)}
        planned |= {entry.id: self._updated.get(entry.id, entry) for entry in self.planned}
        others = [
            entry.details
            for entry_id, entry in planned.items()
            if entry_id != event_id
            and not entry.details.all_day
            and entry.details.start < details.end
            and details.start < entry.details.end
        ]
        names = [_named(other, details.start) for other in others[:_MOST_NAMED]]
        more = len(others) - _MOST_NAMED
        return (*names, f"{more} more") if more > 0 else tuple(names)

    def _after_horizon(self, start: datetime, end: datetime) -> tuple[Entry, ...]:
        """List the events in a span beyond the horizon; look each span up only once."""
        if (
            end <= self.horizon
            or (start, end) in self._looked_up
            or len(self._looked_up) >= _MOST_LOOKUPS
        ):
            return self._looked_up.get((start, end), ())
        entries: tuple[Entry, ...] = ()
        with suppress(CalendarError):  # the change itself is made already
            entries = tuple(self.calendar.coming(start, end).entries)
        self._looked_up[start, end] = entries
        return entries

    def _forget(self, gone: Entry) -> None:
        self.planned = [entry for entry in self.planned if entry.id != gone.id]

    def _without_target(self, key: str, decision: Decision, reason: str) -> _Step:
        if decision.details is None:
            return "skipped", f"{reason}, so there is nothing to delete", None
        return self._create(key, decision, f"{reason}, so it is entered as a new one")


def _named(other: Details, start: datetime) -> str:
    same_day = other.start.date() == start.date()
    return f"{other.title} {other.start:{'%H:%M' if same_day else '%a %Y-%m-%d %H:%M'}}"


def transcript_id(transcript: Transcript, owner: str) -> str:
    """Identify a conversation of this owner, independently of its path."""
    return _digest(owner, transcript.as_text())


def change_keys(events: Iterable[Event]) -> list[str]:
    """Give each event a key made of action and title; events that share both are numbered.

    The key stays the same if a later run reads other times in the transcript.
    """
    seen: Counter[tuple[str, str]] = Counter()
    keys = []
    for event in events:
        name = (event.action, " ".join(event.title.casefold().split()))
        keys.append(_digest(*name, str(seen[name])))
        seen[name] += 1
    return keys


def _digest(*parts: str) -> str:
    return data_hash(*parts, digits=_ID_LENGTH)
