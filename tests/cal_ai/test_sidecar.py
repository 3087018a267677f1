from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from cal_ai.benchmark.samples import bundled_folder
from cal_ai.benchmark.sidecar import ExpectedEvent, Sidecar, parse_sidecar, schema
from cal_ai.events import ContextEvent
from truemark.errors import TruemarkError
from truemark.jsontext import to_json

PATH = Path("samples/crud/lunch.expected.json")


def parse(fields: object) -> Sidecar:
    return parse_sidecar(json.dumps(fields), PATH)


def complaints(text: str) -> tuple[str, ...]:
    with pytest.raises(TruemarkError) as caught:
        parse_sidecar(text, PATH)
    first, *others = str(caught.value).split(f"; {PATH}: ")
    return (first, *(f"{PATH}: {problem}" for problem in others))


def event(**fields: object) -> dict[str, object]:
    return {"action": "create", "title": "Lunch", **fields}


def test_a_sidecar_with_nothing_but_expected_events_gets_the_documented_defaults() -> None:
    assert parse({"expected_events": []}) == Sidecar(
        expected_events=(),
        tolerance="moderate",
        owner="Alice",
        reference_datetime=datetime(2026, 2, 20, 10, 0),
        calendar_context=(),
    )


def test_every_key_is_read() -> None:
    sidecar = parse(
        {
            "description": "one of everything",
            "category": "crud",
            "notes": "for the reader",
            "tolerance": "strict",
            "owner": "Zoë",
            "reference_datetime": "2026-03-01T09:00:00+01:00",
            "calendar_context": [
                {
                    "id": "k3j9@example",
                    "summary": "Standup",
                    "start": "2026-03-02T09:00:00",
                    "end": "2026-03-02T09:15:00",
                    "location": "Room 1",
                }
            ],
            "expected_events": [
                event(
                    start_time="2026-03-02T12:00",
                    end_time="2026-03-02T13:00:00Z",
                    location="Café",
                    attendees_contain=["Bob"],
                    existing_event_id_required=True,
                )
            ],
            "mock_llm_response": {"events": []},
        }
    )
    assert sidecar == Sidecar(
        expected_events=(
            ExpectedEvent(
                action="create",
                title="Lunch",
                start_time=datetime(2026, 3, 2, 12, 0),
                end_time=datetime(2026, 3, 2, 13, 0, tzinfo=UTC),
                location="Café",
                attendees_contain=("Bob",),
                existing_event_id_required=True,
            ),
        ),
        tolerance="strict",
        owner="Zoë",
        reference_datetime=datetime(2026, 3, 1, 9, 0, tzinfo=timezone(timedelta(hours=1))),
        calendar_context=(
            ContextEvent(
                1,
                "Standup",
                datetime(2026, 3, 2, 9, 0),
                datetime(2026, 3, 2, 9, 15),
                "Room 1",
            ),
        ),
    )


def test_context_events_are_numbered_by_position_whatever_their_own_ids() -> None:
    planned = [
        {"id": own_id, "summary": "x", "start": "2026-03-02T09:00:00", "end": None}
        for own_id in ("b", 77, "a")
    ]
    sidecar = parse({"calendar_context": planned, "expected_events": []})
    assert [it.id for it in sidecar.calendar_context] == [1, 2, 3]


