"""Sentences found again in the text, whatever a system did to them."""

from __future__ import annotations

import time
from difflib import SequenceMatcher

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_bench.corpus.loading import load_corpus
from sat_bench.defaults import BUNDLED_CORPUS
from sat_bench.models.alignment import aligned, matching_runs
from sat_bench.models.boundaries import sentences
from sat_bench.models.protocol import Loss

WORDS = st.text(alphabet="abcdeXYZ.,!?'é漢😀", min_size=1, max_size=8)
SPACES = st.sampled_from([" ", "  ", "\n", "\t ", "\u3000", "\n\n"])


@st.composite
def sentence_lists(draw: st.DrawFn) -> list[list[str]]:
    return draw(st.lists(st.lists(WORDS, min_size=1, max_size=6), min_size=1, max_size=8))


@settings(derandomize=True, deadline=None)
@given(spoken=sentence_lists(), data=st.data())
def test_a_system_that_only_changes_white_space_aligns_without_loss(
    spoken: list[list[str]], data: st.DataObject
) -> None:
    def spaced(words: list[str]) -> str:
        return "".join(word + data.draw(SPACES) for word in words)

    text = "".join(map(spaced, spoken))
    found = aligned(text, [spaced(words) for words in spoken])
    solid = "".join(text.split())
    assert found.loss == Loss(characters=len(solid))
    assert found.kept == 1
    pieces = ["".join(piece.split()) for piece in sentences(text, found.ends)]
    assert pieces == ["".join(words) for words in spoken]


@settings(derandomize=True, deadline=None)
@given(spoken=sentence_lists())
def test_boundaries_from_sentences_round_trip(spoken: list[list[str]]) -> None:
    text = "  ".join(" ".join(words) for words in spoken)
    ends = list(aligned(text, [" ".join(words) for words in spoken]).ends)
    assert list(aligned(text, sentences(text, ends)).ends) == ends
    assert all(not text[end - 1].isspace() for end in ends)


TEXT = 'He left early. "Why?" she asked, and nobody knew. Then it rained… all night.'


@pytest.mark.parametrize(
    ("answer", "ends", "loss"),
    [
        pytest.param(
            ["He left early", '"Why?" she asked and nobody knew', "Then it rained… all night"],
            [14, 49, 76],
            (0, 4, 0),
            id="drops marks: sentences end behind them all the same",
        ),
        pytest.param(
            ["he left early.", '"why?" she asked, and nobody knew.', "then it rained… all night."],
            [14, 49, 76],
            (3, 0, 0),
            id="lower case counts as changed",
        ),
        pytest.param(
            [
                "He left early.",
                "“Why?” she asked, and nobody knew.",
                "Then it rained... all night.",
            ],
            [14, 49, 76],
            (3, 0, 2),
            id="other quotes and dots",
        ),
        pytest.param(
            ["Sure! Here are the sentences:", "He left early.", TEXT[15:49], TEXT[50:]],
            [14, 49, 76],
            (0, 0, 25),
            id="an introduction ends no sentence",
        ),
        pytest.param(["He left early.", TEXT[50:]], [14, 76], (0, 29, 0), id="a sentence is lost"),
        pytest.param([], [], (0, 63, 0), id="nothing"),
    ],
)
def test_what_a_system_does_to_the_characters_is_counted(
    answer: list[str], ends: list[int], loss: tuple[int, int, int]
) -> None:
    found = aligned(TEXT, answer)
    assert list(found.ends) == ends
    assert (found.loss.changed, found.loss.deleted, found.loss.invented) == loss
    assert found.loss.characters == len("".join(TEXT.split())) == 63


@settings(derandomize=True, deadline=None, max_examples=300)
@given(
    text=st.text(alphabet="abcde", max_size=200),
    edits=st.lists(
        st.tuples(st.integers(0, 200), st.integers(0, 12), st.text("abcde", max_size=12)),
        max_size=6,
    ),
)
def test_runs_are_common_to_both_and_in_order(text: str, edits: list[tuple[int, int, str]]) -> None:
    answer = text
    for place, gone, put in edits:
        answer = answer[:place] + put + answer[place + gone :]
    last_text = last_answer = 0
    for run in matching_runs(text, answer):
        assert run.length > 0
        assert run.text >= last_text
        assert run.answer >= last_answer
        last_text, last_answer = run.text + run.length, run.answer + run.length
        assert text[run.text : last_text] == answer[run.answer : last_answer]
    kept = sum(run.length for run in matching_runs(text, answer))
    touched = sum(gone + len(put) for _, gone, put in edits)
    # The distance to what was kept is bounded by what was done, an anchor's length each time.
    assert len(text) - kept <= touched + 32 * (len(edits) + 1)


def test_the_alignment_keeps_about_as_much_as_a_full_comparison() -> None:
    text = next(iter(load_corpus(BUNDLED_CORPUS))).text[:3_000]
    words = text.split()
    rewritten = " ".join(
        word.upper()
        if number % 11 == 3
        else ""
        if number % 17 == 5
        else word + "x" * (number % 7 == 2)
        for number, word in enumerate(words)
    )
    solid, answer = "".join(text.lower().split()), "".join(rewritten.lower().split())
    best = sum(
        run.size for run in SequenceMatcher(None, solid, answer, False).get_matching_blocks()
    )
    kept = sum(run.length for run in matching_runs(solid, answer))
    assert kept >= 0.98 * best


def test_a_long_text_with_much_changed_is_aligned_in_linear_time() -> None:
    text = " ".join(f"Word{number % 977} and some{number % 31} more." for number in range(40_000))
    changed = [piece.replace("more", "mroe") for piece in text.split(". ")]

    def seconds(share: int) -> float:
        begun = time.process_time()
        found = aligned(text[: len(text) // share], changed[: len(changed) // share])
        assert found.kept > 0.8
        return time.process_time() - begun

    small, large = seconds(8), seconds(1)
    assert large < 8 * 3 * max(small, 0.02)


@pytest.mark.parametrize(
    "garbage",
    ["nothing of the kind", "x" * 200_000, "0123456789 " * 5_000, "\x00\x01\x02" * 100],
    ids=["prose", "one letter", "digits", "controls"],
)
def test_garbage_is_told_from_an_answer(garbage: str) -> None:
    text = next(iter(load_corpus(BUNDLED_CORPUS))).text
    assert aligned(text, [garbage]).kept < 0.05


def test_text_goes_on_behind_what_was_left_out_or_made_up() -> None:
    text = next(iter(load_corpus(BUNDLED_CORPUS))).text
    middle = len(text) // 2
    shortened = aligned(text, [text[:500], text[middle:]])
    assert shortened.loss.deleted == len("".join(text[500:middle].split()))
    assert shortened.loss.changed == shortened.loss.invented == 0
    made_up = aligned(text, [text[:middle], "0123456789 " * 400, text[middle:]])
    assert made_up.loss.invented == 4_000
    assert made_up.loss.deleted == 0
