from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from tests.cal_ai.calendar_backends import BERLIN, at

from cal_ai.applying.decisions import Decision, decide
from cal_ai.calendars.protocol import Details, Entry
from cal_ai.events import Action, Confidence, Event

NOW = at(20, 10)
NOON = datetime(2026, 3, 24, 12)
REVIEW = Entry("review", Details("Design review", at(25, 10), at(25, 10, 45), location="Room 4"))
SKIING = Entry("skiing", Details("Skiing", at(27, 0), at(30, 0), all_day=True))


def deciding(event: Event, target: Entry | None = None) -> Decision:
    return decide(event, target, NOW, BERLIN)


@pytest.mark.parametrize("action", ["update", "delete"])
@pytest.mark.parametrize("apply", ["low", "medium", "high"])
def test_changes_and_removals_need_high_whatever_is_asked(
    action: Action, apply: Confidence
) -> None:
    event = Event(action, "Design review", NOON, confidence="medium")
    decision = decide(event, REVIEW, NOW, BERLIN, apply)
    assert decision.held_back is not None
    assert decision.apply is None


@pytest.mark.parametrize(
    ("action", "confidence", "held_back"),
    [
        ("create", "high", None),
        ("create", "medium", None),
        ("create", "low", "confidence is low, and a create needs medium or high"),
        ("update", "high", None),
        ("update", "medium", "confidence is medium, and an update needs high"),
        ("update", "low", "confidence is low, and an update needs high"),
        ("delete", "high", None),
        ("delete", "medium", "confidence is medium, and a delete needs high"),
        ("delete", "low", "confidence is low, and a delete needs high"),
    ],
)
def test_a_change_is_held_back_unless_the_confidence_allows_it(
    action: Action, confidence: Confidence, held_back: str | None
) -> None:
    event = Event(action, "Design review", NOON, confidence=confidence)
    target = None if action == "create" else REVIEW
    assert deciding(event, target).held_back == held_back


@pytest.mark.parametrize("confidence", ["high", "medium", "low"])
@pytest.mark.parametrize("action", ["create", "update"])
def test_an_event_without_a_start_cannot_be_entered_at_any_confidence(
    action: Action, confidence: Confidence
) -> None:
    decision = deciding(Event(action, "Lunch", confidence=confidence))
    assert decision.held_back == "no start time was found"
    assert decision.details is None


def test_an_event_that_ends_before_it_starts_is_held_back() -> None:
    event = Event("create", "Lunch", NOON, NOON - timedelta(hours=1), confidence="high")
    assert deciding(event).held_back == "it would end at 2026-03-24 11:00, before it starts"


@pytest.mark.parametrize(
    ("start", "end", "expected", "assumption"),
    [
        pytest.param(NOON, NOON.replace(hour=14), (at(24, 12), at(24, 14), False), None, id="both"),
        pytest.param(
            NOON,
            None,
            (at(24, 12), at(24, 13), False),
            "no end was said: it is entered for one hour",
            id="no-end",
        ),
        pytest.param(
            NOON,
            NOON,
            (at(24, 12), at(24, 13), False),
            "no end was said: it is entered for one hour",
            id="no-length",
        ),
        pytest.param(
            datetime(2026, 3, 24),
            None,
            (at(24, 0), at(25, 0), True),
            "no time of day was said: it is entered as an all-day event",
            id="a-date-alone",
        ),
        pytest.param(
            datetime(2026, 3, 28),
            datetime(2026, 3, 30),
            (at(28, 0), at(30, 0), True),
            None,
            id="whole-days",
        ),
        pytest.param(
            datetime(2026, 3, 24),
            datetime(2026, 3, 24, 1),
            (at(24, 0), at(24, 1), False),
            None,
            id="midnight-with-an-end",
        ),
        pytest.param(
            datetime.fromisoformat("2026-03-24T09:00:00-04:00"),
            datetime.fromisoformat("2026-03-24T10:00:00-04:00"),
            (at(24, 14), at(24, 15), False),
            None,
            id="another-zone",
        ),
        pytest.param(
            datetime(2026, 3, 29, 1, 30),
            None,
            (at(29, 1, 30), at(29, 3, 30), False),
            "no end was said: it is entered for one hour",
            id="an-hour-over-the-change",
        ),
        pytest.param(
            datetime(2026, 3, 29, 2, 30),
            datetime(2026, 3, 29, 4),
            (at(29, 3, 30), at(29, 4), False),
            "the clocks skip 02:30 on 2026-03-29: taken as 03:30",
            id="a-time-that-does-not-exist",
        ),
        pytest.param(
            datetime(2026, 3, 2, 12),
            datetime(2026, 3, 2, 13),
            (at(2, 12), at(2, 13), False),
            "it lies in the past",
            id="past",
        ),
    ],
)
def test_a_new_event_gets_the_time_that_was_said_or_a_stated_assumption(
    start: datetime,
    end: datetime | None,
    expected: tuple[datetime, datetime, bool],
    assumption: str | None,
) -> None:
    decision = deciding(Event("create", "Lunch", start, end, assumptions=("their own",)))
    assert decision.details is not None
    got = (decision.details.start, decision.details.end, decision.details.all_day)
    assert got == expected
    assert decision.assumptions == (("their own", assumption) if assumption else ("their own",))


