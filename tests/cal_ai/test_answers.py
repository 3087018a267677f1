from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone, tzinfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cal_ai.events import Event
from cal_ai.extractors.answers import AnswerError, parse_answer, render_answer

DETERMINISTIC = settings(derandomize=True, deadline=None)

LUNCH = Event(
    action="create",
    title="Lunch",
    start_time=datetime(2026, 2, 21, 12, 0),
    end_time=datetime(2026, 2, 21, 13, 0),
    location="Luigi's",
    attendees=("Bob",),
    confidence="high",
    reasoning="Bob said yes.",
    assumptions=("It lasts an hour.",),
)
LUNCH_JSON = render_answer([LUNCH])
MOMENT = "an ISO 8601 date-time such as 2026-02-20T10:00:00, or null"
NUMBER = "the number of a calendar line, or null"
OBJECT = "a JSON object with events"
LIST = "a JSON object with a list of events"

# Words that stand for nothing are read as such, so they cannot survive a round trip as names.
names = st.text(st.characters(exclude_categories=("C", "Z")), min_size=5, max_size=12)
zones: st.SearchStrategy[tzinfo | None] = st.sampled_from(
    [None, UTC, timezone(timedelta(hours=-5)), timezone(timedelta(hours=5, minutes=45))]
)
moments = st.builds(
    datetime.replace, st.datetimes(datetime(1900, 1, 1), datetime(2999, 1, 1)), tzinfo=zones
)
events = st.builds(
    Event,
    action=st.sampled_from(("create", "update", "delete")),
    title=names,
    start_time=st.none() | moments,
    end_time=st.none() | moments,
    location=st.none() | names,
    attendees=st.lists(names, max_size=3).map(tuple),
    confidence=st.sampled_from(("high", "medium", "low")),
    reasoning=names,
    assumptions=st.lists(names, max_size=3).map(tuple),
    existing_event_id=st.none() | st.integers(0, 99),
)


def answer(**fields: object) -> str:
    return json.dumps({"events": [{"action": "create", "title": "Lunch", **fields}]})


def refusal(text: str) -> str:
    with pytest.raises(AnswerError) as error:
        parse_answer(text)
    return str(error.value)


def only(text: str) -> Event:
    (event,) = parse_answer(text)
    return event


@DETERMINISTIC
@given(st.lists(events, max_size=4).map(tuple))
def test_events_survive_being_written_and_read(given_events: tuple[Event, ...]) -> None:
    assert parse_answer(render_answer(given_events)) == given_events


def test_every_field_is_written_times_as_iso_8601() -> None:
    event = Event("update", "Sync", datetime(2026, 2, 20, 9, tzinfo=UTC), attendees=("Bo",))
    (written,) = json.loads(render_answer([event]))["events"]
    assert list(written) == [field.name for field in fields(Event)]
    assert written["start_time"] == "2026-02-20T09:00:00+00:00"
    assert written["end_time"] is None
    assert written["attendees"] == ["Bo"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(LUNCH_JSON, id="as asked for"),
        pytest.param(f"```json\n{LUNCH_JSON}\n```", id="in a code fence"),
        pytest.param(f"```\n{LUNCH_JSON}\n```\n", id="in a fence without a language"),
        pytest.param(f"Here is [what] {{I}} found:\n{LUNCH_JSON}\nAnything else?", id="in prose"),
        pytest.param(f'<think>{{"events": []}} or so?</think>\n{LUNCH_JSON}', id="after thinking"),
        pytest.param(f"{LUNCH_JSON}\n\nAgain:\n{LUNCH_JSON}", id="the same twice"),
        pytest.param(json.dumps(json.loads(LUNCH_JSON)["events"]), id="a bare list"),
        pytest.param(json.dumps(json.loads(LUNCH_JSON)["events"][0]), id="a bare event"),
        pytest.param(
            json.dumps({"events": json.loads(LUNCH_JSON)["events"][0]}), id="one event for the list"
        ),
        pytest.param(json.dumps(json.loads(LUNCH_JSON), indent=2), id="indented"),
    ],
)
def test_the_events_are_found_in_whatever_stands_around_them(text: str) -> None:
    assert parse_answer(text) == (LUNCH,)


