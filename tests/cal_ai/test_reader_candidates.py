"""Times of a conversation, the pairs made of them, and the spans those stand for."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest

from cal_ai.events import ContextEvent
from cal_ai.extractors.protocol import Request
from cal_ai.extractors.reader.candidates import NONE, find_candidates
from cal_ai.extractors.reader.mentions import Dialogue, Mention, read_dialogue
from cal_ai.extractors.reader.spans import changed_span, new_span
from cal_ai.transcripts.reading import parse_transcript

NOW = datetime(2026, 3, 4, 9, 10)  # a Wednesday
SYNC = ContextEvent(1, "Team sync", datetime(2026, 3, 5, 15, 0), datetime(2026, 3, 5, 15, 30))


def talk(*lines: str, context: tuple[ContextEvent, ...] = ()) -> Dialogue:
    spoken = "\n".join(f"[{'Ann' if n % 2 else 'Ben'}]: {line}" for n, line in enumerate(lines))
    return read_dialogue(Request(parse_transcript(spoken), "Ann", NOW, context))


def values(found: Dialogue, kind: str) -> list[object]:
    return [it.value for it in found.mentions if it.kind == kind]


def mention(found: Dialogue, kind: str) -> Mention:
    return next(it for it in found.mentions if it.kind == kind)


@pytest.mark.parametrize(
    ("line", "minute"),
    [
        ("Friday, 1730 sharp.", 1050),
        ("Say eighteen hundred?", 1080),
        ("At zero nine hundred, over.", 540),
        ("Wednesday, fifteen thirty.", 930),
        ("14.30?", 870),
        ("tues week 1400 hours", 840),
    ],
)
def test_the_hours_of_timetables_and_radio_are_clock_times(line: str, minute: int) -> None:
    assert minute in values(talk(line), "clock")


@pytest.mark.parametrize(
    "line", ["It cost 1730 euros.", "We sat down.", "In 2027 we move.", "The sun is out."]
)
def test_other_numbers_and_words_are_no_times(line: str) -> None:
    assert talk(line).mentions == ()


def test_a_date_with_a_slash_is_the_nearer_of_its_two_readings() -> None:
    assert values(talk("The 12/3 at 5?"), "day") == [date(2026, 3, 12)]
    assert values(talk("So 4/10?"), "day") == [date(2026, 4, 10)]


def test_a_number_means_the_day_of_the_month_that_was_said() -> None:
    there_and_back = talk("The 4th of August, and back on the 18th.", "The 18th.", "The 5th.")
    dates = [date(2026, 8, 4), date(2026, 8, 18), date(2026, 8, 18), date(2026, 3, 5)]
    assert values(there_and_back, "day") == dates
    assert values(talk("The 24th, a Friday.", "The 24th, then."), "day") == [date(2026, 4, 24)] * 2


def test_weekdays_after_a_named_week_are_those_of_that_week() -> None:
    found = talk("Next week is better.", "Friday then?")
    assert values(found, "day") == [date(2026, 3, 13)]


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ("Thursday the 12th at noon.", date(2026, 3, 12)),
        ("Next Thursday, March 12.", date(2026, 3, 12)),
        ("Thursday next week is free.", date(2026, 3, 12)),
        ("The 12th is free.", date(2026, 3, 5)),
    ],
)
def test_a_weekday_whose_date_was_said_means_that_day_again(first: str, expected: date) -> None:
    assert values(talk(first, "Thursday then."), "day")[-1] == expected
    later = talk(first, "Hm.", "Well.", "Let me see.", "Thursday then.")
    assert values(later, "day")[-1] == date(2026, 3, 5)


@pytest.mark.parametrize(
    ("line", "minutes"),
    [
        ("Tonight at eight?", [1200]),
        ("Tuesday evening at 6 and Wednesday morning at 10.", [1080, 600]),
        ("At half past nine on Friday, in the evening.", [1290]),
        ("Saturday night, around 9.", [1260]),
        ("In the morning, 4 works.", [240]),
        ("Friday evening. At 7?", [420]),
    ],
)
def test_an_hour_beside_a_part_of_the_day_is_in_that_half(line: str, minutes: list[int]) -> None:
    assert values(talk(line), "clock") == minutes


def test_the_half_of_the_day_beside_it_makes_an_hour_certain() -> None:
    clocks = [it.clock for it in talk("This evening 8 to 11.", "At 8?").mentions if it.clock]
    assert [(it.minute, it.until, it.certain) for it in clocks] == [
        (1200, 1380, True),
        (480, None, False),
    ]


def test_the_day_after_counts_from_the_day_spoken_of() -> None:
    assert values(talk("Not Friday.", "The day after?"), "day")[-1] == date(2026, 3, 7)


def test_a_time_that_comes_up_twice_is_one_candidate() -> None:
    found = talk("Friday at 7 pm?", "19:00 on Friday it is.")
    nodes = find_candidates(found).nodes
    assert [(node.kind, len(node.mentions)) for node in nodes] == [("day", 2), ("clock", 2)]


def test_seven_in_the_morning_and_in_the_evening_are_two_candidates() -> None:
    nodes = find_candidates(talk("Friday at 7 am or 7 pm?")).nodes
    assert sum(node.kind == "clock" for node in nodes) == 2


def test_every_time_is_paired_with_every_day_and_with_none() -> None:
    found = find_candidates(talk("Friday at 7 pm or Saturday at 8 pm?"))
    pairs = {(pair.when, pair.day) for pair in found.pairs}
    assert len(pairs) == 3 * 3 - 1
    assert (NONE, NONE) not in pairs


def test_times_far_apart_are_no_pair() -> None:
    found = talk("Friday?", *["Hm."] * 30, "At 7 pm.")
    pairs = find_candidates(found).pairs
    assert all(NONE in (pair.when, pair.day) for pair in pairs)


def test_the_number_of_pairs_is_bounded() -> None:
    days = " ".join(f"on {month} {day}," for month in ("May", "June") for day in range(1, 31))
    clocks = " ".join(f"at {hour}:{minute:02}," for hour in range(13, 23) for minute in (0, 15, 30))
    assert len(find_candidates(talk(days, clocks)).pairs) <= 600


def test_a_bare_hour_is_before_or_after_noon_as_decided() -> None:
    found = talk("Friday at 7?")
    when, day = mention(found, "clock"), mention(found, "day")
    for late, hour in ((False, 7), (True, 19)):
        span = new_span(found, when, day, "Dinner", late=late)
        assert span is not None
        assert span.start == datetime(2026, 3, 6, hour, 0)


def test_the_end_is_the_one_said_else_the_length_said_else_what_is_usual() -> None:
    for line, minutes in (
        ("from 2 pm to 5 pm", 180),
        ("at 2 pm for 45 minutes", 45),
        ("at 2 pm", 60),
    ):
        found = talk(f"Friday {line}.")
        span = new_span(found, mention(found, "clock"), mention(found, "day"), "Inspection")
        assert span is not None
        assert span.end - span.start == timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("line", "start", "end"),
    [
        ("Let's make it 4 pm.", datetime(2026, 3, 5, 16, 0), datetime(2026, 3, 5, 16, 30)),
        ("Push it back an hour.", datetime(2026, 3, 5, 16, 0), datetime(2026, 3, 5, 16, 30)),
        ("Make it an hour longer.", datetime(2026, 3, 5, 15, 0), datetime(2026, 3, 5, 16, 30)),
    ],
)
def test_a_moved_event_keeps_what_was_not_said(line: str, start: datetime, end: datetime) -> None:
    found = talk(line, context=(SYNC,))
    span = changed_span(found, SYNC, found.mentions[0], None)
    assert (span.start, span.end) == (start, end)


def test_a_bare_hour_to_which_something_is_moved_is_the_one_nearer_to_the_old() -> None:
    found = talk("Can we do 4 instead?", context=(SYNC,))
    assert changed_span(found, SYNC, found.mentions[0], None).start.hour == 16


@pytest.mark.parametrize(
    ("start", "said", "expected"),
    [
        (datetime(2026, 3, 11, 8), "Thursday instead of Wednesday.", date(2026, 3, 12)),
        (datetime(2026, 3, 11, 8), "Thursday the 5th instead.", date(2026, 3, 5)),
        (datetime(2026, 3, 11, 8), "This Thursday instead.", date(2026, 3, 5)),
        (datetime(2026, 3, 6, 8), "Monday instead.", date(2026, 3, 9)),
        (datetime(2026, 3, 6, 8), "Thursday instead.", date(2026, 3, 5)),
    ],
)
def test_a_weekday_to_which_something_is_moved_is_in_its_week_unless_that_is_past(
    start: datetime, said: str, expected: date
) -> None:
    event = ContextEvent(1, "Forklift repair", start, start + timedelta(hours=1))
    found = talk(said)
    slot = changed_span(found, event, None, mention(found, "day"))
    assert slot.start == datetime.combine(expected, start.time())


def test_another_week_keeps_the_weekday() -> None:
    found = talk("Let's do it next week.", context=(SYNC,))
    assert changed_span(found, SYNC, None, mention(found, "week")).start == datetime(
        2026, 3, 12, 15
    )
