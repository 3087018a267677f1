from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from cal_ai.benchmark.mistakes import matches_of
from cal_ai.benchmark.samples import Sample
from cal_ai.benchmark.scoring import (
    Scored,
    Spent,
    Unscored,
    event_scores,
    score,
)
from cal_ai.benchmark.sidecar import ExpectedEvent, Sidecar
from cal_ai.events import ContextEvent, Event
from cal_ai.transcripts.conversation import Transcript
from truemark import Counts
from truemark.counts import total

NOON = datetime(2026, 2, 23, 12, 0)
HOUR = timedelta(hours=1)
SPENT = Spent(0.5, 1, None)


def sample(*expected: ExpectedEvent, category: str = "crud", **circumstances: Any) -> Sample:
    sidecar = replace(Sidecar(expected, reference_datetime=NOON), **circumstances)
    return Sample(category, "one", Transcript(()), sidecar, "digest")


def counted(truth: Sample, *extracted: Event) -> Counts:
    result = score(truth, extracted, SPENT)
    assert isinstance(result, Scored)
    return result.counts


LUNCH = ExpectedEvent("create", "Lunch", NOON, NOON + HOUR)
GOT_LUNCH = Event("create", "Lunch", NOON, NOON + HOUR)
PLANNED = (
    ContextEvent(1, "Standup", NOON, NOON + HOUR),
    ContextEvent(2, "Standup", NOON + timedelta(days=1), NOON + timedelta(days=1, hours=1)),
)


