from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cal_ai.benchmark.quotations import excerpt, quoted_lines
from cal_ai.transcript import Transcript, Utterance, parse_transcript

TALK = parse_transcript(
    "Minutes\n[Bob]: Lunch on Friday?\n[Alice]: Friday is fine, half past twelve.\n\n[Bob]: Great."
)


def because(reason: str) -> list[int]:
    return sorted(quoted_lines(TALK, reason))


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        pytest.param("", [], id="no-reason"),
        pytest.param('Bob (line 2): "Lunch on Friday?"', [0], id="number-and-words"),
        pytest.param("Agreed on line 3.", [1], id="number"),
        pytest.param("See lines 2-3.", [0, 1], id="range"),
        pytest.param("See lines 2 to 999999.", [0, 1, 2], id="too-long-a-range"),
        pytest.param("Line 4 says nothing, line 77 is not there.", [], id="no-such-line"),
        pytest.param('She says "half past   TWELVE".', [1], id="words-in-other-letters"),
        pytest.param("She says 'Friday is fine' to it.", [1], id="single-quotes"),
        pytest.param("She says “Friday is fine,” so yes.", [1], id="curly-quotes"),
        pytest.param("Sie sagt „Friday is fine“.", [1], id="low-quotes"),
        pytest.param("It's Bob's idea and Alice's day, isn't it?", [], id="apostrophes"),
        pytest.param('He says "Great".', [], id="too-short-to-tell"),
        pytest.param('He says "dinner on Sunday".', [], id="nobody-said-that"),
    ],
)
def test_the_lines_that_a_reason_names_or_quotes(reason: str, expected: list[int]) -> None:
    assert because(reason) == expected


def test_a_short_conversation_stands_whole_with_its_quoted_lines_marked() -> None:
    found = excerpt(TALK, frozenset({1}))
    assert (found.text, found.offset) == (TALK.as_text(), 0)
    assert [found.text[mark.start : mark.end] for mark in found.marks] == [
        "[Alice]: Friday is fine, half past twelve."
    ]


LONG = Transcript(tuple(Utterance("Bob", f"words {n} " * 10, n + 1) for n in range(100)))


def test_of_a_long_conversation_the_part_around_the_quoted_lines_is_shown() -> None:
    found = excerpt(LONG, frozenset({50, 52}))
    assert found.text.split("\n") == LONG.as_text().split("\n")[48:55]
    assert LONG.as_text()[found.offset :].startswith(found.text)
    assert excerpt(LONG, frozenset()).text == ""
    assert excerpt(LONG, frozenset(), None).text == LONG.as_text()


@settings(derandomize=True, deadline=None)
@given(st.sets(st.integers(0, 99), max_size=6), st.sampled_from([None, 100, 5_000, 100_000]))
def test_every_mark_lies_on_a_line_that_was_quoted(quoted: set[int], longest: int | None) -> None:
    found = excerpt(LONG, frozenset(quoted), longest)
    lines = LONG.as_text().split("\n")
    assert [found.text[mark.start : mark.end] for mark in found.marks] == [
        lines[place] for place in sorted(quoted)
    ]
    assert LONG.as_text()[found.offset : found.offset + len(found.text)] == found.text
