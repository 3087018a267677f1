"""The numbers about a run: those that people are shown, and those that programs and history get."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from cal_ai.benchmark.record import BenchmarkRun, Price, record_of, stated_confidence
from cal_ai.benchmark.scoring import Answered, event_scores
from truemark import jsonlines, records
from truemark.calibration import LevelAccuracy
from truemark.comparison import Comparison
from truemark.counts import Counts, Scores
from truemark.jsontext import to_json
from truemark.sections import all_facts, comparison_sections
from truemark.services.calls import Usage, total_usage
from truemark.summary import Summary, summarise
from truemark.uncertainty import Interval, Measure, Share, wilson


@dataclass(frozen=True, slots=True)
class Category:
    """One folder of samples; counts and intervals are those of its scored samples."""

    name: str
    scored: int
    failed: int
    counts: Counts
    intervals: Mapping[Measure, Interval]

    @property
    def scores(self) -> Scores | None:
        return event_scores(self.counts) if self.scored else None


@dataclass(frozen=True, slots=True)
class Replayed:
    """Answers that were stored earlier, and what they took when they were given."""

    count: int
    usage: Usage | None
    cost_usd: float | None
    latency: Latency | None


@dataclass(frozen=True, slots=True)
class Overview:
    """The numbers of a run; scores are None when nothing was scored, a cost when it is unknown.

    `latency`, `usage` and `cost_usd` are what this run took; what replayed answers once took is
    in `replayed`.
    """

    run: BenchmarkRun
    record: records.Run = field(repr=False)
    summary: Summary = field(repr=False)
    scored: int
    failed: tuple[Answered, ...] = field(repr=False)
    unscored: int
    categories: tuple[Category, ...]
    calibration: tuple[LevelAccuracy, ...]
    targets: Share | None
    latency: Latency | None
    usage: Usage | None
    cost_usd: float | None
    replayed: Replayed | None = None
    baseline: Comparison | None = None

    @property
    def counts(self) -> Counts:
        return self.summary.counts

    @property
    def scores(self) -> Scores | None:
        return event_scores(self.counts) if self.scored else None

    @property
    def kinds(self) -> Counter[tuple[str, str]]:
        """How many mistakes there are by kind and category, in all samples."""
        return Counter(
            {
                (one.kind, one.group["category"]): one.count
                for one in self.record.finding_counts
                if one.mistake
            }
        )

    @property
    def kind_counts(self) -> Counter[str]:
        """How many mistakes of each kind there are in all samples."""
        counted: Counter[str] = Counter()
        for (kind, _), count in self.kinds.items():
            counted[kind] += count
        return counted


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run and where its report and its record are."""

    overview: Overview
    report: Path
    record: Path


def look_over(run: BenchmarkRun, price: Price) -> Overview:
    """The numbers of a run, without those of its AI summary."""
    record = record_of(run, price)
    summary = summarise(record, by_group=False)
    failed = tuple(it for it in run.answers if it.status == "failed")
    fresh = [it for it in run.answers if not it.spent.replayed]
    old = [it for it in run.answers if it.spent.replayed]
    targets = run.gathered.tally.targets
    return Overview(
        run=run,
        record=record,
        summary=summary,
        scored=summary.scored,
        failed=failed,
        unscored=len(run.answers) - summary.scored - len(failed),
        categories=tuple(_categories(record, run.answers)),
        calibration=stated_confidence(run),
        targets=wilson(targets[True], targets.total()),
        latency=_latency(fresh),
        usage=Usage(0, 0, 0, 0) if old and not fresh else _usage(fresh),
        cost_usd=_cost(fresh, price) if fresh else 0.0,
        replayed=_replayed(old, price),
    )


def _replayed(old: Sequence[Answered], price: Price) -> Replayed | None:
    if not old:
        return None
    return Replayed(len(old), _usage(old), _cost(old, price), _latency(old))


def with_summary(overview: Overview, usage: Usage | None, price: Price) -> Overview:
    """The overview with the tokens and the cost of a call for the AI summary added."""
    cost = None if usage is None else price(usage)
    known = overview.cost_usd is not None and cost is not None
    return replace(
        overview,
        usage=total_usage([overview.usage, usage]),
        cost_usd=(overview.cost_usd or 0.0) + (cost or 0.0) if known else None,
    )


def _usage(answers: Iterable[Answered]) -> Usage | None:
    return total_usage(it.spent.usage for it in answers)