def test_null_means_left_out() -> None:
    fields = event(start_time=None, end_time=None, location=None, attendees_contain=None)
    sidecar = parse({"owner": None, "calendar_context": None, "expected_events": [fields]})
    assert sidecar == Sidecar(expected_events=(ExpectedEvent("create", "Lunch"),))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param(
            {"expected_events": [event(), event(start_time="25:00")]},
            "expected_events[1].start_time is '25:00', not an ISO 8601 date-time",
            id="time",
        ),
        pytest.param(
            {"expected_events": [event(end_time=1700000000)]},
            "expected_events[0].end_time is 1700000000, not an ISO 8601 date-time",
            id="time-as-number",
        ),
        pytest.param(
            {"expected_events": [], "tolerence": "strict"},
            "unknown key 'tolerence', expected description, category, notes, tolerance, owner, "
            "reference_datetime, calendar_context, expected_events, mock_llm_response, "
            "memory_context",
            id="unknown-key",
        ),
        pytest.param(
            {"expected_events": [event(when="now")]},
            "expected_events[0]: unknown key 'when', expected action, title, start_time, end_time, "
            "location, attendees_contain, existing_event_id_required, existing_event_id, lines",
            id="unknown-event-key",
        ),
        pytest.param(
            {"expected_events": [], "tolerance": "loose"},
            "tolerance is 'loose', not one of strict, moderate, relaxed",
            id="tolerance",
        ),
        pytest.param(
            {"expected_events": [event(action="book")]},
            "expected_events[0].action is 'book', not one of create, update, delete",
            id="action",
        ),
        pytest.param(
            {"expected_events": [{"action": "create"}]},
            "expected_events[0].title is missing",
            id="no-title",
        ),
        pytest.param(
            {"expected_events": [event(title=" ")]},
            "expected_events[0].title is ' ', not a non-empty text",
            id="blank-title",
        ),
        pytest.param({"tolerance": "strict"}, "expected_events is missing", id="no-events"),
        pytest.param(
            {"expected_events": {"action": "create"}},
            'expected_events is {"action": "create"}, not a list',
            id="events-not-a-list",
        ),
        pytest.param(
            {"expected_events": ["lunch"]},
            "expected_events[0] is 'lunch', not an object",
            id="event-not-an-object",
        ),
        pytest.param(
            {"expected_events": [event(attendees_contain="Bob")]},
            "expected_events[0].attendees_contain is 'Bob', not a list of texts",
            id="attendees",
        ),
        pytest.param(
            {"expected_events": [event(existing_event_id_required="yes")]},
            "expected_events[0].existing_event_id_required is 'yes', "
            "not true, false or a number of calendar_context",
            id="id-required",
        ),
        pytest.param({"expected_events": [], "owner": 7}, "owner is 7, not a text", id="owner"),
        pytest.param(
            {"expected_events": [], "calendar_context": [{"id": 1, "start": "2026-03-02T09:00"}]},
            "calendar_context[0].summary is missing",
            id="context-summary",
        ),
        pytest.param(
            {
                "expected_events": [],
                "calendar_context": [
                    {"id": 4, "summary": "a", "start": "2026-03-02T09:00"},
                    {"id": 4, "summary": "b", "start": "2026-03-02T10:00"},
                ],
            },
            "calendar_context[1].id is 4 for a second time",
            id="context-id-twice",
        ),
        pytest.param(
            {
                "expected_events": [
                    event(start_time="2026-03-02T09:00", end_time="2026-03-02T08:30")
                ]
            },
            "expected_events[0].end_time is '2026-03-02T08:30', before start_time, which is "
            "'2026-03-02T09:00'",
            id="end-before-start",
        ),
        pytest.param(
            {
                "expected_events": [],
                "calendar_context": [
                    {
                        "id": 1,
                        "summary": "a",
                        "start": "2026-03-02T09:00",
                        "end": "2026-03-01T10:00",
                    }
                ],
            },
            "calendar_context[0].end is '2026-03-01T10:00', before start, which is "
            "'2026-03-02T09:00'",
            id="context-end-before-start",
        ),
    ],
)
def test_a_wrong_sidecar_is_refused_with_file_place_and_what_was_expected(
    fields: dict[str, object], expected: str
) -> None:
    assert complaints(json.dumps(fields)) == (f"{PATH}: {expected}",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            '{"expected_events": [}',
            "not valid JSON: Expecting value at line 1 column 22",
            id="broken",
        ),
        pytest.param(
            '{"owner": "A", "owner": "B", "expected_events": []}',
            "key 'owner' appears twice in one object",
            id="twice",
        ),
        pytest.param("[]", "[], not a JSON object", id="list"),
        pytest.param("[" * 100_000, "not readable JSON: nested too deeply", id="deep"),
    ],
)
def test_what_is_no_json_object_is_refused(text: str, expected: str) -> None:
    assert complaints(text) == (f"{PATH}: {expected}",)


def test_all_problems_of_a_file_are_told_at_once() -> None:
    fields = {"owner": 1, "expected_events": [event(start_time="soon")]}
    assert complaints(json.dumps(fields)) == (
        f"{PATH}: owner is 1, not a text",
        f"{PATH}: expected_events[0].start_time is 'soon', not an ISO 8601 date-time",
    )


def test_the_schema_that_ships_is_the_one_of_the_types() -> None:
    shipped = resources.files("cal_ai") / "benchmark" / "sidecar.schema.json"
    assert json.loads(shipped.read_text(encoding="utf-8")) == json.loads(to_json(schema())), (
        "write schema() of cal_ai.benchmark.sidecar there"
    )


@pytest.mark.parametrize(
    "path", sorted(bundled_folder().rglob("*.expected.json")), ids=lambda it: it.stem
)
def test_the_bundled_sidecars_satisfy_the_schema(path: Path) -> None:
    validator = jsonschema.Draft202012Validator(schema())
    validator.validate(json.loads(path.read_text(encoding="utf-8")))


def planned(count: int) -> list[dict[str, object]]:
    return [
        {"id": f"x{number}", "summary": "Standup", "start": "2026-03-02T09:00"}
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"existing_event_id": 2}, 2),
        ({"existing_event_id": 2, "existing_event_id_required": True}, 2),
        ({"existing_event_id": 2, "existing_event_id_required": 2}, 2),
        ({"existing_event_id_required": 1}, 1),
        ({"existing_event_id": None, "existing_event_id_required": True}, True),
        ({"existing_event_id": None}, False),
    ],
)
def test_the_event_that_is_meant_may_be_named_by_either_key(
    keys: dict[str, object], expected: bool | int
) -> None:
    sidecar = parse({"expected_events": [event(**keys)], "calendar_context": planned(2)})
    found = sidecar.expected_events[0].existing_event_id_required
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"existing_event_id": 3}, "existing_event_id is 3, not a number of calendar_context"),
        ({"existing_event_id": 0}, "existing_event_id is 0, not a number of calendar_context"),
        ({"existing_event_id": True}, "existing_event_id is true, not a number of"),
        ({"existing_event_id": "x1"}, "existing_event_id is 'x1', not a number of"),
        ({"existing_event_id_required": 3}, "existing_event_id_required is 3, not a number of"),
        (
            {"existing_event_id": 2, "existing_event_id_required": 1},
            "existing_event_id is 2, not 1, as existing_event_id_required has it",
        ),
    ],
)
def test_an_event_that_is_not_in_the_context_cannot_be_meant(
    keys: dict[str, object], expected: str
) -> None:
    (found,) = complaints(
        json.dumps({"expected_events": [event(**keys)], "calendar_context": planned(2)})
    )
    assert f"expected_events[0].{expected}" in found


@pytest.mark.parametrize("memory", ["Bob is a colleague", ["one", {"two": 2}], None, 7])
def test_a_memory_context_is_accepted_and_changes_nothing(memory: object) -> None:
    assert parse({"expected_events": [], "memory_context": memory}) == parse(
        {"expected_events": []}
    )
