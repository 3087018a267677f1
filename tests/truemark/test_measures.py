"""The measures of the field against brute force and against the libraries that have them."""

from itertools import pairwise

import pytest
import segeval
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from nltk.metrics import segmentation as nltk_segmentation

from truemark.counts import Counts
from truemark.matching import match_positions
from truemark.measures import (
    boundary_edits,
    boundary_similarity,
    mean_f1,
    pk,
    segment_f1,
    su_error_rate,
    whole_segments,
    window_diff,
    window_errors,
)

LENGTH = 24
BOUNDARIES = st.lists(st.integers(1, LENGTH), unique=True, max_size=LENGTH).map(sorted)
SOME = st.lists(st.integers(1, LENGTH), unique=True, min_size=1, max_size=LENGTH).map(sorted)


def as_string(boundaries: list[int]) -> str:
    return "".join("1" if place in boundaries else "0" for place in range(1, LENGTH + 1))


@settings(max_examples=200, deadline=None)
@given(BOUNDARIES, SOME)
def test_pk_and_window_diff_are_those_of_nltk(predicted: list[int], expected: list[int]) -> None:
    ours, theirs = as_string(predicted), as_string(expected)
    size = max(1, round(LENGTH / (2 * len(expected))))
    errors = window_errors(predicted, expected, LENGTH)
    assert pk(errors) == nltk_segmentation.pk(theirs, ours, size)
    assert window_diff(errors) == nltk_segmentation.windowdiff(theirs, ours, size)


def as_masses(boundaries: list[int]) -> tuple[int, ...]:
    cuts = [0, *(place for place in boundaries if place < LENGTH), LENGTH]
    return tuple(after - before for before, after in pairwise(cuts))


@settings(max_examples=200, deadline=None)
@given(BOUNDARIES, BOUNDARIES)
def test_boundary_similarity_is_that_of_segeval(predicted: list[int], expected: list[int]) -> None:
    inner = [[place for place in places if place < LENGTH] for places in (predicted, expected)]
    assume(any(inner))  # segeval has no answer where there is nothing to compare
    value = boundary_similarity(boundary_edits(*inner))
    similarity = segeval.boundary_similarity(as_masses(predicted), as_masses(expected))
    assert value == pytest.approx(float(similarity))


@settings(max_examples=200, deadline=None)
@given(BOUNDARIES, BOUNDARIES)
def test_whole_segments_are_those_that_both_have(predicted: list[int], expected: list[int]) -> None:
    pairs = match_positions(predicted, expected, 0)
    ours = set(zip([0, *predicted], predicted, strict=False))
    theirs = set(zip([0, *expected], expected, strict=False))
    counts = whole_segments(pairs, len(predicted), len(expected))
    assert counts == Counts(len(ours & theirs), len(ours - theirs), len(theirs - ours))


def test_components_add_up_and_nothing_has_no_value() -> None:
    errors = window_errors([2], [3], 3) + window_errors([], [2], 3)
    assert (errors["crossed"], errors["windows"]) == (3, 4)
    assert pk(errors) == 0.75
    nothing = window_errors([], [], 0)
    assert (pk(nothing), window_diff(nothing)) == (None, None)
    assert boundary_similarity(boundary_edits([], [])) is None
    assert su_error_rate(Counts(0, 3, 0)) is None
    assert segment_f1(Counts(0, 0, 0)) is None
    assert mean_f1([]) is None


def test_mean_f1_counts_each_text_alike() -> None:
    assert mean_f1([Counts(1, 0, 0), Counts(0, 50, 50)]) == 0.5


def test_a_text_without_a_boundary_has_no_part_in_the_mean_f1() -> None:
    assert mean_f1([Counts(1, 0, 0), Counts(0, 0, 0)]) == 1.0
