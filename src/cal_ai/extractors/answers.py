"""From the text of a model's answer to events, and back.

What deviates from the asked-for form is repaired only where a single reading is possible;
everything else is an `AnswerError` that says which field, what was found and what belongs there,
so that it can be shown to the model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import datetime
from typing import TypeVar, get_args

from cal_ai.events import Action, Confidence, Event, event_fields
from truemark.jsontext import Fields, UnfitError, shown

T = TypeVar("T")
Choice = TypeVar("Choice", bound=str)

_PROBLEMS_SHOWN = 5
_NOTHING = frozenset({"", "none", "null", "nil", "n/a", "na", "-"})
_YEARS = range(1900, 3000)
_THINKING = re.compile(r"\s*<think(?:ing)?>(.*?)(?:</think(?:ing)?>|(\Z))", re.DOTALL)
# Where JSON begins, as opposed to a bracket in prose such as "[Bob] said".
_JSON_START = re.compile(r'\{\s*["}]|\[\s*[\[{\]]')
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_NUMBER = re.compile(r"\[?#?(\d{1,9})(?:\.0+)?\]?")
_DECODER = json.JSONDecoder()
_ACTIONS: tuple[Action, ...] = get_args(Action)
_CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)


class AnswerError(ValueError):
    """An answer that does not have the form of events; the text tells a model what to change."""


def parse_answer(text: str) -> tuple[Event, ...]:
    """The events of an answer; raises `AnswerError` rather than return a part of them."""
    listed = _event_list(_find_json(_without_thinking(text).strip()))
    problems: list[str] = []
    events = tuple(_event(item, f"events[{index}]", problems) for index, item in enumerate(listed))
    if problems:
        more = len(problems) - _PROBLEMS_SHOWN
        shown = "; ".join(problems[:_PROBLEMS_SHOWN])
        raise AnswerError(f"{shown}; and {more} more" if more > 0 else shown)
    return events


def render_answer(events: Iterable[Event]) -> str:
    """The events as an answer in the asked-for form, which `parse_answer` reads back."""
    return json.dumps({"events": [event_fields(event) for event in events]}, ensure_ascii=False)


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
    """The one answer among prose and code fences.

    JSON that breaks off is an error at once: going on inside it would find complete events within
    an incomplete list.
    """
    if not text:
        raise AnswerError("the answer is empty, expected a JSON object with events")
    found: list[object] = []
    position = 0
    while start := _JSON_START.search(text, position):
        value, position = _decode(text, start.start())
        if _looks_like_answer(value) and value not in found:
            found.append(value)
    if not found:
        raise AnswerError(f"the answer is {shown(text)}, not a JSON object with events")
    if len(found) > 1:
        raise AnswerError(f"the answer has {len(found)} different JSON values, expected one")
    return found[0]


def _decode(text: str, start: int) -> tuple[object, int]:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text) or error.msg.startswith("Unterminated")
        what = "breaks off" if cut else f"is not valid ({error.msg})"
        place = f"line {error.lineno} column {error.colno}"
        raise AnswerError(f"the JSON {what} at {place}, expected a complete JSON object") from None
    except (RecursionError, ValueError) as error:
        raise AnswerError(f"the JSON cannot be read: {error}") from None
    return value, end


def _looks_like_answer(value: object) -> bool:
    if isinstance(value, dict):
        return "events" in value or "action" in value
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


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


def _event(item: object, where: str, problems: list[str]) -> Event:
    if not isinstance(item, dict):
        problems.append(f"{where} is {shown(item)}, not an object")
        return Event("create", "")
    fields = Fields(item, where, problems)
    return Event(
        action=fields.read("action", _action, "create"),
        title=fields.read("title", _title, ""),
        start_time=fields.read("start_time", _moment, None),
        end_time=fields.read("end_time", _moment, None),
        location=fields.read("location", _line, None),
        attendees=fields.read("attendees", _names, ()),
        confidence=fields.read("confidence", _confidence, "medium"),
        reasoning=fields.read("reasoning", _prose, ""),
        assumptions=fields.read("assumptions", _sentences, ()),
        existing_event_id=fields.read("existing_event_id", _number, None),
    )


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip().casefold() in _NOTHING)


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise UnfitError("a text")
    text = str(value)
    return (text if text.isprintable() else _UNPRINTABLE.sub("\ufffd", text)).strip()


def _prose(value: object) -> str:
    return "" if value is None else _text(value)


def _line(value: object) -> str | None:
    return None if _is_nothing(value) else " ".join(_text(value).split())


def _title(value: object) -> str:
    title = "" if value is None else " ".join(_text(value).split())
    if not title:
        raise UnfitError("a text with something in it")
    return title


def _choice(value: object, choices: tuple[Choice, ...]) -> Choice:
    word = value.strip().casefold() if isinstance(value, str) else value
    for choice in choices:
        if choice == word:
            return choice
    raise UnfitError(f"one of {', '.join(choices)}")


def _action(value: object) -> Action:
    return _choice(value, _ACTIONS)


def _confidence(value: object) -> Confidence:
    if value is None:
        return "medium"
    return _choice(value, _CONFIDENCES)


def _moment(value: object) -> datetime | None:
    """The moment of an ISO 8601 date-time; a date alone is the midnight that begins it."""
    if _is_nothing(value):
        return None
    try:
        moment = datetime.fromisoformat(value.strip().upper()) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.year not in _YEARS:
        raise UnfitError("an ISO 8601 date-time such as 2026-02-20T10:00:00, or null")
    return moment


def _number(value: object) -> int | None:
    if _is_nothing(value):
        return None
    match = None if isinstance(value, bool) else _NUMBER.fullmatch(str(value).strip())
    if match is None:
        raise UnfitError("the number of a calendar line, or null")
    return int(match[1])


def _names(value: object) -> tuple[str, ...]:
    return _texts(re.split("[,;]", value) if isinstance(value, str) else value)


def _sentences(value: object) -> tuple[str, ...]:
    return _texts([value] if isinstance(value, str) else value)


def _texts(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise UnfitError("a list of texts")
    return tuple(_text(item) for item in value if not _is_nothing(item))
