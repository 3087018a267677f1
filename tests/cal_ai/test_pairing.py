from __future__ import annotations

from datetime import datetime, timedelta
from itertools import permutations
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from cal_ai.benchmark.pairing import TOLERANCES, compare_events, pair_events
from cal_ai.benchmark.sidecar import ExpectedEvent, Level, Sidecar
from cal_ai.events import Event

NOON = datetime(2026, 2, 23, 12, 0)


def truth(expected: list[ExpectedEvent], level: Level = "moderate") -> Sidecar:
    return Sidecar(tuple(expected), tolerance=level, reference_datetime=NOON)


def matched(extracted: list[Event], expected: list[ExpectedEvent]) -> list[tuple[int, int]]:
    pairs = pair_events(extracted, truth(expected))
    return [(pair.extracted, pair.expected) for pair in pairs if pair.is_match]


def test_equal_events_are_paired_by_position_and_never_twice() -> None:
    extracted = [Event("create", "Lunch", NOON)] * 3
    expected = [ExpectedEvent("create", "Lunch", NOON)] * 2
    pairs = pair_events(extracted, truth(expected))
    assert len(pairs) == 2
    assert len({pair.extracted for pair in pairs}) == 2
    assert {pair.expected for pair in pairs} == {0, 1}
    assert all(pair.is_match for pair in pairs)


def test_order_of_events_does_not_matter() -> None:
    extracted = [Event("create", "Dinner", NOON), Event("create", "Lunch", NOON)]
    expected = [ExpectedEvent("create", "Lunch", NOON), ExpectedEvent("create", "Dinner", NOON)]
    assert matched(extracted, expected) == [(0, 1), (1, 0)]


def test_most_matches_come_before_the_cheapest_pair() -> None:
    # Alone, the first answer is nearest to the first truth; but then nothing is left for it.
    extracted = [
        Event("create", "Call", NOON),
        Event("create", "Call", NOON - timedelta(hours=2)),
    ]
    expected = [
        ExpectedEvent("create", "Call", NOON),
        ExpectedEvent("create", "Call", NOON + timedelta(hours=2)),
    ]
    assert matched(extracted, expected) == [(0, 1), (1, 0)]


def test_among_equally_many_matches_the_closest_are_taken() -> None:
    extracted = [
        Event("create", "Call", NOON + timedelta(hours=1)),
        Event("create", "Call", NOON),
    ]
    expected = [
        ExpectedEvent("create", "Call", NOON),
        ExpectedEvent("create", "Call", NOON + timedelta(hours=1)),
    ]
    assert matched(extracted, expected) == [(0, 1), (1, 0)]


def test_titles_swapped_within_tolerance_are_paired_by_the_closer_times() -> None:
    extracted = [
        Event("create", "Project review call", NOON),
        Event("create", "Project review", NOON + timedelta(hours=1)),
    ]
    expected = [
        ExpectedEvent("create", "Project review", NOON),
        ExpectedEvent("create", "Project review call", NOON + timedelta(hours=1)),
    ]
    assert matched(extracted, expected) == [(0, 0), (1, 1)]


def test_a_near_miss_is_paired_with_the_event_of_the_same_action() -> None:
    extracted = [Event("delete", "Gym", NOON)]
    expected = [
        ExpectedEvent("create", "Gym", NOON),
        ExpectedEvent("delete", "Gymnasium tour", NOON + timedelta(hours=3)),
    ]
    (pair,) = pair_events(extracted, truth(expected))
    assert (pair.extracted, pair.expected, pair.is_match) == (0, 1, False)


def test_a_missing_start_is_no_reason_to_prefer_a_wrong_action() -> None:
    extracted = [Event("create", "Gym")]
    expected = [ExpectedEvent("delete", "Gym", NOON), ExpectedEvent("create", "Gym", NOON)]
    (pair,) = pair_events(extracted, truth(expected))
    assert pair.expected == 1


def test_nothing_pairs_with_nothing() -> None:
    assert pair_events([], truth([ExpectedEvent("create", "Gym")])) == ()
    assert pair_events([Event("create", "Gym")], truth([])) == ()


titles = st.sampled_from(["Lunch", "Lunch with Bob", "Dinner with Bob", "Gym"])
actions = st.sampled_from(["create", "update", "delete"])
times = st.none() | st.integers(-4, 4).map(lambda hours: NOON + timedelta(hours=hours))
extracted_events = st.builds(Event, action=actions, title=titles, start_time=times, end_time=times)
expected_events = st.builds(
    ExpectedEvent, action=actions, title=titles, start_time=times, end_time=times
)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(
    st.lists(extracted_events, max_size=4),
    st.lists(expected_events, max_size=4),
    st.sampled_from(["strict", "moderate", "relaxed"]),
)
def test_pairing_agrees_with_trying_every_pairing(
    extracted: list[Event], expected: list[ExpectedEvent], level: Level
) -> None:
    under = truth(expected, level)
    tolerance = TOLERANCES[level]
    comparisons = [
        [compare_events(event, other, under) for other in expected] for event in extracted
    ]

    def worth(pairs: list[tuple[int, int]]) -> tuple[int, float]:
        chosen = [comparisons[row][column] for row, column in pairs]
        matches = sum(it.within(tolerance) for it in chosen)
        return -matches, sum(it.cost for it in chosen)

    def all_pairings() -> list[list[tuple[int, int]]]:
        if len(extracted) <= len(expected):
            columns = permutations(range(len(expected)), len(extracted))
            return [list(enumerate(order)) for order in columns]
        rows = permutations(range(len(extracted)), len(expected))
        return [[(row, column) for column, row in enumerate(order)] for order in rows]

    found = pair_events(extracted, under)
    best = min(map(worth, all_pairings()))
    assert worth([(pair.extracted, pair.expected) for pair in found]) == best
    assert sum(pair.is_match for pair in found) == -best[0]


@settings(derandomize=True, deadline=None, max_examples=100)
@given(
    st.lists(extracted_events, max_size=5),
    st.lists(expected_events, max_size=5),
    st.randoms(use_true_random=False),
)
def test_shuffling_either_side_leaves_the_number_of_matches(
    extracted: list[Event],
    expected: list[ExpectedEvent],
    random: Random,
) -> None:
    before = len(matched(extracted, expected))
    random.shuffle(extracted)
    random.shuffle(expected)
    assert len(matched(extracted, expected)) == before
