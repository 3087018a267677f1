"""A benchmark run: every sample put to the extractor and scored; record, report, history.

What comes after an answer is imported by the functions that need it, so that the first calls go out
without it; it is loaded while they are under way.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from cal_ai.benchmark.samples import TOGETHER, Sample, SampleSet
from cal_ai.benchmark.scoring import Failed, Result, Spent, score
from cal_ai.benchmark.store import AnswerStore, create_new
from cal_ai.extractors.choosing import EMBEDDED, is_embedded
from cal_ai.extractors.protocol import Extraction, Extractor, LanguageModel, Request, identity_of
from cal_ai.extractors.replay import Recorded, ReplayExtractor, request_fingerprint
from truemark import __version__
from truemark.errors import TruemarkError
from truemark.files import write_atomically
from truemark.services.calls import CallFailed, RefusedRequestError, Usage
from truemark.services.pricing import cost_usd

if TYPE_CHECKING:
    from cal_ai.benchmark.mistakes import Judged
    from cal_ai.benchmark.narrative import Narrative, NoNarrative
    from cal_ai.benchmark.overview import Finished, Overview
    from cal_ai.benchmark.record import Baseline, BenchmarkRun, Gathered, Price
    from cal_ai.benchmark.report import AnswerParts
    from truemark.records import Run, System

OnResult = Callable[[int, Result], None]
"""Hears of a result and of its place in the order of samples and repeats."""
_CALLS_ARE_OUT_S = 0.1
_HEARS_EVERY_S = 0.01
# All that is imported after the first answer; the rest comes with these.
_NEEDED_LAST = ("cal_ai.benchmark.report", "truemark.resampling", "numpy.random", "numpy.ma")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run; `store` is None where answers come from a recording anyway.

    `baseline` is another run to compare with: its record, or its stored answers.
    """

    samples: SampleSet
    extractor: Extractor
    output: Path
    started: datetime
    store: AnswerStore | None
    concurrency: int
    summary: bool
    baseline: Baseline | None = None
    repeats: int = 1

    @property
    def answers(self) -> int:
        """How many answers the run comes to."""
        return len(self.samples.samples) * self.repeats


async def run_benchmark(plan: Plan, on_result: Callable[[Result], None]) -> Finished:
    """Extract, score, report; the history gets its line when all else is done."""
    price = price_of(plan.extractor)

    @cache
    def parts() -> AnswerParts:
        from cal_ai.benchmark.report import AnswerParts

        return AnswerParts(plan.answers)

    loading = asyncio.create_task(_load_ahead(plan, price))
    try:
        run = await measure(plan, on_result, lambda *judged: parts().add(*judged))
    finally:
        loading.cancel()
    return await _conclude(plan, run, parts(), price)


async def _conclude(plan: Plan, run: BenchmarkRun, parts: AnswerParts, price: Price) -> Finished:
    from cal_ai.benchmark.narrative import Narrative
    from cal_ai.benchmark.overview import Finished, append_history, look_over, with_summary
    from cal_ai.benchmark.record import compared
    from cal_ai.benchmark.report import markdown_report
    from truemark.records import SUFFIX, write_run

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
        write_atomically(report, markdown_report(overview, narrative, parts))
    except BaseException:
        report.unlink(missing_ok=True)
        raise
    append_history(plan.output, overview)
    return Finished(overview, report, record)


async def _load_ahead(plan: Plan, price: Price) -> None:
    """Loads what the end of a run needs while the first answers are on their way."""
    if not isinstance(plan.extractor, LanguageModel):
        return
    await asyncio.sleep(_CALLS_ARE_OUT_S)
    loads: list[Callable[[], object]] = [partial(import_module, name) for name in _NEEDED_LAST]
    loads.append(partial(price, Usage(0, 0, 0, 0)))
    for load in loads:
        with suppress(ImportError, TruemarkError):  # told at the end, where it is needed
            await asyncio.to_thread(load)


def _ignore(*_: object) -> None:
    """What is done with results that nobody wants to hear of."""


async def measure(
    plan: Plan,
    on_result: Callable[[Result], None] = _ignore,
    on_judged: Callable[[int, Judged], None] = _ignore,
) -> BenchmarkRun:
    """The plan carried out, and nothing written but the answers as they come.

    `on_result` hears of each result at once, `on_judged` of a few together.
    """
    begun_s = time.perf_counter()
    waiting: list[tuple[int, Result]] = []

    @cache
    def gathered() -> Gathered:
        from cal_ai.benchmark.record import Gathered

        return Gathered(plan.answers)

    def take(place: int, result: Result) -> None:
        on_result(result)
        waiting.append((place, result))
        if len(waiting) == TOGETHER:
            gather()

    def gather() -> None:
        found = gathered().add(waiting)
        for (place, _), one in zip(waiting, found, strict=True):
            on_judged(place, one)
        waiting.clear()

    await extract_all(plan, take)
    gather()
    wall_s = time.perf_counter() - begun_s
    from cal_ai.benchmark.record import BenchmarkRun, run_signature

    answers = gathered().tally.answers
    return BenchmarkRun(
        started=plan.started,
        samples=plan.samples,
        extractor=plan.extractor.name,
        model=plan.extractor.model,
        system=system_of(plan.extractor),
        signature=run_signature(it.digest for it in answers[: len(plan.samples.samples)]),
        answers=answers,
        gathered=gathered(),
        wall_s=wall_s,
        recording=plan.store.path if plan.store else None,
        repeats=plan.repeats,
    )


