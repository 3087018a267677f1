"""Write JSON that every reader accepts, and read JSON into types.

    party = read_json(Party, text, "party.json")

reads a dataclass, or raises an error such as `party.json: guests[1].age is 'ten', not a whole
number`.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import cache, partial
from numbers import Integral, Real
from pathlib import PurePath
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from truemark.errors import TruemarkError

# JSON leaves these as they are; a terminal would obey them.
_UNSEEN = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_LONGEST_SHOWN = 80
_PATH_KEY = re.compile(r"\[[^\]]*\]|\.[^.\[]+")
_MISSING_FIELD = re.compile("Object missing required field `(.*)`")
_EXPECTED_TYPE = re.compile("Expected `([^`]*)`(.*?)(?:, got .*)?$")
_WORDS = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "object": "an object",
    "str": "a text",
}
_SIMPLE = frozenset({str, int, float, bool, type(None)})

T = TypeVar("T")
Number = Annotated[float, msgspec.Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
"""A number that is neither NaN nor infinite, as the type of a field that is read from JSON."""


def to_json(value: object, *, indent: int | None = None) -> str:
    """Write a value as JSON; numbers keep every digit, NaN and infinity become null."""
    encode = partial(json.dumps, ensure_ascii=False, allow_nan=False, indent=indent)
    try:
        text = encode(value)
    except (TypeError, ValueError):  # a type or number that JSON lacks
        text = encode(_plain(value))
    if text.isascii() and "\x7f" not in text:  # true of most texts, and quick to check
        return text
    text = _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    try:
        text.encode()
    except UnicodeEncodeError:
        # Half a surrogate pair has no UTF-8 form; escaped, it survives.
        return encode(_plain(value), ensure_ascii=True)
    return text


def _plain(value: object) -> object:
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else None
    if isinstance(value, PurePath):
        return str(value)
    raise ValueError(f"value must be text, a number, a list or a mapping, got {value!r}")


def parse_json(content: str | bytes, where: str, *, unique_keys: bool = False) -> Any:
    """Parse JSON; a repeated key keeps its last value, or with `unique_keys` is refused."""
    try:
        hook = partial(_with_unique_keys, where) if unique_keys else None
        return json.loads(content, object_pairs_hook=hook)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise TruemarkError(f"{where}: not valid JSON: {error.msg} at {place}") from None
    except UnicodeDecodeError:
        raise TruemarkError(f"{where}: not valid JSON: not UTF-8") from None
    except RecursionError:
        raise TruemarkError(f"{where}: not readable JSON: nested too deeply") from None
    except ValueError:  # Python reads no integer of more than 4,300 digits
        raise TruemarkError(
            f"{where}: not readable JSON: it has a number of too many digits"
        ) from None


def _with_unique_keys(where: str, pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise TruemarkError(f"{where}: key {shown(repeated)} appears twice in one object")
    return fields


def read_json(kind: type[T], content: str | bytes, where: str) -> T:
    """Read JSON into a dataclass or another type that msgspec knows; unknown fields are ignored.

    >>> read_json(tuple[int, ...], "[1, 2, true]", "numbers.json")
    Traceback (most recent call last):
        ...
    truemark.errors.TruemarkError: numbers.json: [2] is true, not a whole number
    """
    return read_value(kind, parse_json(content, where), where)


def read_value(kind: type[T], value: object, where: str) -> T:
    """Read parsed JSON into a type, as `read_json` does.

    A dataclass may check its values: its `ValueError` is reported with the place of the value.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise TruemarkError(f"{where}: {_mismatch(kind, value, error)}") from error
    except UnicodeEncodeError:
        # msgspec fails on half a surrogate pair where something other than text is expected.
        text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        return read_value(kind, json.loads(text), where)


