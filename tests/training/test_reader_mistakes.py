"""At which stage the reader loses an event."""

from __future__ import annotations

from datetime import datetime

import pytest
from training.reader.conversations import Conversation, TrueEvent
from training.reader.mistakes import losses, report, shown

from cal_ai.events import ContextEvent
from cal_ai.extractors.protocol import Request
from cal_ai.extractors.reader.decide import read_each
from cal_ai.extractors.reader.limits import read_relevant
from cal_ai.extractors.reader.network import shared_network
from cal_ai.transcripts.reading import parse_transcript

DENTIST = ContextEvent(1, "Dentist", datetime(2026, 3, 5, 10), datetime(2026, 3, 5, 11))
LUNCH = "[Bob]: Lunch tomorrow at noon at Luigi's?\n[Alice]: Yes, see you there.\n"
NOON = datetime(2026, 3, 5, 12)
EVENTS = {
    "found": (LUNCH, TrueEvent("create", "Lunch", NOON), None),
    "another day": (
        LUNCH,
        TrueEvent("create", "Lunch", datetime(2026, 3, 9, 12)),
        "create: no mention of the day",
    ),
    "another hour": (
        LUNCH,
        TrueEvent("create", "Lunch", NOON.replace(hour=20)),
        "create: no mention of the time",
    ),
    "another title": (LUNCH, TrueEvent("create", "Zumba", NOON), "create: title is not said"),
    "no shared word": (
        "[Bob]: The weather is nice.\n[Alice]: Very.\n",
        TrueEvent("delete", "Dentist", target=0),
        "delete: its calendar event is not read",
    ),
    "not moved": (
        "[Bob]: My dentist has a beard.\n[Alice]: So has mine.\n",
        TrueEvent("update", "Dentist", NOON, target=0),
        "update: not proposed",
    ),
}


@pytest.mark.parametrize(("said", "event", "stage"), EVENTS.values(), ids=EVENTS)
def test_the_first_stage_that_loses_an_event_is_named(
    said: str, event: TrueEvent, stage: str | None
) -> None:
    request = Request(parse_transcript(said), "Alice", datetime(2026, 3, 4, 9), (DENTIST,))
    talk = Conversation("x-1", request, (event,))
    result, lost = losses(talk, read_each(shared_network(), read_relevant(request)))
    assert [loss.stage for loss in lost if loss.expected] == ([stage] if stage else [])
    for loss in lost:
        assert loss.stage in report([result], lost)
        assert loss.stage in shown(loss)


def test_an_event_that_nobody_expected_is_named_as_such() -> None:
    request = Request(parse_transcript(LUNCH), "Alice", datetime(2026, 3, 4, 9), ())
    readings = read_each(shared_network(), read_relevant(request))
    result, lost = losses(Conversation("x-1", request, ()), readings)
    assert [loss.stage for loss in lost] == ["found, though nothing was agreed"]
    assert "1.000" in report([result], lost)
