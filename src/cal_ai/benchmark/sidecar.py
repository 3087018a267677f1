"""Read sidecars, the expected events of transcripts, strictly, so that no typo goes unnoticed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from cal_ai.events import Action, ContextEvent
from cal_ai.extractors.protocol import Request
from cal_ai.settings import DEFAULT_OWNER
from cal_ai.transcripts.conversation import Transcript
from truemark.errors import TruemarkError
from truemark.jsontext import json_schema, parse_json, shown, without_none

Level = Literal["strict", "moderate", "relaxed"]

DEFAULT_REFERENCE = datetime(2026, 2, 20, 10, 0)


@dataclass(frozen=True, slots=True)
class ExpectedEvent:
    """An event that should be extracted; a field that is None or empty is not checked.

    `existing_event_id_required` is the number of the calendar event that must be named, or True if
    any of them must be.
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
    """The expected events of one transcript, and what the extractor is given besides it.

    `assumed` names the fields that the file leaves out although answers depend on them.
    """

    expected_events: tuple[ExpectedEvent, ...]
    tolerance: Level = "moderate"
    owner: str = DEFAULT_OWNER
    reference_datetime: datetime = DEFAULT_REFERENCE
    calendar_context: tuple[ContextEvent, ...] = ()
    # Left out of the repr, which the signature of runs is made from.
    assumed: tuple[str, ...] = field(default=(), repr=False, compare=False)

    def request(self, transcript: Transcript) -> Request:
        """Make the request to the extractor; "now" is that of the sidecar, so that runs compare."""
        return Request(transcript, self.owner, self.reference_datetime, self.calendar_context)


# The types in the file; their descriptions are used in the schema and in error messages.
_Text = Annotated[str, msgspec.Meta(description="a text")]
_FilledText = Annotated[str, msgspec.Meta(pattern=r"\S", description="a non-empty text")]
_Texts = Annotated[tuple[str, ...], msgspec.Meta(description="a list of texts")]
_Moment = Annotated[datetime, msgspec.Meta(description="an ISO 8601 date-time")]
_Action = Annotated[Action, msgspec.Meta(description=f"one of {', '.join(get_args(Action))}")]
_Level = Annotated[Level, msgspec.Meta(description=f"one of {', '.join(get_args(Level))}")]
_EventId = Annotated[str | int, msgspec.Meta(description="a text or an integer")]
_Required = Annotated[
    bool | int, msgspec.Meta(description="true, false or a number of calendar_context")
]
_Lines = Annotated[
    tuple[int, ...], msgspec.Meta(description="numbers of the lines that settle the event")
]
_Number = Annotated[int, msgspec.Meta(description="a number of calendar_context")]


