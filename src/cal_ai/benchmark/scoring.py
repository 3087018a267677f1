"""From events to counts: what became of each sample, and of all of them together."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cal_ai.benchmark.pairing import (
    Pair,
    Terms,
    meant_event,
    pair_events,
)
from cal_ai.benchmark.samples import Sample
from cal_ai.benchmark.sidecar import ExpectedEvent, Sidecar
from cal_ai.events import Confidence, Event
from truemark.counts import Counts, Scores, scores, total
from truemark.services.calls import Usage
from truemark.text import shortened

Status = Literal["scored", "failed", "unscored"]

EMPTY = 1.0
"""What precision is when nothing was extracted, and recall when nothing was expected."""

_KEPT_CHARACTERS = 300
_KEPT_REASONING = 1_000
_KEPT_ATTENDEES = 20
_WORST = 5


@dataclass(frozen=True, slots=True)
class Spent:
    """What one answer cost; `latency_s` is the wall time of its extraction.

    Time and tokens of a replayed answer were spent by an earlier run.
    """

    latency_s: float
    attempts: int
    usage: Usage | None
    replayed: bool = False


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
        """Of each paired update or delete whether it names the right event of the calendar.

        Left out are those of which the sidecar does not say which event it is about.
        """
        return tuple(hit for pair in self.pairs if (hit := self.target(pair)) is not None)

    def target(self, pair: Pair) -> bool | None:
        """Whether an update or delete names the right event; None where that is no question."""
        extracted = self.extracted[pair.extracted]
        if extracted.action == "create":
            return None
        meant = meant_event(self.sidecar.expected_events[pair.expected], Terms.of(self.sidecar))
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
        return tuple(it for index, it in enumerate(self.extracted) if index not in paired)


@dataclass(frozen=True, slots=True)
class Failed:
    """A sample that got no usable answer; it is counted and named, never scored as empty."""

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
    """The sample's result; events are compared whole and kept without their longest texts."""
    kept = tuple(_clipped(event) for event in events)
    if sample.sidecar is None:
        return Unscored(sample, kept, spent, repeat)
    pairs = pair_events(events, sample.sidecar.expected_events, Terms.of(sample.sidecar))
    return Scored(sample, sample.sidecar, kept, pairs, spent, repeat)


def overall_counts(scored: Iterable[Scored]) -> Counts:
    return total(result.counts for result in scored)


def event_scores(counts: Counts) -> Scores:
    """Scores in which an empty ratio is 1: nothing wrong was said, nothing true was missed."""
    return scores(counts, empty=EMPTY)


@dataclass(frozen=True, slots=True)
class Answered:
    """What is kept of a result to the end of the run: numbers and names, and none of its events.

    `length` is that of the conversation in characters, `quoted` are the lines of it that the events
    are based on, `kinds` the kinds of the mistakes.
    """

    sample: str
    digest: str
    category: str
    repeat: int
    status: Status
    counts: Counts
    reason: str
    spent: Spent
    length: int
    quoted: tuple[int, ...]
    kinds: tuple[str, ...]


class Tally:
    """All results of a run together, added up as they come, in whatever order."""

    def __init__(self, answers: int) -> None:
        self._answers: list[Answered | None] = [None] * answers
        self._worst: list[tuple[float, int, int, Scored]] = []
        self.claims: Counter[tuple[Confidence, bool]] = Counter()
        """Stated confidences, and whether the event was right, with how often that was."""
        self.targets: Counter[bool] = Counter()
        """How many updates and deletes name the right event, and how many another."""

    @property
    def answers(self) -> tuple[Answered, ...]:
        """What is kept of the results, in the order of samples and repeats."""
        return tuple(it for it in self._answers if it is not None)

    @property
    def worst(self) -> tuple[Scored, ...]:
        """The imperfect samples of lowest F1, those with more mistakes first among equals."""
        return tuple(result for *_, result in self._worst)

    def add(self, place: int, answered: Answered, result: Result) -> None:
        """Counts a result that stands at that place in the order of samples and repeats."""
        self._answers[place] = answered
        if not isinstance(result, Scored):
            return
        right = {pair.extracted for pair in result.pairs if pair.is_match}
        self.claims.update(
            (event.confidence, index in right) for index, event in enumerate(result.extracted)
        )
        self.targets.update(result.targets)
        if wrong := answered.counts.fp + answered.counts.fn:
            insort(self._worst, (event_scores(answered.counts).f1, -wrong, place, result))
            del self._worst[_WORST:]


def _clipped(event: Event) -> Event:
    """The event as the report shows it, so that memory does not grow with what models write."""
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
