from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields, replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from cal_ai.events import ContextEvent, Event
from cal_ai.extractors.prompt import (
    BUILT_IN,
    RESPONSE_SCHEMA,
    corrected,
    parse_template,
    prompt_fingerprint,
)
from cal_ai.extractors.protocol import Request
from cal_ai.transcripts.reading import parse_transcript
from truemark.errors import TruemarkError
from truemark.services.calls import plain_prompt

NOW = datetime(2026, 2, 20, 10, 0)
TALK = parse_transcript("[Bob]: Lunch on Monday?\n[Alice]: Gladly,\nat noon.")


def asked(request: Request) -> str:
    (turn,) = BUILT_IN.filled(request).turns
    return turn.text


def test_the_prompt_has_all_that_an_answer_depends_on() -> None:
    context = (ContextEvent(1, "Sync", NOW, None, "Room 3"),)

    text = asked(Request(TALK, "Alice", NOW, context))

    assert "Owner: Alice\n" in text
    assert "Reference time: Friday, 2026-02-20T10:00\n" in text
    assert "[1] Sync | 2026-02-20T10:00 | Room 3\n" in text
    assert "[Bob]: Lunch on Monday?\n[Alice]: Gladly, at noon.\n" in text
    assert "Fri 2026-02-20, Sat 2026-02-21, " in text
    assert "Fri 2026-03-06\n" in text


def test_a_known_time_zone_is_told_with_its_offset() -> None:
    text = asked(Request(TALK, "Alice", NOW.replace(tzinfo=ZoneInfo("Asia/Kathmandu"))))

    assert "Reference time: Friday, 2026-02-20T10:00 (Asia/Kathmandu, UTC+05:45)\n" in text


def test_a_machine_s_own_offset_is_told_as_local_time() -> None:
    text = asked(Request(TALK, "Alice", datetime.fromisoformat("2026-02-20T10:00-03:00")))

    assert "Reference time: Friday, 2026-02-20T10:00 (local time, UTC-03:00)\n" in text


def test_an_empty_calendar_is_said_to_be_empty() -> None:
    assert "(nothing planned)" in asked(Request(TALK, "Alice", NOW))


def test_braces_in_a_conversation_are_just_words() -> None:
    talk = parse_transcript("[Bob]: {owner} {0} {}")

    assert "[Bob]: {owner} {0} {}\n" in asked(Request(talk, "Alice", NOW))


@pytest.mark.parametrize(
    "rule", ["agreed", "Negations", "hypotheticals", "sarcasm", "already happened", "other people"]
)
def test_the_rules_of_what_counts_are_stated(rule: str) -> None:
    assert rule in (BUILT_IN.filled(Request(TALK, "Alice", NOW)).system or "")


def test_a_correction_shows_the_answer_and_the_problem() -> None:
    prompt = BUILT_IN.filled(Request(TALK, "Alice", NOW))

    again = corrected(prompt, "{oops", "the JSON is cut off {here}")

    assert again.turns[0] == prompt.turns[0]
    assert [turn.role for turn in again.turns] == ["user", "model", "user"]
    assert again.turns[1].text == "{oops"
    assert "the JSON is cut off {here}" in again.turns[2].text
    assert again.schema == prompt.schema


def test_the_schema_asks_for_every_field_of_an_event_and_no_other() -> None:
    schema = json.loads(json.dumps(RESPONSE_SCHEMA))
    item = schema["properties"]["events"]["items"]

    assert set(item["properties"]) == {field.name for field in fields(Event)}
    assert item["required"] == list(item["properties"])
    assert item["additionalProperties"] is False


def test_free_text_is_asked_for_without_rules_or_schema() -> None:
    prompt = plain_prompt("Summarise.")

    assert (prompt.system, prompt.schema, prompt.turns[0].text) == (None, None, "Summarise.")


def test_the_fingerprint_is_the_same_in_every_process() -> None:
    code = "from cal_ai.extractors.prompt import prompt_fingerprint; print(prompt_fingerprint())"

    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert other.stdout.strip() == prompt_fingerprint()


def test_the_fingerprint_moves_with_the_words() -> None:
    changed = replace(BUILT_IN, system="Do as you please.")

    assert prompt_fingerprint(changed) != prompt_fingerprint()


def test_the_built_in_prompt_reads_back_from_what_is_printed() -> None:
    assert parse_template(str(BUILT_IN), "mine.txt") == BUILT_IN


def test_a_template_without_a_line_is_asked_as_a_whole() -> None:
    text = '{owner} at {now}: {conversation} / {calendar}, as {"events": [...]} {}'
    prompt = parse_template(text, "mine.txt").filled(Request(TALK, "Alice", NOW))

    assert prompt.system is None
    (turn,) = prompt.turns
    assert turn.text.startswith("Alice at Friday, 2026-02-20T10:00: [")
    assert turn.text.endswith('(nothing planned), as {"events": [...]} {}')


def test_what_a_conversation_says_in_braces_is_no_placeholder() -> None:
    talk = parse_transcript("[Bob]: say {owner} and {conversation} {nothing}")

    prompt = BUILT_IN.filled(Request(talk, "Alice", NOW))

    assert "say {owner} and {conversation} {nothing}" in prompt.turns[0].text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{owner} {now} {calendar}", "mine.txt: the placeholder {conversation} is missing"),
        ("{conversation} {now} {calendar}", "mine.txt: the placeholder {owner} is missing"),
        (
            "{owner} {now} {calendar} {conversation} {transcript}",
            "mine.txt: unknown placeholder {transcript}, expected {owner}, {now}, {calendar}",
        ),
        ("", "mine.txt: the placeholder {owner} is missing"),
    ],
)
def test_a_placeholder_that_is_unknown_or_missing_is_named(text: str, reason: str) -> None:
    with pytest.raises(TruemarkError) as caught:
        parse_template(text, "mine.txt")
    assert str(caught.value).startswith(reason)
