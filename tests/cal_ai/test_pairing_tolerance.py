from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from cal_ai.benchmark.mistakes import Deviation, differences, remarks, shown_shift
from cal_ai.benchmark.pairing import TOLERANCES, compare_events, time_shift, title_similarity
from cal_ai.benchmark.sidecar import ExpectedEvent, Level, Sidecar
from cal_ai.events import ContextEvent, Event

NOON = datetime(2026, 2, 23, 12, 0)
EAST = timezone(timedelta(hours=2))


def terms(level: Level = "moderate", *context: ContextEvent, now: datetime = NOON) -> Sidecar:
    return Sidecar((), tolerance=level, reference_datetime=now, calendar_context=context)


def at(field: str, time: datetime) -> dict[str, Any]:
    return {field: time}


def within(extracted: Event, expected: ExpectedEvent, under: Sidecar) -> bool:
    comparison = compare_events(extracted, expected, under)
    return comparison.within(TOLERANCES[under.tolerance])


def reasons(extracted: Event, expected: ExpectedEvent, under: Sidecar) -> tuple[Deviation, ...]:
    comparison = compare_events(extracted, expected, under)
    return differences(extracted, expected, comparison, TOLERANCES[under.tolerance])


@pytest.mark.parametrize(
    ("level", "minutes", "expected"),
    [
        ("strict", 30, True),
        ("strict", 31, False),
        ("moderate", 120, True),
        ("moderate", 121, False),
        ("relaxed", 1440, True),
        ("relaxed", 1441, False),
    ],
)
@pytest.mark.parametrize("sign", [1, -1], ids=["late", "early"])
@pytest.mark.parametrize("field", ["start_time", "end_time"])
def test_times_may_differ_by_exactly_the_tolerance(
    level: Level, minutes: int, expected: bool, sign: int, field: str
) -> None:
    truth = ExpectedEvent("create", "Lunch", **at(field, NOON))
    moved = NOON + sign * timedelta(minutes=minutes)
    event = Event("create", "Lunch", **at(field, moved))
    assert within(event, truth, terms(level)) is expected


@pytest.mark.parametrize(
    ("level", "title", "expected"),
    [
        ("strict", "  LUNCH with bob ", True),
        ("strict", "with Bob: Lunch", False),
        ("strict", "Lunch with Rob", False),
        ("moderate", "Bob with lunch", True),
        ("moderate", "Lunch", True),
        ("moderate", "with", True),  # all of its words are in the other title
        ("moderate", "Dinner with Bob", False),
        ("relaxed", "Dinner with Bob", True),
        ("relaxed", "Quarterly review", False),
        ("relaxed", "", False),
    ],
)
def test_titles_are_compared_as_the_level_says(level: Level, title: str, expected: bool) -> None:
    truth = ExpectedEvent("create", "Lunch with Bob")
    assert within(Event("create", title), truth, terms(level)) is expected


def test_title_similarity_ignores_case_in_every_script() -> None:
    assert title_similarity("STRASSE ΟΔΌΣ", "straße οδός") == 100


@pytest.mark.parametrize(
    ("got", "expected", "now", "hours"),
    [
        pytest.param(NOON, NOON, NOON, 0, id="all-naive"),
        pytest.param(NOON.replace(tzinfo=EAST), NOON, NOON, 0, id="unknown-offset-is-the-owners"),
        pytest.param(NOON, NOON.replace(tzinfo=EAST), NOON, 0, id="the-same-the-other-way-round"),
        pytest.param(
            NOON.replace(tzinfo=UTC),
            NOON,
            NOON.replace(tzinfo=EAST),
            2,
            id="naive-truth-has-the-offset-of-now",
        ),
        pytest.param(
            NOON,
            NOON.replace(tzinfo=UTC),
            NOON.replace(tzinfo=EAST),
            -2,
            id="naive-answer-has-the-offset-of-now",
        ),
        pytest.param(
            NOON.replace(tzinfo=UTC),
            NOON.replace(tzinfo=EAST),
            NOON,
            2,
            id="two-offsets-are-compared-as-instants",
        ),
    ],
)
def test_times_with_and_without_offset_are_comparable(
    got: datetime, expected: datetime, now: datetime, hours: int
) -> None:
    assert time_shift(got, expected, now) == timedelta(hours=hours)


def test_a_field_that_the_sidecar_leaves_out_is_not_checked() -> None:
    event = Event("create", "Lunch", start_time=NOON, end_time=NOON)
    assert within(event, ExpectedEvent("create", "Lunch"), terms("strict"))


@pytest.mark.parametrize("field", ["start_time", "end_time"])
def test_a_time_that_was_expected_and_did_not_come_is_a_difference(field: str) -> None:
    truth = ExpectedEvent("create", "Lunch", **at(field, NOON))
    found = reasons(Event("create", "Lunch"), truth, terms("relaxed"))
    name = field.removesuffix("_time")
    assert found == (Deviation(name, "2026-02-23 12:00", "nothing", "missing"),)


