"""Extractors of a user's own: callables and programs."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from cal_ai.cli import main
from cal_ai.events import ContextEvent, Event
from cal_ai.extractors.choosing import choose_extractor
from cal_ai.extractors.custom import request_fields
from cal_ai.extractors.protocol import Extraction, Request, identity_of
from cal_ai.settings import Settings
from cal_ai.transcripts.reading import parse_transcript
from truemark.errors import TruemarkError
from truemark.services.calls import CallFailed

NOON = datetime(2026, 2, 23, 12, 0)
REQUEST = Request(
    parse_transcript("[Bob]: Lunch on Monday?\n[Alice]: Gladly, at noon."),
    "Alice",
    datetime(2026, 2, 20, 10, 0, tzinfo=ZoneInfo("Europe/Berlin")),
    (ContextEvent(1, "Gym", NOON, None, "Hall 2"),),
)
LUNCH = Event("create", "Lunch", NOON)
CALLABLES = """
import asyncio, time
from datetime import datetime
from cal_ai.events import Event

def dicts(request):
    who = request.transcript.utterances[0].speaker
    noon = datetime(2026, 2, 23, 12)
    return [{"action": "create", "title": "Lunch", "start_time": noon, "attendees": (who,)}]

def events(request):
    return (Event("create", "Lunch", datetime(2026, 2, 23, 12)),)

async def waits(request):
    await asyncio.sleep(0)
    return {"events": dicts(request)}

def text(request):
    return 'Here you are: {"events": []}'

def nothing(request):
    return []

def raises(request):
    raise KeyError("title")

def slow(request):
    time.sleep(0.2)
    return []

def number(request):
    return 7

def objects(request):
    return [object()]

def half(request):
    return [{"action": "create"}]

def sleeps(request):
    time.sleep(30)

async def blocks(request):
    time.sleep(30)

def leaves(request):
    raise SystemExit(0)

async def leaves_later(request):
    raise SystemExit("enough")

async def collapses(request):
    raise BaseException("worse luck")

async def closes(request):
    raise GeneratorExit

def interrupts(request):
    raise KeyboardInterrupt

def runs_out(request):
    return next(iter(()))

def stumbles(request):
    yield {"action": "create", "title": "Lunch"}
    raise KeyError("title")

class Broken(list):
    def __iter__(self):
        raise ValueError("no use of sk-own-0123456789")

def broken(request):
    return Broken()

async def broken_later(request):
    return Broken()

def deep(request):
    events = {}
    for _ in range(100_000):
        events = {"events": events}
    return events

class Wordless(Exception):
    def __str__(self):
        raise RuntimeError("sk-own-0123456789")

def wordless(request):
    raise Wordless

def cancels(request):
    raise asyncio.CancelledError

async def cancels_later(request):
    raise asyncio.CancelledError

def prints(request):
    print("with sk-own-0123456789")
    return [{"action": "create", "title": "Lunch"}]

async def prints_later(request):
    return prints(request)

def prints_on(request):
    time.sleep(0.5)
    print("late")

def endless(request):
    while True:
        yield {"action": "create", "title": "Lunch"}
"""
PROGRAM = """
import json, sys
request = json.load(sys.stdin)
if "--fail" in sys.argv:
    sys.exit("no model here")
said = " ".join(one["words"] for one in request["transcript"])
events = [{"action": "create", "title": "Lunch", "start_time": "2026-02-23T12:00:00"}]
print(json.dumps({"events": events if "Lunch" in said else []}))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_extractors.py").write_text(CALLABLES, encoding="utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    yield tmp_path
    sys.modules.pop("own_extractors", None)


def extract(name: str, timeout_s: float = 30.0) -> Extraction:
    async def run() -> Extraction:
        extractor = choose_extractor(name, Settings(), timeout_s=timeout_s)
        try:
            return await extractor.extract_events(REQUEST)
        finally:
            await extractor.close()

    return asyncio.run(run())


