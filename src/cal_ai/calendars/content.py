"""iCalendar text as a tree of components that keeps every byte that is not changed.

Writing a file with the icalendar library would reorder, refold and normalise what other programs
wrote. So the library is used for reading, and changes are made here, line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cal_ai.calendars.protocol import CalendarError

_LINE = re.compile(rb"[^\r\n]*(?:(?:\r\n|\n|\r)[ \t][^\r\n]*)*(?:\r\n|\n|\r|\Z)")
_FOLD = re.compile(rb"(?:\r\n|\n|\r)[ \t]")
_NAME = re.compile(r"[A-Za-z0-9-]+(?=[;:])")
_BEGIN = re.compile(r"BEGIN:\s*([A-Za-z0-9-]+)\s*", re.IGNORECASE)
_END = re.compile(r"END:\s*([A-Za-z0-9-]+)\s*", re.IGNORECASE)
_LONGEST_LINE = 75
_SHOWN = 40
_DEEPEST = 20
_MOST_LINES = 600_000  # folded ones included; 50,000 events or so


@dataclass(frozen=True, slots=True)
class Line:
    """One property: its unfolded text, and its bytes in the file with the line end."""

    text: str
    raw: bytes
    number: int = 0

    @property
    def name(self) -> str:
        """The name of the property in capitals; empty if there is none."""
        match = _NAME.match(self.text)
        return match[0].upper() if match else ""


@dataclass(slots=True, eq=False)
class Component:
    """A component with its properties and inner components, in the order of the file.

    The file itself is a component without a name, whose parts are its calendars.
    """

    name: str
    begin: Line
    parts: list[Line | Component] = field(default_factory=list)
    end: Line = Line("", b"")

    @property
    def components(self) -> tuple[Component, ...]:
        return tuple(part for part in self.parts if isinstance(part, Component))

    def line(self, name: str) -> Line | None:
        """Return the first property of this name."""
        return next(self.lines(name), None)

    def lines(self, *names: str) -> Iterator[Line]:
        """Return the properties of these names."""
        return (part for part in self.parts if isinstance(part, Line) and part.name in names)

    def value(self, name: str) -> str:
        """Return the value of the first property of this name; empty if there is none."""
        line = self.line(name)
        return line.text.partition(":")[2].strip() if line else ""

    def raw(self) -> bytes:
        """Return the bytes of the whole component."""
        inner = (part.raw if isinstance(part, Line) else part.raw() for part in self.parts)
        return self.begin.raw + b"".join(inner) + self.end.raw

    def text(self) -> str:
        """Return the component unfolded, one property per line, for the icalendar library."""
        inner = (p.text + "\r\n" if isinstance(p, Line) else p.text() for p in self.parts)
        return f"{self.begin.text}\r\n{''.join(inner)}{self.end.text}\r\n"

    def copy(self) -> Component:
        """Return a copy whose list of parts can be changed."""
        return Component(self.name, self.begin, list(self.parts), self.end)

    def put(self, name: str, text: str) -> None:
        """Replace the property of this name where it stands, or add it after the others."""
        old = self.line(name)
        if old is None:
            self.add(text)
        else:
            self.parts[self.parts.index(old)] = new_line(text, self.line_end)

    def add(self, text: str) -> None:
        """Add a property after the others, before the first inner component."""
        inner = (place for place, part in enumerate(self.parts) if isinstance(part, Component))
        self.parts.insert(next(inner, len(self.parts)), new_line(text, self.line_end))

    def drop(self, *names: str) -> None:
        """Remove all properties of these names."""
        dropped = set(self.lines(*names))
        self.parts = [part for part in self.parts if part not in dropped]

    def new_component(self, text: str) -> Component:
        """Make an inner component from its unfolded text, to be added to the parts."""
        lines = [new_line(line, self.line_end) for line in text.split("\r\n") if line]
        (component,) = _tree(lines, "new component")
        assert isinstance(component, Component)
        return component

    @property
    def line_end(self) -> bytes:
        """The line end of this component, which new lines get too."""
        return next(end for end in (b"\r\n", b"\n", b"\r") if self.begin.raw.endswith(end))


def new_line(text: str, line_end: bytes) -> Line:
    """Make a property, folded so that no line is longer than 75 bytes."""
    return Line(text, line_end.join(_folded(text)) + line_end)


def parse_content(data: bytes, where: str) -> Component:
    """Parse the file; raises a `CalendarError` that says why it is not iCalendar."""
    breaks = data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
    if breaks > _MOST_LINES:
        raise CalendarError(f"{where}: has {breaks:,} lines, expected {_MOST_LINES:,} at most")
    file = Component("", Line("", b""), _tree(_lines(data, where), where))
    for part in file.parts:
        first = part.begin if isinstance(part, Component) else part
        if first.text.strip() and not (isinstance(part, Component) and part.name == "VCALENDAR"):
            raise _not_icalendar(where, first, "BEGIN:VCALENDAR")
    if not file.components:
        raise CalendarError(
            f"{where}: is empty, expected BEGIN:VCALENDAR; remove it to start again"
        )
    return file


def _lines(data: bytes, where: str) -> Iterator[Line]:
    number = 1
    for match in _LINE.finditer(data):
        raw = match[0]
        if not raw:
            continue
        try:
            text = _FOLD.sub(b"", raw).decode().strip("\r\n")
        except UnicodeDecodeError as error:
            found = f"byte 0x{error.object[error.start]:02x}"
            raise CalendarError(
                f"{where}:{number}: is not UTF-8 text (found {found}), expected iCalendar;"
                " it is left unchanged"
            ) from error
        yield Line(text.removeprefix("\ufeff") if number == 1 else text, raw, number)
        number += len(raw.splitlines())


def _tree(lines: Iterable[Line], where: str) -> list[Line | Component]:
    top: list[Line | Component] = []
    open_components: list[Component] = []
    for line in lines:
        parts = open_components[-1].parts if open_components else top
        if begin := _BEGIN.fullmatch(line.text):
            if len(open_components) >= _DEEPEST:
                raise _not_icalendar(
                    where, line, f"no more than {_DEEPEST} components in each other"
                )
            component = Component(begin[1].upper(), line)
            parts.append(component)
            open_components.append(component)
        elif end := _END.fullmatch(line.text):
            inner = open_components[-1].name if open_components else None
            if inner != end[1].upper():
                raise _not_icalendar(where, line, f"END:{inner}" if inner else "BEGIN:VCALENDAR")
            open_components.pop().end = line
        else:
            parts.append(line)
    if open_components:
        name = open_components[-1].name
        raise CalendarError(
            f"{where}: ends inside {name}, expected END:{name}; it is left unchanged"
        )
    return top


def _not_icalendar(where: str, found: Line, expected: str) -> CalendarError:
    text = found.text if len(found.text) <= _SHOWN else f"{found.text[:_SHOWN]}..."
    return CalendarError(
        f"{where}:{found.number}: is not iCalendar: found {text!r}, expected {expected};"
        " it is left unchanged"
    )


def _folded(text: str) -> Iterator[bytes]:
    """Split the text into pieces of at most 75 bytes, never within a character."""
    rest = text.encode("utf-8", "replace")
    lead = b""
    while len(lead) + len(rest) > _LONGEST_LINE:
        cut = _LONGEST_LINE - len(lead)
        while rest[cut] & 0xC0 == 0x80:
            cut -= 1
        yield lead + rest[:cut]
        lead, rest = b" ", rest[cut:]
    yield lead + rest
