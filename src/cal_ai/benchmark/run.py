"""A benchmark run: every sample extracted and scored, then record, report and history."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime
from functools import partial

from cal_ai.benchmark.asking import OnResult, Plan, extract_all
from cal_ai.benchmark.narrative import Narrative, NoNarrative, narrate
from cal_ai.benchmark.overview import Finished, Overview, append_history, look_over, with_summary
from cal_ai.benchmark.record import (
    Baseline,
    BenchmarkRun,
    Price,
    compared,
    record_of,
    run_signature,
)
from cal_ai.benchmark.report import markdown_report
from cal_ai.benchmark.store import create_new
from cal_ai.extractors.choosing import EMBEDDED, is_embedded
from cal_ai.extractors.language_model import cost_usd
from cal_ai.extractors.protocol import Extractor, identity_of
from cal_ai.extractors.replay import ReplayExtractor
from truemark import __version__
from truemark.files import write_atomically
from truemark.record_files import SUFFIX, write_run
from truemark.records import Run, System


async def run_benchmark(plan: Plan, on_result: OnResult) -> Finished:
    """Extract, score, report; the history gets its line when all else is done."""
    begun_s = time.perf_counter()
    results = await extract_all(plan, on_result)
    run = BenchmarkRun(
        started=plan.started,
        folder=plan.samples.folder,
        extractor=plan.extractor.name,
        model=plan.extractor.model,
        system=system_of(plan.extractor),
        signature=run_signature(plan.samples.samples),
        results=results,
        wall_s=time.perf_counter() - begun_s,
        recording=plan.store.path if plan.store else None,
        repeats=plan.repeats,
    )
    price = price_of(plan.extractor)
    overview = look_over(run, price)
    if plan.baseline is not None:
        baseline = await _baseline_record(plan, plan.baseline)
        overview = replace(overview, baseline=compared(baseline, overview.record))
    narrative = await _narrative(plan, overview)
    if narrative.usage is not None or isinstance(narrative, Narrative):
        overview = with_summary(overview, narrative.usage, price)
    report = create_new(plan.output, plan.started, ".md")
    record = report.with_suffix(SUFFIX)
    try:
        write_run(record, overview.record)
        write_atomically(report, markdown_report(overview, narrative))
    except BaseException:
        report.unlink(missing_ok=True)
        raise
    append_history(plan.output, overview)
    return Finished(overview, report, record)


def price_of(extractor: Extractor) -> Price:
    """What answers cost; those of the embedded extractor nothing, those of programs who knows."""
    if is_embedded(extractor):
        return lambda _: 0.0
    return partial(cost_usd, model=extractor.model)


def system_of(extractor: Extractor) -> System:
    """What was measured, by all that changes its answers; replayed answers are their maker's."""
    maker = extractor.recorded_by if isinstance(extractor, ReplayExtractor) else extractor.name
    identity = {"extractor": maker}
    if extractor.model is not None:
        identity["model"] = extractor.model
    identity |= identity_of(extractor)
    if extractor.name == EMBEDDED:
        identity["version"] = __version__
    return System(extractor.model or maker, maker, identity)


async def _baseline_record(plan: Plan, baseline: Baseline) -> Run:
    """The record of the baseline; stored answers are scored on the samples of this run."""
    if isinstance(baseline, Run):
        return baseline
    asked = replace(plan, extractor=baseline, store=None, repeats=baseline.repeats)
    run = BenchmarkRun(
        started=datetime.fromtimestamp(baseline.path.stat().st_mtime).astimezone(),
        folder=plan.samples.folder,
        extractor=baseline.name,
        model=baseline.model,
        system=system_of(baseline),
        signature=run_signature(plan.samples.samples),
        results=await extract_all(asked, lambda _: None),
        wall_s=0.0,
    )
    return record_of(run, price_of(baseline))


async def _narrative(plan: Plan, overview: Overview) -> Narrative | NoNarrative:
    if not plan.summary:
        return NoNarrative("turned off by --no-summary")
    return await narrate(overview, plan.extractor)
