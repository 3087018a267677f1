"""Read events from the text of a model's answer, and write them in the same form.

Deviations from the requested form are repaired only where a single reading is possible. All others
raise an `AnswerError` that names the field, its value and what is expected, so that it can be shown
to the model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import get_args

import msgspec

from cal_ai.events import Action, Confidence, Event
from truemark.jsontext import shown

MOST_EVENTS = 1_000
"""The most events in one answer; no conversation settles more."""
_PROBLEMS_SHOWN = 5
_NOTHING = frozenset({"", "none", "null", "nil", "n/a", "na", "-"})
_YEARS = range(1900, 3000)
_THINKING = re.compile(r"\s*<think(?:ing)?>(.*?)(?:</think(?:ing)?>|(\Z))", re.DOTALL)
# Where JSON begins, as opposed to a bracket in prose such as "[Bob] said".
_JSON_START = re.compile(r'\{\s*["}]|\[\s*[\[{\]]')
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_NUMBER = re.compile(r"\[?#?(\d{1,9})(?:\.0+)?\]?")
_DECODER = json.JSONDecoder()


class AnswerError(ValueError):
    """The answer does not have the requested form; the text tells the model what to change."""


def parse_answer(text: str) -> tuple[Event, ...]:
    """Read the events of an answer; raises `AnswerError` if any of them is unusable."""
    items = _event_list(_find_json(_without_thinking(text).strip()))
    if len(items) > MOST_EVENTS:
        raise AnswerError(f"the answer has {len(items):,} events, expected {MOST_EVENTS:,} at most")
    problems: list[str] = []
    repaired = [_repaired(item, f"events[{i}]", problems) for i, item in enumerate(items)]
    if problems:
        more = len(problems) - _PROBLEMS_SHOWN
        first = "; ".join(problems[:_PROBLEMS_SHOWN])
        raise AnswerError(f"{first}; and {more} more" if more > 0 else first)
    return msgspec.convert(repaired, tuple[Event, ...])


def render_answer(events: Iterable[Event]) -> str:
    """Write events as an answer in the requested form, which `parse_answer` reads back."""
    answer = {"events": [asdict(event) for event in events]}
    return json.dumps(answer, default=datetime.isoformat, ensure_ascii=False)


def _without_thinking(text: str) -> str:
    match = _THINKING.match(text)
    if match is None:
        return text
    if match[2] is not None:
        raise AnswerError(
            "the answer ends inside its <think> part, expected a JSON object after it"
        )
    return text[match.end() :]


def _find_json(text: str) -> object:
    """Find the only answer among prose and code fences.

    JSON that is cut off is an error at once: a search inside it would find complete events in an
    incomplete list.
    """
    if not text:
        raise AnswerError("the answer is empty, expected a JSON object with events")
    answers: list[object] = []
    position = 0
    while start := _JSON_START.search(text, position):
        value, position = _decode(text, start.start())
        if isinstance(value, dict):
            is_answer = "events" in value or "action" in value
        else:
            is_answer = isinstance(value, list) and all(isinstance(item, dict) for item in value)
        if is_answer and value not in answers:
            answers.append(value)
    if not answers:
        raise AnswerError(f"the answer is {shown(text)}, not a JSON object with events")
    if len(answers) > 1:
        raise AnswerError(f"the answer has {len(answers)} different JSON values, expected one")
    return answers[0]


def _decode(text: str, start: int) -> tuple[object, int]:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text) or error.msg.startswith("Unterminated")
        what = "is cut off" if cut else f"is not valid ({error.msg})"
        place = f"line {error.lineno} column {error.colno}"
        raise AnswerError(f"the JSON {what} at {place}, expected a complete JSON object") from None
    except (RecursionError, ValueError) as error:
        raise AnswerError(f"the JSON cannot be read: {error}") from None
    return value, end


def _event_list(value: object) -> list[object]:
    if isinstance(value, dict) and "events" in value:
        value = value["events"]
        if _is_nothing(value):
            return []
    if isinstance(value, dict) and "action" in value:
        return [value]
    if isinstance(value, list):
        return value
    raise AnswerError(f"the answer is {shown(value)}, not a JSON object with a list of events")


def _repaired(item: object, where: str, problems: list[str]) -> dict[str, object]:
    """Return the fields of an event with the types of `Event`; add what is wrong to `problems`."""
    if not isinstance(item, dict):
        problems.append(f"{where} is {shown(item)}, not an object")
        return {}
    fields: dict[str, object] = {}
    for name, repair in _REPAIRS.items():
        value = item.get(name)
        try:
            fields[name] = repair(value)
        except AnswerError as expected:
            found = "missing" if value is None else shown(value)
            problems.append(f"{where}.{name} is {found}, not {expected}")
    return fields


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip().casefold() in _NOTHING)


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise AnswerError("a text")
    text = str(value)
    return (text if text.isprintable() else _UNPRINTABLE.sub("\ufffd", text)).strip()


def _title(value: object) -> str:
    title = "" if value is None else _one_line(value)
    if not title:
        raise AnswerError("a non-empty text")
    return title


def _one_line(value: object) -> str:
    return " ".join(_text(value).split())


def _choice(value: object, choices: tuple[str, ...]) -> str:
    word = value.strip().casefold() if isinstance(value, str) else value
    if word not in choices:
        raise AnswerError(f"one of {', '.join(choices)}")
    return str(word)


def _moment(value: object) -> datetime | None:
    """Read an ISO 8601 date-time; a date alone means midnight at its beginning."""
    if _is_nothing(value):
        return None
    try:
        moment = datetime.fromisoformat(value.strip().upper()) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.year not in _YEARS:
        raise AnswerError("an ISO 8601 date-time such as 2026-02-20T10:00:00, or null")
    return moment


def _event_id(value: object) -> int | None:
    if _is_nothing(value):
        return None
    match = None if isinstance(value, bool) else _NUMBER.fullmatch(str(value).strip())
    if match is None:
        raise AnswerError("the number of a calendar line, or null")
    return int(match[1])


def _texts(value: object) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise AnswerError("a list of texts")
    return [_text(item) for item in value if not _is_nothing(item)]


# Each returns the value of a field, or raises an AnswerError that says only what is expected.
_REPAIRS: Mapping[str, Callable[[object], object]] = {
    "action": lambda value: _choice(value, get_args(Action)),
    "title": _title,
    "start_time": _moment,
    "end_time": _moment,
    "location": lambda value: None if _is_nothing(value) else _one_line(value),
    "attendees": lambda value: _texts(re.split("[,;]", value) if isinstance(value, str) else value),
    "confidence": lambda value: _choice("medium" if value is None else value, get_args(Confidence)),
    "reasoning": lambda value: "" if value is None else _text(value),
    "assumptions": lambda value: _texts([value] if isinstance(value, str) else value),
    "existing_event_id": _event_id,
}
