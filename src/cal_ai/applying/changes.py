"""Decisions carried out on a calendar: once, however often they are run, or for show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import get_args

from cal_ai.applying.decisions import DEFAULT_APPLY, Decision, admits, same_title
from cal_ai.applying.outcomes import Outcome, Result, outcome_of
from cal_ai.calendars.protocol import (
    AlreadyThere,
    Calendar,
    CalendarError,
    ChangedMeanwhile,
    Details,
    Entry,
    EventGone,
    Listing,
)
from cal_ai.calendars.reading import Moment
from cal_ai.events import Confidence, Event
from cal_ai.transcript import Transcript
from truemark import history
from truemark.errors import TruemarkError
from truemark.jsontext import read_value
from truemark.signature import data_hash

_Step = tuple[Result, str, str | None]  # what became of it, why, and the event's id
_EARLIER = "applied by an earlier run"

_ID_LENGTH = 32


@dataclass(slots=True)
class Applier:
    """Applies the decisions of one transcript to a calendar in which `planned` was found."""

    calendar: Calendar
    transcript: str
    planned: list[Entry]
    earlier: Earlier
    _seen: dict[str, Entry] = field(default_factory=dict)

    def apply(self, decisions: Sequence[Decision]) -> Iterator[tuple[str, Outcome]]:
        """Key and outcome of each decision in turn; one that fails does not stop the others."""
        keys = change_keys(decision.event for decision in decisions)
        for key, decision in zip(keys, decisions, strict=True):
            result, reason, event_id = self._step(key, decision)
            yield key, outcome_of(decision, self.calendar.name, result, reason, event_id)

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
        uid = event_uid(self.transcript, key)
        try:
            entry = self.calendar.create(uid, details, self.transcript)
        except AlreadyThere:
            return "unchanged", _EARLIER, uid
        self.planned.append(entry)
        return "created", reason, entry.id

    def _change(self, key: str, decision: Decision) -> _Step:
        """Updates or deletes; an event that is gone is created anew or left alone."""
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
            self._seen[target.id] = self.calendar.update(current, details, self.transcript)
        except EventGone:
            self._forget(target)
            return self._without_target(key, decision, "the event is gone from the calendar")
        return "updated", "", target.id

    def _current(self, target: Entry) -> Entry:
        """The event as it stands, if that is still what the decision was made from."""
        current = self.calendar.get(target.uid, target.recurrence)
        if current.details != self._seen.get(target.id, target).details:
            raise ChangedMeanwhile(
                f"{self.calendar.name}: the event was changed by someone else meanwhile; run again"
            )
        return current

    def _forget(self, gone: Entry) -> None:
        self.planned = [entry for entry in self.planned if entry.id != gone.id]

    def _without_target(self, key: str, decision: Decision, reason: str) -> _Step:
        if decision.details is None:
            return "skipped", f"{reason}, so there is nothing to delete", None
        return self._create(key, decision, f"{reason}, so it is entered as a new one")


@dataclass(frozen=True, slots=True)
class Earlier:
    """The changes that earlier runs made for a transcript, by key.

    `settled` is the confidence from which on all were made; None when a run was cut off.
    """

    changes: Mapping[str, Outcome] = field(default_factory=dict)
    settled: Confidence | None = None
    damaged: int = 0


@dataclass(frozen=True, slots=True)
class Journal:
    """A file of what was applied to which calendar from which transcript, so that it happens once.

    An event that was created or changed carries a mark, but one that was removed cannot, nor one
    that its owner has thrown away since. One line each, safe against crashes and runs side by side.
    """

    path: Path

    def earlier(self, calendar: str, transcript: str) -> Earlier:
        """What was made of this transcript in this calendar before."""
        changes: dict[str, Outcome] = {}
        settled: Confidence | None = None
        warnings: list[str] = []
        for _, record in history.scan(self.path, warnings):
            if not _is_whole(record):
                warnings.append("a line that is not as this program writes it")
                continue
            if (record.get("calendar"), record.get("transcript")) != (calendar, transcript):
                continue
            if record.get("settled") is True:
                settled = _lower(settled, record.get("apply"))
            if (change := _outcome(record.get("change"))) is not None:
                reason = f"applied on {record.get('at')}"
                changes[str(record.get("key"))] = replace(change, result="unchanged", reason=reason)
        return Earlier(changes, settled, len(warnings))

    def set_damaged_aside(self) -> int:
        """Moves damaged lines to a file beside this one; how many there were."""
        return history.set_aside(self.path, _is_whole)

    def add(self, calendar: str, transcript: str, key: str, change: Outcome) -> None:
        """Remembers a change; it is on disk when this returns."""
        self._append(calendar, transcript, {"key": key, "change": asdict(change)})

    def settle(self, calendar: str, transcript: str, apply: Confidence) -> None:
        """Remembers that nothing of this transcript is left to do from this confidence on."""
        self._append(calendar, transcript, {"settled": True, "apply": apply})

    def _append(self, calendar: str, transcript: str, record: Mapping[str, object]) -> None:
        at = datetime.now().astimezone().isoformat(" ", "minutes")
        head = {"at": at, "calendar": calendar, "transcript": transcript}
        history.append(self.path, {**head, **record})


def transcript_id(transcript: Transcript, owner: str) -> str:
    """What stands for a conversation of this owner, wherever its file lies."""
    return _digest(owner, transcript.as_text())


def change_keys(events: Iterable[Event]) -> list[str]:
    """A key per event that stays the same when a later run reads other times into the transcript.

    Several events of one action and title are told apart by their order.
    """
    seen: Counter[tuple[str, str]] = Counter()
    keys = []
    for event in events:
        what = (event.action, " ".join(event.title.casefold().split()))
        keys.append(_digest(*what, str(seen[what])))
        seen[what] += 1
    return keys


def event_uid(transcript: str, key: str) -> str:
    """The id of an event made from a transcript; its letters are those that Google allows."""
    return f"truemark{_digest(transcript, key)}"


def _digest(*parts: str) -> str:
    return data_hash(*parts, digits=_ID_LENGTH)


def _lower(settled: Confidence | None, value: object) -> Confidence:
    """The lower of two levels; a line without one was written when `DEFAULT_APPLY` was all."""
    level = next((it for it in get_args(Confidence) if it == value), DEFAULT_APPLY)
    return settled if settled is not None and admits(settled, level) else level


def _is_whole(record: Mapping[str, object]) -> bool:
    """Whether the line is one that `Journal` writes."""
    head = all(isinstance(record.get(name), str) for name in ("at", "calendar", "transcript"))
    if "change" in record:
        return (
            head and isinstance(record.get("key"), str) and _outcome(record["change"]) is not None
        )
    return head and record.get("settled") is True


def _outcome(values: object) -> Outcome | None:
    """The outcome in a line of this file; None for what is damaged, or of another version."""
    try:
        outcome = read_value(Outcome, values, "change")
        for moment in filter(None, (outcome.start_time, outcome.end_time)):
            datetime.fromisoformat(moment)
    except (TruemarkError, ValueError):
        return None
    return outcome


class DryRun:
    """Reads another calendar, keeps the changes to itself, and answers as if they were made."""

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar
        self._changed: dict[tuple[str, Moment | None], Entry | None] = {}

    @property
    def name(self) -> str:
        return self._calendar.name

    @property
    def identity(self) -> str:
        return self._calendar.identity

    def coming(self, start: datetime, end: datetime) -> Listing:
        return self._calendar.coming(start, end)

    def get(self, uid: str, recurrence: Moment | None = None) -> Entry:
        if (uid, recurrence) not in self._changed:
            return self._calendar.get(uid, recurrence)
        entry = self._changed[uid, recurrence]
        if entry is None:
            raise EventGone(f"{self.name}: the event is no longer there")
        return entry

    def create(self, uid: str, details: Details, mark: str) -> Entry:
        try:
            self.get(uid)
        except EventGone:
            entry = self._changed[uid, None] = Entry(uid, details, marks=frozenset({mark}))
            return entry
        raise AlreadyThere(f"{self.name}: has an event of this id already")

    def update(self, entry: Entry, details: Details, mark: str) -> Entry:
        changed = self._changed[entry.uid, entry.recurrence] = entry.changed(details, mark)
        return changed

    def delete(self, entry: Entry) -> None:
        self._changed[entry.uid, entry.recurrence] = None

    def close(self) -> None:
        self._calendar.close()
