"""Score the events of each sample against its sidecar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cal_ai.benchmark.pairing import Pair, meant_event, pair_events
from cal_ai.benchmark.samples import Sample
from cal_ai.benchmark.sidecar import ExpectedEvent, Sidecar
from cal_ai.events import Event
from truemark.counts import Counts, Scores, scores
from truemark.services.calls import Usage
from truemark.text import shortened

EMPTY = 1.0
"""Precision if nothing was extracted, and recall if nothing was expected."""

_KEPT_CHARACTERS = 300
_KEPT_REASONING = 1_000
_KEPT_ATTENDEES = 20


@dataclass(frozen=True, slots=True)
class Spent:
    """What one answer took; `latency_s` is the wall time of its extraction.

    The time and tokens of a replayed answer were spent by an earlier run.
    """

    latency_s: float
    attempts: int
    usage: Usage | None
    replayed: bool = False

    @property
    def is_stored_answer(self) -> bool:
        """Whether an answer was replayed; a replay has none for a sample nobody asked about."""
        return self.replayed and self.attempts > 0


@dataclass(frozen=True, slots=True)
class Scored:
    """A sample whose events were compared with its sidecar; `repeat` counts from 0."""

    sample: Sample
    sidecar: Sidecar
    extracted: tuple[Event, ...]
    pairs: tuple[Pair, ...]
    spent: Spent
    repeat: int = 0

    @property
    def counts(self) -> Counts:
        matches = sum(pair.is_match for pair in self.pairs)
        return Counts.of(
            matched=matches,
            predicted=len(self.extracted),
            expected=len(self.sidecar.expected_events),
        )

    @property
    def near_misses(self) -> tuple[Pair, ...]:
        return tuple(pair for pair in self.pairs if not pair.is_match)

    @property
    def targets(self) -> tuple[bool, ...]:
        """For each paired update or delete, whether it names the right calendar event.

        Pairs are left out if the sidecar does not tell which event is meant.
        """
        return tuple(hit for pair in self.pairs if (hit := self.target(pair)) is not None)

    def target(self, pair: Pair) -> bool | None:
        """Whether an update or delete names the right event; None if the sidecar names none."""
        extracted = self.extracted[pair.extracted]
        if extracted.action == "create":
            return None
        meant = meant_event(self.sidecar.expected_events[pair.expected], self.sidecar)
        return None if meant is None else extracted.existing_event_id == meant.id

    @property
    def missed(self) -> tuple[ExpectedEvent, ...]:
        """Expected events that no extracted event was paired with."""
        paired = {pair.expected for pair in self.pairs}
        expected = enumerate(self.sidecar.expected_events)
        return tuple(event for index, event in expected if index not in paired)

    @property
    def spurious(self) -> tuple[Event, ...]:
        """Extracted events that no expected event was paired with."""
        paired = {pair.extracted for pair in self.pairs}
        extracted = enumerate(self.extracted)
        return tuple(event for index, event in extracted if index not in paired)


@dataclass(frozen=True, slots=True)
class Failed:
    """A sample without a usable answer; it is counted and named, never scored as empty."""

    sample: Sample
    reason: str
    spent: Spent
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Unscored:
    """A sample without a sidecar."""

    sample: Sample
    extracted: tuple[Event, ...]
    spent: Spent
    repeat: int = 0


Result = Scored | Failed | Unscored


def score(
    sample: Sample, events: Sequence[Event], spent: Spent, repeat: int = 0
) -> Scored | Unscored:
    """Pair the events with those of the sidecar; long texts are shortened only afterwards."""
    kept = tuple(_shorten(event) for event in events)
    if sample.sidecar is None:
        return Unscored(sample, kept, spent, repeat)
    pairs = pair_events(events, sample.sidecar)
    return Scored(sample, sample.sidecar, kept, pairs, spent, repeat)


def event_scores(counts: Counts) -> Scores:
    """Compute precision, recall and F1; a ratio of nothing to nothing is 1."""
    return scores(counts, empty=EMPTY)


def _shorten(event: Event) -> Event:
    """Shorten texts that are longer than the report shows."""
    texts = (event.title, event.location or "")
    lists = (*event.attendees, *event.assumptions)
    short = max(map(len, texts)) <= _KEPT_CHARACTERS and sum(map(len, lists)) <= _KEPT_CHARACTERS
    if short and len(event.reasoning) <= _KEPT_REASONING:
        return event
    names = event.attendees[:_KEPT_ATTENDEES]
    return replace(
        event,
        title=shortened(event.title, _KEPT_CHARACTERS),
        location=event.location and shortened(event.location, _KEPT_CHARACTERS),
        attendees=tuple(shortened(name, _KEPT_CHARACTERS) for name in names),
        reasoning=shortened(event.reasoning, _KEPT_REASONING),
        assumptions=(),
    )
