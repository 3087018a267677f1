"""Every mistake has a kind, and no mistake is counted twice or lost."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cal_ai.benchmark.mistakes import KINDS, Kind, matches_of, mistakes_of
from cal_ai.benchmark.samples import Sample
from cal_ai.benchmark.scoring import Scored, Spent, score
from cal_ai.benchmark.sidecar import ExpectedEvent, Sidecar
from cal_ai.events import ContextEvent, Event
from cal_ai.transcripts.conversation import Transcript

NOON = datetime(2026, 2, 23, 12, 0)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
PLANNED = (
    ContextEvent(1, "Gym", NOON + 4 * HOUR, NOON + 5 * HOUR),
    ContextEvent(2, "Gym", NOON + 2 * DAY, NOON + 2 * DAY + HOUR),
)
LUNCH = ExpectedEvent("create", "Lunch with Bob", NOON, NOON + HOUR)
GOT = Event("create", "Lunch with Bob", NOON, NOON + HOUR)
DROP_GYM = ExpectedEvent("delete", "Gym", existing_event_id_required=1)
MOVE_GYM = ExpectedEvent("update", "Gym", NOON + DAY, existing_event_id_required=1)


def scored(expected: tuple[ExpectedEvent, ...], *extracted: Event, **circumstances: Any) -> Scored:
    sidecar = Sidecar(expected, calendar_context=PLANNED, reference_datetime=NOON)
    sample = Sample("crud", "one", Transcript(()), replace(sidecar, **circumstances), "digest")
    result = score(sample, extracted, Spent(0.5, 1, None))
    assert isinstance(result, Scored)
    return result


@pytest.mark.parametrize(
    ("expected", "extracted", "kinds"),
    [
        pytest.param((LUNCH,), (GOT,), [], id="right"),
        pytest.param((LUNCH,), (), ["missed"], id="missed"),
        pytest.param((), (GOT,), ["invented"], id="invented"),
        pytest.param((LUNCH,), (GOT, GOT), ["duplicate"], id="duplicate"),
        pytest.param((LUNCH,), (GOT, GOT, GOT), ["duplicate"] * 2, id="two-duplicates"),
        pytest.param(
            (LUNCH,),
            (replace(GOT, start_time=NOON + DAY, end_time=NOON + DAY + HOUR),),
            ["wrong day"],
            id="day",
        ),
        pytest.param(
            (LUNCH,),
            (replace(GOT, start_time=NOON + 6 * HOUR, end_time=NOON + 7 * HOUR),),
            ["wrong time"],
            id="time",
        ),
        pytest.param(
            (LUNCH,), (replace(GOT, start_time=None, end_time=None),), ["wrong time"], id="no-time"
        ),
        pytest.param(
            (LUNCH,), (replace(GOT, end_time=NOON + 5 * HOUR),), ["wrong length"], id="length"
        ),
        pytest.param((LUNCH,), (replace(GOT, end_time=None),), ["wrong length"], id="no-end"),
        pytest.param((LUNCH,), (replace(GOT, title="Dentist"),), ["wrong title"], id="title"),
        pytest.param((LUNCH,), (replace(GOT, action="update"),), ["wrong action"], id="action"),
        pytest.param(
            (LUNCH,),
            (Event("create", "Dentist", NOON + 3 * DAY),),
            ["missed", "invented"],
            id="nothing-in-common",
        ),
        pytest.param(
            (LUNCH,),
            (GOT, replace(GOT, action="delete", title="Dentist", start_time=NOON + 9 * DAY)),
            ["invented"],
            id="one-right-one-invented",
        ),
        pytest.param(
            (DROP_GYM,),
            (Event("delete", "Gym", existing_event_id=2),),
            ["wrong event of the calendar"],
            id="another-gym",
        ),
        pytest.param(
            (MOVE_GYM,),
            (Event("update", "Gym", NOON + 3 * DAY, existing_event_id=2),),
            ["wrong event of the calendar"],
            id="another-gym-moved",
        ),
        pytest.param(
            (MOVE_GYM,),
            (Event("update", "Swimming", NOON + 3 * DAY, existing_event_id=1),),
            ["wrong title"],
            id="the-same-event-in-other-words",
        ),
        pytest.param(
            (MOVE_GYM,),
            (Event("create", "Gym", NOON + DAY),),
            ["wrong action"],
            id="entered-anew-in-place-of-moved",
        ),
        pytest.param(
            (replace(LUNCH, start_time=None, end_time=None),),
            (replace(GOT, title="Dentist"),),
            ["wrong title"],
            id="no-time-to-compare",
        ),
        pytest.param(
            (replace(LUNCH, start_time=datetime(9999, 12, 31, 23, tzinfo=UTC), end_time=None),),
            (replace(GOT, start_time=datetime(1, 1, 1, 0, 30), end_time=None),),
            ["wrong day"],
            id="the-ends-of-time",
        ),
    ],
)
def test_the_kind_of_each_mistake(
    expected: tuple[ExpectedEvent, ...], extracted: tuple[Event, ...], kinds: list[Kind]
) -> None:
    assert [one.kind for one in mistakes_of(scored(expected, *extracted))] == kinds


def test_a_wrong_day_says_by_how_much() -> None:
    late = replace(GOT, start_time=NOON + DAY, end_time=NOON + DAY + HOUR)
    (mistake,) = mistakes_of(scored((LUNCH,), late))
    assert [(it.field, it.amount, it.unit) for it in mistake.differences] == [
        ("start", 1440.0, "min"),
        ("end", 1440.0, "min"),
    ]


@pytest.mark.parametrize(
    ("extracted", "kind", "fields"),
    [
        pytest.param(GOT, "", [], id="exact"),
        pytest.param(
            replace(GOT, start_time=NOON + timedelta(minutes=45)),
            "off within tolerance",
            [("start", "45 min later")],
            id="start",
        ),
        pytest.param(
            replace(GOT, title="Lunch Bob"),
            "off within tolerance",
            [("title", "similarity 100")],
            id="title",
        ),
        pytest.param(replace(GOT, title=" LUNCH with bob"), "", [], id="case"),
    ],
)
def test_a_match_says_by_how_much_it_is_off(
    extracted: Event, kind: str, fields: list[tuple[str, str]]
) -> None:
    (match,) = matches_of(scored((LUNCH,), extracted))
    assert (match.kind, [(it.field, it.by) for it in match.differences]) == (kind, fields)


def test_of_several_remarks_the_wrong_event_matters_most() -> None:
    moved = replace(MOVE_GYM, location="Hall 2", attendees_contain=("Bob",))
    off = Event("update", "Gym", NOON + DAY + timedelta(minutes=5), existing_event_id=2)
    for change, kind in (
        ({}, "wrong event of the calendar"),
        ({"existing_event_id": 1}, "off within tolerance"),
        ({"existing_event_id": 1, "start_time": NOON + DAY}, "other place"),
        (
            {"existing_event_id": 1, "start_time": NOON + DAY, "location": "Hall 2"},
            "people missing",
        ),
    ):
        (match,) = matches_of(scored((moved,), replace(off, **change)))
        assert match.kind == kind


titles = st.sampled_from(["Lunch", "Lunch with Bob", "Dinner with Bob", "Gym"])
actions = st.sampled_from(["create", "update", "delete"])
times = st.none() | st.integers(-30, 30).map(lambda hours: NOON + timedelta(hours=hours))
numbers = st.sampled_from([None, 1, 2, 3])
extracted_events = st.builds(
    Event, action=actions, title=titles, start_time=times, end_time=times, existing_event_id=numbers
)
expected_events = st.builds(
    ExpectedEvent,
    action=actions,
    title=titles,
    start_time=times,
    end_time=times,
    existing_event_id_required=st.sampled_from([False, True, 1, 2]),
)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    st.lists(extracted_events, max_size=5),
    st.lists(expected_events, max_size=5),
    st.sampled_from(["strict", "moderate", "relaxed"]),
)
def test_mistakes_add_up_to_the_counts(
    extracted: list[Event], expected: list[ExpectedEvent], tolerance: str
) -> None:
    result = scored(tuple(expected), *extracted, tolerance=tolerance)
    found = mistakes_of(result)
    assert {one.kind for one in found} <= set(KINDS)
    assert sum(one.kind not in ("missed",) for one in found) == result.counts.fp
    assert sum(one.kind not in ("invented", "duplicate") for one in found) == result.counts.fn
    assert len(list(matches_of(result))) == result.counts.tp
