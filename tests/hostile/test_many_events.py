"""Answers with many events: bounded, and written to a file in one step."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.cal_ai.calendar_backends import BERLIN, vcalendar, vevent
from tests.cal_ai.sample_folders import GOT_LUNCH, CommandLine
from tests.hostile.kinds import TRANSCRIPT

from cal_ai.calendars.document import Document
from cal_ai.calendars.ics import IcsCalendar
from cal_ai.extractors.answers import MOST_EVENTS


def run(
    cal_ai: CommandLine, count: int, *flags: str, extractor: str = "cmd:cat answer.json"
) -> str:
    events = [
        {**GOT_LUNCH, "title": f"Lunch {number}", "start_time": "2099-02-21T12:00:00",
         "end_time": "2099-02-21T13:00:00"}
        for number in range(count)
    ]  # fmt: skip
    return apply(cal_ai, events, *flags, extractor=extractor)


def apply(
    cal_ai: CommandLine,
    events: Sequence[Mapping[str, object]],
    *flags: str,
    extractor: str = "cmd:cat answer.json",
) -> str:
    (cal_ai.folder / "answer.json").write_text(json.dumps({"events": events}))
    (cal_ai.folder / "talk.txt").write_text(TRANSCRIPT)
    cal_ai.set(TIMEZONE="Europe/Berlin")
    ran = cal_ai("talk.txt", "--calendar", "ics:c.ics", "--extractor", extractor, *flags)
    return f"{ran.status} {ran.out} {ran.err}"


@pytest.mark.parametrize("flags", [(), ("--dry-run",)], ids=["applied", "dry"])
def test_as_many_events_as_may_be_take_seconds(cal_ai: CommandLine, flags: tuple[str, ...]) -> None:
    begun_s = time.monotonic()
    said = run(cal_ai, MOST_EVENTS, *flags)
    assert time.monotonic() - begun_s < 10
    assert said.startswith("0 ")
    if not flags:
        content = (cal_ai.folder / "c.ics").read_text()
        assert content.count("BEGIN:VEVENT") == MOST_EVENTS
        assert "applied to ics:c.ics before" in run(cal_ai, MOST_EVENTS)


@pytest.mark.parametrize("action", ["update", "delete"])
def test_as_many_changes_of_events_as_may_be_take_seconds(cal_ai: CommandLine, action: str) -> None:
    tomorrow = (datetime.now(BERLIN) + timedelta(days=1)).replace(hour=9, minute=0)
    events = [
        vevent(f"e{number}", f"Event {number}", tomorrow, tomorrow + timedelta(hours=1), None)
        for number in range(MOST_EVENTS)
    ]
    (cal_ai.folder / "c.ics").write_bytes(vcalendar(*events).encode())
    later = tomorrow.replace(hour=15, tzinfo=None).isoformat(timespec="minutes")
    changed = {"action": action, "confidence": "high", "start_time": later, "end_time": None}
    answer = [
        {**GOT_LUNCH, **changed, "title": f"Event {number}", "existing_event_id": number + 1}
        for number in range(MOST_EVENTS)
    ]
    begun_s = time.process_time()
    said = apply(cal_ai, answer)
    assert time.process_time() - begun_s < 10
    assert f"{MOST_EVENTS} decisions: {MOST_EVENTS} {action}d" in said
    content = (cal_ai.folder / "c.ics").read_text()
    assert content.count("BEGIN:VEVENT") == (MOST_EVENTS if action == "update" else 0)


@pytest.mark.parametrize("extractor", ["cmd:cat answer.json", "py:many:answer"])
def test_more_events_than_may_be_are_one_line(
    cal_ai: CommandLine, extractor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cal_ai.folder / "many.py").write_text(
        "def answer(request):\n    return __import__('pathlib').Path('answer.json').read_text()\n"
    )
    monkeypatch.syspath_prepend(str(cal_ai.folder))
    begun_s = time.monotonic()
    said = run(cal_ai, 20_000, extractor=extractor)
    assert time.monotonic() - begun_s < 10
    assert said.startswith("1 ")
    assert "the answer has 20,000 events, expected 1,000 at most" in said
    assert not (cal_ai.folder / "c.ics").exists()


def test_a_run_writes_the_file_once(cal_ai: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    writes = []
    write = IcsCalendar._write

    def counted(calendar: IcsCalendar, document: Document) -> None:
        writes.append(1)
        write(calendar, document)

    monkeypatch.setattr(IcsCalendar, "_write", counted)
    run(cal_ai, 30)
    assert writes == [1]


def test_the_lock_of_a_calendar_is_for_its_owner_alone(cal_ai: CommandLine) -> None:
    before = os.umask(0)
    try:
        run(cal_ai, 1)
    finally:
        os.umask(before)
    made = [Path(cal_ai.folder / name) for name in ("c.ics", "c.ics.lock")]
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.exists()} == {0o600}