STANDUP = ContextEvent(1, "Standup", NOON, NOON + timedelta(minutes=15))
LATER_STANDUP = ContextEvent(2, "Standup", NOON + timedelta(days=1))
DENTIST = ContextEvent(3, "Dentist", NOON + timedelta(days=2))


def delete(title: str, number: int | None = None, start: datetime | None = None) -> Event:
    return Event("delete", title, start_time=start, existing_event_id=number)


@pytest.mark.parametrize(
    ("event", "truth", "expected"),
    [
        pytest.param(
            delete("Standup", 1, NOON + timedelta(days=9)),
            ExpectedEvent("delete", "Standup", start_time=NOON),
            True,
            id="the-time-of-the-named-event-counts-not-the-answers-own",
        ),
        pytest.param(
            delete("Standup", 2),
            ExpectedEvent("delete", "Standup", start_time=NOON),
            False,
            id="the-other-of-two-namesakes",
        ),
        pytest.param(
            delete("Dentist", 1),
            ExpectedEvent("delete", "Dentist"),
            False,
            id="right-title-on-the-wrong-event",
        ),
        pytest.param(
            delete("Dentist", 3),
            ExpectedEvent("delete", "Dentist"),
            True,
            id="both-mean-the-same-planned-event",
        ),
        pytest.param(
            delete("Dentist"),
            ExpectedEvent("delete", "Dentist"),
            True,
            id="no-time-anywhere-and-no-reference",
        ),
        pytest.param(
            delete("Dentist", 99, DENTIST.start),
            ExpectedEvent("delete", "Dentist", start_time=DENTIST.start),
            True,
            id="an-unknown-id-falls-back-on-the-answers-own-time",
        ),
        pytest.param(
            delete("Dentist", None, NOON),
            ExpectedEvent("delete", "Dentist", start_time=DENTIST.start),
            False,
            id="no-id-and-a-wrong-time",
        ),
        pytest.param(
            delete("Standup", 2),
            ExpectedEvent("delete", "Standup"),
            True,
            id="either-of-two-namesakes-when-the-sidecar-does-not-say",
        ),
        pytest.param(
            delete("Standup", 2),
            ExpectedEvent("delete", "Standup", existing_event_id_required=1),
            False,
            id="the-sidecar-names-the-event-by-number",
        ),
    ],
)
def test_a_delete_is_compared_through_the_planned_events_it_refers_to(
    event: Event, truth: ExpectedEvent, expected: bool
) -> None:
    assert within(event, truth, terms("moderate", STANDUP, LATER_STANDUP, DENTIST)) is expected


def test_every_difference_says_what_was_expected_what_came_and_by_how_much() -> None:
    truth = ExpectedEvent("delete", "Lunch with Bob", start_time=NOON, end_time=NOON)
    event = Event("update", "Dinner", NOON + timedelta(hours=26), NOON - timedelta(minutes=150))
    assert reasons(event, truth, terms()) == (
        Deviation("action", "delete", "update", "another action"),
        Deviation(
            "title",
            "Lunch with Bob",
            "Dinner",
            "similarity 10, at least 80 needed",
            10.0,
            "% alike",
        ),
        Deviation("start", "2026-02-23 12:00", "2026-02-24 14:00", "1 d 2 h later", 1560.0, "min"),
        Deviation(
            "end", "2026-02-23 12:00", "2026-02-23 09:30", "2 h 30 min earlier", -150.0, "min"
        ),
    )


@pytest.mark.parametrize(
    ("shift", "expected"),
    [
        (timedelta(minutes=45), "45 min later"),
        (timedelta(hours=-3), "3 h earlier"),
        (timedelta(days=400, minutes=5), "400 d 5 min later"),
        (timedelta(seconds=20), "less than 1 min later"),
    ],
    ids=str,
)
def test_a_shift_is_told_in_its_two_largest_units(shift: timedelta, expected: str) -> None:
    assert shown_shift(shift) == expected


def test_place_people_and_id_are_remarked_on_and_never_counted() -> None:
    truth = ExpectedEvent(
        "update",
        "Standup",
        location="Room 4",
        attendees_contain=("Bob", "Chloé"),
        existing_event_id_required=True,
    )
    event = Event("update", "Standup", location="Cafeteria", attendees=("bob@example.org",))
    under = terms("moderate", STANDUP)
    assert within(event, truth, under)
    assert remarks(event, truth, under) == (
        Deviation("location", "Room 4", "Cafeteria", "another place"),
        Deviation("attendees", "Bob, Chloé", "bob@example.org", "without Chloé"),
        Deviation("existing_event_id", "1", "nothing", "another event"),
    )
