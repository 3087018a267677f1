"""What a program of one's own calls: events of a conversation, and a benchmark of an extractor."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from cal_ai.benchmark.record import BenchmarkRun, record_of
from cal_ai.benchmark.run import Plan, measure
from cal_ai.benchmark.samples import default_folder, load_samples
from cal_ai.events import ContextEvent, Event
from cal_ai.extractors.choosing import choose_extractor
from cal_ai.extractors.protocol import Extractor, Request
from cal_ai.settings import load_settings
from cal_ai.transcript import parse_transcript
from truemark.records import Run
from truemark.services.pricing import cost_usd

CALLS_AT_ONCE = 4


def extract_events(
    transcript: str,
    *,
    owner: str | None = None,
    now: datetime | None = None,
    context: Sequence[ContextEvent] = (),
    extractor: Extractor | str | None = None,
) -> tuple[Event, ...]:
    """The calendar changes that the owner of a conversation agreed to.

    The extractor is one of your own, or a name that `--extractor` takes; settings come from the
    environment and `.env`. Raises an `CallFailed` or a `TruemarkError` where there are none.
    """
    settings = load_settings(os.environ, owner=owner)
    request = Request(
        parse_transcript(transcript), settings.owner, now or settings.now(), tuple(context)
    )
    return asyncio.run(_extracted(_chosen(extractor), request))


def run_benchmark(
    folder: str | Path | None = None,
    *,
    extractor: Extractor | str | None = None,
    repeats: int = 1,
) -> Run:
    """The record of a run over the samples of a folder, by default the bundled ones.

    Nothing is written: `truemark.write_run` keeps the record, `truemark.compare` compares it.
    """
    samples = load_samples(Path(folder) if folder is not None else default_folder())
    chosen = _chosen(extractor)
    plan = Plan(
        samples=samples,
        extractor=chosen,
        output=Path(),
        started=datetime.now().astimezone(),
        store=None,
        concurrency=CALLS_AT_ONCE,
        summary=False,
        repeats=repeats,
    )
    run = asyncio.run(_measured(plan))
    record = record_of(run, partial(cost_usd, model=run.model))
    return replace(record, findings=tuple(record.findings))


def _chosen(extractor: Extractor | str | None) -> Extractor:
    if extractor is None or isinstance(extractor, str):
        return choose_extractor(extractor, load_settings(os.environ))
    return extractor


async def _extracted(extractor: Extractor, request: Request) -> tuple[Event, ...]:
    try:
        return (await extractor.extract_events(request)).events
    finally:
        await extractor.close()


async def _measured(plan: Plan) -> BenchmarkRun:
    try:
        return await measure(plan)
    finally:
        await plan.extractor.close()
