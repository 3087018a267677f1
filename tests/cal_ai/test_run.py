"""The runner itself, with extractors that are scripted rather than called over a network."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.cal_ai.sample_folders import write_sample, write_samples

from cal_ai.benchmark.asking import Plan, extract_all
from cal_ai.benchmark.record import run_signature
from cal_ai.benchmark.samples import load_samples
from cal_ai.benchmark.scoring import Failed, Result, Scored
from cal_ai.benchmark.store import AnswerStore, create_new
from cal_ai.events import Event
from cal_ai.extractors.protocol import Extraction, Request
from truemark.errors import TruemarkError
from truemark.services.calls import CallFailed, FatalCallError, Usage

STARTED = datetime(2026, 2, 23, 9, 30, tzinfo=UTC)
Script = Callable[[str], Awaitable[Extraction]]


class Scripted:
    """An extractor that does as told for each sample, and counts how many it works on at once."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.in_flight = 0
        self.most_in_flight = 0
        self.asked: list[str] = []

    @property
    def name(self) -> str:
        return "scripted"

    @property
    def model(self) -> str | None:
        return "script-1"

    async def extract_events(self, request: Request) -> Extraction:
        name = request.transcript.utterances[0].words
        self.asked.append(name)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._script(name)
        finally:
            self.in_flight -= 1

    async def close(self) -> None:
        """Nothing is held open."""


def lunch(latency_s: float | None = None) -> Extraction:
    start = datetime(2026, 2, 21, 12, 0)
    event = Event("create", "Lunch", start, start.replace(hour=13))
    return Extraction((event,), Usage(10, 5, 0, 15), 1, '{"events": []}', latency_s)


def run(
    folder: Path, script: Script, *, concurrency: int = 4
) -> tuple[tuple[Result, ...], list[str], Scripted]:
    """The results, the samples in the order in which they ended, and the extractor."""
    extractor, ended = Scripted(script), list[Result]()
    plan = Plan(
        folder=folder / "samples",
        samples=load_samples(folder / "samples"),
        extractor=extractor,
        output=folder,
        started=STARTED,
        store=AnswerStore(folder, STARTED),
        concurrency=concurrency,
        summary=False,
    )
    results = asyncio.run(extract_all(plan, ended.append))
    return results, [result.sample.id for result in ended], extractor


def stored_lines(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("*.answers.jsonl"))


@pytest.mark.parametrize(("concurrency", "most"), [(1, 1), (3, 3), (100, 7)])
def test_no_more_calls_are_in_flight_than_asked_for(
    tmp_path: Path, concurrency: int, most: int
) -> None:
    write_samples(tmp_path / "samples", 7)

    async def script(_: str) -> Extraction:
        await asyncio.sleep(0.01)
        return lunch()

    _, _, extractor = run(tmp_path, script, concurrency=concurrency)
    assert extractor.most_in_flight == most


def test_results_come_in_the_order_of_samples_whichever_ends_first(tmp_path: Path) -> None:
    names = write_samples(tmp_path / "samples", 4)

    async def script(name: str) -> Extraction:
        await asyncio.sleep(0.2 if "s000" in name else 0)
        return lunch()

    results, ended, _ = run(tmp_path, script)
    assert [result.sample.id for result in results] == names
    assert ended[-1] == names[0]


def test_an_answer_is_on_disk_before_the_sample_is_said_to_have_ended(tmp_path: Path) -> None:
    write_samples(tmp_path / "samples", 5)
    seen: list[int] = []

    async def script(_: str) -> Extraction:
        return lunch()

    plan = Plan(
        tmp_path / "samples",
        load_samples(tmp_path / "samples"),
        Scripted(script),
        tmp_path,
        STARTED,
        AnswerStore(tmp_path, STARTED),
        concurrency=1,
        summary=False,
    )
    asyncio.run(extract_all(plan, lambda _: seen.append(stored_lines(tmp_path))))
    assert seen == [1, 2, 3, 4, 5]


