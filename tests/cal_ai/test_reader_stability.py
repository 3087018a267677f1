"""What must not matter to the embedded extractor does not."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from benchmarks.reader_stability import CHANGES, compared

from cal_ai.benchmark.samples import Sample, bundled_folder, load_samples
from cal_ai.events import ContextEvent
from cal_ai.extractors.protocol import Request
from cal_ai.extractors.reader.extractor import read_events
from cal_ai.extractors.reader.limits import read_relevant
from cal_ai.transcripts.reading import parse_transcript

SAMPLES = {it.name: it for it in load_samples(bundled_folder()) if it.category == "crud"}
LUNCH = replace(SAMPLES["simple_lunch"].request, context=())
THURSDAY = datetime(2026, 3, 5, 12, 30)
NOW = THURSDAY - timedelta(days=2)


def with_events(request: Request, *titles: str, at: datetime) -> Request:
    context = (ContextEvent(n, it, at, at + timedelta(hours=1)) for n, it in enumerate(titles, 1))
    return replace(request, context=tuple(context))


def test_a_plain_lunch_is_read_alike_at_any_time() -> None:
    answers = set()
    for day in range(7):
        for minutes in (0, 547, 1126):
            now = datetime(2026, 3, 2 + day) + timedelta(minutes=minutes)
            [event] = read_events(replace(LUNCH, now=now))
            assert event.start_time in (THURSDAY, THURSDAY + timedelta(days=7))
            answers.add((event.action, event.title, event.confidence))
    [(action, title, confidence)] = answers
    assert (action, confidence) == ("create", "high")
    assert "Lunch" in title


@pytest.mark.parametrize("title", ["Team meeting", "Dentist"])
def test_an_event_at_the_same_hour_does_not_make_a_new_one_vanish(title: str) -> None:
    [event] = read_events(with_events(replace(LUNCH, now=NOW), title, at=THURSDAY))
    assert (event.action, event.start_time) == ("create", THURSDAY)


def test_events_that_share_neither_words_nor_time_are_not_read() -> None:
    elsewhere = with_events(LUNCH, "Chess club", at=THURSDAY + timedelta(days=1))
    assert [talk.request.context for talk in read_relevant(elsewhere)] == [()]
    named = with_events(LUNCH, "Greek lesson", at=THURSDAY + timedelta(days=1))
    assert [len(talk.request.context) for talk in read_relevant(named)] == [1]


def test_white_space_between_words_is_not_read() -> None:
    lines = LUNCH.transcript.utterances
    greeted = (lines[0]._replace(words="Hello, how are you?"), *lines)
    spaced = tuple(line._replace(words="\t  ".join(line.words.split())) for line in greeted)
    asked = replace(LUNCH, transcript=replace(LUNCH.transcript, utterances=spaced))
    assert read_relevant(asked)[0].lines == read_relevant(LUNCH)[0].lines


def test_greetings_at_the_ends_are_not_read() -> None:
    lines = LUNCH.transcript.utterances
    greeted = (lines[0]._replace(words="Hi Alice!"), *lines, lines[1]._replace(words="Bye!"))
    asked = replace(LUNCH, transcript=replace(LUNCH.transcript, utterances=greeted))
    assert read_relevant(asked)[0].lines == read_relevant(LUNCH)[0].lines


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["boiler_check", "simple_lunch"])
def test_the_answer_stays_the_same(name: str, change: str) -> None:
    sample: Sample = SAMPLES[name]
    view = CHANGES[change](sample.request, random.Random(3))
    assert compared(sample.request, read_events(sample.request), view) is not False


def test_one_of_several_events_that_nobody_names_is_not_called_off_alone() -> None:
    request = SAMPLES["no_dinner_but_sledging"].request
    change = CHANGES["1 to 8 unrelated events on days that are named"]
    view = change(request, random.Random("26"))
    assert compared(request, read_events(request), view)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        pytest.param("Clear my Friday, I'm ill.", ["Dentist", "Choir"], id="a day"),
        pytest.param("All of today and tomorrow is off.", ["Standup", "Review"], id="two days"),
        pytest.param("Everything next week is off.", ["Yoga", "Sauna"], id="a week"),
        pytest.param("Wipe the rest of the day.", ["Standup", "Review"], id="no day is today"),
        pytest.param("Clear my Saturday, I'm ill.", [], id="a single event is not several"),
        pytest.param("I can't come on Friday.", [], id="one event is meant"),
    ],
)
def test_events_that_are_meant_together_are_shown_without_being_named(
    said: str, shown: list[str]
) -> None:
    now = datetime(2026, 3, 4, 9, 10)  # a Wednesday
    starts = {
        "Breakfast": datetime(2026, 3, 4, 8, 0),
        "Standup": datetime(2026, 3, 4, 9, 30),
        "Review": datetime(2026, 3, 4, 16, 0),
        "Dentist": datetime(2026, 3, 6, 10, 0),
        "Choir": datetime(2026, 3, 6, 19, 0),
        "Market": datetime(2026, 3, 7, 8, 0),
        "Yoga": datetime(2026, 3, 11, 18, 0),
        "Sauna": datetime(2026, 3, 12, 20, 0),
    }
    calendar = tuple(ContextEvent(n, title, at) for n, (title, at) in enumerate(starts.items(), 1))
    talk = parse_transcript(f"[Alice]: {said}")
    first, *others = read_relevant(Request(talk, "Alice", now, calendar))
    assert first.request.context == ()
    several = [talk.request.context for talk in others if len(talk.request.context) > 1]
    assert [event.summary for events in several for event in events] == shown


def test_an_event_is_shown_alone_if_its_day_is_named_and_first_if_its_hour_is() -> None:
    now = datetime(2026, 3, 4, 9, 10)  # a Wednesday
    hours = {"Dentist": 10, "Choir": 19, "Yoga": 15}
    calendar = (
        *(
            ContextEvent(n, it, datetime(2026, 3, 6, at))
            for n, (it, at) in enumerate(hours.items())
        ),
        ContextEvent(9, "Chess", datetime(2026, 3, 7, 15)),
    )
    talk = parse_transcript("[Ben]: Friday is bad for me. Could it be at 3 pm?")
    first, *others = read_relevant(Request(talk, "Alice", now, calendar))
    assert first.request.context == ()
    assert [[it.summary for it in talk.request.context] for talk in others] == [
        ["Yoga"],
        ["Dentist"],
    ]
