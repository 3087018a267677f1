"""Dataclasses as JSON: fields by their names, defaults left out, unknown fields kept.

Handles what records are made of: text, `Literal` texts, numbers, true and false, `X | None`,
`tuple[X, ...]`, `Mapping[str, X]`, `object` for any JSON value, and further dataclasses. A
dataclass that has a field called `extra` keeps what it does not know there, and writes it back.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from truemark.errors import TruemarkError
from truemark.fields import shown

T = TypeVar("T")
Reader = Callable[[object, str], Any]
_EXTRA = "extra"
_SIMPLE = frozenset({str, int, float, bool, type(None)})


def encoded(value: object) -> object:
    """`value` with every dataclass in it as a mapping of its fields, without the defaults."""
    if type(value) in _SIMPLE:  # most values of a record; the questions below take their time
        return value
    if isinstance(value, list | tuple):
        return [encoded(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        content = {
            name: encoded(own)
            for name, default in _defaults(type(value))
            if name != _EXTRA and (own := getattr(value, name)) != default
        }
        return content | dict(getattr(value, _EXTRA, {}))
    if isinstance(value, Mapping):
        return {key: encoded(item) for key, item in value.items()}
    return value


def decoded(kind: type[T], value: object, where: str) -> T:
    """The dataclass `kind` read from parsed JSON; an error says where it is not as expected."""
    hashable: Any = kind
    content: T = _reader(hashable)(value, where)
    return content


@cache
def _defaults(kind: type) -> tuple[tuple[str, object], ...]:
    return tuple((field.name, _default(field)) for field in fields(kind))


def _default(field: Field[Any]) -> object:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default


@cache
def _reader(kind: Any) -> Reader:
    """The function that reads a value of the type `kind`; made once per type."""
    if is_dataclass(kind) and isinstance(kind, type):
        return _dataclass_reader(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        (present,) = (_reader(one) for one in arguments if one is not types.NoneType)
        return lambda value, where: None if value is None else present(value, where)
    if origin is Literal:
        return _choice_reader(arguments)
    if origin is tuple:
        return _tuple_reader(_reader(arguments[0]))
    if origin is Mapping:
        return _mapping_reader(_reader(arguments[1]))
    return _PLAIN[kind]


def _dataclass_reader(kind: type) -> Reader:
    hints = get_type_hints(kind)
    readers = {field.name: _reader(hints[field.name]) for field in fields(kind)}
    keeps = readers.pop(_EXTRA, None) is not None
    required = [name for name, default in _defaults(kind) if default is MISSING]

    def read(value: object, where: str) -> object:
        if not isinstance(value, dict):
            raise _unexpected(value, where, "an object")
        for name in required:
            if name not in value:
                raise TruemarkError(f"{where}: has no field {name!r}, which it must have")
        known = {
            name: readers[name](item, f"{where}.{name}")
            for name, item in value.items()
            if name in readers
        }
        unknown = {name: item for name, item in value.items() if name not in readers}
        try:
            return kind(**known, **({_EXTRA: unknown} if keeps and unknown else {}))
        except ValueError as error:
            raise TruemarkError(f"{where}: {error}") from error

    return read


def _tuple_reader(item: Reader) -> Reader:
    def read(value: object, where: str) -> object:
        if not isinstance(value, list):
            raise _unexpected(value, where, "a list")
        return tuple(item(one, f"{where}[{number}]") for number, one in enumerate(value))

    return read


def _choice_reader(choices: tuple[object, ...]) -> Reader:
    def read(value: object, where: str) -> object:
        if not isinstance(value, str) or value not in choices:
            raise _unexpected(value, where, f"one of {', '.join(map(str, choices))}")
        return value

    return read


def _mapping_reader(item: Reader) -> Reader:
    def read(value: object, where: str) -> object:
        if not isinstance(value, dict):
            raise _unexpected(value, where, "an object")
        return {key: item(one, f"{where}.{key}") for key, one in value.items()}

    return read


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise _unexpected(value, where, "text")
    return value


def _whole(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _unexpected(value, where, "a whole number")
    return value


def _number(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _unexpected(value, where, "a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _unexpected(value, where, "a number of ordinary size")
    return number


def _truth(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise _unexpected(value, where, "true or false")
    return value


_PLAIN: dict[Any, Reader] = {
    str: _text,
    int: _whole,
    float: _number,
    bool: _truth,
    object: lambda value, where: value,
}


def _unexpected(value: object, where: str, expected: str) -> TruemarkError:
    return TruemarkError(f"{where}: found {shown(value)}, expected {expected}")
