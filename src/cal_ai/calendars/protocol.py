"""The protocol that every calendar implements, and the values that pass through it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Protocol

from truemark.errors import TruemarkError
from truemark.services.secrets import without_secrets

Moment = date | datetime
"""A day, or a time of day on it."""
PARSER_ERRORS = (
    *(LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError),
)
"""What libraries raise at malformed calendars and answers."""


class CalendarError(TruemarkError):
    """A calendar that cannot be read or changed as asked."""


class EventGone(CalendarError):  # noqa: N818 - a state of the event, not a fault
    """The event is no longer in the calendar."""


class AlreadyThere(CalendarError):  # noqa: N818
    """An event with this id is in the calendar already."""


class ChangedMeanwhile(CalendarError):  # noqa: N818
    """Someone else has changed the event since it was read."""


@dataclass(frozen=True, slots=True)
class Details:
    """The content of an event; times have a zone, those of an all-day event are midnights.

    `end` is the first moment after the event.
    """

    title: str
    start: datetime
    end: datetime
    all_day: bool = False
    location: str | None = None
    description: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """An event, or one occurrence of a recurring event, as it stands in a calendar.

    `recurrence` tells occurrences of one `uid` apart: it is the start that the rule gives, even if
    the occurrence was moved. `marks` are the transcripts that were applied to the event, and
    `version` serves to notice changes by others.
    """

    uid: str
    details: Details
    recurrence: Moment | None = None
    people: tuple[str, ...] = ()
    marks: frozenset[str] = frozenset()
    version: str = ""

    @property
    def id(self) -> str:
        """The uid, with the recurrence of an occurrence."""
        return self.uid if self.recurrence is None else f"{self.uid}#{self.recurrence.isoformat()}"

    def without_secrets(self, *secrets: str | None) -> Entry:
        """Return the entry without secrets that a server has put into its texts."""
        details = replace(
            self.details,
            title=without_secrets(self.details.title, *secrets),
            location=self.details.location and without_secrets(self.details.location, *secrets),
            description=without_secrets(self.details.description, *secrets),
        )
        people = tuple(without_secrets(person, *secrets) for person in self.people)
        return replace(self, details=details, people=people)

    def changed(self, details: Details, mark: str) -> Entry:
        """Return the entry with other details and one more mark."""
        return replace(self, details=details, marks=self.marks | {mark})


@dataclass(frozen=True, slots=True)
class Listing:
    """Entries in the order of their start, and a warning for each event that cannot be read."""

    entries: tuple[Entry, ...]
    warnings: tuple[str, ...] = ()


class Calendar(Protocol):
    """A calendar; each method raises a `CalendarError` if it fails.

    A change to one occurrence of a recurring event leaves the other occurrences as they are.
    """

    @property
    def name(self) -> str:
        """The name as the user gave it, without credentials."""
        ...

    @property
    def identity(self) -> str:
        """The key of this calendar in the journal."""
        ...

    @property
    def changes_at_once(self) -> int:
        """How many changes are made together, in one block of `changing`."""
        ...

    def changing(self) -> AbstractContextManager[None]:
        """Make the changes of the block together when it ends, unless it raises an error."""
        ...

    def coming(self, start: datetime, end: datetime) -> Listing:
        """List the events that overlap the window, recurring ones expanded."""
        ...

    def get(self, uid: str, recurrence: Moment | None = None) -> Entry:
        """Return the current event; raises `EventGone`."""
        ...

    def create(self, uid: str, details: Details, mark: str) -> Entry:
        """Add an event; raises `AlreadyThere` if the uid is taken."""
        ...

    def update(self, entry: Entry, details: Details, mark: str) -> Entry:
        """Write the details that differ; raises `EventGone` or `ChangedMeanwhile`."""
        ...

    def delete(self, entry: Entry) -> None:
        """Remove the event; raises `EventGone` or `ChangedMeanwhile`."""
        ...

    def close(self) -> None:
        """Close connections."""
        ...
