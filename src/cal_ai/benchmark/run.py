"""A benchmark run: every sample extracted and scored, then report and history."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from cal_ai.benchmark.baseline import compare_with_baseline
from cal_ai.benchmark.narrative import Narrative, NoNarrative, narrate
from cal_ai.benchmark.overview import Overview, Run, append_history, look_over, with_summary
from cal_ai.benchmark.report import markdown_report
from cal_ai.benchmark.samples import Sample, SampleSet
from cal_ai.benchmark.scoring import Failed, Result, Spent, score
from cal_ai.benchmark.store import AnswerStore, create_new
from cal_ai.benchmark.tolerance import TOLERANCES
from cal_ai.extractors.pricing import cost_usd
from cal_ai.extractors.prompt import prompt_fingerprint
from cal_ai.extractors.protocol import (
    Extraction,
    ExtractionFailed,
    Extractor,
    LanguageModel,
    RefusedRequestError,
    Request,
    Usage,
    identity_of,
)
from cal_ai.extractors.recording import Recorded, request_fingerprint
from cal_ai.extractors.replay import ReplayExtractor
from truemark import __version__
from truemark.errors import TruemarkError
from truemark.files import write_atomically
from truemark.signature import Signature, data_hash

OnResult = Callable[[Result], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run; `store` is None where answers come from a recording anyway.

    `baseline` is a stored run to compare with.
    """

    samples: SampleSet
    extractor: Extractor
    output: Path
    started: datetime
    store: AnswerStore | None
    concurrency: int
    summary: bool
    baseline: ReplayExtractor | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run and where its report is."""

    overview: Overview
    report: Path


async def run_benchmark(plan: Plan, on_result: OnResult) -> Finished:
    """Extract, score, report; the history gets its line when all else is done."""
    begun_s = time.perf_counter()
    results = await extract_all(plan, on_result)
    run = Run(
        started=plan.started,
        folder=plan.samples.folder,
        extractor=plan.extractor.name,
        model=plan.extractor.model,
        signature=run_signature(plan.samples.samples),
        results=results,
        wall_s=time.perf_counter() - begun_s,
        recording=plan.store.path if plan.store else None,
    )
    price = partial(cost_usd, model=run.model)
    overview = look_over(run, price)
    if plan.baseline is not None:
        comparison = await compare_with_baseline(plan.baseline, overview.scored)
        overview = replace(overview, baseline=comparison)
    narrative = await _narrative(plan, overview)
    if narrative.usage is not None or isinstance(narrative, Narrative):
        overview = with_summary(overview, narrative.usage, price)
    report = _write_report(plan, markdown_report(overview, narrative))
    append_history(plan.output, overview)
    return Finished(overview, report)


async def extract_all(plan: Plan, on_result: OnResult) -> tuple[Result, ...]:
    """The result of every sample, in their order; `on_result` hears of each as it ends.

    Raises the `FatalExtractorError` of a call that shows all others to be futile.
    """
    samples = plan.samples.samples
    results: list[Result | None] = [None] * len(samples)
    # All at once, before the first call: one at a time between calls takes more than twice as long.
    stored_under = fingerprints(samples, plan.extractor) if plan.store else [""] * len(samples)
    waiting = iter(list(enumerate(zip(samples, stored_under, strict=True))))
    makes_calls = isinstance(plan.extractor, LanguageModel)
    concurrency = min(plan.concurrency, len(samples))
    refusals = _Refusals(concurrency, answered=plan.store is not None and plan.store.resumes)

    async def work() -> None:
        for index, (sample, fingerprint) in waiting:
            if not makes_calls:
                await _let_others_run()
            try:
                result = await _result(sample, fingerprint, plan)
            except RefusedRequestError as refusal:
                await refusals.concern_one(refusal)
                result = Failed(sample, str(refusal), Spent(0.0, 1, None))
            if not isinstance(result, Failed):
                refusals.answered()
            results[index] = result
            on_result(result)
        refusals.one_less()

    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(concurrency):
                workers.create_task(work())
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None
    finally:
        if plan.store is not None:
            await plan.store.close()
    return tuple(result for result in results if result is not None)


class _Refusals:
    """Whether a refused request is one conversation's own trouble or everybody's.

    Where others are answered it is its own. The calls in flight beside it are waited for before
    the run is given up, lest one conversation that a filter dislikes ends it by being the first.
    """

    def __init__(self, in_flight: int, *, answered: bool) -> None:
        self._in_flight = in_flight
        self._decided = asyncio.Event()
        self._answered = False
        if answered:
            self.answered()

    def answered(self) -> None:
        """Notes that the provider answers."""
        self._answered = True
        self._decided.set()

    def one_less(self) -> None:
        """Notes that one of the calls in flight has ended without an answer."""
        self._in_flight -= 1
        if self._in_flight == 0:
            self._decided.set()

    async def concern_one(self, refusal: RefusedRequestError) -> None:
        """Ends when another conversation was answered; raises the refusal when none is."""
        if not self._answered:
            self.one_less()
            await self._decided.wait()
        if not self._answered:
            raise refusal


def run_signature(samples: Sequence[Sample]) -> Signature:
    """What scores depend on besides the model: two runs that share it are comparable."""
    tolerances = ";".join(f"{level}={tolerance}" for level, tolerance in TOLERANCES.items())
    return Signature(
        (
            ("version", __version__),
            ("samples", data_hash(*(sample.digest for sample in samples))),
            ("prompt", prompt_fingerprint()),
            ("tolerance", data_hash(tolerances)),
        )
    )


def fingerprints(samples: Sequence[Sample], extractor: Extractor) -> list[str]:
    """What the extractor's answer to each sample is stored under."""
    asked = extractor.name, extractor.model, identity_of(extractor)
    return [request_fingerprint(it.request, *asked) for it in samples]


