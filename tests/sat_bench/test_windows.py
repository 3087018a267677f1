from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_bench.defaults import Weighting
from sat_bench.models.windows import (
    WindowAverage,
    batches,
    sigmoid,
    window_weights,
    windows,
)

SIZES = st.tuples(st.integers(1, 20), st.integers(0, 19)).filter(lambda pair: pair[1] < pair[0])


def plain_windows(count: int, size: int, overlap: int) -> list[tuple[int, int]]:
    """Start and end of each window, as wtpsplit places them."""
    found = []
    for start in range(0, count, size - overlap):
        if start + size >= count:
            found.append((max(count - size, 0), count))
            break
        found.append((start, start + size))
    return found


@given(st.integers(0, 100), SIZES, st.lists(st.integers(1, 100), max_size=5))
@settings(derandomize=True, deadline=None, max_examples=500)
def test_windows_do_not_depend_on_how_the_tokens_arrive(
    count: int, sizes: tuple[int, int], cuts: list[int]
) -> None:
    size, overlap = sizes
    tokens = np.arange(count, dtype=np.int32)
    chunks = np.split(tokens, sorted(cut for cut in cuts if cut < count))
    found = list(windows(chunks, size, overlap))
    assert [(w.start, w.start + len(w.ids)) for w in found] == plain_windows(count, size, overlap)
    assert all(w.ids.tolist() == list(range(w.start, w.start + len(w.ids))) for w in found)


def test_windows_are_full_and_overlap_as_asked() -> None:
    found = list(windows([np.arange(1000, dtype=np.int32)], 510, 64))
    assert [window.start for window in found] == [0, 446, 490]
    assert {len(window.ids) for window in found} == {510}


def test_windows_are_read_as_a_stream() -> None:
    def endless() -> object:
        while True:
            yield np.zeros(100, np.int32)

    stream = windows(endless(), 510, 64)  # type: ignore[arg-type]
    assert [next(stream).start for _ in range(50)] == list(range(0, 50 * 446, 446))


@pytest.mark.parametrize("overlap", [-1, 10, 11])
def test_an_overlap_that_never_advances_is_refused(overlap: int) -> None:
    with pytest.raises(ValueError, match="overlap must be"):
        list(windows([np.zeros(3, np.int32)], 10, overlap))


@pytest.mark.parametrize("weighting", ["uniform", "hat"])
@given(count=st.integers(1, 60), sizes=SIZES, seed=st.integers(0, 10))
@settings(derandomize=True, deadline=None)
def test_the_average_is_that_of_all_windows_over_a_token(
    weighting: Weighting, count: int, sizes: tuple[int, int], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    average = WindowAverage(weighting)
    # Half precision is that of wtpsplit, which adds up just so.
    kind: type[np.floating[Any]] = np.float16 if weighting == "uniform" else np.float64
    sums, weights = np.zeros(count, kind), np.zeros(count, kind)
    for start, end in plain_windows(count, *sizes):
        logits = rng.normal(size=end - start).astype(np.float32)
        average.add(start, logits)
        sums[start:end] += logits * window_weights(end - start, weighting)
        weights[start:end] += window_weights(end - start, weighting)
    expected = 1 / (1 + np.exp(-(sums / weights).astype(np.float64)))
    np.testing.assert_allclose(average.finish(), expected, rtol=1e-4, atol=1e-6)


def test_nothing_averages_to_nothing() -> None:
    assert len(WindowAverage("hat").finish()) == 0


def test_windows_must_be_added_in_order() -> None:
    average = WindowAverage("hat")
    average.add(0, np.zeros(4, np.float32))
    average.add(2, np.zeros(4, np.float32))
    with pytest.raises(ValueError, match="must start"):
        average.add(0, np.zeros(4, np.float32))
    with pytest.raises(ValueError, match="must start"):
        average.add(7, np.zeros(4, np.float32))


def test_probabilities_of_large_logits_neither_overflow_nor_vanish() -> None:
    with np.errstate(over="raise", invalid="raise"):
        found = sigmoid(np.array([-80, -20, 0, 20, 1000], np.float32))
    expected = [np.exp(-80.0), np.exp(-20.0), 0.5, 1.0, 1.0]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_hat_counts_the_middle_of_a_window_most() -> None:
    assert window_weights(5, "hat").tolist() == [1, 2, 3, 2, 1]
    assert window_weights(4, "hat").tolist() == [1, 2, 2, 1]
    assert window_weights(3, "uniform").tolist() == [1, 1, 1]


@given(st.lists(st.integers(1, 600), max_size=50), st.integers(1, 600))
@settings(derandomize=True, deadline=None)
def test_batches_hold_each_window_once_within_the_budget(lengths: list[int], budget: int) -> None:
    found = list(batches(lengths, budget))
    assert sorted(index for batch in found for index in batch) == list(range(len(lengths)))
    for batch in found:
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= budget


def test_batches_put_windows_of_like_length_together() -> None:
    assert list(batches([10, 100, 11, 99], 200)) == [[1, 3], [2, 0]]


def test_batches_fill_their_budget() -> None:
    found = list(batches([10] * 25, 100))
    assert [len(batch) for batch in found] == [10, 10, 5]
    assert all(a < b for batch in found for a, b in pairwise(batch))
