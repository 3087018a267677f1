from dataclasses import replace

import pytest
from tests.truemark.runs_for_tests import made

from truemark.records import Unit
from truemark.summary import by_group, repeats_of

RIGHT, WRONG = (2, 0, 0), (1, 1, 1)


def unit(name: str, repeat: int, counts: tuple[int, int, int] | None) -> Unit:
    if counts is None:
        return Unit(name, repeat=repeat, failed="timed out")
    return Unit(name, *counts, repeat)


def repeated(**answers: list[tuple[int, int, int] | None]) -> tuple[Unit, ...]:
    return tuple(
        unit(name, repeat, counts)
        for name, own in answers.items()
        for repeat, counts in enumerate(own)
    )


def test_units_asked_once_have_no_repeats() -> None:
    assert repeats_of(made("a", {"x": RIGHT, "y": WRONG})) is None
    assert repeats_of(made("a", {})) is None


def test_right_in_all_in_any_and_flipping() -> None:
    units = repeated(a=[RIGHT, RIGHT], b=[RIGHT, WRONG], c=[WRONG, WRONG], d=[RIGHT, None])
    found = repeats_of(replace(made("a", {}), units=units))
    assert found is not None
    assert found.repeats == 2
    assert (found.right_in_all.value, found.right_in_any.value) == (0.25, 0.75)
    assert found.flipping == ("b", "d")
    assert found.right_in_all.count == 4


def test_spread_between_units_is_told_from_spread_between_repeats() -> None:
    steady = repeats_of(replace(made("a", {}), units=repeated(a=[RIGHT] * 2, b=[WRONG] * 2)))
    moody = repeats_of(replace(made("a", {}), units=repeated(a=[RIGHT, WRONG], b=[WRONG, RIGHT])))
    assert steady is not None
    assert moody is not None
    assert (steady.variance_between_units, steady.variance_between_repeats) == (0.125, 0.0)
    assert (moody.variance_between_units, moody.variance_between_repeats) == (0.0, 0.125)


def test_units_with_missing_repeats_are_left_out() -> None:
    units = repeated(a=[RIGHT, RIGHT], b=[WRONG])
    found = repeats_of(replace(made("a", {}), units=units))
    assert found is not None
    assert found.right_in_all.value == pytest.approx(1.0)
    assert found.right_in_all.count == 1


def test_units_are_broken_down_in_order_of_appearance() -> None:
    groups = [{"a": "1", "b": "x"}, {"b": "y", "a": "1"}, {"c": "1"}, {"a": "2"}]
    found = [(name, value, own) for name, value, own in by_group(groups, lambda group: group)]
    assert found == [
        ("a", "1", groups[:2]),
        ("a", "2", groups[3:]),
        ("b", "x", groups[:1]),
        ("b", "y", groups[1:2]),
        ("c", "1", groups[2:3]),
    ]


def test_every_item_is_looked_at_once_however_many_groups_there_are() -> None:
    looked_at: list[int] = []

    def group_of(number: int) -> dict[str, str]:
        looked_at.append(number)
        return {"part": f"{number}"}

    groups = [members for _, _, members in by_group(range(10_000), group_of)]
    assert groups == [[number] for number in range(10_000)]
    assert looked_at == list(range(10_000))
