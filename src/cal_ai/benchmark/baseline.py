"""Is this run better than a stored one, or is that noise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cal_ai.benchmark.scoring import F1, Scored, Spent, draws, score
from cal_ai.extractors.protocol import ExtractionFailed
from cal_ai.extractors.replay import ReplayExtractor
from truemark.aggregate import total
from truemark.counts import Counts
from truemark.uncertainty import PairedTest, permutation_test


@dataclass(frozen=True, slots=True)
class BaselineTest:
    """F1 of a stored run and of this one, over the samples that both have scores for."""

    model: str | None
    samples: int
    baseline_f1: float
    f1: float
    test: PairedTest


async def compare_with_baseline(
    baseline: ReplayExtractor, scored: Iterable[Scored]
) -> BaselineTest | None:
    """The paired test of this run against the stored one; None when no sample is in both."""
    before: list[Counts] = []
    now: list[Counts] = []
    for result in scored:
        counts = await _stored_counts(baseline, result)
        if counts is not None:
            before.append(counts)
            now.append(result.counts)
    if not now:
        return None
    return BaselineTest(
        model=baseline.model,
        samples=len(now),
        baseline_f1=F1(total(before)),
        f1=F1(total(now)),
        test=permutation_test(now, before, F1, permutations=draws(len(now))),
    )


async def _stored_counts(baseline: ReplayExtractor, result: Scored) -> Counts | None:
    try:
        extraction = await baseline.extract_events(result.sample.request)
    except ExtractionFailed:
        return None
    stored = score(result.sample, extraction.events, Spent(0.0, extraction.attempts, None))
    return stored.counts if isinstance(stored, Scored) else None
