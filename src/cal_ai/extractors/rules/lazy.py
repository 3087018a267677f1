"""Properties that are found when first asked for, and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Owner = TypeVar("Owner")
Value = TypeVar("Value")


class lazy(Generic[Owner, Value]):  # noqa: N801 - used like property
    """What functools.cached_property does, without the lock that takes longer than most values."""

    def __init__(self, find: Callable[[Owner], Value]) -> None:
        self._find, self._name, self.__doc__ = find, find.__name__, find.__doc__

    def __get__(self, owner: Owner, kind: type[Owner]) -> Value:
        value = owner.__dict__[self._name] = self._find(owner)
        return value