def _cost(answers: Sequence[Answered], price: Price) -> float | None:
    """The sum over all calls; unknown as soon as an answer came without its token counts."""
    if any(it.spent.usage is None for it in answers if it.status != "failed"):
        return None
    usages = [it.spent.usage for it in answers if it.spent.usage is not None]
    costs = [price(usage) for usage in usages]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def _categories(record: records.Run, answers: Sequence[Answered]) -> Iterator[Category]:
    for name in sorted({it.category for it in answers}):
        own = tuple(unit for unit in record.units if unit.group["category"] == name)
        summary = summarise(replace(record, units=own), by_group=False)
        failed = len(summary.failed)
        yield Category(name, summary.scored, failed, summary.counts, summary.intervals)


@dataclass(frozen=True, slots=True)
class Latency:
    """Wall times of extractions in seconds; `total_s` adds up calls that ran side by side."""

    total_s: float
    mean_s: float
    p50_s: float
    p95_s: float


def _latency(answers: Iterable[Answered]) -> Latency | None:
    return summarise_latency([it.spent.latency_s for it in answers if it.status != "failed"])


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
    replayed = overview.replayed
    return {
        "timestamp": run.started.isoformat(timespec="seconds"),
        "model": run.model,
        "extractor": run.extractor,
        "sample_count": len(run.answers) // run.repeats,
        "scored_count": overview.scored,
        "failed_count": len(overview.failed),
        "precision": scores.precision if scores else None,
        "recall": scores.recall if scores else None,
        "f1": scores.f1 if scores else None,
        "avg_latency_s": overview.latency.mean_s if overview.latency else None,
        "prompt_tokens": usage.prompt,
        "output_tokens": usage.output,
        "thinking_tokens": usage.thinking,
        "est_cost_usd": overview.cost_usd,
        "replayed_count": replayed.count if replayed else 0,
        "replayed_cost_usd": replayed.cost_usd if replayed else 0.0,
        "repeats": run.repeats,
        "signature": run.signature.short,
        "system": overview.record.system_id,
    }


def append_history(folder: Path, overview: Overview) -> None:
    """Adds the run's line to the history in `folder`."""
    jsonlines.append(folder / FILE_NAME, history_record(overview))


def json_summary(finished: Finished) -> str:
    """The numbers for a program, every one in full, and a line of facts per sample."""
    overview, run = finished.overview, finished.overview.run
    intervals = overview.summary.intervals
    return (
        to_json(
            {
                "extractor": run.extractor,
                "model": run.model,
                "signature": run.signature.short,
                "system": overview.record.system_id,
                "samples": len(run.answers) // run.repeats,
                "repeats": run.repeats,
                "scored": overview.scored,
                "failed": len(overview.failed),
                "unscored": overview.unscored,
                "overall": _score_fields(overview.counts, overview.scores),
                "intervals": {name: asdict(it) for name, it in intervals.items()},
                "baseline": overview.baseline and all_facts(comparison_sections(overview.baseline)),
                "repeated": overview.summary.repeats and asdict(overview.summary.repeats),
                "categories": {
                    it.name: {"scored": it.scored, "failed": it.failed}
                    | _score_fields(it.counts, it.scores)
                    | {"intervals": {name: asdict(own) for name, own in it.intervals.items()}}
                    for it in overview.categories
                },
                "calibration": {
                    it.level: {
                        "events": it.count,
                        "right": it.correct,
                        "share": it.accuracy,
                        "interval": _share_fields(it.correct, it.count),
                    }
                    for it in overview.calibration
                },
                "mistakes": dict(overview.kind_counts),
                "targets": overview.targets and asdict(overview.targets),
                "tokens": overview.usage and asdict(overview.usage),
                "cost_usd": overview.cost_usd,
                "latency": overview.latency and asdict(overview.latency),
                "replayed": overview.replayed and asdict(overview.replayed),
                "wall_s": run.wall_s,
                "results": [_result_fields(it) for it in run.answers],
                "answers": run.recording,
                "record": finished.record,
                "report": finished.report,
            },
            indent=2,
        )
        + "\n"
    )


def _share_fields(correct: int, count: int) -> dict[str, object] | None:
    share = wilson(correct, count)
    return None if share is None else asdict(share)


def _score_fields(counts: Counts, scores: Scores | None) -> dict[str, object]:
    return {
        "precision": scores and scores.precision,
        "recall": scores and scores.recall,
        "f1": scores and scores.f1,
        "tp": counts.tp,
        "fp": counts.fp,
        "fn": counts.fn,
    }


def _result_fields(it: Answered) -> dict[str, object]:
    fields = {"sample": it.sample, "repeat": it.repeat, "status": it.status}
    if it.status == "scored":
        fields |= _score_fields(it.counts, event_scores(it.counts))
    elif it.status == "failed":
        fields |= {"reason": it.reason}
    spent = it.spent
    return fields | {
        "latency_s": spent.latency_s,
        "replayed": spent.replayed,
        "attempts": spent.attempts,
        "tokens": spent.usage and asdict(spent.usage),
    }
