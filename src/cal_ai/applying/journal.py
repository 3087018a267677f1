"""The journal: a file of the changes that were applied, so that none is applied twice."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import get_args

from cal_ai.applying.decisions import DEFAULT_APPLY, admits
from cal_ai.applying.outcomes import Outcome
from cal_ai.calendars.protocol import Calendar, EventGone
from cal_ai.events import Confidence
from truemark.errors import TruemarkError
from truemark.jsonlines import append, scan, set_aside
from truemark.jsontext import read_value

_LEVELS: tuple[Confidence, ...] = get_args(Confidence)


@dataclass(frozen=True, slots=True)
class Earlier:
    """The changes that earlier runs made for a transcript, by key.

    `settled` is the lowest confidence down to which all changes were made; None if no run was
    complete. `damaged` counts the lines of the journal that cannot be read.
    """

    changes: Mapping[str, Outcome] = field(default_factory=dict)
    settled: Confidence | None = None
    damaged: int = 0


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of the file: a change that was made, or a note that nothing is left to do.

    `place` is where the calendar was; it is empty in lines of older versions.
    """

    at: str
    calendar: str
    transcript: str
    key: str = ""
    change: Outcome | None = None
    settled: bool = False
    apply: object = None
    place: str = ""

    def __post_init__(self) -> None:
        if not (self.key if self.change else self.settled):
            raise ValueError("a line must hold a change with its key, or be settled")
        if self.change is not None:
            for moment in filter(None, (self.change.start_time, self.change.end_time)):
                datetime.fromisoformat(moment)


@dataclass(frozen=True, slots=True)
class Journal:
    """The journal in one file, which survives crashes and runs side by side.

    Events that were created or changed carry a mark, but those that were removed, by a run or by
    the owner, cannot. So changes are recorded here too.
    """

    path: Path

    def earlier(self, calendar: Calendar, transcript: str) -> Earlier:
        """Return what earlier runs changed in this very calendar for this transcript.

        A copy of a calendar has the same id, so in a calendar at another place each change is
        looked up. At the same place a change that is no longer there was undone by the owner, and
        counts.
        """
        made: dict[str, tuple[str, Outcome]] = {}
        settled: Confidence | None = None
        warnings: list[str] = []
        identity = calendar.identity
        for _, record in scan(self.path, warnings):
            line = _read_line(record)
            if line is None:
                warnings.append("a line that is not as this program writes it")
            elif (line.calendar, line.transcript) == (identity, transcript):
                if line.settled:
                    # Lines without a level are from before --apply existed.
                    level = next((known for known in _LEVELS if known == line.apply), DEFAULT_APPLY)
                    settled = settled if settled and admits(settled, level) else level
                if line.change is not None:
                    reason = f"applied on {line.at}"
                    change = replace(line.change, result="unchanged", reason=reason)
                    made[line.key] = line.place, replace(change, calendar=calendar.name)
        here = _place(calendar)
        changes = {
            key: change
            for key, (place, change) in made.items()
            if place == here or _is_applied(change, calendar, transcript)
        }
        return Earlier(changes, settled if len(changes) == len(made) else None, len(warnings))

    def set_damaged_aside(self) -> int:
        """Move damaged lines to a file next to this one; return how many there were."""
        return set_aside(self.path, lambda record: _read_line(record) is not None)

    def add(self, calendar: Calendar, transcript: str, changes: Mapping[str, Outcome]) -> None:
        """Record changes by their keys; they are on disk when this returns."""
        place = _place(calendar)
        lines = [
            {"key": key, "change": asdict(change), "place": place}
            for key, change in changes.items()
        ]
        self._append(calendar, transcript, *lines)

    def require_writable(self) -> None:
        """Raise an error unless lines can be added, so that no change is made unrecorded."""
        append(self.path)

    def settle(self, calendar: Calendar, transcript: str, apply: Confidence) -> None:
        """Record that all changes of this transcript with at least this confidence were made."""
        self._append(calendar, transcript, {"settled": True, "apply": apply})

    def _append(self, calendar: Calendar, transcript: str, *lines: Mapping[str, object]) -> None:
        at = datetime.now().astimezone().isoformat(" ", "minutes")
        head = {"at": at, "calendar": calendar.identity, "transcript": transcript}
        append(self.path, *({**head, **fields} for fields in lines))


def _is_applied(change: Outcome, calendar: Calendar, transcript: str) -> bool:
    """Whether a change is in the calendar: the event carries the mark, or it was deleted."""
    event_id = change.event_id or ""
    uid, _, moment = event_id.rpartition("#")
    try:
        recurrence = datetime.fromisoformat(moment) if uid else None
    except ValueError:  # the # is part of the id
        recurrence = None
    try:
        entry = calendar.get(uid, recurrence) if recurrence else calendar.get(event_id)
    except EventGone:
        return change.action == "delete"
    return change.action != "delete" and transcript in entry.marks


def _place(calendar: Calendar) -> str:
    """Return where a calendar is; a path is made absolute."""
    kind, _, path = calendar.name.partition(":")
    return f"ics:{os.path.realpath(path)}" if kind == "ics" else calendar.name


def _read_line(record: Mapping[str, object]) -> _Line | None:
    """Read a line of this file; None for one that is damaged, or of another version."""
    try:
        return read_value(_Line, record, "journal")
    except TruemarkError:
        return None
