"""Conversations that are longer than anybody's, read by the embedded extractor."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest
from tests.cal_ai.sample_folders import CommandLine, write_samples
from tests.hostile.forked import Case, complaints, run

from cal_ai.benchmark.samples import bundled_folder, load_samples
from cal_ai.cli import main as cal_ai_main
from cal_ai.events import ContextEvent, Event
from cal_ai.extractors.protocol import Request
from cal_ai.extractors.reader.decide import Found, read_twice
from cal_ai.extractors.reader.extractor import LONGEST_TALK, read_events
from cal_ai.extractors.reader.limits import TooLong
from cal_ai.extractors.reader.mentions import Dialogue, read_dialogue
from cal_ai.extractors.reader.network import shared_network
from cal_ai.transcripts.reading import parse_transcript
from truemark.services.calls import CallFailed

NOW = datetime(2026, 3, 4, 9, 10)  # a Wednesday
DENTIST = ContextEvent(1, "Dentist", datetime(2026, 3, 5, 10, 0), datetime(2026, 3, 5, 10, 45))
SMALL_TALK = "[Bob]: The weather is nice, and so was the soup.\n[Alice]: Very nice indeed.\n"


def request(text: str, *context: ContextEvent) -> Request:
    return Request(parse_transcript(text), "Alice", NOW, context)


@pytest.mark.parametrize(
    "line",
    ["[A]: ok\n", "[A]: 1:05 pm May 3 2:10 pm May 4 3:15 pm May 5 4:20 pm May 6\n"],
    ids=["short lines", "many times"],
)
def test_a_talk_of_thousands_of_lines_takes_little_memory(tmp_path: Path, line: str) -> None:
    talk = (line * (16_000 // len(line))).encode()
    arguments = ("talk.txt", "--dry-run", "--calendar", "ics:none.ics")
    case = Case("long", "long", cal_ai_main, arguments, {"talk.txt": talk})
    found = complaints(case, run(case, tmp_path), tmp_path)
    assert [it for it in found if not it.endswith(" s")] == []  # how long depends on the machine


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network that reads 100 lines at once, and finds events where "=" is said."""

    def read_each(network: object, talks: Sequence[Dialogue]) -> Sequence[Dialogue]:
        if len(talks[0].lines) > 100:
            raise TooLong
        return talks

    def decide(talk: Dialogue, *others: Dialogue) -> list[Found]:
        return [
            Found(_said(text), 0.9, (line,)) for line, text in enumerate(talk.lines) if "=" in text
        ]

    monkeypatch.setattr("cal_ai.extractors.reader.extractor.read_each", read_each)
    monkeypatch.setattr("cal_ai.extractors.reader.extractor.decide", decide)


def _said(text: str) -> Event:
    what, number = text.split("=")
    if what == "off":
        return Event("delete", "Dentist", existing_event_id=int(number))
    return Event("create", what, start_time=NOW.replace(hour=int(number)))


@pytest.mark.usefixtures("reading")
def test_a_long_talk_is_read_part_by_part_to_its_end() -> None:
    found = read_events(request("[B]: a=10\n" + SMALL_TALK * 400 + "[B]: off=1\n", DENTIST))
    assert [(it.action, it.title, it.reasoning) for it in found] == [
        ("delete", "Dentist", "B: off=1"),
        ("create", "a", "B: a=10"),
    ]


@pytest.mark.usefixtures("reading")
def test_of_what_is_agreed_twice_in_a_long_talk_the_later_counts() -> None:
    said = f"[B]: a=10\n[B]: b=11\n{SMALL_TALK * 400}[B]: c=10\n"
    assert [it.title for it in read_events(request(said))] == ["c", "b"]


def test_no_sample_is_so_long_that_it_is_read_in_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    def halves(transcript: object) -> None:
        raise AssertionError("read in halves")

    longest = sorted(
        load_samples(bundled_folder()), key=lambda it: len(it.request.transcript.as_text())
    )[-3:]
    monkeypatch.setattr("cal_ai.extractors.reader.extractor.halves", halves)
    for sample in longest:
        read_events(sample.request)
    with pytest.raises(AssertionError, match="read in halves"):
        read_events(request(SMALL_TALK * 400))


def test_the_network_reads_no_more_than_so_many_windows_at_once() -> None:
    with pytest.raises(TooLong):
        read_twice(shared_network(), read_dialogue(request(SMALL_TALK * 400)))


@pytest.mark.parametrize("letters", ["m", "u", "h", "ok, ", "9", "1:", "x" * 5 + " ", "("])
def test_one_long_utterance_is_read_in_no_time(letters: str) -> None:
    begun_s = time.process_time()
    said = f"{letters * (60_000 // len(letters))}!"
    read_events(request(f"[Bob]: {said}\n[Alice]: {said[:30_000]}\n"))
    assert time.process_time() - begun_s < 5


def test_a_longer_talk_is_refused_in_one_line(cal_ai: CommandLine) -> None:
    long = SMALL_TALK * (LONGEST_TALK // 50)
    with pytest.raises(CallFailed, match=r"too long: .* expected about 100,000 at most"):
        read_events(request(long))
    (cal_ai.folder / "long.txt").write_text(long)
    ran = cal_ai("long.txt", "--dry-run")
    assert (ran.status, ran.out) == (1, "")
    said = [line for line in ran.err.splitlines() if "the conversation is too long: " in line]
    assert ran.err.splitlines()[2:] == said  # after the extractor and the owner
    assert len(said) == 1


def test_a_talk_that_is_short_but_takes_too_long_is_refused() -> None:
    begun_s = time.process_time()
    with pytest.raises(CallFailed, match="90,000 characters in 30,000 lines"):
        read_events(request("[A]: ok\n" * 30_000))
    assert time.process_time() - begun_s < 10


def test_a_longer_talk_among_the_samples_costs_itself(cal_ai: CommandLine) -> None:
    write_samples(cal_ai.folder / "samples", 2)
    long = cal_ai.folder / "samples" / "crud" / "s001.txt"
    long.write_text(SMALL_TALK * (LONGEST_TALK // 50))
    ran = cal_ai.benchmark("--format", "json")
    assert (ran.status, ran.json["scored"], ran.json["failed"]) == (1, 1, 1)
