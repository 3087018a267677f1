"""What was applied to which calendar from which transcript, so that it happens once.

An event that was created or changed carries a mark, but one that was removed cannot, nor one that
its owner has thrown away since. This file remembers those too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import get_args

from cal_ai.applying.decisions import DEFAULT_APPLY, admits
from cal_ai.applying.outcomes import Outcome
from cal_ai.events import Confidence, Event
from cal_ai.transcript import Transcript
from truemark import history
from truemark.errors import TruemarkError
from truemark.jsontext import decoded
from truemark.signature import data_hash

_ID_LENGTH = 32


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
    """A file of changes; one line each, safe against crashes and runs side by side."""

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
        outcome = decoded(Outcome, values, "change")
        for moment in filter(None, (outcome.start_time, outcome.end_time)):
            datetime.fromisoformat(moment)
    except (TruemarkError, ValueError):
        return None
    return outcome
