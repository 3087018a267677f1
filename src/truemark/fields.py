"""JSON objects read field by field: every problem is found at once and named by its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
_LONGEST = 80


class UnfitError(Exception):
    """A value that cannot be taken; the argument is what belongs there instead."""


@dataclass(frozen=True, slots=True)
class Fields:
    """A JSON object being read; what does not fit goes to `problems` and a stand-in is read."""

    values: Mapping[str, object]
    where: str
    problems: list[str]

    def only(self, known: Collection[str]) -> None:
        """Any other key is a problem."""
        for key in self.values:
            if key not in known:
                place = f"{self.where}: " if self.where else ""
                self.problems.append(
                    f"{place}unknown key {shown(key)}, expected {', '.join(known)}"
                )

    def required(self, key: str) -> bool:
        """Whether the key has a value; one that has none is a problem."""
        if self.values.get(key) is None:
            self.problems.append(f"{self.place(key)} is missing")
            return False
        return True

    def read(self, key: str, convert: Callable[[object], T], otherwise: T) -> T:
        """The converted value, None included; `otherwise` where `convert` calls it unfit."""
        value = self.values.get(key)
        try:
            return convert(value)
        except UnfitError as unfit:
            self.wrong(key, str(unfit))
            return otherwise

    def optional(self, key: str, convert: Callable[[object], T], otherwise: T) -> T:
        """Like `read`, with `otherwise` for a key that is absent or null as well."""
        return otherwise if self.values.get(key) is None else self.read(key, convert, otherwise)

    def objects(self, key: str, known: Collection[str]) -> Iterator[Fields]:
        """The objects of a list, one after the other; an absent list has none."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, list):
            self.wrong(key, "a list")
            return
        for index, item in enumerate(value or ()):
            place = f"{self.place(key)}[{index}]"
            if isinstance(item, dict):
                fields = Fields(item, place, self.problems)
                fields.only(known)
                yield fields
            else:
                self.problems.append(f"{place} is {shown(item)}, not an object")

    def wrong(self, key: str, expected: str) -> None:
        """Notes what was found under the key and what belongs there."""
        value = self.values.get(key)
        found = "missing" if value is None else shown(value)
        self.problems.append(f"{self.place(key)} is {found}, not {expected}")

    def place(self, key: str) -> str:
        """The key with the way to it."""
        return f"{self.where}.{key}" if self.where else key


def shown(value: object) -> str:
    """A value from elsewhere as it can stand in a message: on one line, and not long."""
    if isinstance(value, str):
        text = repr(value[: _LONGEST + 1])
    else:
        try:
            text = json.dumps(value, ensure_ascii=False)
        except (ValueError, TypeError, RecursionError):  # thousands of digits; nested too deep
            text = f"a value of type {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
