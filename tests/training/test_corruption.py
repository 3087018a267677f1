"""Corrupted training text keeps its sentence ends in the right places."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from training.corruption import DASHES, MarkedText, draw, join, lowered, without_punctuation
from training.prepare import CUT_SHORT, END, labelled

from sat_bench.models.systems import find_model
from sat_bench.models.tokenizer import Tokenizer

words = st.text(alphabet="abXY.,?! '\"-é", min_size=1, max_size=12).map(str.strip)
sentences = st.lists(words.filter(bool), min_size=1, max_size=8)


def pieces(marked: MarkedText) -> list[str]:
    starts = [0, *marked.ends[:-1]]
    return [marked.text[s:e].strip() for s, e in zip(starts, marked.ends, strict=True)]


def test_joined_sentences_end_where_they_did() -> None:
    assert pieces(join(["One. Two", "Three?"])) == ["One. Two", "Three?"]


@pytest.mark.parametrize(
    ("keep_apostrophes", "expected"),
    [(True, ["It's odd", "he said"]), (False, ["Its odd", "he said"])],
    ids=["apostrophes kept", "apostrophes removed"],
)
def test_punctuation_goes_and_sentences_of_marks_alone_vanish(
    keep_apostrophes: bool, expected: list[str]
) -> None:
    marked = without_punctuation(
        join(["It's odd,", "...", "“he said.”"]), keep_apostrophes=keep_apostrophes
    )
    assert pieces(marked) == expected


def test_what_was_removed_is_known_at_the_character_before_it() -> None:
    marked = without_punctuation(join(["Well, no.", "Why?"]), keep_apostrophes=False)
    assert marked.removed is not None
    found = {marked.text[i]: int(k) for i, k in enumerate(marked.removed) if k}
    assert (marked.text, found) == ("Well no Why", {"l": 1, "o": 2, "y": 3})


def test_lower_case_never_changes_the_length() -> None:
    assert lowered("İSTANBUL") == "istanbul"


@settings(derandomize=True, deadline=None)
@given(sentences, st.integers(0, 10_000))
def test_ends_are_ascending_and_follow_a_solid_character(given_text: list[str], seed: int) -> None:
    marked = draw(given_text, frozenset({0}), False, random.Random(seed))
    assert (np.diff(marked.ends) > 0).all()
    assert all(0 < end <= len(marked.text) for end in marked.ends)
    assert all(not marked.text[end - 1].isspace() for end in marked.ends)


def test_a_sentence_cut_short_ends_at_its_dash_whatever_a_teacher_says() -> None:
    tokenizer = Tokenizer(find_model("small").tokenizer)
    marked = join(["And then I —", "What?", "A well-known — and old — trick."])
    ids, labels = labelled(tokenizer, marked)
    ends, cut = np.flatnonzero(labels & END), np.flatnonzero(labels & CUT_SHORT)
    assert (len(ids), len(ends)) == (len(labels), 3)
    assert cut.tolist() == ends[:1].tolist()


def test_some_speakers_are_cut_short_in_text_as_written() -> None:
    given_text = [
        "She says that nobody was there.",
        "Who told you?",
        "I know it, that is all.",
    ] * 10
    drawn = [draw(given_text, frozenset(), True, random.Random(seed)) for seed in range(120)]
    last = [marked.text[end - 1] for marked in drawn for end in marked.ends]
    assert 0.002 < sum(char in DASHES for char in last) / len(last) < 0.03