@pytest.mark.parametrize(
    ("truth", "extracted", "expected"),
    [
        pytest.param(sample(), (), Counts(0, 0, 0), id="nothing-and-nothing"),
        pytest.param(sample(LUNCH), (), Counts(0, 0, 1), id="nothing-extracted"),
        pytest.param(sample(), (GOT_LUNCH,), Counts(0, 1, 0), id="nothing-expected"),
        pytest.param(
            sample(LUNCH, LUNCH),
            (GOT_LUNCH, GOT_LUNCH, GOT_LUNCH),
            Counts(2, 1, 0),
            id="identical-events-three-for-two",
        ),
        pytest.param(
            sample(LUNCH, LUNCH), (GOT_LUNCH,), Counts(1, 0, 1), id="identical-events-one-for-two"
        ),
        pytest.param(
            sample(LUNCH, ExpectedEvent("create", "Dentist", NOON)),
            (Event("create", "Dentist", NOON), GOT_LUNCH),
            Counts(2, 0, 0),
            id="swapped-order",
        ),
        pytest.param(
            sample(
                ExpectedEvent("create", "Project review", NOON),
                ExpectedEvent("create", "Project review call", NOON + 3 * HOUR),
            ),
            (
                Event("create", "Project review call", NOON),
                Event("create", "Project review", NOON + 3 * HOUR),
            ),
            Counts(2, 0, 0),
            id="titles-swapped-within-tolerance",
        ),
        pytest.param(
            sample(
                ExpectedEvent("create", "Lunch", NOON),
                ExpectedEvent("create", "Dentist", NOON + 3 * HOUR),
            ),
            (
                Event("create", "Dentist", NOON),
                Event("create", "Lunch", NOON + 3 * HOUR),
            ),
            Counts(0, 2, 2),
            id="titles-swapped-beyond-tolerance",
        ),
        pytest.param(
            sample(LUNCH, reference_datetime=NOON.replace(tzinfo=timezone(5 * HOUR))),
            (replace(GOT_LUNCH, start_time=NOON.replace(tzinfo=UTC), end_time=None),),
            Counts(0, 1, 1),
            id="naive-truth-is-five-hours-ahead-of-utc",
        ),
        pytest.param(
            sample(LUNCH, reference_datetime=NOON.replace(tzinfo=timezone(HOUR))),
            (
                Event(
                    "create",
                    "Lunch",
                    (NOON - HOUR).replace(tzinfo=UTC),
                    NOON.replace(tzinfo=UTC),
                ),
            ),
            Counts(1, 0, 0),
            id="naive-truth-and-aware-answer-at-the-same-instant",
        ),
        pytest.param(
            sample(LUNCH),
            (replace(GOT_LUNCH, end_time=None),),
            Counts(0, 1, 1),
            id="end-expected-and-missing",
        ),
        pytest.param(
            sample(replace(LUNCH, end_time=None)),
            (GOT_LUNCH,),
            Counts(1, 0, 0),
            id="end-not-expected",
        ),
        pytest.param(
            sample(ExpectedEvent("delete", "Standup", NOON), calendar_context=PLANNED),
            (Event("update", "Standup", NOON, existing_event_id=1),),
            Counts(0, 1, 1),
            id="update-that-should-be-a-delete",
        ),
        pytest.param(
            sample(ExpectedEvent("delete", "Standup", NOON), calendar_context=PLANNED),
            (Event("delete", "Standup", existing_event_id=1),),
            Counts(1, 0, 0),
            id="delete-through-the-context",
        ),
        pytest.param(
            sample(ExpectedEvent("delete", "Standup", NOON), calendar_context=PLANNED),
            (Event("delete", "Standup", NOON, existing_event_id=2),),
            Counts(0, 1, 1),
            id="delete-of-the-wrong-one",
        ),
        pytest.param(
            sample(
                ExpectedEvent("delete", "Standup", NOON),
                ExpectedEvent("delete", "Standup", NOON + timedelta(days=1)),
                calendar_context=PLANNED,
            ),
            (
                Event("delete", "Standup", existing_event_id=2),
                Event("delete", "Standup", existing_event_id=1),
                Event("delete", "Standup", existing_event_id=1),
            ),
            Counts(2, 1, 0),
            id="bulk-delete-with-one-named-twice",
        ),
    ],
)
def test_counts(truth: Sample, extracted: tuple[Event, ...], expected: Counts) -> None:
    assert counted(truth, *extracted) == expected
    assert counted(truth, *reversed(extracted)) == expected


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        pytest.param(Counts(0, 0, 0), (1, 1, 1), id="nothing-and-nothing"),
        pytest.param(Counts(0, 0, 3), (1, 0, 0), id="nothing-extracted"),
        pytest.param(Counts(0, 3, 0), (0, 1, 0), id="nothing-expected"),
        pytest.param(Counts(0, 2, 2), (0, 0, 0), id="all-wrong"),
        pytest.param(Counts(3, 1, 3), (0.75, 0.5, 0.6), id="ordinary"),
    ],
)
def test_scores_at_the_edges(counts: Counts, expected: tuple[float, ...]) -> None:
    found = event_scores(counts)
    assert (found.precision, found.recall, found.f1) == pytest.approx(expected)


def test_averages_are_of_summed_counts_not_of_ratios() -> None:
    results = [
        score(sample(LUNCH, category="a"), [GOT_LUNCH], SPENT),
        score(sample(category="a"), [GOT_LUNCH] * 3, SPENT),
        score(sample(LUNCH, category="b"), [], SPENT),
    ]
    scored = [result for result in results if isinstance(result, Scored)]
    assert total(result.counts for result in scored) == Counts(1, 3, 1)


def test_near_misses_missed_and_spurious_events_are_told_apart() -> None:
    truth = sample(LUNCH, ExpectedEvent("create", "Dentist", NOON))
    late = replace(GOT_LUNCH, start_time=NOON + 4 * HOUR)
    near = score(truth, [late], SPENT)
    assert isinstance(near, Scored)
    assert [(pair.extracted, pair.expected) for pair in near.near_misses] == [(0, 0)]
    assert [event.title for event in near.missed] == ["Dentist"]
    assert near.spurious == ()
    assert near.counts == Counts(0, 1, 2)
    many = score(sample(LUNCH), [GOT_LUNCH, Event("create", "Gym", NOON)], SPENT)
    assert isinstance(many, Scored)
    assert [event.title for event in many.spurious] == ["Gym"]


