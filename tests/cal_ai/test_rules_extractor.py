from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cal_ai.rules_dialogues import DIALOGUES, Dialogue

from cal_ai.events import ContextEvent
from cal_ai.extractors.answers import parse_answer
from cal_ai.extractors.protocol import Extraction, Request
from cal_ai.extractors.rules import RulesExtractor
from cal_ai.transcript import Transcript, Utterance, parse_transcript

FRIDAY = datetime(2026, 2, 20, 10, 0)
LUNCH = "[Bob]: Lunch on Thursday at noon?\n[Alice]: Perfect, see you then."


def extract(request: Request) -> Extraction:
    return asyncio.run(RulesExtractor().extract_events(request))


def request_for(lines: str, now: datetime = FRIDAY, *context: ContextEvent) -> Request:
    return Request(parse_transcript(lines), "Alice", now, context)


def test_an_empty_conversation_has_no_events() -> None:
    extraction = extract(Request(Transcript(()), "Alice", FRIDAY))
    assert extraction.events == ()
    assert extraction.raw == '{"events": []}'


def test_the_raw_answer_reads_back_as_the_events() -> None:
    extraction = extract(request_for(LUNCH))
    assert len(extraction.events) == 1
    assert parse_answer(extraction.raw) == extraction.events


def test_rules_use_no_tokens_and_one_attempt() -> None:
    extraction = extract(request_for(LUNCH))
    assert (extraction.usage, extraction.attempts) == (None, 1)
    assert RulesExtractor().name == "rules"
    assert RulesExtractor().model is None


def test_reasoning_quotes_the_lines_that_decided() -> None:
    (event,) = extract(request_for(LUNCH)).events
    assert 'Bob (line 1): "Lunch on Thursday at noon?"' in event.reasoning
    assert 'Alice (line 2): "Perfect, see you then."' in event.reasoning


def test_what_was_not_said_is_named_as_an_assumption() -> None:
    (event,) = extract(request_for("[Bob]: Lunch on Thursday?\n[Alice]: Sure.")).events
    assert event.assumptions == ("no time given: 12:00", "no duration given: 60 minutes")


@pytest.mark.parametrize(
    ("lines", "confidence"),
    [
        pytest.param(LUNCH, "high", id="day, time and agreement said"),
        pytest.param(
            "[Bob]: Could we do the demo on Thursday at 2pm?\n[Alice]: I think I can, yes.",
            "medium",
            id="hedged",
        ),
        pytest.param("[Bob]: Lunch on Thursday?\n[Alice]: Sure.", "low", id="no time said"),
    ],
)
def test_confidence_tells_how_much_was_said(lines: str, confidence: str) -> None:
    (event,) = extract(request_for(lines)).events
    assert event.confidence == confidence


def test_attendees_are_those_who_agreed_and_those_named() -> None:
    lines = "[Bob]: Dinner with Carol on Friday at 7?\n[Alice]: I'd love to!"
    (event,) = extract(request_for(lines)).events
    assert event.attendees == ("Bob", "Carol")


def test_places_are_kept() -> None:
    lines = "[Bob]: Coffee at Blue Bottle tomorrow at 10?\n[Alice]: Sure!"
    (event,) = extract(request_for(lines)).events
    assert event.location == "Blue Bottle"


def test_a_moved_event_keeps_its_place_and_length() -> None:
    held = ContextEvent(
        7, "Budget review", datetime(2026, 2, 25, 14), datetime(2026, 2, 25, 15, 30), "Room 2"
    )
    lines = "[Bob]: Can we move the budget review to 4?\n[Alice]: Sure."
    (event,) = extract(request_for(lines, FRIDAY, held)).events
    assert (event.action, event.existing_event_id) == ("update", 7)
    assert event.start_time == datetime(2026, 2, 25, 16)
    assert event.end_time == datetime(2026, 2, 25, 17, 30)
    assert event.location == "Room 2"


def test_a_person_added_to_an_event_changes_only_the_attendees() -> None:
    start, end = datetime(2026, 2, 25, 14), datetime(2026, 2, 25, 15)
    held = ContextEvent(2, "Budget review", start, end)
    lines = "[Bob]: Can we add Dana to the budget review?\n[Alice]: Sure, good idea."
    (event,) = extract(request_for(lines, FRIDAY, held)).events
    assert (event.action, event.existing_event_id) == ("update", 2)
    assert (event.start_time, event.end_time) == (start, end)
    assert "Dana" in event.attendees