@pytest.mark.parametrize("name", ["dicts", "events", "waits"])
def test_a_callable_returns_events_in_each_form(folder: Path, name: str) -> None:
    found = extract(f"py:own_extractors:{name}")

    (event,) = found.events
    assert (event.action, event.title, event.start_time) == ("create", "Lunch", NOON)
    assert event.attendees == (() if name == "events" else ("Bob",))
    assert json.loads(found.raw)["events"]
    assert found.usage is None


def test_the_wait_for_other_calls_counts_neither_as_latency_nor_for_the_timeout(
    folder: Path,
) -> None:
    async def run() -> list[Extraction]:
        extractor = choose_extractor("py:own_extractors:slow", Settings(), timeout_s=0.5)
        try:
            calls = [extractor.extract_events(REQUEST) for _ in range(4)]
            return await asyncio.gather(*calls)
        finally:
            await extractor.close()

    latencies_s = [extraction.latency_s or 0.0 for extraction in asyncio.run(run())]
    assert all(0.15 < latency_s < 0.45 for latency_s in latencies_s), latencies_s


@pytest.mark.parametrize("name", ["text", "nothing"])
def test_no_events_are_an_answer(folder: Path, name: str) -> None:
    assert extract(f"py:own_extractors:{name}").events == ()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("raises", "py:own_extractors:raises raised KeyError: 'title'"),
        ("number", "returned a int, expected a list of events"),
        ("objects", "returned something that is not an event: object is not part of an event"),
        ("half", "unusable answer: events[0].title is missing"),
        ("sleeps", "no answer within 0.3 s"),
        ("blocks", "no answer within 0.3 s"),
        ("leaves", "raised SystemExit: 0"),
        ("leaves_later", "raised SystemExit: enough"),
        ("collapses", "raised BaseException: worse luck"),
        ("closes", "raised GeneratorExit"),
        ("interrupts", "raised KeyboardInterrupt"),
        ("runs_out", "raised StopIteration"),
        ("stumbles", "raised KeyError: 'title'"),
        ("endless", "returned more than 1,000 events"),
        ("broken", "raised ValueError: no use of [key]"),
        ("broken_later", "raised ValueError: no use of [key]"),
        ("deep", "returned something that is not an event: maximum recursion depth exceeded"),
        ("wordless", "py:own_extractors:wordless raised Wordless"),
        ("cancels", "raised CancelledError"),
        ("cancels_later", "raised CancelledError"),
    ],
)
def test_a_callable_that_fails_fails_that_sample_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, reason: str
) -> None:
    monkeypatch.setenv("OWN_API_KEY", "sk-own-0123456789")
    with pytest.raises(CallFailed) as caught:
        extract(f"py:own_extractors:{name}", 0.3 if name in ("sleeps", "blocks") else 5.0)
    assert reason in caught.value.reason


@pytest.mark.parametrize("name", ["prints", "prints_later"])
def test_what_a_callable_prints_goes_to_standard_error_without_keys(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
) -> None:
    monkeypatch.setenv("OWN_API_KEY", "sk-own-0123456789")
    assert len(extract(f"py:own_extractors:{name}").events) == 1
    assert capsys.readouterr() == ("", "with [key]\n")


def test_a_callable_that_is_late_prints_to_standard_error_and_others_as_before(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CallFailed, match="no answer within"):
        extract("py:own_extractors:prints_on", 0.1)
    print("result")
    time.sleep(1.0)
    assert capsys.readouterr() == ("result\n", "late\n")


