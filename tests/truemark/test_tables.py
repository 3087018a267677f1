import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemark.tables import FORMATS, Table, escape_markdown, render
from truemark.text import printable

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
        "| a\\|b | 7 | - |\n"
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
    ("text", "escaped"),
    [
        ("a|b", "a\\|b"),
        ("a\\|b", "a\\\\\\|b"),
        ("<script>", "&lt;script>"),
        ("one\r\ntwo\u2028three", "one two three"),
    ],
    ids=["bar", "backslash before a bar", "tag", "line breaks"],
)
def test_escape_markdown(text: str, escaped: str) -> None:
    assert escape_markdown(text) == escaped


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