def test_times_carry_the_offset_of_the_reference_time() -> None:
    now = FRIDAY.replace(tzinfo=timezone(timedelta(hours=-5)))
    (event,) = extract(request_for(LUNCH, now)).events
    assert event.start_time is not None
    assert event.start_time.isoformat() == "2026-02-26T12:00:00-05:00"


def test_a_zone_can_move_an_event_to_the_day_before() -> None:
    now = FRIDAY.replace(tzinfo=timezone(timedelta(hours=-8)))
    lines = "[Kenji]: Call on Tuesday at 9am Tokyo time?\n[Alice]: Ok, I'll join."
    (event,) = extract(request_for(lines, now)).events
    assert event.start_time is not None
    assert event.start_time.isoformat() == "2026-02-23T16:00:00-08:00"


def test_an_unknown_zone_of_the_owner_is_an_assumption() -> None:
    lines = "[Bob]: Call on Monday at 3pm Eastern?\n[Alice]: Sure."
    (event,) = extract(request_for(lines)).events
    assert event.start_time == datetime(2026, 2, 23, 15)
    assert "the owner's time zone is not known: eastern kept as said" in event.assumptions


@pytest.mark.parametrize("owner", ["alice", "ALICE", "Alice Smith", " Alice "])
def test_the_owner_is_found_by_first_name_in_any_case(owner: str) -> None:
    request = Request(parse_transcript(LUNCH), owner, FRIDAY)
    assert len(extract(request).events) == 1


def test_without_the_owner_nobody_agrees_for_her() -> None:
    lines = "[Bob]: Lunch on Thursday at noon?\n[Carol]: Perfect."
    assert extract(request_for(lines)).events == ()


VOCABULARY = """
    lunch meet Thursday tomorrow 3 3pm 25:99 31/02 the 31st cancel move it to from noon sure no yes
    wait if next week every Monday - : ; ? ! . in two weeks 1:1 my our Bob Alice half past ten
    minutes later until 2026-02-30 9999-12-31 99/99 for an hour and a half or not
"""
WORDS = st.text(max_size=120) | st.lists(st.sampled_from(VOCABULARY.split()), max_size=14).map(
    " ".join
)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    speakers = st.sampled_from(["Alice", "Bob", "Dr. (x) [y]", "李", " ", "*"])
    lines = draw(st.lists(st.tuples(speakers, WORDS), max_size=8))
    said = tuple(Utterance(speaker, text, n) for n, (speaker, text) in enumerate(lines, 1))
    now = draw(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)))
    start = draw(st.datetimes(datetime(1900, 1, 1), datetime(2900, 1, 1)))
    held = ContextEvent(1, draw(st.text(max_size=30)), start, draw(st.none() | st.just(start)))
    context = draw(st.sampled_from([(), (held,)]))
    return Request(Transcript(said), draw(st.sampled_from(["Alice", "", "李"])), now, context)


@settings(max_examples=250, deadline=None, derandomize=True)
@given(requests())
def test_no_text_breaks_the_rules_and_events_end_after_they_start(request: Request) -> None:
    extraction = extract(request)
    for event in extraction.events:
        assert event.title
        if event.action != "delete":
            assert event.start_time is not None
            assert event.end_time is not None
            assert event.start_time <= event.end_time
        if event.action == "create":
            assert event.existing_event_id is None
            assert event.start_time is not None
            assert event.start_time.date() >= request.now.date()
        else:
            assert event.existing_event_id == 1


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.sampled_from(DIALOGUES), st.sampled_from(["hm", "la la", "...", "🙂", "—"]))
def test_a_line_that_says_nothing_changes_nothing_at_the_end(
    dialogue: Dialogue, noise: str
) -> None:
    request = dialogue.request
    said = request.transcript.utterances
    longer = Transcript((*said, Utterance(said[-1].speaker, noise, len(said) + 1)))
    again = replace(request, transcript=longer)
    assert extract(again).events == extract(request).events


def test_the_same_conversation_gives_the_same_answer_under_another_hash_seed() -> None:
    program = (
        "import asyncio\n"
        "from tests.cal_ai.rules_dialogues import DIALOGUES\n"
        "from cal_ai.extractors.rules import RulesExtractor\n"
        "for dialogue in DIALOGUES[:40]:\n"
        "    print(asyncio.run(RulesExtractor().extract_events(dialogue.request)).raw)\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