@pytest.mark.parametrize("text", ['{"events": []}', "[]", '{"events": null}', '{"events": "none"}'])
def test_no_events_is_an_answer(text: str) -> None:
    assert parse_answer(text) == ()


@pytest.mark.parametrize(
    ("field", "found", "read"),
    [
        pytest.param("existing_event_id", "3", 3, id="number as text"),
        pytest.param("existing_event_id", "[3]", 3, id="number in brackets"),
        pytest.param("existing_event_id", 3.0, 3, id="number with a point"),
        pytest.param("existing_event_id", "None", None, id="no number in words"),
        pytest.param("existing_event_id", "", None, id="no number as empty text"),
        pytest.param("attendees", "Bob, Carol", ("Bob", "Carol"), id="names with commas"),
        pytest.param("attendees", "Bob; Carol ;", ("Bob", "Carol"), id="names with semicolons"),
        pytest.param("attendees", "none", (), id="no names in words"),
        pytest.param("attendees", None, (), id="no names"),
        pytest.param("attendees", [" Bob ", None, ""], ("Bob",), id="names with gaps"),
        pytest.param(
            "assumptions", "One hour, as usual", ("One hour, as usual",), id="one assumption"
        ),
        pytest.param("action", " DELETE ", "delete", id="action in capitals"),
        pytest.param("confidence", "High", "high", id="confidence in capitals"),
        pytest.param("confidence", None, "medium", id="no confidence"),
        pytest.param("location", "N/A", None, id="no location in words"),
        pytest.param(
            "location", "Room 3\n2nd floor", "Room 3 2nd floor", id="location over two lines"
        ),
        pytest.param("title", " Team  sync\n", "Team sync", id="title with stray spaces"),
        pytest.param("title", 42, "42", id="title that is a number"),
        pytest.param("title", "A\u0000B\ud800", "A\ufffdB\ufffd", id="unprintable characters"),
        pytest.param("reasoning", None, "", id="no reasoning"),
        pytest.param("start_time", "null", None, id="no time in words"),
        pytest.param(
            "start_time", "2026-02-21T12:00:00Z", datetime(2026, 2, 21, 12, tzinfo=UTC), id="Z"
        ),
        pytest.param(
            "start_time",
            "2026-02-21t12:00z",
            datetime(2026, 2, 21, 12, tzinfo=UTC),
            id="small letters",
        ),
        pytest.param(
            "start_time",
            "2026-02-21T12:00+05:30",
            datetime(2026, 2, 21, 12, tzinfo=timezone(timedelta(hours=5, minutes=30))),
            id="offset",
        ),
        pytest.param("start_time", "2026-02-21 12:00", datetime(2026, 2, 21, 12), id="space for T"),
        pytest.param(
            "start_time", "2026-02-21", datetime(2026, 2, 21), id="a date is its midnight"
        ),
        pytest.param("someday", "soon", None, id="a field nobody asked for"),
    ],
)
def test_what_has_one_reading_is_repaired(field: str, found: object, read: object) -> None:
    assert getattr(only(answer(**{field: found})), field, None) == read


