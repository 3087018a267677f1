from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemark.text import shortened


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("Lunch with Bob", 14, "Lunch with Bob"),
        ("Lunch with Bob", 13, "Lunch with…"),
        ("Lunch with Bob", 12, "Lunch with…"),
        ("Lunch with Bob", 11, "Lunch with…"),
        ("Lunch with Bob", 10, "Lunch…"),
        ("Lunch\nwith Bob", 8, "Lunch…"),
        ("Mittagessen", 5, "Mitt…"),
        ("a Mittagessen", 8, "a Mitta…"),
        ("昼食を一緒に食べましょう", 6, "昼食を一緒…"),
    ],
)
def test_a_text_is_cut_after_a_whole_word(text: str, limit: int, expected: str) -> None:
    assert shortened(text, limit) == expected


@given(st.text(max_size=60), st.integers(2, 50))
def test_what_is_cut_is_never_longer_and_says_so(text: str, limit: int) -> None:
    found = shortened(text, limit)
    assert len(found) <= limit
    assert found == text or (found.endswith("…") and text.startswith(found[:-1]))
