import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemark.errors import TruemarkError
from truemark.jsontext import Number, parse_json, read_json, to_json


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(0.1 + 0.2, "0.30000000000000004", id="every digit"),
        pytest.param(math.nan, "null", id="NaN"),
        pytest.param([math.inf, -math.inf], "[null, null]", id="infinities"),
        pytest.param({"a": {"b": (1, None, True)}}, '{"a": {"b": [1, null, true]}}', id="nested"),
        pytest.param("Brené — 你好", '"Brené — 你好"', id="any script as it is"),
        pytest.param("half \ud83d", '"half \\ud83d"', id="half a surrogate pair is escaped"),
        pytest.param(np.int64(3), "3", id="NumPy integer"),
        pytest.param(np.float64(0.5), "0.5", id="NumPy float"),
        pytest.param(np.float32(0.5), "0.5", id="NumPy single"),
        pytest.param(PurePosixPath("a/b"), '"a/b"', id="path"),
        pytest.param({1: "one"}, '{"1": "one"}', id="keys are text"),
    ],
)
def test_to_json(value: object, text: str) -> None:
    assert to_json(value) == text


def test_what_json_cannot_say_is_refused() -> None:
    with pytest.raises(ValueError, match="value must be text, a number, a list or a mapping"):
        to_json({"when": object()})


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(codec=None)),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_what_is_written_reads_back_the_same(value: object) -> None:
    text = to_json(value)
    assert "\n" not in text
    assert json.loads(text.encode()) == value


@dataclass(frozen=True, slots=True)
class Guest:
    name: str
    age: int = 0
    weight: Number | None = None

    def __post_init__(self) -> None:
        if self.age < 0:
            raise ValueError(f"age must be 0 or more, got {self.age}")


@dataclass(frozen=True, slots=True)
class Party:
    guests: tuple[Guest, ...]
    kind: Literal["quiet", "loud"] = "quiet"
    host: Guest | None = None
    start: datetime | None = None
    rooms: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, tuple[Guest, ...]] = field(default_factory=dict)
    cake: bool = False
    more: object = None


def test_json_is_read_into_types_and_unknown_fields_are_ignored() -> None:
    text = """{"guests": [{"name": "Ada", "weight": 61, "hat": "red"}], "kind": "loud",
        "start": "2026-02-20T10:00:00", "rooms": {"hall": 2}, "more": {"a": [1]}, "new": 1}"""
    assert read_json(Party, text, "party.json") == Party(
        guests=(Guest("Ada", weight=61.0),),
        kind="loud",
        start=datetime(2026, 2, 20, 10),
        rooms={"hall": 2},
        more={"a": [1]},
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("5", "5, not an object"),
        ("{}", "guests is missing"),
        ('{"guests": {}}', "guests is {}, not a list"),
        ('{"guests": [{}]}', "guests[0].name is missing"),
        ('{"guests": [{"name": "a"}, 3]}', "guests[1] is 3, not an object"),
        ('{"guests": [{"name": 7}]}', "guests[0].name is 7, not a text"),
        ('{"guests": [{"name": null}]}', "guests[0].name is null, not a text"),
        ('{"guests": [{"name": "a", "age": true}]}', "guests[0].age is true, not a whole number"),
        ('{"guests": [{"name": "a", "age": 1.5}]}', "guests[0].age is 1.5, not a whole number"),
        ('{"guests": [{"name": "a", "age": -1}]}', "guests[0]: age must be 0 or more, got -1"),
        ('{"guests": [{"name": "a", "weight": "1"}]}', "guests[0].weight is '1', not a number"),
        *(
            (
                f'{{"guests": [{{"name": "a", "weight": {number}}}]}}',
                f"guests[0].weight is {shown}, not a number of ordinary size",
            )
            for number, shown in {
                "NaN": "NaN",
                "1e400": "Infinity",
                "-1e400": "-Infinity",
                "1" + "0" * 400: "1" + "0" * 76 + "...",
            }.items()
        ),
        ('{"guests": [], "kind": "odd"}', "kind is 'odd', not one of quiet, loud"),
        ('{"guests": [], "kind": 3}', "kind is 3, not one of quiet, loud"),
        ('{"guests": [], "host": 1}', "host is 1, not an object"),
        ('{"guests": [], "host": {"name": 1}}', "host.name is 1, not a text"),
        ('{"guests": [], "start": 5}', "start is 5, not an ISO 8601 date-time"),
        ('{"guests": [], "start": "soon"}', "start is 'soon', not an ISO 8601 date-time"),
        (
            '{"guests": [], "rooms": {"a": 1, "b.c]": "2"}}',
            "rooms.b.c] is '2', not a whole number",
        ),
        (
            '{"guests": [], "tables": {"a": [], "b": [{"name": 1}]}}',
            "tables.b[0].name is 1, not a text",
        ),
        ('{"guests": [], "cake": 1}', "cake is 1, not true or false"),
        ('{"guests": [], "cake": "\\ud800"}', "cake is '?', not true or false"),
        ('{"guests": [', "not valid JSON: Expecting value at line 1 column 13"),
        ("[" * 100_000, "not readable JSON: nested too deeply"),
        ("1" * 5_000, "not readable JSON: it has a number of too many digits"),
    ],
    ids=lambda value: value[:50],
)
def test_what_does_not_fit_is_named_with_its_place(text: str, line: str) -> None:
    with pytest.raises(TruemarkError) as error:
        read_json(Party, text, "party.json")
    assert str(error.value) == f"party.json: {line}"


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(TruemarkError, match=r"^a\.json: not valid JSON: not UTF-8$"):
        parse_json(b'"\xff"', "a.json")


def test_keys_may_have_to_be_unique() -> None:
    assert parse_json('{"a": 1, "a": 2}', "a.json") == {"a": 2}
    with pytest.raises(TruemarkError, match=r"^a\.json: key 'a' appears twice in one object$"):
        parse_json('[{"a": 1, "a": 2}]', "a.json", unique_keys=True)
