"""The guide to calendars shows what becomes of its conversation on the day that it names."""

import re
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from cal_ai.applying.journal import Journal
from cal_ai.applying.outcomes import outcomes_text
from cal_ai.applying.pipeline import Conversation, apply_transcript
from cal_ai.calendars.ics import IcsCalendar
from cal_ai.extractors.reader.extractor import ReaderExtractor
from cal_ai.settings import DEFAULT_OWNER
from cal_ai.transcripts.reading import parse_transcript

GUIDE = Path(__file__).parents[2] / "docs" / "calendars.md"
ZONE = ZoneInfo("Europe/Berlin")


def test_the_guide_shows_what_is_printed_the_first_and_the_second_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = GUIDE.read_text(encoding="utf-8")
    conversation = re.findall(r"^(\[\w+\]: .+)$", text, re.MULTILINE)
    told = r"On (\w+ \d+ \w+ \d+), the second command prints:\n\n```text\n(.*?)```"
    [(day, shown)] = re.findall(told, text, re.S)
    run = Conversation(
        parse_transcript("\n".join(conversation)),
        DEFAULT_OWNER,
        datetime.strptime(day, "%A %d %B %Y").replace(hour=10, tzinfo=ZONE),
        ZONE,
        ReaderExtractor(),
        IcsCalendar(Path("work.ics"), ZONE),
        Journal(tmp_path / "applied.jsonl"),
        apply="high",
    )
    first, second = (
        outcomes_text(apply_transcript(run), dry_run=False, command="") for _ in range(2)
    )
    assert first == shown
    last = second.splitlines()[-1]
    assert f"ends with `{last}`" in text