def _mismatch(kind: Any, value: Any, error: msgspec.ValidationError) -> str:
    """Say which value does not fit, and what belongs there."""
    message, _, path = str(error).partition(" - at `$")
    place = ""
    for key in _PATH_KEY.findall(path.removesuffix("`")):
        kind = without_none(kind)
        if key == "[...]":  # msgspec does not say which key of a mapping it means
            kind = get_args(kind)[1]
            name = next(name for name, item in value.items() if not _fits(kind, item))
            place, value = f"{place}.{name}", value[name]
        elif key.startswith("["):
            kind, value = get_args(kind)[0], value[int(key[1:-1])]
            place += key
        else:
            kind, value = get_type_hints(kind, include_extras=True)[key[1:]], value[key[1:]]
            place += key
    place = place.removeprefix(".")
    if isinstance(error.__cause__, ValueError):
        return f"{place}: {message}" if place else message
    if missing := _MISSING_FIELD.fullmatch(message):
        return f"{place}.{missing[1]} is missing".removeprefix(".")
    stated = f"{place} is {shown(value)}" if place else shown(value)
    return f"{stated}, not {_expected(without_none(kind), message)}"


def without_none(kind: Any) -> Any:
    """Return the type X of `X | None`, and every other type as it is."""
    choices = [choice for choice in get_args(kind) if choice is not NoneType]
    is_optional = get_origin(kind) in (Union, UnionType) and NoneType in get_args(kind)
    return choices[0] if is_optional and len(choices) == 1 else kind


def _fits(kind: Any, value: object) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _expected(kind: Any, message: str) -> str:
    """Put what msgspec expects into words."""
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    if message == "Number out of range" or f"{sys.float_info.max}" in message:
        return "a number of ordinary size"
    if kind is datetime:
        return "an ISO 8601 date-time"
    wanted = _EXPECTED_TYPE.match(message)
    if wanted is None:
        return f"as expected: {message}"
    names = [_WORDS.get(name, name) for name in wanted[1].split(" | ") if name != "null"]
    return " or ".join(names) + wanted[2].replace(">=", "of at least").replace("<=", "of at most")


def shown(value: object, hide: Callable[[str], str] = str) -> str:
    """Shorten a value from outside to show it in a message, on one line.

    `hide` removes secrets before the text is cut, which could leave half a secret.
    """
    if isinstance(value, str):
        text = repr(hide(value)[: _LONGEST_SHOWN + 1])
    else:
        try:
            text = hide(json.dumps(value, ensure_ascii=False))
        except Exception:  # thousands of digits; nested too deep; what foreign code raises
            text = f"a value of type {type(value).__name__}"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."


def set_fields(value: object) -> dict[str, object]:
    """Turn a dataclass, and those inside it, into mappings without the fields at their default."""
    kind: Any = type(value)
    items = ((name, getattr(value, name), default) for name, default in _defaults(kind))
    return {name: _without_defaults(item) for name, item, default in items if item != default}


def _without_defaults(value: object) -> object:
    if type(value) in _SIMPLE:  # most values; the checks below are slower
        return value
    if is_dataclass(value):
        return set_fields(value)
    if isinstance(value, Mapping):
        return {key: _without_defaults(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_defaults(item) for item in value]
    return value


@cache
def _defaults(kind: Any) -> tuple[tuple[str, object], ...]:
    return tuple(
        (
            field.name,
            field.default if field.default_factory is MISSING else field.default_factory(),
        )
        for field in fields(kind)
    )


def json_schema(kind: type, title: str) -> dict[str, Any]:
    """Make the JSON Schema of a type that `read_json` reads; docstrings become descriptions."""
    _, parts = msgspec.json.schema_components(
        [kind],
        schema_hook=lambda _: {"description": "Any JSON value."},
        ref_template="#/$defs/{name}",
    )
    parts = _tidied(parts)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **parts.pop(kind.__name__),
        "title": title,
        "$defs": parts,
    }


def _tidied(schema: Any) -> Any:
    """Put descriptions on one line and leave out the limits of `Number`."""
    if isinstance(schema, list):
        return [_tidied(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    limits = (("minimum", -sys.float_info.max), ("maximum", sys.float_info.max))
    return {
        name: " ".join(item.split())
        if name == "description" and isinstance(item, str)
        else _tidied(item)
        for name, item in schema.items()
        if (name, item) not in limits
    }
