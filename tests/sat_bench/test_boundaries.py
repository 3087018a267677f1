from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_bench.models.boundaries import (
    last_probability,
    scored_positions,
    sentence_ends,
    sentences,
    token_positions,
)
from sat_bench.models.protocol import Probabilities
from truemark.matching import ScoredPositions

TEXTS = st.text(
    st.sampled_from([*"ab.?! \n\r\t", "\u3000", "\x1c", "é", "😀", "\ud800"]), max_size=40
)


def probabilities(*pairs: tuple[int, float]) -> Probabilities:
    ends = np.array([end for end, _ in pairs], np.int32)
    return Probabilities(ends, np.array([value for _, value in pairs], np.float32))


def pairs_of(scored: ScoredPositions) -> list[tuple[int, float]]:
    return [
        (position, round(score, 6))
        for position, score in zip(scored.positions.tolist(), scored.scores.tolist(), strict=True)
    ]


def all_pairs(text: str, tokens: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    return pairs_of(token_positions(text, probabilities(*tokens)))


def plainly(text: str, pairs: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """The rule of `token_positions`, one token after the other."""
    of_character = dict(pairs)
    found: dict[int, float] = {}
    for end, value in of_character.items():
        position = len(text[:end].rstrip())
        if position:
            found[position] = max(value, found.get(position, 0.0))
    return sorted(found.items())


@st.composite
def texts_with_tokens(draw: st.DrawFn) -> tuple[str, list[tuple[int, float]]]:
    text = draw(TEXTS)
    ends = sorted(draw(st.lists(st.integers(1, len(text)), max_size=20))) if text else []
    values = draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=20, max_size=20))
    return text, list(zip(ends, values, strict=False))


@pytest.mark.parametrize(
    ("text", "tokens", "expected"),
    [
        pytest.param("Hi. Yo.", [(2, 0.1), (3, 0.9)], [(2, 0.1), (3, 0.9)], id="as they are"),
        pytest.param("Hi. Yo.", [(3, 0.9), (3, 0.2)], [(3, 0.2)], id="the later token counts"),
        pytest.param("Hi. Yo.", [(3, 0.2), (4, 0.9)], [(3, 0.9)], id="space moves back"),
        pytest.param("Hi. Yo.", [(3, 0.9), (4, 0.2)], [(3, 0.9)], id="the highest counts"),
        pytest.param("Hi.\r\n\n Yo", [(7, 0.9)], [(3, 0.9)], id="over a paragraph break"),
        pytest.param("  Hi", [(1, 0.9), (2, 0.8), (4, 0.1)], [(4, 0.1)], id="leading space"),
        pytest.param(" \n ", [(1, 0.9), (3, 0.9)], [], id="only white space"),
        pytest.param("", [], [], id="empty"),
    ],
)
def test_a_probability_belongs_to_the_last_character_before_white_space(
    text: str, tokens: list[tuple[int, float]], expected: list[tuple[int, float]]
) -> None:
    assert all_pairs(text, tokens) == expected


@given(texts_with_tokens())
@settings(derandomize=True, deadline=None, max_examples=500)
def test_positions_agree_with_the_rule_applied_token_by_token(
    case: tuple[str, list[tuple[int, float]]],
) -> None:
    text, tokens = case
    assert all_pairs(text, tokens) == plainly(text, tokens)


@given(texts_with_tokens(), st.sampled_from([0.0, 0.2, 0.25, 0.5, 1.0]))
@settings(derandomize=True, deadline=None, max_examples=500)
def test_sentence_ends_are_the_scored_positions_above_the_threshold(
    given_text: tuple[str, list[tuple[int, float]]], threshold: float
) -> None:
    text, tokens = given_text
    found = probabilities(*tokens)
    assert sentence_ends(text, found, threshold) == scored_positions(text, found).above(threshold)


@given(texts_with_tokens())
@settings(derandomize=True, deadline=None)
def test_the_end_of_the_text_is_a_boundary_at_any_threshold(
    case: tuple[str, list[tuple[int, float]]],
) -> None:
    text, tokens = case
    scored = scored_positions(text, probabilities(*tokens))
    content = len(text.rstrip())
    assert scored.above(1.0) == ([content] if content else [])
    assert pairs_of(scored)[:-1] == [pair for pair in plainly(text, tokens) if pair[0] < content]
    for threshold in (0.0, 0.25, 0.6, 1.0):
        assert sentence_ends(text, probabilities(*tokens), threshold) == scored.above(threshold)


@pytest.mark.parametrize(
    ("text", "tokens", "expected"),
    [
        pytest.param("Hi. Yo. ", [(3, 0.5), (7, 0.25)], 0.25, id="last token"),
        pytest.param("Hi. \n", [(3, 0.25), (5, 0.75)], 0.75, id="line break"),
        pytest.param(" \n", [(2, 0.75)], 0.0, id="white space"),
        pytest.param("", [], 0.0, id="empty"),
    ],
)
def test_the_last_probability_is_that_of_the_last_character(
    text: str, tokens: list[tuple[int, float]], expected: float
) -> None:
    assert last_probability(text, probabilities(*tokens)) == expected


def test_the_score_of_the_end_of_the_text_is_infinite() -> None:
    scored = scored_positions("Hi. Yo. ", probabilities((3, 0.5), (7, 0.1)))
    assert pairs_of(scored) == [(3, 0.5), (7, math.inf)]


@pytest.mark.parametrize(
    ("text", "ends", "expected"),
    [
        pytest.param("Hi. Yo.", [3, 7], ["Hi. ", "Yo."], id="space goes to the one before"),
        pytest.param(" Hi.\r\n\r\nYo. ", [4, 11], [" Hi.\r\n\r\n", "Yo. "], id="line breaks"),
        pytest.param(" \n", [], [" \n"], id="only white space"),
        pytest.param("", [], [], id="empty"),
    ],
)
def test_sentences_are_cut_after_white_space(
    text: str, ends: list[int], expected: list[str]
) -> None:
    assert sentences(text, ends) == expected


@given(texts_with_tokens(), st.sampled_from([0.0, 0.3, 0.9, 1.0]))
@settings(derandomize=True, deadline=None)
def test_sentences_joined_are_the_text(
    case: tuple[str, list[tuple[int, float]]], threshold: float
) -> None:
    text, tokens = case
    ends = sentence_ends(text, probabilities(*tokens), threshold)
    found = sentences(text, ends)
    assert "".join(found) == text
    assert len(found) == len(ends) or not text.strip()


def test_every_white_space_character_is_known() -> None:
    spaces = [chr(code) for code in range(0x110000) if chr(code).isspace()]
    text = "".join(f"a{space}" for space in spaces)
    tokens = [(end, 0.5) for end in range(2, len(text) + 1, 2)]
    found = [position for position, _ in all_pairs(text, tokens)]
    assert found == list(range(1, len(text), 2))
