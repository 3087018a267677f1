"""Labels of conversations are made of the times that the reader itself reads."""

from __future__ import annotations

from datetime import datetime

import pytest
from training.reader.conversations import Conversation, TrueEvent
from training.reader.labels import Labels, example

from cal_ai.events import ContextEvent
from cal_ai.extractors.protocol import Request
from cal_ai.transcripts.reading import parse_transcript

NOW = datetime(2026, 3, 4, 9)  # a Wednesday
REPAIR = ContextEvent(1, "Forklift repair", datetime(2026, 3, 11, 8), datetime(2026, 3, 11, 9))


def labels(said: str, event: TrueEvent) -> Labels:
    request = Request(parse_transcript(f"[Ben]: {said}\n[Ann]: Fine."), "Ann", NOW, (REPAIR,))
    return example(Conversation("x-1", request, (event,))).labels


@pytest.mark.parametrize(
    ("said", "start"),
    [
        ("Lunch on the first Monday of April at 1 pm?", datetime(2026, 4, 6, 13)),
        ("Lunch tomorrow 1330?", datetime(2026, 3, 5, 13, 30)),
        ("Lunch tomorrow, at 230?", datetime(2026, 3, 5, 14, 30)),
        ("Lunch, next Thursday, the 12th of March at noon.", datetime(2026, 3, 12, 12)),
    ],
)
def test_a_time_that_the_reader_reads_is_labelled(said: str, start: datetime) -> None:
    found = labels(said, TrueEvent("create", "Lunch", start, lines=(0, 1)))
    assert found.creates
    assert not found.missed


def test_a_weekday_to_which_an_event_is_moved_is_labelled_in_its_week() -> None:
    moved = TrueEvent("update", "Forklift repair", datetime(2026, 3, 12, 8), target=0, lines=(0,))
    found = labels("The forklift repair is on Thursday instead.", moved)
    assert not found.missed
    assert found.days[0] != [-1]
