"""What came of a run that has ended: its record, its scores, what it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cal_ai.benchmark.asking import Plan
from cal_ai.benchmark.record import Price, price_of, record_run
from cal_ai.benchmark.scoring import Failed, Result, Scored, event_scores
from truemark.comparison import Comparison
from truemark.counts import Scores
from truemark.records import Run
from truemark.services.calls import Usage, total_usage
from truemark.signature import Signature
from truemark.summary import Summary, summarise
from truemark.uncertainty import Share, clustered_share


@dataclass(frozen=True, slots=True)
class Latency:
    """Wall times of extractions in seconds; `total_s` adds up calls that ran side by side."""

    total_s: float
    mean_s: float
    p50_s: float
    p95_s: float


@dataclass(frozen=True, slots=True)
class TotalSpent:
    """What several answers took together; tokens, cost and latency are None when unknown."""

    count: int
    usage: Usage | None
    cost_usd: float | None
    latency: Latency | None


@dataclass(frozen=True, slots=True)
class SummaryCall:
    """What the call for the AI summary took; it is part of what the run spent."""

    usage: Usage | None
    cost_usd: float | None
    latency_s: float


# Without a repr: asyncio makes that of a task's result, which takes more memory than all samples.
@dataclass(frozen=True, slots=True, repr=False)
class Finished:
    """A run that has ended; `categories` are the scores of each category of samples.

    `spent` is what this run took; what replayed answers once took is in `replayed`.
    """

    plan: Plan
    results: tuple[Result, ...]
    run: Run
    summary: Summary
    categories: Mapping[str, Summary]
    spent: TotalSpent
    replayed: TotalSpent | None
    comparison: Comparison | None = None
    summary_call: SummaryCall | None = None

    @property
    def scores(self) -> Scores | None:
        """Precision, recall and F1 over all samples; None when nothing was scored."""
        return event_scores(self.summary.counts) if self.summary.scored else None

    @property
    def signature(self) -> Signature:
        return Signature(tuple(self.run.signature.items()))

    @property
    def failed(self) -> tuple[Failed, ...]:
        return tuple(result for result in self.results if isinstance(result, Failed))

    @property
    def targets(self) -> Share | None:
        """Target accuracy: how many paired updates and deletes name the right event."""
        hits: dict[str, list[bool]] = {}
        for result in self.results:
            if isinstance(result, Scored):
                hits.setdefault(result.sample.id, []).extend(result.targets)
        return clustered_share(
            [sum(of_sample) for of_sample in hits.values()],
            [len(of_sample) for of_sample in hits.values()],
        )


def finish(plan: Plan, results: tuple[Result, ...], seconds: float) -> Finished:
    """Record and summarise the results of a run that took so many seconds."""
    price = price_of(plan.extractor)
    run = record_run(plan, results, seconds)
    replayed = [result for result in results if result.spent.replayed]
    return Finished(
        plan=plan,
        results=results,
        run=run,
        summary=summarise(run, by_group=False),
        categories=_by_category(run, results),
        spent=total_spent([result for result in results if not result.spent.replayed], price),
        replayed=total_spent(replayed, price) if replayed else None,
    )


def _by_category(run: Run, results: Sequence[Result]) -> dict[str, Summary]:
    """Summarise each category, those without a scored sample included."""
    names = sorted({result.sample.category for result in results})
    units = {name: [unit for unit in run.units if unit.group["category"] == name] for name in names}
    return {
        name: summarise(replace(run, units=tuple(units[name])), by_group=False) for name in names
    }


def total_spent(results: Sequence[Result], price: Price) -> TotalSpent:
    """Add up what answers took; no answers took nothing."""
    if not results:
        return TotalSpent(0, Usage(0, 0, 0, 0), 0.0, None)
    answered = [result for result in results if not isinstance(result, Failed)]
    return TotalSpent(
        count=len(results),
        usage=total_usage(result.spent.usage for result in results),
        cost_usd=_total_cost(results, price),
        latency=summarise_latency([result.spent.latency_s for result in answered]),
    )


def _total_cost(results: Sequence[Result], price: Price) -> float | None:
    """Add up the price of all calls; unknown as soon as an answer came without its tokens."""
    costs = []
    for result in results:
        if result.spent.usage is None:
            if isinstance(result, Failed):
                continue
            return None
        cost = price(result.spent.usage)
        if cost is None:
            return None
        costs.append(cost)
    return sum(costs) if costs else None


def add_summary_call(finished: Finished, usage: Usage | None, latency_s: float) -> Finished:
    """Add to what a run took the call for the AI summary, which is also told apart."""
    spent = finished.spent
    cost = None if usage is None else price_of(finished.plan.extractor)(usage)
    known = spent.cost_usd is not None and cost is not None
    latency = spent.latency
    if latency is not None:
        latency = replace(latency, total_s=latency.total_s + latency_s)
    total = replace(
        spent,
        usage=total_usage([spent.usage, usage]),
        cost_usd=(spent.cost_usd or 0.0) + (cost or 0.0) if known else None,
        latency=latency,
    )
    return replace(finished, spent=total, summary_call=SummaryCall(usage, cost, latency_s))


def summarise_latency(seconds: Sequence[float]) -> Latency | None:
    """Compute total, mean, median and 95th percentile; None when nothing was timed."""
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
    """Return the value below which `share` of the values lie, between the two nearest ranks."""
    rank = share * (len(ordered) - 1)
    below = int(rank)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (rank - below)
