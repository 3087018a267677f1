from __future__ import annotations

import html
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cal_ai.benchmark.escaping import escaped
from truemark.tables import Table, render


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Lunch with Bob, 12:30 (maybe)!", None, id="plain"),
        pytest.param("Žižkov 昼食 🍜 café", None, id="any-script"),
        pytest.param("snake_case_name", None, id="underscore-within-a-word"),
        pytest.param("_em_ __b__", "&#95;em&#95; &#95;&#95;b&#95;&#95;", id="emphasis"),
        pytest.param("<b>x</b>", "&#60;b&#62;x&#60;/b&#62;", id="html"),
        pytest.param("a | b", "a &#124; b", id="table-cell"),
        pytest.param("`code`", "&#96;code&#96;", id="code"),
        pytest.param("[x](y)", "&#91;x&#93;(y)", id="link"),
        pytest.param("https://x.y", "https:&#47;/x.y", id="bare-address"),
        pytest.param("WWW.x.y", "WWW&#46;x.y", id="bare-host"),
        pytest.param("a@b.c", "a&#64;b.c", id="mail"),
        pytest.param("&lt;", "&#38;lt;", id="entity"),
        pytest.param("a\n\n# b\r\n- c", "a # b - c", id="lines"),
        pytest.param("a\x1b[31m\x00b", "a�&#91;31m�b", id="control"),
        pytest.param("a\u202eb\ud800c\u2066d", "a�b�c�d", id="overrides-and-half-pairs"),
        pytest.param("👩‍👩‍👧", None, id="joiners"),
        pytest.param(
            "$x$ {{y}}", "&#36;x&#36; &#123;&#123;y&#125;&#125;", id="maths-and-templates"
        ),
        pytest.param("x" * 400, "x" * 299 + "…", id="long"),
    ],
)
def test_text_is_shown_as_it_is(text: str, expected: str | None) -> None:
    assert escaped(text) == (text if expected is None else expected)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.text(alphabet=st.sampled_from("ab _*`[]()<>|\\&#!~/:w.@$\n\t{}\u202e"), max_size=60))
def test_nothing_that_markdown_acts_on_is_left(text: str) -> None:
    line = escaped(text)
    assert not re.search(r"[<>|\\`*\[\]~\n${}@]|://|www\.|(^|\W)_|_(\W|$)", line)
    assert html.unescape(line) == " ".join(text.split()).replace("\u202e", "�")


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.text(max_size=60))
def test_escaped_text_stays_in_its_table_cell_and_is_escaped_once(text: str) -> None:
    line = escaped(text)
    row = render(Table(("a", "b"), ((line, "end"),)), "markdown").splitlines()[2]
    assert row == f"| {line} | end |"