def test_a_program_reads_the_request_and_prints_events(folder: Path) -> None:
    assert extract(f"cmd:{sys.executable} program.py").events == (LUNCH,)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("{python} program.py --fail", "ended with status 1: no model here"),
        ("echo hello", "unusable answer: the answer is 'hello'"),
        ("sleep 30", "gave no answer within 0.3 s and was stopped"),
        ("true", "unusable answer: the answer is empty"),
        ("yes", "bytes for one text and was stopped"),
    ],
)
def test_a_program_that_fails_fails_that_sample_alone(
    folder: Path, command: str, reason: str
) -> None:
    with pytest.raises(CallFailed) as caught:
        extract(f"cmd:{command.format(python=sys.executable)}", 0.3 if "within" in reason else 30.0)
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("py:own_extractors:absent", "own_extractors has no absent"),
        ("py:absent_module:f", "no module absent_module"),
        ("cmd:no-such-program", "no-such-program: no such program; check the name and PATH"),
        ("cmd:sh -c 'open", "cannot be read as a command"),
    ],
)
def test_an_extractor_that_is_not_there_stops_the_run(folder: Path, name: str, reason: str) -> None:
    with pytest.raises(TruemarkError) as caught:
        choose_extractor(name, Settings())
    assert reason in str(caught.value)


def test_the_request_of_a_program_has_all_that_an_extractor_may_know() -> None:
    assert request_fields(REQUEST) == {
        "owner": "Alice",
        "now": "2026-02-20T10:00:00+01:00",
        "timezone": "Europe/Berlin",
        "calendar": [
            {
                "id": 1,
                "summary": "Gym",
                "start": "2026-02-23T12:00:00",
                "end": None,
                "location": "Hall 2",
            }
        ],
        "transcript": [
            {"speaker": "Bob", "words": "Lunch on Monday?"},
            {"speaker": "Alice", "words": "Gladly, at noon."},
        ],
    }


def test_the_identity_moves_with_the_file(folder: Path) -> None:
    def identity() -> dict[str, str]:
        return identity_of(choose_extractor(f"cmd:{sys.executable} program.py", Settings()))

    before = identity()
    (folder / "program.py").write_text(PROGRAM + "\n# other words\n", encoding="utf-8")
    assert identity() != before


@pytest.mark.parametrize("flags", [("--model", "m"), ("--prompt", "p.txt")])
def test_an_own_extractor_takes_neither_model_nor_prompt(
    folder: Path, flags: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "p.txt").write_text("{owner}")
    assert main(["benchmark", "--extractor", "cmd:cat", *flags]) == 1
    assert f"{flags[0]} is '{flags[1]}', but the extractor cmd takes no" in capsys.readouterr().err


def test_a_benchmark_scores_an_own_extractor(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = folder / "talks" / "easy"
    samples.mkdir(parents=True)
    (samples / "lunch.txt").write_text("[Bob]: Lunch on Monday at noon?\n[Alice]: Gladly.\n")
    event = {"action": "create", "title": "Lunch", "start_time": "2026-02-23T12:00:00"}
    (samples / "lunch.expected.json").write_text(json.dumps({"expected_events": [event]}))
    for extractor in (f"cmd:{sys.executable} program.py", "py:own_extractors:dicts"):
        status = main(["benchmark", "talks", "--extractor", extractor, "--output", "out"])
        said = capsys.readouterr()
        assert status == 0, said.err
        assert "P=1.00 R=1.00" in said.err
        assert extractor in said.err


def test_the_prompt_is_printed_and_taken_back(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prompt"]) == 0
    printed = capsys.readouterr().out
    assert "{conversation}" in printed
    (folder / "mine.txt").write_text(printed.replace("{now}", "{today}"), encoding="utf-8")
    status = main(["benchmark", "--extractor", "openai", "--model", "m", "--prompt", "mine.txt"])
    assert status == 1
    assert "error: mine.txt: unknown placeholder {today}, expected" in capsys.readouterr().err


def test_an_error_without_words_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "talk.txt").write_text("[Alice]: Lunch?\n", encoding="utf-8")
    assert main(["talk.txt", "--dry-run", "--extractor", "py:own_extractors:wordless"]) == 1
    assert capsys.readouterr().err.endswith("py:own_extractors:wordless raised Wordless\n")
