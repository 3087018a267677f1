"""The embedded extractor with its bundled model."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest

from cal_ai.benchmark.samples import bundled_folder, load_samples
from cal_ai.benchmark.scoring import Scored, Spent, event_scores, score
from cal_ai.events import ContextEvent
from cal_ai.extractors.choosing import choose_extractor
from cal_ai.extractors.protocol import Request
from cal_ai.extractors.reader.extractor import ReaderExtractor, read_events
from cal_ai.extractors.reader.network import FOLDER
from cal_ai.settings import load_settings
from cal_ai.transcripts.reading import parse_transcript
from truemark.counts import total
from truemark.errors import TruemarkError

NOW = datetime(2026, 3, 4, 9, 10)  # a Wednesday
DENTIST = ContextEvent(1, "Dentist", datetime(2026, 3, 5, 10, 0), datetime(2026, 3, 5, 10, 45))


def request(text: str, *context: ContextEvent, now: datetime = NOW) -> Request:
    return Request(parse_transcript(text), "Alice", now, context)


LUNCH = request("[Bob]: Lunch tomorrow at noon at Luigi's?\n[Alice]: Yes, see you there.\n")


def test_a_plain_agreement_is_an_event_with_the_lines_that_settle_it() -> None:
    [event] = read_events(LUNCH)
    assert (event.action, event.title) == ("create", "Lunch")
    assert event.start_time == datetime(2026, 3, 5, 12, 0)
    assert "Bob: Lunch tomorrow at noon" in event.reasoning
    assert event.assumptions == ("no end was said: it is given the usual length",)


def test_two_lunches_with_two_people_are_two_events() -> None:
    said = (
        "[Bob]: Lunch on Tuesday at noon?\n[Alice]: Yes, Tuesday at noon works.\n"
        "[Bob]: Great, see you then.\n[Ann]: And lunch with me on Thursday at one?\n"
        "[Alice]: Sure, Thursday at one. I'm in.\n[Ann]: Perfect.\n"
    )
    starts = [(event.title, event.start_time) for event in read_events(request(said))]
    assert starts == [("Lunch", datetime(2026, 3, 5, 13)), ("Lunch", datetime(2026, 3, 10, 12))]


@pytest.mark.parametrize("verb", ["push", "move", "delay"])
def test_a_call_is_moved_by_an_hour_not_made_an_hour_long(verb: str) -> None:
    call = ContextEvent(
        1, "Call with Carol", datetime(2026, 3, 6, 15), datetime(2026, 3, 6, 15, 30)
    )
    said = f"[Carol]: Can we {verb} our call on Friday by an hour?\n[Alice]: Yes, that is fine.\n"
    [event] = read_events(request(said, call))
    assert (event.start_time, event.end_time) == (
        datetime(2026, 3, 6, 16),
        datetime(2026, 3, 6, 16, 30),
    )


def test_nothing_is_certain_of_an_owner_who_does_not_speak() -> None:
    said = "[Bob]: Lunch tomorrow at noon at Luigi's?\n[Carol]: Yes, see you there.\n"
    assert {event.confidence for event in read_events(LUNCH)} == {"high"}
    assert "high" not in {event.confidence for event in read_events(request(said))}


def test_what_older_messages_of_a_chat_settle_is_not_certain() -> None:
    agreed = "{0} - Bob: Lunch tomorrow at noon at Luigi's?\n{0} - Alice: Yes, see you there.\n"
    later = "04/03/26, 09:05 - Bob: Have you seen my bike?\n04/03/26, 09:06 - Alice: No.\n"
    for day, words in (("04/03/26, 09:00", {"high"}), ("20/02/26, 09:00", {"medium"})):
        events = read_events(request(agreed.format(day) + later))
        assert {event.confidence for event in events} == words


def test_a_greeting_of_an_older_day_does_not_make_a_chat_uncertain() -> None:
    said = (
        "20/02/26, 09:00 - Bob: Hi there!\n20/02/26, 09:00 - Alice: Hello!\n"
        "04/03/26, 09:00 - Bob: Lunch tomorrow at noon at Luigi's?\n"
        "04/03/26, 09:00 - Alice: Yes, see you there.\n"
    )
    assert {event.confidence for event in read_events(request(said))} == {"high"}


def test_an_owner_who_speaks_in_the_other_half_of_a_long_talk_speaks() -> None:
    small_talk = "".join(f"[Carol]: The weather of day {n} was fine.\n" for n in range(1200))
    said = "[Bob]: Lunch tomorrow at noon at Luigi's?\n[Carol]: Yes, see you there.\n"
    silent = read_events(request(f"[Dave]: Good to see you all.\n{small_talk}{said}"))
    speaks = read_events(request(f"[Alice]: Good to see you all.\n{small_talk}{said}"))
    assert {event.confidence for event in silent} == {"medium"}
    assert {event.confidence for event in speaks} == {"high"}


def test_a_plain_cancellation_names_its_event() -> None:
    said = "[Alice]: I cancelled the dentist tomorrow.\n[Bob]: Oh well.\n"
    [event] = read_events(request(said, DENTIST))
    assert (event.action, event.existing_event_id) == ("delete", 1)


@pytest.mark.parametrize("said", ["[Bob]: Hm.\n", "[Bob]: Nice weather.\n[Alice]: Very.\n", ""])
def test_talk_of_nothing_gives_nothing(said: str) -> None:
    assert read_events(request(said, DENTIST)) == ()


def test_the_same_conversation_gets_the_same_answer_in_another_process() -> None:
    code = (
        "import asyncio; from tests.cal_ai.test_reader_extractor import LUNCH;"
        "from cal_ai.extractors.reader.extractor import ReaderExtractor;"
        "print(asyncio.run(ReaderExtractor().extract_events(LUNCH)).raw)"
    )
    own = asyncio.run(ReaderExtractor().extract_events(LUNCH)).raw
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == own


def test_times_carry_the_zone_of_the_owner() -> None:
    [event] = read_events(Request(LUNCH.transcript, "Alice", NOW.replace(tzinfo=UTC), ()))
    assert event.start_time is not None
    assert event.start_time.tzinfo is UTC


@pytest.mark.parametrize("year", [1, 9999])
def test_the_edges_of_the_calendar_are_no_trouble(year: int) -> None:
    assert read_events(request("[Bob]: Lunch on Friday at 1?\n", now=NOW.replace(year=year))) == ()


def test_time_grows_with_the_lines_and_not_with_their_square() -> None:
    line = "[{}]: Are you free on Friday at {} for a chat about the fence?\n"

    def seconds(lines: int) -> float:
        text = "".join(line.format(f"P{n}", n % 12 + 1) for n in range(lines))
        begun = time.process_time()
        read_events(request(text))
        return time.process_time() - begun

    read_events(LUNCH)
    assert seconds(400) < 12 * max(seconds(100), 0.1)


def test_a_calendar_of_thousands_of_events_is_read() -> None:
    many = [
        ContextEvent(n, f"Event {n}", NOW + timedelta(hours=n), NOW + timedelta(hours=n + 1))
        for n in range(1, 3001)
    ]
    assert isinstance(
        read_events(request("[Bob]: Event 7 is off.\n[Alice]: Fine.\n", *many)), tuple
    )


def test_the_model_is_small() -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 16_000_000


def test_the_bundled_samples_are_read_no_worse_than_before() -> None:
    samples = [it for it in load_samples(bundled_folder()) if it.category == "crud"]
    results = [score(it, read_events(it.request), Spent(0.0, 1, None)) for it in samples]
    scored = [it for it in results if isinstance(it, Scored)]
    assert len(scored) == len(samples)
    assert event_scores(total(it.counts for it in scored)).f1 >= 0.55


def test_the_name_of_what_was_there_before_says_what_replaced_it() -> None:
    with pytest.raises(TruemarkError, match="replaced by the learned reader: use reader"):
        choose_extractor("rules", load_settings({}))
