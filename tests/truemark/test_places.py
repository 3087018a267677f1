import numpy as np

from truemark.counts import Counts
from truemark.matching import ScoredPositions
from truemark.places import over_tolerances, position_marks
from truemark.records import Mark


def two_groups() -> list[tuple[ScoredPositions, list[int]]]:
    return [
        (ScoredPositions(np.array([10, 20, 30]), np.array([0.9, 0.4, 0.4])), [10, 22]),
        (ScoredPositions(np.array([10, 20, 30]), np.array([0.4, 0.4, 0.1])), [10, 20]),
    ]


def test_counts_over_tolerances_rise_with_them() -> None:
    found = over_tolerances(two_groups(), 0.2, [2, 0, 2])
    assert found.at == (0.0, 2.0)
    assert [found.counts(number) for number in range(2)] == [Counts(3, 2, 1), Counts(4, 1, 0)]


def test_marks_say_what_lies_where() -> None:
    scored = ScoredPositions(np.array([4, 10, 15, 20, 30]), np.array([0.9, 0.8, 0.1, 0.01, np.inf]))
    marks = position_marks((scored, [5, 15, 30]), 0.5, 1, 0.05)
    assert marks == (
        Mark(4, 4, "found", 0.9, truth=5),
        Mark(10, 10, "invented", 0.8),
        Mark(15, 15, "candidate", 0.1),
        Mark(15, 15, "missed"),
        Mark(30, 30, "found"),
    )