def price_of(extractor: Extractor) -> Price:
    """What answers cost; those of the embedded extractor nothing, those of programs who knows."""
    if is_embedded(extractor):
        return lambda _: 0.0
    return partial(cost_usd, model=extractor.model)


def system_of(extractor: Extractor) -> System:
    """What was measured, by all that changes its answers; replayed answers are their maker's."""
    from truemark.records import System

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
    if not isinstance(baseline, ReplayExtractor):
        return baseline
    from cal_ai.benchmark.record import record_of

    started = datetime.fromtimestamp(baseline.path.stat().st_mtime).astimezone()
    asked = replace(plan, extractor=baseline, started=started, store=None, repeats=baseline.repeats)
    run = replace(await measure(asked), wall_s=0.0)
    return record_of(run, price_of(baseline))


async def _narrative(plan: Plan, overview: Overview) -> Narrative | NoNarrative:
    from cal_ai.benchmark.narrative import NoNarrative, narrate

    if not plan.summary:
        return NoNarrative("turned off by --no-summary")
    return await narrate(overview, plan.extractor)


async def extract_all(plan: Plan, on_result: OnResult) -> None:
    """Puts every sample to the extractor as often as asked; `on_result` hears of each at its end.

    Raises the `FatalCallError` of a call that shows all others to be futile.
    """
    waiting, heard_s = enumerate(_questions(plan)), time.perf_counter()
    makes_calls = isinstance(plan.extractor, LanguageModel)
    concurrency = min(plan.concurrency, plan.answers)
    refusals = _Refusals(concurrency, answered=plan.store is not None and plan.store.resumes)

    async def work() -> None:
        nonlocal heard_s
        for place, question in waiting:
            try:
                result = await _result(question, plan)
            except RefusedRequestError as refusal:
                await refusals.concern_one(refusal)
                spent = Spent(0.0, 1, None)
                result = Failed(question.sample, str(refusal), spent, question.repeat)
            if not isinstance(result, Failed):
                refusals.answered()
            on_result(place, result)
            if not makes_calls and time.perf_counter() - heard_s > _HEARS_EVERY_S:
                await _let_others_run()
                heard_s = time.perf_counter()
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


@dataclass(frozen=True, slots=True)
class _Question:
    """A sample to be asked about, how often that was done before, and where its answer is kept.

    `identity` is what the answer depends on besides the model.
    """

    sample: Sample
    repeat: int
    fingerprint: str
    identity: Mapping[str, str]

    @property
    def request(self) -> Request:
        request = self.sample.request
        return replace(request, repeat=self.repeat) if self.repeat else request


def _questions(plan: Plan) -> Iterator[_Question]:
    """Every sample of the first repeat, then of the second: an early end leaves whole repeats."""
    samples = plan.samples.samples
    # All at once, before the first call: one at a time between calls takes more than twice as long.
    stored_under = fingerprints(samples, plan.extractor) if plan.store else [""] * len(samples)
    identity = identity_of(plan.extractor)
    for repeat in range(plan.repeats):
        for sample, fingerprint in zip(samples, stored_under, strict=True):
            yield _Question(sample, repeat, fingerprint, identity)


def fingerprints(samples: Sequence[Sample], extractor: Extractor) -> list[str]:
    """What the extractor's answer to each sample is stored under."""
    asked = extractor.name, extractor.model, identity_of(extractor)
    return [request_fingerprint(it.request, *asked) for it in samples]


async def _result(question: _Question, plan: Plan) -> Result:
    sample, repeat = question.sample, question.repeat
    replays = isinstance(plan.extractor, ReplayExtractor)
    if sample.fault is not None:
        return Failed(sample, sample.fault, Spent(0.0, 0, None, replays), repeat)
    begun_s = time.perf_counter()
    try:
        kept = await _kept(question, plan)
        extraction = kept or await _extraction(question, plan)
    except CallFailed as failure:
        waited_s = 0.0 if replays else time.perf_counter() - begun_s
        spent = Spent(waited_s, failure.attempts, failure.usage, replays)
        return Failed(sample, failure.reason, spent, repeat)
    usage = extraction.usage
    if usage is None and is_embedded(plan.extractor):
        usage = Usage(0, 0, 0, 0)
    replayed = replays or kept is not None
    spent = Spent(extraction.latency_s or 0.0, extraction.attempts, usage, replayed)
    return score(sample, extraction.events, spent, repeat)


async def _kept(question: _Question, plan: Plan) -> Extraction | None:
    """The answer that the run which is taken up has kept."""
    if plan.store is None:
        return None
    if (kept := plan.store.find(question.fingerprint, question.repeat)) is not None:
        await _let_others_run()
    return kept


async def _extraction(question: _Question, plan: Plan) -> Extraction:
    """A new answer to the question, stored before it is used."""
    extractor, store = plan.extractor, plan.store
    extraction = await _timed(extractor, question.request)
    if store is None:
        return extraction
    answer = Recorded(
        sample=question.sample.id,
        fingerprint=question.fingerprint,
        extractor=extractor.name,
        model=extractor.model,
        raw=extraction.raw,
        usage=extraction.usage,
        latency_s=extraction.latency_s or 0.0,
        attempts=extraction.attempts,
        repeat=question.repeat,
        identity=question.identity,
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
    except (CallFailed, TruemarkError):
        raise
    except Exception as error:
        # A defect that one conversation brings to light must not cost the answers to all others.
        reason = f"internal error: {type(error).__name__}: {error}"
        raise CallFailed(reason) from error
    if extraction.latency_s is not None:
        return extraction
    return replace(extraction, latency_s=time.perf_counter() - begun_s)
