"""Sidecars: what should be found in a transcript, read strictly so that a typo cannot hide."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeVar, get_args

from cal_ai.events import Action, ContextEvent
from cal_ai.settings import DEFAULT_OWNER
from truemark.errors import TruemarkError

Level = Literal["strict", "moderate", "relaxed"]
Choice = TypeVar("Choice", bound=str)

DEFAULT_REFERENCE = datetime(2026, 2, 20, 10, 0)

_LEVELS: tuple[Level, ...] = get_args(Level)
_ACTIONS: tuple[Action, ...] = get_args(Action)
_DATE_TIME = "an ISO 8601 date-time"
_SIDECAR_KEYS = (
    "description",
    "category",
    "notes",
    "tolerance",
    "owner",
    "reference_datetime",
    "calendar_context",
    "expected_events",
    "mock_llm_response",
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
    if not isinstance(found, dict):
        raise SamplesError([f"{path}: {_shown(found)}, not a JSON object"])
    fields = _Fields(found, "", [])
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


@dataclass(frozen=True, slots=True)
class _Fields:
    """A JSON object being read; what does not fit goes to `problems` and reads as its default."""

    values: Mapping[str, object]
    where: str
    problems: list[str]

    def only(self, known: tuple[str, ...]) -> None:
        for key in self.values:
            if key not in known:
                place = f"{self.where}: " if self.where else ""
                self.problems.append(f"{place}unknown key {key!r}, expected {', '.join(known)}")

    def wrong(self, key: str, expected: str) -> None:
        self.problems.append(f"{self._place(key)} is {_shown(self.values[key])}, not {expected}")

    def required(self, key: str) -> bool:
        if self.values.get(key) is None:
            self.problems.append(f"{self._place(key)} is missing")
            return False
        return True

    def text(self, key: str, default: str = "") -> str:
        value = self.values.get(key)
        if value is None:
            return default
        if not isinstance(value, str) or not value.strip():
            self.wrong(
                key, "a text" if not isinstance(value, str) else "a text with something in it"
            )
            return default
        return value

    def optional_text(self, key: str) -> str | None:
        """Like `text`, but an empty text means the same as none."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            self.wrong(key, "a text")
            return None
        return value or None

    def choice(self, key: str, choices: tuple[Choice, ...], default: Choice) -> Choice:
        value = self.values.get(key)
        for choice in choices:
            if choice == value:
                return choice
        if value is not None:
            self.wrong(key, f"one of {', '.join(choices)}")
        return default

    def time(self, key: str) -> datetime | None:
        value = self.values.get(key)
        if value is None:
            return None
        try:
            if isinstance(value, str):
                return datetime.fromisoformat(value)
        except ValueError:
            pass
        self.wrong(key, _DATE_TIME)
        return None

    def objects(self, key: str, known: tuple[str, ...]) -> Iterator[_Fields]:
        value = self.values.get(key)
        if value is None:
            return
        if not isinstance(value, list):
            self.wrong(key, "a list")
            return
        for index, item in enumerate(value):
            place = f"{self._place(key)}[{index}]"
            if isinstance(item, dict):
                fields = _Fields(item, place, self.problems)
                fields.only(known)
                yield fields
            else:
                self.problems.append(f"{place} is {_shown(item)}, not an object")

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.wrong(key, "a list of texts")
            return ()
        return tuple(value)

    def _place(self, key: str) -> str:
        return f"{self.where}.{key}" if self.where else key


def _sidecar(fields: _Fields) -> Sidecar:
    fields.only(_SIDECAR_KEYS)
    for key in ("description", "category", "notes"):
        fields.optional_text(key)
    fields.required("expected_events")
    return Sidecar(
        expected_events=tuple(
            _expected_event(item) for item in fields.objects("expected_events", _EVENT_KEYS)
        ),
        tolerance=fields.choice("tolerance", _LEVELS, "moderate"),
        owner=fields.text("owner", DEFAULT_OWNER),
        reference_datetime=fields.time("reference_datetime") or DEFAULT_REFERENCE,
        calendar_context=_calendar_context(fields),
    )


def _expected_event(fields: _Fields) -> ExpectedEvent:
    fields.required("action")
    fields.required("title")
    return ExpectedEvent(
        action=fields.choice("action", _ACTIONS, "create"),
        title=fields.text("title"),
        start_time=fields.time("start_time"),
        end_time=fields.time("end_time"),
        location=fields.optional_text("location"),
        attendees_contain=fields.texts("attendees_contain"),
        existing_event_id_required=_required_id(fields),
    )


def _required_id(fields: _Fields) -> bool | int:
    value = fields.values.get("existing_event_id_required")
    if value is None:
        return False
    if not isinstance(value, bool | int):
        fields.wrong("existing_event_id_required", "true, false or a number of calendar_context")
        return False
    return value


def _calendar_context(fields: _Fields) -> tuple[ContextEvent, ...]:
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
            item.problems.append(f"{item.where}.id is {_shown(own_id)} for a second time")
        seen.append(own_id)
        events.append(
            ContextEvent(
                id=len(events) + 1,
                summary=item.text("summary"),
                start=item.time("start") or DEFAULT_REFERENCE,
                end=item.time("end"),
                location=item.optional_text("location"),
            )
        )
    return tuple(events)


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