def test_a_sample_without_sidecar_is_unscored() -> None:
    bare = replace(sample(), sidecar=None)
    assert score(bare, [GOT_LUNCH], SPENT) == Unscored(bare, (GOT_LUNCH,), SPENT)


def test_long_texts_count_in_full_and_are_kept_in_part() -> None:
    long = "Lunch " * 10_000
    wordy = Event("create", long, location=long, reasoning=long, assumptions=(long,))
    crowded = replace(wordy, attendees=(long,) * 500)
    truth = ExpectedEvent("create", long.strip())
    found = score(sample(truth, tolerance="strict"), [crowded], SPENT)
    assert isinstance(found, Scored)
    assert found.counts == Counts(1, 0, 0)
    picky = replace(truth, title="Gym", location="Hall", attendees_contain=("Bob",))
    near = score(sample(picky, tolerance="strict"), [crowded], SPENT)
    assert isinstance(near, Scored)
    assert len(near.near_misses) == 1
    for kept in (found.extracted, near.extracted, near.pairs):
        assert len(repr(kept)) < 10_000


STANDUP = ExpectedEvent("delete", "Standup", existing_event_id_required=2)
MOVED = ExpectedEvent("update", "Standup", NOON + 4 * HOUR, existing_event_id_required=1)


@pytest.mark.parametrize(
    ("expected", "extracted", "targets"),
    [
        pytest.param(STANDUP, Event("delete", "Standup", existing_event_id=2), (True,), id="right"),
        pytest.param(
            STANDUP, Event("delete", "Standup", existing_event_id=1), (False,), id="other"
        ),
        pytest.param(STANDUP, Event("delete", "Standup"), (False,), id="none-named"),
        pytest.param(STANDUP, Event("create", "Standup", NOON), (), id="a-create-names-none"),
        pytest.param(
            MOVED,
            Event("update", "Standup", NOON + 4 * HOUR, existing_event_id=2),
            (False,),
            id="update",
        ),
        pytest.param(
            replace(MOVED, existing_event_id_required=True),
            Event("update", "Standup", NOON + 4 * HOUR, existing_event_id=2),
            (),
            id="two-events-could-be-meant",
        ),
        pytest.param(
            replace(MOVED, existing_event_id_required=False),
            Event("update", "Standup", NOON + 4 * HOUR, existing_event_id=2),
            (),
            id="not-asked-for",
        ),
        pytest.param(LUNCH, GOT_LUNCH, (), id="create"),
    ],
)
def test_target_accuracy_counts_the_updates_and_deletes_that_name_the_right_event(
    expected: ExpectedEvent, extracted: Event, targets: tuple[bool, ...]
) -> None:
    result = score(sample(expected, calendar_context=PLANNED), [extracted], SPENT)
    assert isinstance(result, Scored)
    assert result.targets == targets


def test_an_update_of_the_wrong_event_is_still_a_true_positive() -> None:
    truth = sample(MOVED, calendar_context=PLANNED)
    wrong = Event("update", "Standup", NOON + 4 * HOUR, existing_event_id=2)
    assert counted(truth, wrong) == Counts(1, 0, 0)
    result = score(truth, [wrong], SPENT)
    assert isinstance(result, Scored)
    (remark,) = next(matches_of(result)).remarks
    assert (remark.field, remark.expected, remark.got) == ("existing_event_id", "1", "2")


def test_a_long_reason_is_kept_up_to_a_whole_word_and_says_that_it_goes_on() -> None:
    talkative = replace(GOT_LUNCH, reasoning="Bob suggests lunch. " * 100, title="Lunch")
    result = score(sample(LUNCH), [talkative], SPENT)
    assert isinstance(result, Scored)
    kept = result.extracted[0].reasoning
    assert 900 < len(kept) <= 1_000
    assert kept.endswith((" suggests…", " lunch.…", " Bob…"))