async def _result(sample: Sample, fingerprint: str, plan: Plan) -> Result:
    if sample.fault is not None:
        return Failed(sample, sample.fault, Spent(0.0, 0, None))
    begun_s = time.perf_counter()
    try:
        extraction = await _extraction(sample, fingerprint, plan)
    except ExtractionFailed as failure:
        waited_s = time.perf_counter() - begun_s
        return Failed(sample, failure.reason, Spent(waited_s, failure.attempts, failure.usage))
    usage = extraction.usage
    if usage is None and plan.extractor.model is None:
        usage = Usage(0, 0, 0, 0)
    spent = Spent(extraction.latency_s or 0.0, extraction.attempts, usage)
    return score(sample, extraction.events, spent)


async def _extraction(sample: Sample, fingerprint: str, plan: Plan) -> Extraction:
    """The sample's answer: the one that is stored, else a new one, stored before it is used."""
    extractor, store, request = plan.extractor, plan.store, sample.request
    if store is None:
        return await _timed(extractor, request)
    if (kept := store.find(fingerprint)) is not None:
        await _let_others_run()
        return kept
    extraction = await _timed(extractor, request)
    answer = Recorded(
        sample=sample.id,
        fingerprint=fingerprint,
        extractor=extractor.name,
        model=extractor.model,
        raw=extraction.raw,
        usage=extraction.usage,
        latency_s=extraction.latency_s or 0.0,
        attempts=extraction.attempts,
    )
    store.keep(answer)
    return extraction


async def _let_others_run() -> None:
    """Where no call is made nothing waits, and Ctrl-C is heard only when something does.

    Not after every call: connections that lie idle are tested one by one before the next call.
    """
    await asyncio.sleep(0)


async def _timed(extractor: Extractor, request: Request) -> Extraction:
    """The extraction with its latency, by the extractor's own clock where it has one."""
    begun_s = time.perf_counter()
    try:
        extraction = await extractor.extract_events(request)
    except (ExtractionFailed, TruemarkError):
        raise
    except Exception as error:
        # A defect that one conversation brings to light must not cost the answers to all others.
        reason = f"internal error: {type(error).__name__}: {error}"
        raise ExtractionFailed(reason) from error
    if extraction.latency_s is not None:
        return extraction
    return replace(extraction, latency_s=time.perf_counter() - begun_s)


async def _narrative(plan: Plan, overview: Overview) -> Narrative | NoNarrative:
    if not plan.summary:
        return NoNarrative("turned off by --no-summary")
    return await narrate(overview, plan.extractor)


def _write_report(plan: Plan, page: str) -> Path:
    path = create_new(plan.output, plan.started, ".md")
    try:
        write_atomically(path, page)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path