class ContextEventFields(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """An event that is in the calendar already; it is shown by its position, not by its id."""

    id: _EventId
    summary: _FilledText
    start: _Moment
    end: _Moment | None = None
    location: _Text | None = None


class ExpectedEventFields(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """An event that should be extracted; a field that is left out is not checked."""

    action: _Action
    title: _FilledText
    start_time: _Moment | None = None
    end_time: _Moment | None = None
    location: _Text | None = None
    attendees_contain: _Texts | None = None
    existing_event_id_required: _Required | None = None
    existing_event_id: _Number | None = None
    lines: _Lines | None = None


class SidecarFields(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What should be found in the transcript of the same name."""

    description: _Text | None = None
    category: _Text | None = None
    notes: _Text | None = None
    tolerance: _Level | None = None
    owner: _FilledText | None = None
    reference_datetime: _Moment | None = None
    calendar_context: tuple[ContextEventFields, ...] | None = None
    expected_events: tuple[ExpectedEventFields, ...]
    mock_llm_response: Any = None
    memory_context: Any = None


def schema() -> dict[str, Any]:
    """Return the JSON Schema of sidecars, which ships as sidecar.schema.json."""
    return json_schema(SidecarFields, "Sidecar of a calendar sample")


def parse_sidecar(text: str, path: str | os.PathLike[str], *, is_draft: bool = False) -> Sidecar:
    """Read a sidecar; raises a `TruemarkError` with every problem, each naming `path`.

    In a draft, what an extractor proposed may end before it starts.
    """
    content = parse_json(text, str(path), unique_keys=True)
    if not isinstance(content, dict):
        raise TruemarkError(f"{path}: {shown(content)}, not a JSON object")
    problems: list[str] = []
    fields = _read_object(SidecarFields, content, "", problems)
    context = fields.pop("calendar_context", [])
    _check_ids(context, problems)
    for place, event in enumerate(context):
        _check_end(event, f"calendar_context[{place}]", ("start", "end"), problems)
    events = fields.pop("expected_events", [])
    for place, event in enumerate(events):
        if not is_draft:
            _check_end(event, f"expected_events[{place}]", ("start_time", "end_time"), problems)
        _settle_target(event, f"expected_events[{place}]", len(context), problems)
        event.pop("lines", None)  # for people who read the file; not used in scoring
    if problems:
        raise TruemarkError("; ".join(f"{path}: {problem}" for problem in problems))
    known = ("tolerance", "owner", "reference_datetime")
    return Sidecar(
        expected_events=tuple(ExpectedEvent(**event) for event in events),
        calendar_context=tuple(
            # Numbered by position; the extractor never sees the ids in the file.
            ContextEvent(**{**event, "id": number})
            for number, event in enumerate(context, start=1)
        ),
        assumed=tuple(name for name in ("owner", "reference_datetime") if name not in fields),
        **{name: fields[name] for name in known if name in fields},
    )


def _read_object(
    kind: type[msgspec.Struct], value: object, where: str, problems: list[str]
) -> dict[str, Any]:
    """Read an object field by field, so that all problems are reported, not only the first.

    Fields that are absent, null, empty or wrong are left out.
    """
    if not isinstance(value, dict):
        problems.append(f"{where} is {shown(value)}, not an object")
        return {}
    known = _fields(kind)
    for key in value:
        if key not in known:
            place = f"{where}: " if where else ""
            problems.append(f"{place}unknown key {shown(key)}, expected {', '.join(known)}")
    fields: dict[str, Any] = {}
    for name, (field_kind, required) in known.items():
        place = f"{where}.{name}" if where else name
        item = value.get(name)
        if item is None:
            if required:
                problems.append(f"{place} is missing")
        elif get_origin(field_kind) is tuple:
            fields[name] = _read_objects(get_args(field_kind)[0], item, place, problems)
        else:
            try:
                content = _convert(field_kind, item)
            except (msgspec.ValidationError, ValueError):
                problems.append(f"{place} is {shown(item)}, not {_expected(field_kind, item)}")
            else:
                if content != "":
                    fields[name] = content
    return fields


def _read_objects(
    kind: type[msgspec.Struct], value: object, where: str, problems: list[str]
) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        problems.append(f"{where} is {shown(value)}, not a list")
        return []
    return [
        _read_object(kind, item, f"{where}[{place}]", problems) for place, item in enumerate(value)
    ]


@cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, tuple[Any, bool]]:
    """Return the type of each field when it is not null, and whether the field is required."""
    return {
        field.name: (without_none(field.type), field.required)
        for field in msgspec.structs.fields(kind)
    }


def _convert(kind: Any, item: object) -> object:
    if kind is Any:
        return item
    if kind is _Moment and isinstance(item, str):
        return datetime.fromisoformat(item)  # msgspec takes no time without seconds
    return msgspec.convert(item, kind)


def _expected(kind: Any, item: object) -> str:
    if kind is _FilledText and not isinstance(item, str):
        kind = _Text
    description: str = kind.__metadata__[0].description
    return description


def _check_ids(context: Sequence[dict[str, Any]], problems: list[str]) -> None:
    seen: list[object] = []
    for place, event in enumerate(context):
        if (event_id := event.get("id")) in seen and event_id is not None:
            problems.append(f"calendar_context[{place}].id is {shown(event_id)} for a second time")
        seen.append(event_id)


def _check_end(
    event: dict[str, Any], where: str, names: tuple[str, str], problems: list[str]
) -> None:
    start, end = map(event.get, names)
    if start is None or end is None or (start.tzinfo is None) != (end.tzinfo is None):
        return
    if end < start:
        first, last = (moment.isoformat(timespec="minutes") for moment in (start, end))
        problems.append(f"{where}.{names[1]} is '{last}', before {names[0]}, which is '{first}'")


def _settle_target(event: dict[str, Any], where: str, planned: int, problems: list[str]) -> None:
    """Put the number of the calendar event, which either key may have, under one key."""
    required = event.get("existing_event_id_required", False)
    named = event.pop("existing_event_id", None)
    for name, number in (("existing_event_id_required", required), ("existing_event_id", named)):
        is_number = isinstance(number, int) and not isinstance(number, bool)
        if is_number and not 1 <= number <= planned:
            problems.append(
                f"{where}.{name} is {number}, not a number of calendar_context, which has {planned}"
            )
    if named is None:
        return
    if not isinstance(required, bool) and required != named:
        problems.append(
            f"{where}.existing_event_id is {named}, not {required},"
            " as existing_event_id_required has it"
        )
    event["existing_event_id_required"] = named
