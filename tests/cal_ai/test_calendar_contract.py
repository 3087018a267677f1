"""What every calendar promises, shown on all three of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.cal_ai.calendar_backends import (
    Backend,
    CalDavBackend,
    GoogleBackend,
    IcsBackend,
    at,
)
from tests.cal_ai.calendar_servers import GoogleServer, Radicale

from cal_ai.applying.dry_run import DryRun
from cal_ai.calendars.protocol import (
    AlreadyThere,
    Calendar,
    ChangedMeanwhile,
    Details,
    Entry,
    EventGone,
)

LUNCH = Details("Lunch", at(24, 12), at(24, 13), location="Luigi's", description="With: Bob")
EARLY, LATE = at(23, 0), at(23, 0) + timedelta(days=14)


@pytest.fixture(params=["ics", "caldav", "google"])
def backend(
    request: pytest.FixtureRequest,
    radicale: Radicale,
    google: GoogleServer,
    tmp_path: Path,
) -> Iterator[Backend]:
    made: Backend
    if request.param == "ics":
        made = IcsBackend.make(tmp_path)
    elif request.param == "caldav":
        made = CalDavBackend.make(radicale, re.sub(r"\W+", "-", request.node.name))
    else:
        made = GoogleBackend.make(google, tmp_path)
    yield made
    made.calendar.close()


def coming(calendar: Calendar) -> tuple[Entry, ...]:
    listing = calendar.coming(EARLY, LATE)
    assert listing.warnings == ()
    return listing.entries


def starts(calendar: Calendar, uid: str = "series") -> list[datetime]:
    """The starts of a series, whose occurrences Google knows by ids of their own."""
    return [e.details.start for e in coming(calendar) if e.uid.partition("_")[0] == uid]


def test_an_empty_calendar_lists_nothing(backend: Backend) -> None:
    assert coming(backend.calendar) == ()
    with pytest.raises(EventGone):
        backend.calendar.get("nothing")


@pytest.mark.parametrize(
    "details",
    [
        pytest.param(LUNCH, id="plain"),
        pytest.param(replace(LUNCH, location=None, description=""), id="bare"),
        pytest.param(
            replace(
                LUNCH,
                title='Ärger, mit; "Zeichen" \\n: 日本語 🎉',
                location="Straße 5; 2. Stock, links",
                description="first line\nsecond, line\n\n\\ and more " + "ü" * 90,
            ),
            id="special-characters",
        ),
        pytest.param(replace(LUNCH, start=at(24, 0), end=at(25, 0), all_day=True), id="all-day"),
        pytest.param(
            replace(LUNCH, start=at(28, 0), end=at(31, 0), all_day=True), id="days-over-the-change"
        ),
        pytest.param(replace(LUNCH, start=at(28, 22), end=at(29, 4)), id="night-of-the-change"),
    ],
)
def test_what_is_created_is_listed_and_found_as_it_was_written(
    backend: Backend, details: Details
) -> None:
    calendar = backend.calendar
    entry = calendar.create("truemark01", details, "mark1")
    assert (entry.uid, entry.details) == ("truemark01", details)
    assert entry.marks == {"mark1"}
    assert coming(calendar) == (entry,)
    assert calendar.get("truemark01") == entry


def test_an_id_can_be_taken_once(backend: Backend) -> None:
    first = backend.calendar.create("truemark01", LUNCH, "mark1")
    with pytest.raises(AlreadyThere):
        backend.calendar.create("truemark01", replace(LUNCH, title="Dinner"), "mark2")
    assert coming(backend.calendar) == (first,)


def test_an_id_is_free_again_once_its_event_is_removed(backend: Backend) -> None:
    calendar = backend.calendar
    calendar.delete(calendar.create("truemark01", LUNCH, "mark1"))
    again = calendar.create("truemark01", replace(LUNCH, title="Dinner"), "mark2")
    assert coming(calendar) == (again,)
    assert again.details.title == "Dinner"


def test_only_events_that_overlap_the_window_are_listed(backend: Backend) -> None:
    for uid, start, end in (
        ("before", at(22, 9), at(23, 0)),
        ("running", at(22, 23), at(23, 1)),
        ("inside", at(26, 9), at(26, 10)),
        ("after", LATE, LATE + timedelta(hours=1)),
    ):
        backend.seed(uid, uid, start, end)
    assert [entry.uid for entry in coming(backend.calendar)] == ["running", "inside"]


def test_a_series_is_expanded_and_keeps_its_local_time_when_the_clocks_change(
    backend: Backend,
) -> None:
    backend.seed("series", "Standup", at(2, 9), at(2, 9, 15), "FREQ=WEEKLY;BYDAY=MO,FR")
    expected = [at(23, 9), at(27, 9), at(30, 9), at(30, 9) + timedelta(days=4)]
    assert starts(backend.calendar) == expected
    assert len({entry.id for entry in coming(backend.calendar)}) == 4
    for entry in coming(backend.calendar):
        assert backend.calendar.get(entry.uid, entry.recurrence) == entry


def test_an_update_changes_what_differs_and_adds_its_mark(backend: Backend) -> None:
    calendar = backend.calendar
    entry = calendar.create("truemark01", LUNCH, "mark1")
    moved = replace(LUNCH, start=at(25, 18), end=at(25, 20), location=None)
    changed = calendar.update(entry, moved, "mark2")
    assert changed.details == moved
    assert changed.marks == {"mark1", "mark2"}
    assert coming(calendar) == (changed,)


def test_an_event_can_become_an_all_day_event_and_back(backend: Backend) -> None:
    calendar = backend.calendar
    entry = calendar.create("truemark01", LUNCH, "mark1")
    whole = replace(LUNCH, start=at(24, 0), end=at(25, 0), all_day=True)
    entry = calendar.update(entry, whole, "mark2")
    assert coming(calendar)[0].details == whole
    calendar.update(entry, LUNCH, "mark3")
    assert coming(calendar)[0].details == LUNCH


def test_an_update_of_one_occurrence_leaves_the_others(backend: Backend) -> None:
    backend.seed("series", "Standup", at(2, 9), at(2, 9, 15), "FREQ=WEEKLY;BYDAY=MO,FR")
    calendar = backend.calendar
    friday = coming(calendar)[1]
    later = replace(friday.details, title="Long standup", start=at(27, 15), end=at(27, 16))
    changed = calendar.update(friday, later, "mark1")
    assert changed.id == friday.id
    assert changed.details == later
    entries = coming(calendar)
    assert [entry.details.title for entry in entries] == [
        "Standup",
        "Long standup",
        "Standup",
        "Standup",
    ]
    assert [entry.marks for entry in entries] == [set(), {"mark1"}, set(), set()]
    again = replace(later, location="Room 4")
    calendar.update(entries[1], again, "mark2")
    assert coming(calendar)[1].details == again


def test_a_removed_occurrence_is_gone_and_the_others_stay(backend: Backend) -> None:
    backend.seed("series", "Standup", at(2, 9), at(2, 9, 15), "FREQ=WEEKLY;BYDAY=MO,FR")
    calendar = backend.calendar
    first, friday, *_ = coming(calendar)
    calendar.delete(friday)
    with pytest.raises(EventGone):
        calendar.get(friday.uid, friday.recurrence)
    fresh = calendar.get(first.uid, first.recurrence)
    moved = replace(first.details, start=at(23, 11), end=at(23, 12))
    calendar.delete(calendar.update(fresh, moved, "mark1"))
    assert starts(calendar) == [at(30, 9), at(30, 9) + timedelta(days=4)]


def test_a_removed_event_is_gone(backend: Backend) -> None:
    calendar = backend.calendar
    entry = calendar.create("truemark01", LUNCH, "mark1")
    calendar.delete(entry)
    assert coming(calendar) == ()
    with pytest.raises(EventGone):
        calendar.get("truemark01")
    with pytest.raises(EventGone):
        calendar.delete(entry)


def test_an_event_that_vanishes_between_read_and_write_is_said_to_be_gone(
    backend: Backend,
) -> None:
    for uid in ("updated", "deleted"):
        backend.seed(uid, "Lunch", LUNCH.start, LUNCH.end)
    calendar = backend.calendar
    updated, deleted = (calendar.get(uid) for uid in ("updated", "deleted"))
    for uid in ("updated", "deleted"):
        backend.remove(uid)
    with pytest.raises(EventGone):
        calendar.update(updated, LUNCH, "mark1")
    with pytest.raises(EventGone):
        calendar.delete(deleted)
    assert coming(calendar) == ()


def test_what_someone_else_changed_meanwhile_is_not_overwritten(backend: Backend) -> None:
    backend.seed("shared", "Lunch", LUNCH.start, LUNCH.end)
    calendar = backend.calendar
    entry = calendar.get("shared")
    backend.rename("shared", "Lunch at noon")
    with pytest.raises(ChangedMeanwhile):
        calendar.update(entry, LUNCH, "mark1")
    with pytest.raises(ChangedMeanwhile):
        calendar.delete(entry)
    assert [e.details.title for e in coming(calendar)] == ["Lunch at noon"]


def test_a_dry_run_answers_as_if_and_changes_nothing(backend: Backend) -> None:
    backend.seed("kept", "Lunch", LUNCH.start, LUNCH.end)
    before = coming(backend.calendar)
    dry = DryRun(backend.calendar)
    entry = dry.create("truemark01", LUNCH, "mark1")
    with pytest.raises(AlreadyThere):
        dry.create("truemark01", LUNCH, "mark1")
    moved = replace(LUNCH, location="Home")
    assert dry.update(entry, moved, "mark2").details == moved
    assert dry.get("truemark01").marks == {"mark1", "mark2"}
    dry.delete(before[0])
    with pytest.raises(EventGone):
        dry.get("kept")
    assert coming(backend.calendar) == before