def test_one_sample_failing_leaves_the_others_alone(tmp_path: Path) -> None:
    write_samples(tmp_path / "samples", 3)

    async def script(name: str) -> Extraction:
        if "s001" in name:
            raise CallFailed("no answer", usage=Usage(7, 0, 0, 7), attempts=3)
        return lunch()

    results, _, _ = run(tmp_path, script)
    failed = results[1]
    assert isinstance(failed, Failed)
    assert (failed.reason, failed.spent.attempts) == ("no answer", 3)
    assert failed.spent.usage == Usage(7, 0, 0, 7)
    assert all(isinstance(result, Scored) for result in (results[0], results[2]))


def test_a_defect_that_one_sample_brings_to_light_fails_that_sample(tmp_path: Path) -> None:
    write_samples(tmp_path / "samples", 3)

    async def script(name: str) -> Extraction:
        return lunch() if "s001" not in name else [][1]

    results, _, _ = run(tmp_path, script)
    assert isinstance(results[1], Failed)
    assert results[1].reason == "internal error: IndexError: list index out of range"
    assert isinstance(results[2], Scored)


def test_a_refusal_of_everything_stops_the_run_and_keeps_what_came(tmp_path: Path) -> None:
    write_samples(tmp_path / "samples", 9)
    cancelled: list[str] = []

    async def script(name: str) -> Extraction:
        if "s002" in name:
            await asyncio.sleep(0.05)
            raise FatalCallError("401; check the key")
        if "s003" in name:
            try:
                await asyncio.sleep(60)
            finally:
                cancelled.append(name)
        return lunch()

    with pytest.raises(FatalCallError, match="401; check the key"):
        run(tmp_path, script, concurrency=2)
    assert cancelled == ["sample <crud/s003>"]
    assert stored_lines(tmp_path) == 2


def test_a_full_disk_stops_the_run_with_an_error_for_the_user(tmp_path: Path) -> None:
    write_samples(tmp_path / "samples", 3)
    (tmp_path / "reports").touch()

    async def script(_: str) -> Extraction:
        return lunch()

    plan = Plan(
        tmp_path / "samples",
        load_samples(tmp_path / "samples"),
        Scripted(script),
        tmp_path,
        STARTED,
        AnswerStore(tmp_path / "reports", STARTED),
        concurrency=1,
        summary=False,
    )
    with pytest.raises(TruemarkError, match="cannot be written"):
        asyncio.run(extract_all(plan, lambda _: None))


def test_the_extractors_own_clock_counts_where_it_has_one(tmp_path: Path) -> None:
    write_samples(tmp_path / "samples", 2)

    async def script(name: str) -> Extraction:
        await asyncio.sleep(0.02)
        return lunch(latency_s=7.5 if "s000" in name else None)

    results, _, _ = run(tmp_path, script)
    assert results[0].spent.latency_s == 7.5
    assert 0.02 <= results[1].spent.latency_s < 5


def test_new_files_of_the_same_second_get_names_of_their_own(tmp_path: Path) -> None:
    names = [create_new(tmp_path, STARTED, ".md").name for _ in range(3)]
    assert names == [
        "benchmark_2026-02-23T09-30-00.md",
        "benchmark_2026-02-23T09-30-00_2.md",
        "benchmark_2026-02-23T09-30-00_3.md",
    ]


def test_the_signature_follows_the_samples(tmp_path: Path) -> None:
    write_samples(tmp_path / "samples", 2)
    first = signature(tmp_path)
    assert list(first) == ["samples", "tolerance"]
    assert signature(tmp_path) == first
    write_sample(tmp_path / "samples", "crud/s001", tolerance="strict")
    assert signature(tmp_path) != first


def signature(folder: Path) -> dict[str, str]:
    return run_signature(sample.digest for sample in load_samples(folder / "samples"))
