import csv
import html
import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truemark.tables import FORMATS, Table, escape_markdown, render
from truemark.text import one_line, printable

TALKS = Table(
    columns=("Talk", "TP", "F1"),
    rows=(("opening", 12, 2 / 3), ("a|b", 7, None), ("two\nlines", 100, 1.0)),
    number_formats=(None, None, ".2f"),
)


def test_text_is_aligned_and_rounded() -> None:
    assert render(TALKS, "text") == (
        "Talk        TP    F1\nopening     12  0.67\na|b          7     -\ntwo lines  100  1.00\n"
    )


def test_markdown_is_rounded_and_no_cell_breaks_the_table() -> None:
    assert render(TALKS, "markdown") == (
        "| Talk | TP | F1 |\n"
        "| --- | ---: | ---: |\n"
        "| opening | 12 | 0.67 |\n"
        "| a&#124;b | 7 | - |\n"
        "| two lines | 100 | 1.00 |\n"
    )


def test_csv_keeps_every_digit() -> None:
    assert render(TALKS, "csv") == (
        'Talk,TP,F1\r\nopening,12,0.6666666666666666\r\na|b,7,\r\n"two\nlines",100,1.0\r\n'
    )


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("text", "A  B\n"),
        ("markdown", "| A | B |\n| --- | --- |\n"),
        ("csv", "A,B\r\n"),
    ],
)
def test_a_table_without_rows(format: str, text: str) -> None:
    (known,) = [name for name in FORMATS if name == format]
    assert render(Table(("A", "B"), ()), known) == text


def test_wide_and_combining_characters_keep_columns_aligned() -> None:
    table = Table(("name", "n"), (("日本", 1), ("e\u0301te", 2)))
    assert render(table, "text").splitlines() == ["name  n", "日本  1", "e\u0301te   2"]


def test_control_characters_cannot_steer_the_terminal() -> None:
    assert render(Table(("x",), (("\x1b[2Jgone\tagain",),)), "text") == "x\n\ufffd[2Jgone again\n"


def test_a_bool_is_a_word_not_a_number() -> None:
    assert render(Table(("ok",), ((True,),), (".2f",)), "text") == "ok\nTrue\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Lunch with Bob, 12:30 (maybe)!", None, id="plain"),
        pytest.param("0.912 [0.85, 0.95], -0.013, $0.42", None, id="figures"),
        pytest.param("Žižkov 昼食 🍜 café", None, id="any-script"),
        pytest.param("snake_case_name", None, id="underscore-within-a-word"),
        pytest.param("_em_ __b__", "&#95;em&#95; &#95;&#95;b&#95;&#95;", id="emphasis"),
        pytest.param("<b>x</b>", "&#60;b&#62;x&#60;/b&#62;", id="html"),
        pytest.param("a | b", "a &#124; b", id="table-cell"),
        pytest.param("a\\|b", "a&#92;&#124;b", id="backslash-before-a-bar"),
        pytest.param("`code`", "&#96;code&#96;", id="code"),
        pytest.param("[x](y)", "[x&#93;(y)", id="link"),
        pytest.param("![x](y)", "&#33;[x&#93;(y)", id="image"),
        pytest.param("[x][y]", "[x&#93;[y]", id="link-to-a-definition"),
        pytest.param("[x]: y", "[x&#93;: y", id="definition"),
        pytest.param("x[^1]", "x&#91;^1]", id="footnote"),
        pytest.param("https://x.y", "https:&#47;/x.y", id="bare-address"),
        pytest.param("WWW.x.y", "WWW&#46;x.y", id="bare-host"),
        pytest.param("a@b.c", "a&#64;b.c", id="mail"),
        pytest.param("&lt;", "&#38;lt;", id="entity"),
        pytest.param("a\n\n# b\r\n- c", "a # b - c", id="lines"),
        pytest.param("# a", "&#35; a", id="heading"),
        pytest.param("- a", "&#45; a", id="item"),
        pytest.param("12. a", "12&#46; a", id="numbered-item"),
        pytest.param("---", "&#45;--", id="rule"),
        pytest.param("a\x1b[31m\x00b", "a�[31m�b", id="control"),
        pytest.param("a\u202eb\ud800c\u2066d", "a�b�c�d", id="overrides-and-half-pairs"),
        pytest.param("👩‍👩‍👧", None, id="joiners"),
        pytest.param("$x$ {{y}}", "&#36;x&#36; &#123;&#123;y&#125;&#125;", id="maths"),
    ],
)
def test_markdown_shows_text_as_it_is(text: str, expected: str | None) -> None:
    assert escape_markdown(text) == (text if expected is None else expected)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.text(alphabet=st.sampled_from("ab _*`[]()<>|\\&#!~/:w.@$\n\t{}\u202e"), max_size=60))
def test_nothing_that_markdown_acts_on_is_left(text: str) -> None:
    line = escape_markdown(text)
    acts = r"!\[|[<>|\\`*~\n${}@]|\][\[(:]|://|www\.|(^|\W)_|_(\W|$)|^#\s|^##"
    assert not re.search(acts, line)
    assert html.unescape(line) == one_line(text)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.text(max_size=60))
def test_escaped_text_stays_in_its_table_cell_and_is_escaped_once(text: str) -> None:
    line = escape_markdown(text)
    row = render(Table(("a", "b"), ((line, "end"),)), "markdown").splitlines()[2]
    assert row == f"| {line} | end |"


@pytest.mark.parametrize(
    ("columns", "rows", "formats", "message"),
    [
        (("a", "b"), ((1,),), (), "row must have 2 cells"),
        (("a", "a"), (), (), "columns must have different names"),
        (("a", "b"), (), (".2f",), "number_formats must have 2 items"),
    ],
    ids=["short row", "equal names", "too few formats"],
)
def test_impossible_tables_are_refused(
    columns: tuple[str, ...],
    rows: tuple[tuple[object, ...], ...],
    formats: tuple[str | None, ...],
    message: str,
) -> None:
    with pytest.raises(ValueError, match=message):
        Table(columns, rows, formats)


CELLS = st.text(st.characters(codec="utf-8"), max_size=8)
TABLES = st.lists(st.tuples(CELLS, CELLS), max_size=5).map(
    lambda rows: Table(("first", "second"), tuple(rows))
)


@given(TABLES)
def test_csv_reads_back_the_same(table: Table) -> None:
    rows = list(csv.reader(io.StringIO(render(table, "csv"), newline="")))
    assert rows == [list(table.columns), *([*map(csv_cell, row)] for row in table.rows)]


def csv_cell(text: object) -> str:
    shown = printable(str(text))
    return f"'{shown}" if shown[:1] in set("=+-@\t\r") else shown


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@cmd", "\t=1", "=HYPERLINK(0)"])
def test_no_name_is_a_formula_in_a_spreadsheet(name: str) -> None:
    text = render(Table(("name", "value"), ((name, -1.5),)), "csv")
    assert text.splitlines()[1].startswith(f"'{name}")
    assert text.splitlines()[1].endswith(",-1.5")


@given(TABLES)
def test_text_and_markdown_have_one_line_per_row(table: Table) -> None:
    assert len(render(table, "text").splitlines()) == len(table.rows) + 1
    assert len(render(table, "markdown").splitlines()) == len(table.rows) + 2
