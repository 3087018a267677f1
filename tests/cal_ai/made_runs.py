"""Runs made of results that never were asked for, as the report and the AI summary get them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from cal_ai.benchmark.overview import Overview, look_over
from cal_ai.benchmark.record import BenchmarkRun, Gathered, Price
from cal_ai.benchmark.report import AnswerParts
from cal_ai.benchmark.samples import SampleSet
from cal_ai.benchmark.scoring import Result
from truemark.records import System
from truemark.signature import Signature

STARTED = datetime(2026, 2, 23, 9, 30, tzinfo=UTC)


def made_run(*results: Result) -> tuple[BenchmarkRun, AnswerParts]:
    """A run in which these results came in this order, and what the report says of them."""
    gathered, parts = Gathered(len(results)), AnswerParts(len(results))
    for place, one in enumerate(gathered.add(list(enumerate(results)))):
        parts.add(place, one)
    run = BenchmarkRun(
        started=STARTED,
        samples=SampleSet(Path("samples"), tuple(it.sample for it in results), ()),
        extractor="gemini",
        model="gemini-2.5-pro",
        system=System("gemini-2.5-pro", "gemini", {"model": "gemini-2.5-pro"}),
        signature=Signature((("version", "0.1.0"), ("samples", "0123456789ab"))),
        answers=gathered.tally.answers,
        gathered=gathered,
        wall_s=4.25,
        recording=Path("reports/benchmark_2026-02-23T09-30-00.answers.jsonl"),
    )
    return run, parts


def overview_of(*results: Result, price: Price = lambda usage: None) -> Overview:
    """The numbers about such a run."""
    run, _ = made_run(*results)
    return look_over(run, price)
