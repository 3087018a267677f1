"""Tables as text, Markdown and CSV; numbers are rounded here and nowhere else."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from dataclasses import dataclass
from numbers import Real
from typing import Literal, get_args

from truemark.text import one_line, printable

Format = Literal["text", "markdown", "csv"]
FORMATS: tuple[Format, ...] = get_args(Format)

# Brackets only where they could make a link, underscores only at the edge of a word, slashes and
# dots only where an address becomes a link. Lookbehinds come after the character that they are
# about: tried at every place of the text, they would take far longer.
_SPECIAL = re.compile(
    r"[&<>|\\`*~{}@]|\$(?!\d)|!(?=\[)|\](?=[(\[:])|\[(?=\^)|_(?<![^\W_]_)|_(?![^\W_])"
    r"|/(?<=:/)(?=/)|\.(?<=www\.)|^[#+-](?=\s)|^[#=-](?=[#=-])|^\d{1,9}[.)](?=\s)",
    re.IGNORECASE,
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_WITHOUT_WIDTH = {"Mn", "Me", "Cf"}


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns and their rows; `number_formats` holds a format spec or None per column.

    A number format such as `.2f` is how text and markdown show the numbers of that column;
    CSV keeps them whole.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    number_formats: tuple[str | None, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError(f"columns must have different names, got {self.columns!r}")
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"row must have {len(self.columns)} cells, got {row!r}")
        if self.number_formats and len(self.number_formats) != len(self.columns):
            raise ValueError(
                f"number_formats must have {len(self.columns)} items, got {self.number_formats!r}"
            )


def render(table: Table, format: Format) -> str:
    """Render the table in the given format; its last line ends with a line break."""
    return {"text": _text, "markdown": _markdown, "csv": _csv}[format](table)


def _text(table: Table) -> str:
    rows = [table.columns, *_shown(table)]
    rows = [tuple(one_line(cell) for cell in row) for row in rows]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    numeric = _numeric(table)
    lines = []
    for row in rows:
        cells = []
        for cell, width, right in zip(row, widths, numeric, strict=True):
            padding = " " * (width - _width(cell))
            cells.append(padding + cell if right else cell + padding)
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def _markdown(table: Table) -> str:
    ruler = ["---:" if right else "---" for right in _numeric(table)]
    rows = [[escape_markdown(cell) for cell in row] for row in [table.columns, *_shown(table)]]
    rows.insert(1, [Markdown(rule) for rule in ruler])
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def _csv(table: Table) -> str:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    for row in (table.columns, *table.rows):
        writer.writerow([_csv_cell(cell) for cell in row])
    return buffer.getvalue()


def _csv_cell(value: object) -> object:
    """Mark text that a spreadsheet would take for a formula."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


class Markdown(str):
    """Text that is Markdown already; all other text is escaped."""

    __slots__ = ()


def escape_markdown(text: str) -> Markdown:
    """Make one line of text that Markdown shows as it is: no markup, HTML, link, cell or heading.

    >>> escape_markdown("![x](http://example.org) | 0.91 [0.85, 0.95]")
    '&#33;[x&#93;(http:&#47;/example.org) &#124; 0.91 [0.85, 0.95]'
    """
    if isinstance(text, Markdown):
        return text

    def as_entity(special: re.Match[str]) -> str:
        sign = special[0]
        return f"{sign[:-1]}&#{ord(sign[-1])};"

    return Markdown(_SPECIAL.sub(as_entity, one_line(text)))


def _shown(table: Table) -> list[tuple[str, ...]]:
    formats = table.number_formats or (None,) * len(table.columns)
    return [
        tuple(_cell(value, spec) for value, spec in zip(row, formats, strict=True))
        for row in table.rows
    ]


def _cell(value: object, spec: str | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return format(value, spec) if spec and _is_number(value) else str(value)


def _is_number(value: object) -> bool:
    return not isinstance(value, str | bool) and isinstance(value, Real)


def _numeric(table: Table) -> list[bool]:
    """Return which columns have only numbers and are aligned right."""
    columns = zip(*table.rows, strict=True) if table.rows else [()] * len(table.columns)
    return [
        any(map(_is_number, column)) and all(value is None or _is_number(value) for value in column)
        for column in columns
    ]


def _width(text: str) -> int:
    """Count the columns that the text takes on a terminal."""
    return sum(
        0
        if unicodedata.category(char) in _WITHOUT_WIDTH
        else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )
