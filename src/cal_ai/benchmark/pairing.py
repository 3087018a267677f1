"""Pair extracted events with expected ones, and decide which pairs match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from rapidfuzz.fuzz import token_set_ratio

from cal_ai.benchmark.sidecar import ExpectedEvent, Level, Sidecar
from cal_ai.events import ContextEvent, Event
from truemark.assignment import match_by_cost

ComparedTime = tuple[datetime | None, datetime | None]
"""The extracted time and the expected one; None if it is missing or not checked."""

MISSING = timedelta.max
"""The shift of a time that is expected and was not extracted."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The lowest similarity of titles (None: they must be equal) and the longest time apart."""

    title_similarity: float | None
    time_apart: timedelta


TOLERANCES: Mapping[Level, Tolerance] = MappingProxyType(
    {
        "strict": Tolerance(None, timedelta(minutes=30)),
        "moderate": Tolerance(80, timedelta(hours=2)),
        "relaxed": Tolerance(60, timedelta(days=1)),
    }
)

_ACTION_COST = 1000.0
_MISSING_START_COST = TOLERANCES["relaxed"].time_apart / timedelta(minutes=1)


class Closeness(NamedTuple):
    """How two events compare; shifts are extracted minus expected, None if not checked."""

    same_action: bool
    same_title: bool
    similarity: float
    start: ComparedTime
    end: ComparedTime
    start_shift: timedelta | None
    end_shift: timedelta | None

    @property
    def cost(self) -> float:
        """The cost of this pair: for a wrong action, for different titles, and per minute apart."""
        if self.start_shift is None:
            minutes = 0.0
        elif self.start_shift == MISSING:
            minutes = _MISSING_START_COST
        else:
            minutes = abs(self.start_shift) / timedelta(minutes=1)
        return (0.0 if self.same_action else _ACTION_COST) + (100.0 - self.similarity) + minutes

    def within(self, tolerance: Tolerance) -> bool:
        """Whether the pair is a true positive."""
        return (
            self.same_action
            and self.title_within(tolerance)
            and time_within(self.start_shift, tolerance)
            and time_within(self.end_shift, tolerance)
        )

    def title_within(self, tolerance: Tolerance) -> bool:
        if tolerance.title_similarity is None:
            return self.same_title
        return self.similarity >= tolerance.title_similarity


def time_within(shift: timedelta | None, tolerance: Tolerance) -> bool:
    return shift is None or abs(shift) <= tolerance.time_apart


def compare_events(extracted: Event, expected: ExpectedEvent, sidecar: Sidecar) -> Closeness:
    """Measure how two events differ; deletes are compared by the planned events they remove.

    A time that the sidecar leaves out counts only if both delete a planned event: then the question
    is whether they mean the same one.
    """
    removed, to_remove = None, None
    if extracted.action == "delete":
        removed = planned_event(extracted.existing_event_id, sidecar)
    if expected.action == "delete":
        to_remove = meant_event(expected, sidecar)
    start, end = expected.start_time, expected.end_time
    if to_remove is not None:
        start = to_remove.start if removed is not None or start is not None else None
        end = to_remove.end if removed is not None or end is not None else None
    got_start = extracted.start_time if removed is None else removed.start
    got_end = extracted.end_time if removed is None else removed.end
    now = sidecar.reference_datetime
    return Closeness(
        same_action=extracted.action == expected.action,
        same_title=_normalised(extracted.title) == _normalised(expected.title),
        similarity=title_similarity(extracted.title, expected.title),
        start=(got_start, start),
        end=(got_end, end),
        start_shift=_shift(got_start, start, now),
        end_shift=_shift(got_end, end, now),
    )


def title_similarity(first: str, second: str) -> float:
    """Compare two titles by their words, from 0 to 100; order, case and repetition do not count.

    If all words of one are in the other, the two are alike, however many are missing.
    """
    first, second = _normalised(first), _normalised(second)
    return 100.0 if first == second and first else token_set_ratio(first, second)


def texts_alike(first: str, second: str, tolerance: Tolerance) -> bool:
    """Whether two texts are as similar as titles have to be."""
    if tolerance.title_similarity is None:
        return _normalised(first) == _normalised(second)
    return title_similarity(first, second) >= tolerance.title_similarity


def time_shift(got: datetime, expected: datetime, now: datetime) -> timedelta:
    """Return how much later `got` is.

    A time without an offset is the owner's local time, so it gets the offset of `now`. If `now` has
    none either, offsets are ignored and the clock times are compared.
    """
    if (got.tzinfo is None) != (expected.tzinfo is None):
        if got.tzinfo is None or now.tzinfo is None:
            got = got.replace(tzinfo=now.tzinfo)
        if expected.tzinfo is None or now.tzinfo is None:
            expected = expected.replace(tzinfo=now.tzinfo)
    return got - expected


def _shift(got: datetime | None, expected: datetime | None, now: datetime) -> timedelta | None:
    if expected is None:
        return None
    return MISSING if got is None else time_shift(got, expected, now)


def meant_event(event: ExpectedEvent, sidecar: Sidecar) -> ContextEvent | None:
    """Find the planned event that an expected update or delete is about; None if it is unclear.

    It is named by its number, or else described: a delete by title and start, an update, whose
    start is the new one, by its title alone.
    """
    number = event.existing_event_id_required
    if event.action == "create" or (event.action == "update" and not number):
        return None
    if not isinstance(number, bool):
        return planned_event(number, sidecar)
    tolerance = TOLERANCES[sidecar.tolerance]
    alike = [
        planned
        for planned in sidecar.calendar_context
        if texts_alike(planned.summary, event.title, tolerance)
    ]
    start, now = event.start_time, sidecar.reference_datetime
    if event.action == "delete" and start is not None:
        alike.sort(key=lambda planned: abs(time_shift(planned.start, start, now)))
        near = abs(time_shift(alike[0].start, start, now)) if alike else MISSING
        return alike[0] if near <= tolerance.time_apart else None
    return alike[0] if len(alike) == 1 else None


def planned_event(number: int | None, sidecar: Sidecar) -> ContextEvent | None:
    return next((planned for planned in sidecar.calendar_context if planned.id == number), None)


def _normalised(text: str) -> str:
    return text.strip().casefold()


class Pair(NamedTuple):
    """The indices of an extracted and an expected event, and how the two compare."""

    extracted: int
    expected: int
    comparison: Closeness
    is_match: bool


def pair_events(extracted: Sequence[Event], sidecar: Sidecar) -> tuple[Pair, ...]:
    """Pair extracted with expected events, for the most matches and then the lowest cost.

    Surplus events stay without a partner; a pair that is no match is a near miss.
    """
    if not extracted or not sidecar.expected_events:
        return ()
    tolerance = TOLERANCES[sidecar.tolerance]
    comparisons = [
        [compare_events(event, expected, sidecar) for expected in sidecar.expected_events]
        for event in extracted
    ]
    costs = [[comparison.cost for comparison in row] for row in comparisons]
    within = [[comparison.within(tolerance) for comparison in row] for row in comparisons]
    return tuple(
        Pair(row, column, comparisons[row][column], within[row][column])
        for row, column in match_by_cost(costs, within)
    )
