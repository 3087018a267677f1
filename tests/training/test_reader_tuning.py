"""Which probabilities the reader calls high or medium confidence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from training.reader.tuning import Judgement, level

ALWAYS_RIGHT, HALF_RIGHT = [True] * 20, [True, False] * 10


def judged(*groups: tuple[float, list[bool]]) -> list[Judgement]:
    return [
        Judgement(probability, "create", "low", is_right)
        for probability, group in groups
        for is_right in group
    ]


@pytest.mark.parametrize(
    ("groups", "share", "lowest"),
    [
        pytest.param([(0.9, ALWAYS_RIGHT), (0.5, HALF_RIGHT)], 0.9, 0.9, id="only the upper group"),
        pytest.param([(0.9, ALWAYS_RIGHT), (0.5, HALF_RIGHT)], 0.7, 0.9, id="not for the mean"),
        pytest.param([(0.9, ALWAYS_RIGHT), (0.5, HALF_RIGHT)], 0.5, 0.5, id="both"),
        pytest.param([(0.9, HALF_RIGHT)], 0.9, 1.0, id="none"),
        pytest.param([(0.9, HALF_RIGHT), (0.5, ALWAYS_RIGHT)], 0.7, 0.5, id="pooled: right below"),
        pytest.param([], 0.9, 1.0, id="no events"),
    ],
)
def test_a_confidence_holds_for_the_events_at_its_threshold(
    groups: list[tuple[float, list[bool]]], share: float, lowest: float
) -> None:
    assert level(judged(*groups), share) == lowest


@given(
    st.lists(st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]), st.booleans())),
    st.sampled_from([0.5, 0.6, 0.9]),
)
def test_from_a_threshold_on_the_share_is_right(
    events: list[tuple[float, bool]], share: float
) -> None:
    some = [Judgement(probability, "update", "low", right) for probability, right in events]
    lowest = level(some, share)
    above = [event.is_right for event in some if event.probability >= lowest]
    assert lowest == 1.0 or sum(above) >= share * len(above)
