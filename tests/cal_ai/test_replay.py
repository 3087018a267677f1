from __future__ import annotations

import asyncio
import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from testing.answers import store_answer

from cal_ai.events import ContextEvent, Event
from cal_ai.extractors.answers import render_answer
from cal_ai.extractors.protocol import Extraction, Request
from cal_ai.extractors.replay import Recorded, ReplayExtractor, open_recording, request_fingerprint
from cal_ai.transcripts.reading import parse_transcript
from truemark.errors import TruemarkError
from truemark.services.calls import CallFailed, Usage

NOW = datetime(2026, 2, 20, 10, 0)
REQUEST = Request(parse_transcript("[Alice]: Lunch at noon.\n[Bob]: Yes."), "Alice", NOW)
LUNCH = Event("create", "Lunch", datetime(2026, 2, 20, 12, 0), confidence="high")
SPENT = Usage(100, 20, 5, 125)


def recorded(request: Request = REQUEST, *, model: str = "g-1", raw: str | None = None) -> Recorded:
    fingerprint = request_fingerprint(request, "gemini", model)
    text = render_answer([LUNCH]) if raw is None else raw
    return Recorded("crud/lunch", fingerprint, "gemini", model, text, SPENT, 2.5, 2)


def replayed(file: Path, request: Request = REQUEST) -> Extraction:
    return asyncio.run(ReplayExtractor(file).extract_events(request))


def talk(words: str) -> Request:
    return replace(REQUEST, transcript=parse_transcript(f"[Alice]: {words}"))


def test_a_stored_answer_comes_back_with_all_it_took(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    store_answer(file, recorded())

    extraction = replayed(file)

    assert extraction == Extraction((LUNCH,), SPENT, 2, render_answer([LUNCH]), 2.5)


def test_a_count_of_tokens_that_cannot_be_is_unknown(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    store_answer(file, replace(recorded(), usage=Usage(-100, 20, 5, 125)))

    assert replayed(file).usage == Usage(None, 20, 5, 125)


def test_the_model_is_the_one_that_answered(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    store_answer(file, recorded())

    extractor = ReplayExtractor(file)

    assert (extractor.name, extractor.model) == ("replay", "g-1")


def test_a_changed_prompt_needs_new_answers_but_can_replay_the_old(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    before = recorded()
    store_answer(file, before)
    changed = request_fingerprint(REQUEST, "gemini", "g-1", {"prompt": "another"})

    assert open_recording(file).find(changed) is None
    assert open_recording(file).find(before.fingerprint) == before
    assert replayed(file).events == (LUNCH,)


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, owner="Bob"),
        replace(REQUEST, now=NOW.replace(hour=11)),
        replace(REQUEST, now=NOW.replace(tzinfo=UTC)),
        replace(REQUEST, context=(ContextEvent(1, "Sync", NOW),)),
        talk("Dinner."),
    ],
    ids=["owner", "time", "time zone", "calendar", "words"],
)
def test_another_question_has_another_fingerprint(tmp_path: Path, other: Request) -> None:
    file = tmp_path / "run.jsonl"
    store_answer(file, recorded())

    with pytest.raises(CallFailed, match=r"^no stored answer in .*run\.jsonl$"):
        replayed(file, other)


def test_the_later_of_two_answers_counts(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    store_answer(file, recorded(raw="[]"))
    store_answer(file, recorded())

    assert replayed(file).events == (LUNCH,)


def test_an_answer_that_cannot_be_read_fails_with_its_reason(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    store_answer(file, recorded(raw="I found nothing."))

    with pytest.raises(CallFailed, match="unusable answer: the answer is 'I found") as failed:
        replayed(file)
    assert (failed.value.usage, failed.value.attempts) == (SPENT, 2)


def test_torn_and_foreign_lines_are_skipped_with_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    file.write_text('{"f1": 0.5}\nnonsense\n{"fingerprint": 3}\n', encoding="utf-8")
    store_answer(file, recorded())
    with file.open("ab") as stream:
        stream.write(b'{"sample": "crud/torn", "finger')

    extractor = ReplayExtractor(file)

    assert asyncio.run(extractor.extract_events(REQUEST)).events == (LUNCH,)
    assert len(extractor.recording.warnings) == 4


def test_answers_after_a_torn_line_are_whole(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    file.write_bytes(b'{"sample": "crud/torn", "finger')
    store_answer(file, recorded())

    assert replayed(file).events == (LUNCH,)


def test_any_characters_survive_storage(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    raw = render_answer([replace(LUNCH, title="昼食 \u2028 \U0001f35c")]) + "\n\n```\r\n"
    store_answer(file, recorded(raw=raw))

    assert replayed(file).raw == raw


def test_answers_of_two_models_in_one_file_are_not_mixed(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    store_answer(file, recorded(model="g-1"))
    store_answer(file, recorded(model="g-2"))

    with pytest.raises(TruemarkError, match="answers of gemini g-1, gemini g-2 in one file"):
        ReplayExtractor(file)


def test_a_file_without_answers_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    file.write_text('{"f1": 0.5}\n', encoding="utf-8")

    with pytest.raises(TruemarkError, match=r"run\.jsonl: no stored answers in it"):
        ReplayExtractor(file)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TruemarkError, match="is a folder, expected a file"):
        ReplayExtractor(tmp_path)


def test_memory_does_not_grow_with_the_size_of_the_answers(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    requests = [talk(f"Talk number {number}.") for number in range(40)]
    padded = render_answer([replace(LUNCH, reasoning="x" * 250_000)])
    for request in requests:
        store_answer(file, recorded(request, raw=padded))
    assert file.stat().st_size > 10_000_000

    tracemalloc.start()
    extractor = ReplayExtractor(file)
    for request in requests:
        asyncio.run(extractor.extract_events(request))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 4_000_000