@pytest.mark.parametrize("action", ["create", "update"])
@pytest.mark.parametrize("minute", [0, 30])
def test_an_event_whose_start_the_clocks_skip_keeps_its_length(action: Action, minute: int) -> None:
    start, end = datetime(2026, 3, 29, 2, minute), datetime(2026, 3, 29, 3)
    event = Event(action, "Design review", start, end, confidence="high")
    decision = deciding(event, REVIEW if action == "update" else None)
    assert decision.details is not None
    assert decision.held_back is None
    assert decision.details.start == at(29, 3, minute)
    assert decision.details.end == at(29, 4)
    assert not any("no end was said" in assumption for assumption in decision.assumptions)


@pytest.mark.parametrize(
    ("target", "start", "end", "expected", "assumptions"),
    [
        pytest.param(REVIEW, None, None, (at(25, 10), at(25, 10, 45), False), (), id="no-time"),
        pytest.param(
            REVIEW,
            datetime(2026, 3, 26, 15),
            None,
            (at(26, 15), at(26, 15, 45), False),
            ("no end was said: it keeps its length of 45 min",),
            id="moved",
        ),
        pytest.param(
            REVIEW,
            datetime(2026, 3, 26),
            None,
            (at(26, 10), at(26, 10, 45), False),
            (
                "no time of day was said: it stays at 10:00",
                "no end was said: it keeps its length of 45 min",
            ),
            id="moved-to-a-date",
        ),
        pytest.param(
            REVIEW,
            None,
            datetime(2026, 3, 25, 12),
            (at(25, 10), at(25, 12), False),
            (),
            id="longer",
        ),
        pytest.param(
            SKIING,
            datetime(2026, 3, 28),
            None,
            (at(28, 0), at(31, 0), True),
            (),
            id="days-moved",
        ),
        pytest.param(
            SKIING,
            datetime(2026, 3, 28, 9),
            None,
            (at(28, 9), at(28, 10), False),
            ("no end was said: it is entered for one hour",),
            id="days-to-an-hour",
        ),
    ],
)
def test_a_changed_event_keeps_what_was_not_said(
    target: Entry,
    start: datetime | None,
    end: datetime | None,
    expected: tuple[datetime, datetime, bool],
    assumptions: tuple[str, ...],
) -> None:
    event = Event("update", target.details.title, start, end, confidence="high")
    decision = deciding(event, target)
    assert decision.details is not None
    got = (decision.details.start, decision.details.end, decision.details.all_day)
    assert got == expected
    assert decision.assumptions == assumptions
    assert decision.details.location == target.details.location


def test_a_title_in_other_letters_is_no_change_and_another_title_is() -> None:
    same = deciding(Event("update", "design  Review", confidence="high"), REVIEW)
    assert same.details == REVIEW.details
    renamed = deciding(Event("update", "Final review", confidence="high"), REVIEW)
    assert renamed.details == replace(REVIEW.details, title="Final review")


def test_people_are_named_once_and_nothing_else_in_the_description_is_lost() -> None:
    details = replace(REVIEW.details, title="Review with Bob", description="Bring slides")
    target = replace(REVIEW, details=details, people=("Novak, Jan",))
    event = Event("update", "Review with Bob", attendees=("bob", "Jan", "Carol"), confidence="high")
    changed = deciding(event, target).details
    assert changed is not None
    assert changed.description == "Bring slides\nWith: Carol"
    fresh = deciding(Event("create", "Lunch", NOON, attendees=("Bob", "Carol"))).details
    assert fresh is not None
    assert fresh.description == "With: Bob, Carol"
