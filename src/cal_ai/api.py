"""The Python API: extract the events of a conversation, and benchmark an extractor."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from cal_ai.benchmark.asking import Plan, extract_all
from cal_ai.benchmark.record import record_run
from cal_ai.benchmark.samples import default_folder, load_samples
from cal_ai.defaults import CALLS_AT_ONCE
from cal_ai.events import ContextEvent, Event
from cal_ai.extractors.choosing import choose_extractor
from cal_ai.extractors.protocol import Extractor, Request, extract_and_close
from cal_ai.settings import load_settings
from cal_ai.transcripts.reading import parse_transcript
from truemark.records import Run


def extract_events(
    transcript: str,
    *,
    owner: str | None = None,
    now: datetime | None = None,
    context: Sequence[ContextEvent] = (),
    extractor: Extractor | str | None = None,
) -> tuple[Event, ...]:
    """Find the calendar changes that the owner of a conversation agreed to.

    The extractor is an object of your own, or a name that `--extractor` takes; settings come from
    the environment and `.env`. Raises a `CallFailed` or a `TruemarkError` if extraction fails.
    """
    settings = load_settings(os.environ, owner=owner)
    request = Request(
        parse_transcript(transcript), settings.owner, now or settings.now(), tuple(context)
    )
    return asyncio.run(extract_and_close(_find_extractor(extractor), request)).events


def run_benchmark(
    folder: str | Path | None = None,
    *,
    extractor: Extractor | str | None = None,
    repeats: int = 1,
) -> Run:
    """Benchmark an extractor on the samples of a folder, by default the bundled ones.

    Nothing is written: `truemark.write_run` writes the record, `truemark.compare` compares it.
    """
    path = Path(folder) if folder is not None else default_folder()
    plan = Plan(
        folder=path,
        samples=load_samples(path),
        extractor=_find_extractor(extractor),
        output=Path(),
        started=datetime.now().astimezone(),
        store=None,
        concurrency=CALLS_AT_ONCE,
        summary=False,
        repeats=repeats,
    )
    return asyncio.run(_measure(plan))


def _find_extractor(extractor: Extractor | str | None) -> Extractor:
    if extractor is None or isinstance(extractor, str):
        return choose_extractor(extractor, load_settings(os.environ))
    return extractor


async def _measure(plan: Plan) -> Run:
    begun_s = time.perf_counter()
    try:
        results = await extract_all(plan, lambda result: None)
    finally:
        await plan.extractor.close()
    return record_run(plan, results, time.perf_counter() - begun_s)
