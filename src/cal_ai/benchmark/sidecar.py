"""Sidecars: what should be found in a transcript, read strictly so that a typo cannot hide."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeVar, get_args

from cal_ai.events import Action, ContextEvent
from cal_ai.settings import DEFAULT_OWNER
from truemark.errors import TruemarkError
from truemark.jsontext import Fields, UnfitError, shown

Level = Literal["strict", "moderate", "relaxed"]
Choice = TypeVar("Choice", bound=str)

DEFAULT_REFERENCE = datetime(2026, 2, 20, 10, 0)

_LEVELS: tuple[Level, ...] = get_args(Level)
_ACTIONS: tuple[Action, ...] = get_args(Action)
_DATE_TIME = "an ISO 8601 date-time"
SIDECAR_KEYS = (
    "description",
    "category",
    "notes",
    "tolerance",
    "owner",
    "reference_datetime",
    "calendar_context",
    "expected_events",
    "mock_llm_response",
    "memory_context",
)
_CONTEXT_KEYS = ("id", "summary", "start", "end", "location")
_EVENT_KEYS = (
    "action",
    "title",
    "start_time",
    "end_time",
    "location",
    "attendees_contain",
    "existing_event_id_required",
    "existing_event_id",
)


class SamplesError(TruemarkError):
    """Sample files that cannot be used; `problems` has one line for each fault in them."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class ExpectedEvent:
    """One event that should be extracted; a field that is None or empty is not checked.

    `existing_event_id_required` is True when any event of the context must be named, or the number
    of the one that must be.
    """

    action: Action
    title: str
    start_time: datetime | None = None
    end_time: datetime | None = None
    location: str | None = None
    attendees_contain: tuple[str, ...] = ()
    existing_event_id_required: bool | int = False


@dataclass(frozen=True, slots=True)
class Sidecar:
    """The truth about one transcript, and under which circumstances it is true."""

    expected_events: tuple[ExpectedEvent, ...]
    tolerance: Level = "moderate"
    owner: str = DEFAULT_OWNER
    reference_datetime: datetime = DEFAULT_REFERENCE
    calendar_context: tuple[ContextEvent, ...] = ()


def parse_sidecar(text: str, path: str | os.PathLike[str]) -> Sidecar:
    """The sidecar in `text`; raises `SamplesError` with every problem, each naming `path`."""
    try:
        found = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise SamplesError([f"{path}: not valid JSON: {error.msg} at {place}"]) from None
    except _DuplicateKeyError as error:
        raise SamplesError([f"{path}: key {error} appears twice in one object"]) from None
    except RecursionError:
        raise SamplesError([f"{path}: not a sidecar: nested too deeply"]) from None
    except ValueError:
        raise SamplesError([f"{path}: not a sidecar: it has a number of too many digits"]) from None
    if not isinstance(found, dict):
        raise SamplesError([f"{path}: {shown(found)}, not a JSON object"])
    fields = Fields(found, "", [])
    sidecar = _sidecar(fields)
    if fields.problems:
        raise SamplesError([f"{path}: {problem}" for problem in fields.problems])
    return sidecar


class _DuplicateKeyError(Exception):
    pass


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _DuplicateKeyError(repr(next(key for key in keys if keys.count(key) > 1)))
    return fields


_DECODER = json.JSONDecoder(object_pairs_hook=_without_duplicates)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise UnfitError("a text")
    if not value.strip():
        raise UnfitError("a text with something in it")
    return value


def _text_or_none(value: object) -> str | None:
    """A text; an empty one means the same as none."""
    if value is not None and not isinstance(value, str):
        raise UnfitError("a text")
    return value or None


def _one_of(choices: tuple[Choice, ...]) -> Callable[[object], Choice]:
    def convert(value: object) -> Choice:
        for choice in choices:
            if choice == value:
                return choice
        raise UnfitError(f"one of {', '.join(choices)}")

    return convert


def _time(value: object) -> datetime:
    try:
        if isinstance(value, str):
            return datetime.fromisoformat(value)
    except ValueError:
        pass
    raise UnfitError(_DATE_TIME)


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UnfitError("a list of texts")
    return tuple(value)


def _sidecar(fields: Fields) -> Sidecar:
    fields.only(SIDECAR_KEYS)
    for key in ("description", "category", "notes"):
        fields.read(key, _text_or_none, None)
    fields.required("expected_events")
    context = _calendar_context(fields)
    return Sidecar(
        expected_events=tuple(
            _expected_event(item, len(context))
            for item in fields.objects("expected_events", _EVENT_KEYS)
        ),
        tolerance=fields.optional("tolerance", _one_of(_LEVELS), "moderate"),
        owner=fields.optional("owner", _text, DEFAULT_OWNER),
        reference_datetime=fields.optional("reference_datetime", _time, None) or DEFAULT_REFERENCE,
        calendar_context=context,
    )


def _expected_event(fields: Fields, planned: int) -> ExpectedEvent:
    fields.required("action")
    fields.required("title")
    return ExpectedEvent(
        action=fields.optional("action", _one_of(_ACTIONS), "create"),
        title=fields.optional("title", _text, ""),
        start_time=fields.optional("start_time", _time, None),
        end_time=fields.optional("end_time", _time, None),
        location=fields.read("location", _text_or_none, None),
        attendees_contain=fields.optional("attendees_contain", _texts, ()),
        existing_event_id_required=_required_id(fields, planned),
    )


def _required_id(fields: Fields, planned: int) -> bool | int:
    """Whether an event of the calendar must be named, or its number; either key may give it."""

    def number(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= planned:
            raise UnfitError(f"a number of calendar_context, which has {planned}")
        return value

    def required(value: object) -> bool | int:
        if isinstance(value, bool):
            return value
        if not isinstance(value, int):
            raise UnfitError("true, false or a number of calendar_context")
        return number(value)

    unasked: bool | int = False
    asked = fields.optional("existing_event_id_required", required, unasked)
    named = fields.optional("existing_event_id", number, None)
    if named is None:
        return asked
    if not isinstance(asked, bool) and asked != named:
        fields.wrong("existing_event_id", f"{asked}, as existing_event_id_required has it")
    return named


def _calendar_context(fields: Fields) -> tuple[ContextEvent, ...]:
    """The planned events, numbered by position: the extractor never sees the ids of the file."""
    events: list[ContextEvent] = []
    seen: list[object] = []
    for item in fields.objects("calendar_context", _CONTEXT_KEYS):
        for key in ("id", "summary", "start"):
            item.required(key)
        own_id = item.values.get("id")
        if own_id is not None and (isinstance(own_id, bool) or not isinstance(own_id, int | str)):
            item.wrong("id", "a text or an integer")
        elif own_id is not None and own_id in seen:
            item.problems.append(f"{item.where}.id is {shown(own_id)} for a second time")
        seen.append(own_id)
        events.append(
            ContextEvent(
                id=len(events) + 1,
                summary=item.optional("summary", _text, ""),
                start=item.optional("start", _time, None) or DEFAULT_REFERENCE,
                end=item.optional("end", _time, None),
                location=item.read("location", _text_or_none, None),
            )
        )
    return tuple(events)
