from __future__ import annotations

import asyncio
from datetime import datetime

import pytest
from rapidfuzz import fuzz
from tests.cal_ai.rules_dialogues import DIALOGUES, Dialogue, Expected

from cal_ai.events import Event
from cal_ai.extractors.rules import RulesExtractor


def same_time(got: datetime | None, expected: datetime | None) -> bool:
    if expected is None or got is None:
        return expected is None
    if expected.tzinfo is None:
        got = got.replace(tzinfo=None)
    return got == expected


def is_as_expected(event: Event, expected: Expected) -> bool:
    similar = fuzz.token_set_ratio(event.title.casefold(), expected.title.casefold()) >= 80
    same_id = event.existing_event_id == expected.existing
    times = same_time(event.start_time, expected.start) and same_time(event.end_time, expected.end)
    return event.action == expected.action and similar and same_id and times


@pytest.mark.parametrize("dialogue", [pytest.param(d, id=d.name) for d in DIALOGUES])
def test_the_owner_gets_exactly_the_events_she_agreed_to(dialogue: Dialogue) -> None:
    events = asyncio.run(RulesExtractor().extract_events(dialogue.request)).events
    found = [event for event in events if any(is_as_expected(event, e) for e in dialogue.expected)]
    assert len(events) == len(found) == len(dialogue.expected), [
        (event.action, event.title, event.start_time, event.end_time) for event in events
    ]


def test_the_dialogues_cover_every_action_and_none() -> None:
    actions = {event.action for dialogue in DIALOGUES for event in dialogue.expected}
    assert actions == {"create", "update", "delete"}
    assert sum(not dialogue.expected for dialogue in DIALOGUES) >= 30
    assert len(DIALOGUES) >= 150