@pytest.mark.parametrize(
    ("field", "found", "problem"),
    [
        ("action", "cancel", "'cancel', not one of create, update, delete"),
        ("action", None, "missing, not one of create, update, delete"),
        ("title", "  ", "'  ', not a non-empty text"),
        ("title", None, "missing, not a non-empty text"),
        ("title", ["Lunch"], '["Lunch"], not a text'),
        ("confidence", 0.9, "0.9, not one of high, medium, low"),
        ("existing_event_id", "three", f"'three', not {NUMBER}"),
        ("existing_event_id", 2.5, f"2.5, not {NUMBER}"),
        ("existing_event_id", True, f"true, not {NUMBER}"),
        ("attendees", {"name": "Bob"}, '{"name": "Bob"}, not a list of texts'),
        ("attendees", [["Bob"]], '[["Bob"]], not a text'),
        ("start_time", "25:00", f"'25:00', not {MOMENT}"),
        ("start_time", "tomorrow", f"'tomorrow', not {MOMENT}"),
        ("start_time", "x" * 200, f"'{'x' * 76}..., not {MOMENT}"),
        ("end_time", 1771668000, f"1771668000, not {MOMENT}"),
        ("end_time", "0001-01-01T00:00:00", f"'0001-01-01T00:00:00', not {MOMENT}"),
    ],
)
def test_what_has_no_single_reading_is_named_with_place_and_expectation(
    field: str, found: object, problem: str
) -> None:
    assert refusal(answer(**{field: found})) == f"events[0].{field} is {problem}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("", f"the answer is empty, expected {OBJECT}", id="empty"),
        pytest.param(" \n", f"the answer is empty, expected {OBJECT}", id="blank"),
        pytest.param("I see none.", f"the answer is 'I see none.', not {OBJECT}", id="prose only"),
        pytest.param(
            '{"x": 1}', f"the answer is '{{\"x\": 1}}', not {OBJECT}", id="another object"
        ),
        pytest.param('{"events": 3}', f"the answer is 3, not {LIST}", id="events not a list"),
        pytest.param('{"events": ["x"]}', "events[0] is 'x', not an object", id="not an object"),
        pytest.param(
            '{"events": [{"title": "x"}, {"action": "delete"}]}',
            "events[0].action is missing, not one of create, update, delete;"
            " events[1].title is missing, not a non-empty text",
            id="two incomplete events",
        ),
        pytest.param(
            '[] or {"events": []}',
            "the answer has 2 different JSON values, expected one",
            id="two answers",
        ),
        pytest.param(
            '<think>Let me see {"events": []}',
            "the answer ends inside its <think> part, expected a JSON object after it",
            id="thinking without end",
        ),
        pytest.param(
            '{"events": [{"action": create}]}',
            "the JSON is not valid (Expecting value) at line 1 column 24,"
            " expected a complete JSON object",
            id="broken",
        ),
        pytest.param(
            '{"events":\n [{"action": "cre',
            "the JSON is cut off at line 2 column 14, expected a complete JSON object",
            id="cut",
        ),
    ],
)
def test_a_text_that_is_no_answer_is_refused(text: str, problem: str) -> None:
    assert refusal(text) == problem


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"events": [{"existing_event_id": ' + "9" * 5000 + "}]}"]
)
def test_json_beyond_what_can_be_read_is_refused(text: str) -> None:
    with pytest.raises(AnswerError):
        parse_answer(text)


def test_many_problems_are_counted_rather_than_listed() -> None:
    text = json.dumps({"events": [{"action": "create"}] * 8})

    with pytest.raises(AnswerError, match=r"^events\[0\].*events\[4\][^;]*; and 3 more$"):
        parse_answer(text)


@pytest.mark.parametrize("before", ["", "Sure:\n```json\n"], ids=["bare", "fenced"])
def test_an_answer_cut_anywhere_is_an_error_and_never_a_part_of_its_events(before: str) -> None:
    whole = before + render_answer([LUNCH, LUNCH])

    for length in range(len(whole)):
        with pytest.raises(AnswerError):
            parse_answer(whole[:length])


@DETERMINISTIC
@given(st.text(max_size=60) | st.text(alphabet='{}[]":,events action 0', max_size=60))
def test_any_other_text_is_refused_or_read_but_never_a_crash(text: str) -> None:
    try:
        read = parse_answer(text)
    except AnswerError:
        return
    assert all(isinstance(event, Event) for event in read)
