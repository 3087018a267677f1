"""A run and the numbers about it that console, report, narrative and history all show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import get_args

from cal_ai.benchmark.baseline import BaselineTest
from cal_ai.benchmark.scoring import (
    F1,
    Failed,
    Result,
    Scored,
    Unscored,
    category_counts,
    draws,
    event_scores,
    overall_counts,
)
from cal_ai.events import Confidence
from cal_ai.extractors.protocol import Usage, total_usage
from truemark import history
from truemark.calibration import LevelAccuracy, per_level
from truemark.closed_forms import Share, wilson
from truemark.counts import Counts, Scores
from truemark.signature import Signature
from truemark.uncertainty import Interval, bootstrap_interval

Price = Callable[[Usage], float | None]
"""What the tokens of one or more calls cost in US dollars; None when that is not known."""


@dataclass(frozen=True, slots=True)
class Run:
    """What was run, on what, and what became of each sample, in the order of the samples."""

    started: datetime
    folder: Path
    extractor: str
    model: str | None
    signature: Signature
    # asyncio and signal write out what a task returns, and that can be all of this.
    results: tuple[Result, ...] = field(repr=False)
    wall_s: float
    recording: Path | None = None


@dataclass(frozen=True, slots=True)
class Category:
    """One folder of samples; the counts are those of its scored samples."""

    name: str
    scored: int
    failed: int
    counts: Counts

    @property
    def scores(self) -> Scores | None:
        return event_scores(self.counts) if self.scored else None


@dataclass(frozen=True, slots=True)
class Overview:
    """The numbers of a run; scores are None when nothing was scored, a cost when it is unknown."""

    run: Run
    scored: tuple[Scored, ...] = field(repr=False)
    failed: tuple[Failed, ...] = field(repr=False)
    unscored: tuple[Unscored, ...] = field(repr=False)
    counts: Counts
    f1_interval: Interval | None
    categories: tuple[Category, ...]
    calibration: tuple[LevelAccuracy, ...]
    targets: Share | None
    latency: Latency | None
    usage: Usage | None
    cost_usd: float | None
    baseline: BaselineTest | None = None

    @property
    def scores(self) -> Scores | None:
        return event_scores(self.counts) if self.scored else None


def look_over(run: Run, price: Price) -> Overview:
    """The numbers of a run, without those of its AI summary."""
    scored = tuple(result for result in run.results if isinstance(result, Scored))
    answered = [result for result in run.results if not isinstance(result, Failed)]
    usages = [result.spent.usage for result in run.results]
    return Overview(
        run=run,
        scored=scored,
        failed=tuple(result for result in run.results if isinstance(result, Failed)),
        unscored=tuple(result for result in run.results if isinstance(result, Unscored)),
        counts=overall_counts(scored),
        f1_interval=_f1_interval(scored),
        categories=tuple(_categories(run.results)),
        calibration=per_level(_claims(scored), get_args(Confidence)),
        targets=_target_accuracy(scored),
        latency=summarise_latency([result.spent.latency_s for result in answered]),
        usage=total_usage(usages),
        cost_usd=_cost(run, usages, price),
    )


def with_summary(overview: Overview, usage: Usage | None, price: Price) -> Overview:
    """The overview with the tokens and the cost of a call for the AI summary added."""
    cost = None if usage is None else price(usage)
    known = overview.cost_usd is not None and cost is not None
    return replace(
        overview,
        usage=total_usage([overview.usage, usage]),
        cost_usd=(overview.cost_usd or 0.0) + (cost or 0.0) if known else None,
    )


def _cost(run: Run, usages: Sequence[Usage | None], price: Price) -> float | None:
    """The sum over all calls; unknown as soon as an answer came without its token counts."""
    if run.model is None:
        return 0.0
    if any(result.spent.usage is None for result in run.results if not isinstance(result, Failed)):
        return None
    costs = [price(usage) for usage in usages if usage is not None]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def _f1_interval(scored: Sequence[Scored]) -> Interval | None:
    if not scored:
        return None
    groups = [result.counts for result in scored]
    return bootstrap_interval(groups, F1, resamples=draws(len(groups)))


def _categories(results: Sequence[Result]) -> Iterator[Category]:
    counts = category_counts(result for result in results if isinstance(result, Scored))
    scored = Counter(it.sample.category for it in results if isinstance(it, Scored))
    failed = Counter(it.sample.category for it in results if isinstance(it, Failed))
    for name in sorted({result.sample.category for result in results}):
        yield Category(name, scored[name], failed[name], counts.get(name, Counts.zero))


def _target_accuracy(scored: Sequence[Scored]) -> Share | None:
    """Of the paired updates and deletes the share that name the right event of the calendar."""
    hits = [hit for result in scored for hit in result.targets]
    return wilson(sum(hits), len(hits))


def _claims(scored: Sequence[Scored]) -> Iterator[tuple[Confidence, bool]]:
    for result in scored:
        right = {pair.extracted for pair in result.pairs if pair.is_match}
        for index, event in enumerate(result.extracted):
            yield event.confidence, index in right


@dataclass(frozen=True, slots=True)
class Latency:
    """Wall times of extractions in seconds; `total_s` adds up calls that ran side by side."""

    total_s: float
    mean_s: float
    p50_s: float
    p95_s: float


def summarise_latency(seconds: Sequence[float]) -> Latency | None:
    """Total, mean, median and 95th percentile; None when nothing was timed."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    total = sum(ordered)
    return Latency(
        total_s=total,
        mean_s=total / len(ordered),
        p50_s=_percentile(ordered, 0.50),
        p95_s=_percentile(ordered, 0.95),
    )


def _percentile(ordered: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie, on a line between the two nearest ranks."""
    rank = share * (len(ordered) - 1)
    below = int(rank)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (rank - below)


FILE_NAME = "benchmark_history.jsonl"


def history_record(overview: Overview) -> dict[str, object]:
    """What one run came to; scores are null when nothing was scored, what is unknown is null."""
    run, scores = overview.run, overview.scores
    usage = overview.usage or Usage()
    return {
        "timestamp": run.started.isoformat(timespec="seconds"),
        "model": run.model,
        "extractor": run.extractor,
        "sample_count": len(run.results),
        "scored_count": len(overview.scored),
        "failed_count": len(overview.failed),
        "precision": scores.precision if scores else None,
        "recall": scores.recall if scores else None,
        "f1": scores.f1 if scores else None,
        "avg_latency_s": overview.latency.mean_s if overview.latency else None,
        "prompt_tokens": usage.prompt,
        "output_tokens": usage.output,
        "est_cost_usd": overview.cost_usd,
        "signature": run.signature.short,
    }


def append_history(folder: Path, overview: Overview) -> None:
    """Add the run's line to the history in `folder`."""
    history.append(folder / FILE_NAME, history_record(overview))
