"""Ask the extractor about every sample, several at once, and score each answer as it arrives."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import product
from operator import itemgetter
from pathlib import Path

from cal_ai.benchmark.samples import Sample
from cal_ai.benchmark.scoring import Failed, Result, Spent, score
from cal_ai.benchmark.store import AnswerStore
from cal_ai.extractors.choosing import is_embedded
from cal_ai.extractors.language_model import LanguageModelExtractor
from cal_ai.extractors.protocol import Extraction, Extractor, Request, identity_of
from cal_ai.extractors.replay import Recorded, ReplayExtractor, request_fingerprint
from truemark.errors import TruemarkError, foreign_reason
from truemark.services.calls import CallFailed, RefusedRequestError, Usage
from truemark.services.keys import without_keys


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run, and where the results go.

    `store` is None where answers come from a recording. `name` is the name of the system; if it is
    empty, the system is named after its model. `redact` leaves all texts out of the record.
    """

    folder: Path
    samples: tuple[Sample, ...]
    extractor: Extractor
    output: Path
    started: datetime
    store: AnswerStore | None
    concurrency: int
    summary: bool
    repeats: int = 1
    name: str = ""
    redact: bool = False

    @property
    def answers(self) -> int:
        """How many answers a complete run has."""
        return len(self.samples) * self.repeats


async def extract_all(plan: Plan, on_result: Callable[[Result], None]) -> tuple[Result, ...]:
    """Ask about every sample as often as planned; call `on_result` with each result as it arrives.

    The results are returned in order: all samples of the first repeat, then of the second. Raises
    the `FatalCallError` of a call after which all others would fail too.
    """
    samples = plan.samples
    keys = fingerprints(samples, plan.extractor) if plan.store else [""] * len(samples)
    # All samples of a repeat before the next one, so that an early end leaves whole repeats.
    questions = enumerate(product(range(plan.repeats), zip(samples, keys, strict=True)))
    results: dict[int, Result] = {}
    makes_calls = isinstance(plan.extractor, LanguageModelExtractor)
    concurrency = min(plan.concurrency, plan.answers)
    refusals = _Refusals(
        concurrency, answered=plan.store is not None and plan.store.resumed is not None
    )

    async def work() -> None:
        for place, (repeat, (sample, fingerprint)) in questions:
            try:
                result = await _answer(plan, sample, repeat, fingerprint)
            except RefusedRequestError as refusal:
                await refusals.wait_for_answer(refusal)
                result = Failed(sample, str(refusal), Spent(0.0, 1, None), repeat)
            if not isinstance(result, Failed):
                refusals.note_answer()
            results[place] = result
            on_result(result)
            if result.spent.replayed or not makes_calls:
                await asyncio.sleep(0)  # Ctrl-C is noticed only when a task yields
        refusals.end_worker()

    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(concurrency):
                workers.create_task(work())
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None
    finally:
        if plan.store is not None:
            await plan.store.close()
    return tuple(result for _, result in sorted(results.items(), key=itemgetter(0)))


class _Refusals:
    """Decides whether a refused request fails one sample or ends the run.

    It fails only the sample if others are answered. The decision waits for the other calls in
    flight, so that a conversation that a content filter rejects does not end the run because it
    came first.
    """

    def __init__(self, workers: int, *, answered: bool) -> None:
        self._workers = workers
        self._decided = asyncio.Event()
        self._answered = False
        if answered:
            self.note_answer()

    def note_answer(self) -> None:
        self._answered = True
        self._decided.set()

    def end_worker(self) -> None:
        """Note that this worker will bring no more answers."""
        self._workers -= 1
        if self._workers == 0:
            self._decided.set()

    async def wait_for_answer(self, refusal: RefusedRequestError) -> None:
        """Wait until another sample is answered; raise the refusal if none is."""
        if not self._answered:
            self.end_worker()
            await self._decided.wait()
        if not self._answered:
            raise refusal


def fingerprints(samples: Sequence[Sample], extractor: Extractor) -> list[str]:
    """Return the keys under which the extractor's answers to the samples are stored."""
    identity = identity_of(extractor)
    return [
        request_fingerprint(sample.request, extractor.name, extractor.model, identity)
        for sample in samples
    ]


async def _answer(plan: Plan, sample: Sample, repeat: int, fingerprint: str) -> Result:
    """Take the answer from the store, or ask for it and store it before it is used; score it."""
    extractor, store = plan.extractor, plan.store
    replayed = isinstance(extractor, ReplayExtractor)
    if sample.fault is not None:
        return Failed(sample, sample.fault, Spent(0.0, 0, None, replayed), repeat)
    answer: Extraction | CallFailed | None = store.find(fingerprint, repeat) if store else None
    begun_s = time.perf_counter()
    if answer is not None:
        replayed = True
    else:
        answer = await _ask(extractor, replace(sample.request, repeat=repeat))
        if store is not None and answer.raw is not None:
            recorded = Recorded(
                sample=sample.id,
                fingerprint=fingerprint,
                extractor=extractor.name,
                model=extractor.model,
                raw=answer.raw,
                usage=answer.usage,
                latency_s=answer.latency_s or 0.0,
                attempts=answer.attempts,
                repeat=repeat,
                identity=identity_of(extractor),
                unusable=isinstance(answer, CallFailed),
            )
            store.keep(recorded)
    if isinstance(answer, CallFailed):
        waited_s = 0.0
        if not replayed:
            measured_s = answer.latency_s
            waited_s = time.perf_counter() - begun_s if measured_s is None else measured_s
        spent = Spent(waited_s, answer.attempts, answer.usage, replayed)
        return Failed(sample, answer.reason, spent, repeat)
    usage = answer.usage
    if usage is None and is_embedded(extractor):
        usage = Usage(0, 0, 0, 0)
    spent = Spent(answer.latency_s or 0.0, answer.attempts, usage, replayed)
    return score(sample, answer.events, spent, repeat)


async def _ask(extractor: Extractor, request: Request) -> Extraction | CallFailed:
    """Ask the extractor; the latency is measured here unless the extractor has measured it."""
    begun_s = time.perf_counter()
    try:
        extraction = await extractor.extract_events(request)
    except CallFailed as failure:
        return failure
    except TruemarkError:
        raise
    except Exception as error:
        # A bug that one conversation triggers must not lose the answers to all others.
        return CallFailed(without_keys(f"internal error: {foreign_reason(error)}"))
    if extraction.latency_s is not None:
        return extraction
    return replace(extraction, latency_s=time.perf_counter() - begun_s)
