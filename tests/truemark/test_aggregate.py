from hypothesis import given
from hypothesis import strategies as st

from truemark.aggregate import by_group, total
from truemark.counts import Counts

COUNTS = st.builds(Counts, *[st.integers(0, 100)] * 3)


def test_nothing_adds_up_to_zero() -> None:
    assert total([]) == Counts.zero


def test_groups_keep_the_order_of_their_first_appearance() -> None:
    pairs = [("b", Counts(1, 0, 0)), ("a", Counts(0, 1, 0)), ("b", Counts(0, 0, 1))]
    assert list(by_group(pairs).items()) == [("b", Counts(1, 0, 1)), ("a", Counts(0, 1, 0))]


@given(st.lists(st.tuples(st.integers(0, 3), COUNTS)))
def test_groups_add_up_to_the_total(pairs: list[tuple[int, Counts]]) -> None:
    assert total(by_group(pairs).values()) == total(counts for _, counts in pairs)


@given(st.lists(COUNTS), st.lists(COUNTS))
def test_totals_can_be_merged(some: list[Counts], others: list[Counts]) -> None:
    assert total(some) + total(others) == total(some + others)
