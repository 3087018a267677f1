from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime

from cal_ai.events import Event, event_fields


def test_an_event_in_json_form_has_every_field() -> None:
    event = Event(
        "update", "Sync", start_time=datetime(2026, 2, 20, 9, tzinfo=UTC), attendees=("Bo",)
    )

    assert list(event_fields(event)) == [field.name for field in fields(Event)]
    assert event_fields(event)["start_time"] == "2026-02-20T09:00:00+00:00"
    assert event_fields(event)["end_time"] is None
    assert event_fields(event)["attendees"] == ["Bo"]
