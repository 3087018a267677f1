"""Runs made of results that never were asked for, as the report and the AI summary get them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from cal_ai.benchmark.asking import Plan
from cal_ai.benchmark.record import total_spent
from cal_ai.benchmark.report import Finished, finish
from cal_ai.benchmark.scoring import Result
from cal_ai.benchmark.store import AnswerStore
from cal_ai.extractors.language_model import GeminiClient
from truemark.records import System

STARTED = datetime(2026, 2, 23, 9, 30, tzinfo=UTC)


def finished_run(*results: Result, cost_usd: float | None = None) -> Finished:
    """Finish a run in which these results came in this order, each at the same cost."""
    store = AnswerStore(Path("reports"), STARTED)
    store.path = Path("reports/benchmark_2026-02-23T09-30-00.answers.jsonl")
    plan = Plan(
        folder=Path("samples"),
        samples=tuple(result.sample for result in results),
        extractor=GeminiClient("no key", "gemini-2.5-pro"),
        output=Path("reports"),
        started=STARTED,
        store=store,
        concurrency=1,
        summary=True,
    )
    finished = finish(plan, results, 4.25)
    run = replace(
        finished.run,
        system=System("gemini-2.5-pro", "gemini", {"model": "gemini-2.5-pro"}),
        signature={"version": "0.1.0", "samples": "0123456789ab"},
    )
    return replace(finished, run=run, spent=total_spent(results, lambda usage: cost_usd))
