"""Report a finished run, its scores and what it took, as text, JSON and a history line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from cal_ai.benchmark.asking import Plan
from cal_ai.benchmark.record import TotalSpent, price_of, record_run, total_spent
from cal_ai.benchmark.scoring import Failed, Result, Scored, event_scores
from truemark.comparison import Comparison
from truemark.counts import Counts, Scores
from truemark.records import SUFFIX, Run
from truemark.sections import (
    Section,
    all_facts,
    as_text,
    comparison_sections,
    facts_of,
)
from truemark.services.calls import Usage, total_usage
from truemark.signature import data_hash, signature_line
from truemark.summary import FEWEST_EXPECTED, Summary, share_right, summarise
from truemark.tables import Table, render
from truemark.text import counted, one_line
from truemark.uncertainty import Measure, Share, clustered_share
from truemark.wording import interval_remarks, score_text

_MEASURES: tuple[Measure, ...] = ("precision", "recall", "f1", "clean")
_SCORE_COLUMNS = ("", "scored", "failed", *_MEASURES, "tp", "fp", "fn")
_FAILURES = 20
NO_HEAD = ("", " ")
"""The columns of a table of names and values."""


# No repr: asyncio makes the repr of a task's result, which would take more memory than the samples.
@dataclass(frozen=True, slots=True, repr=False)
class Finished:
    """A finished run; `categories` are the scores of each category of samples.

    `spent` is what this run took, `replayed` what replayed answers took when they were recorded.
    `summary_call` is the part of `spent` that the call for the AI summary took. `fault` says why a
    file of the run could not be written.
    """

    plan: Plan
    results: tuple[Result, ...]
    run: Run
    summary: Summary
    categories: Mapping[str, Summary]
    spent: TotalSpent
    replayed: TotalSpent | None
    comparison: Comparison | None = None
    summary_call: TotalSpent | None = None
    fault: str | None = None

    @property
    def scores(self) -> Scores | None:
        """Precision, recall and F1 over all samples; None when nothing was scored."""
        return event_scores(self.summary.counts) if self.summary.scored else None

    @property
    def signature(self) -> str:
        """The signature of samples and rules in one line; runs that share it are comparable."""
        return signature_line(self.run.signature)

    @property
    def targets(self) -> Share | None:
        """The share of paired updates and deletes that name the right calendar event."""
        hits: dict[str, list[bool]] = {}
        for result in self.results:
            if isinstance(result, Scored):
                hits.setdefault(result.sample.id, []).extend(result.targets)
        return clustered_share(
            [sum(of_sample) for of_sample in hits.values()],
            [len(of_sample) for of_sample in hits.values()],
        )


def finish(plan: Plan, results: tuple[Result, ...], seconds: float) -> Finished:
    """Record and summarise the results of a run."""
    price = price_of(plan.extractor)
    run = record_run(plan, results, seconds)
    replayed = [result for result in results if result.spent.is_stored_answer]
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
    """Summarise each category, including those without a scored sample."""
    names = sorted({result.sample.category for result in results})
    units = {name: [unit for unit in run.units if unit.group["category"] == name] for name in names}
    return {
        name: summarise(replace(run, units=tuple(units[name])), by_group=False) for name in names
    }


def add_summary_call(finished: Finished, call: TotalSpent) -> Finished:
    """Add the call for the AI summary to what the run spent; it is also shown separately."""
    spent = finished.spent
    known = spent.cost_usd is not None and call.cost_usd is not None
    total = replace(
        spent,
        usage=total_usage([spent.usage, call.usage]),
        cost_usd=(spent.cost_usd or 0.0) + (call.cost_usd or 0.0) if known else None,
        total_s=spent.total_s + call.total_s,
    )
    return replace(finished, spent=total, summary_call=call)


def text_summary(finished: Finished, report: Path | None) -> str:
    sections = [replace(section, heading="") for section in run_sections(finished)]
    if finished.comparison is not None:
        verdict = comparison_sections(finished.comparison)[1].sentences
        sections.insert(-1, Section(sentences=verdict))  # above the calibration
    failed = finished.summary.failed
    rows = [*run_rows(finished)]
    rows += [("failed", f"{unit.id}: {unit.failed}") for unit in failed[:_FAILURES]]
    if len(failed) > _FAILURES:
        rows.append(("failed", f"and {len(failed) - _FAILURES} more, see the report"))
    if (answers := _answers_path(finished)) is not None:
        rows.append(("answers", str(answers)))
    if report is not None:
        rows += [("record", str(record_path(finished.run, report))), ("report", str(report))]
    # The head of this table is the empty line between it and the sections.
    return as_text(sections) + render(Table(NO_HEAD, tuple(rows)), "text")


def record_path(run: Run, report: Path) -> Path:
    """Return the place of a run's record: beside its report, with the id of the run in its name."""
    return report.with_suffix(f".{run.id}{SUFFIX}")


def json_facts(finished: Finished, report: Path | None) -> dict[str, object]:
    """Return the facts for JSON: unrounded numbers, and an object per answer."""
    spent, replayed, call = finished.spent, finished.replayed, finished.summary_call
    return {
        **all_facts(run_sections(finished)),
        "mistakes": dict(_kind_counts(finished)),
        "targets": finished.targets and asdict(finished.targets),
        "tokens": spent.usage and asdict(spent.usage),
        "cost_usd": spent.cost_usd,
        "latency": spent.latency,
        "replayed": replayed
        and {"count": replayed.count, **_spent_facts(replayed), "latency": replayed.latency},
        "ai_summary": call and {**_spent_facts(call), "latency_s": call.total_s},
        "wall_s": finished.run.seconds,
        "results": [_result_facts(result) for result in finished.results],
        "answers": _answers_path(finished),
        "record": report and record_path(finished.run, report),
        "report": report,
    }


def _spent_facts(spent: TotalSpent) -> dict[str, object]:
    return {"usage": spent.usage and asdict(spent.usage), "cost_usd": spent.cost_usd}


def history_line(finished: Finished) -> dict[str, object]:
    """Summarise the run for the history; what is unknown is null."""
    run, extractor, scores = finished.run, finished.plan.extractor, finished.scores
    spent, replayed = finished.spent, finished.replayed
    usage = spent.usage or Usage()
    clean = finished.summary.intervals.get("clean")
    return {
        "timestamp": finished.plan.started.isoformat(timespec="seconds"),
        "model": extractor.model,
        "extractor": extractor.name,
        "sample_count": _sample_count(finished),
        "scored_count": finished.summary.scored,
        "failed_count": len(finished.summary.failed),
        "precision": scores and scores.precision,
        "recall": scores and scores.recall,
        "f1": scores and scores.f1,
        "clean": clean and clean.value,
        "avg_latency_s": spent.latency and spent.latency["mean_s"],
        "prompt_tokens": usage.prompt,
        "output_tokens": usage.output,
        "thinking_tokens": usage.thinking,
        "est_cost_usd": spent.cost_usd,
        "replayed_count": replayed.count if replayed else 0,
        "replayed_cost_usd": replayed.cost_usd if replayed else 0.0,
        "repeats": finished.plan.repeats,
        "signature": data_hash(finished.signature),
        "run": finished.run.id,
        "system": run.system_id,
    }


def progress_line(number: int, of: int, result: Result) -> str:
    """Describe the `number`-th answer: `[3/45] crud/lunch... P=0.91 R=0.87 (2.3s)`."""
    if isinstance(result, Scored):
        scores = event_scores(result.counts)
        status = f"P={scores.precision:.2f} R={scores.recall:.2f}"
    elif isinstance(result, Failed):
        status = f"FAILED ({one_line(result.reason)})"
    else:
        status = "no sidecar"
    name = one_line(result.sample.id)
    if result.repeat:
        name += f" #{result.repeat + 1}"
    took = f"{result.spent.latency_s:.1f}s"
    took = f"replayed, {took} then" if result.spent.is_stored_answer else took
    return f"[{number}/{of}] {name}... {status} ({took})"


def run_sections(finished: Finished) -> list[Section]:
    """Show what text, JSON and Markdown have in common: counts, scores, repeats, calibration."""
    run, summary, comparison = finished.run, finished.summary, finished.comparison
    about = {
        "extractor": finished.plan.extractor.name,
        "model": finished.plan.extractor.model,
        "name": run.system.name,
        "signature": data_hash(finished.signature),
        "run": finished.run.id,
        "system": run.system_id,
        "samples": _sample_count(finished),
        "repeats": finished.plan.repeats,
        "scored": summary.scored,
        "failed": len(finished.summary.failed),
        "unscored": _unscored_count(finished),
    }
    scores = {
        "overall": _score_facts(summary.counts, scored=summary.scored > 0),
        "intervals": facts_of(summary.intervals),
        "categories": {
            name: {
                "scored": category.scored,
                "failed": len(category.failed),
                **_score_facts(category.counts, scored=category.scored > 0),
                "intervals": facts_of(category.intervals),
            }
            for name, category in finished.categories.items()
        },
    }
    compared = {
        "baseline": comparison and all_facts(comparison_sections(comparison)),
        "repeated": summary.repeats and asdict(summary.repeats),
    }
    return [
        Section(sentences=[sample_counts(finished)], facts=about),
        Section("Scores", tables=[_score_table(finished)], facts=scores),
        Section(
            sentences=[
                _interval_line(summary),
                *_left_out_lines(finished.categories.values()),
                *_repeat_lines(summary),
            ],
            facts=compared,
        ),
        Section(
            "Calibration",
            tables=[calibration_table(finished)],
            facts={"calibration": _calibration_facts(finished)},
        ),
    ]


def run_rows(finished: Finished) -> Iterator[tuple[str, str]]:
    """List the kinds of mistakes, what the run took, and the system."""
    kinds = _kind_counts(finished).most_common()
    yield "mistakes", ", ".join(f"{count} {kind}" for kind, count in kinds) or "none"
    yield "targets", _targets_line(finished.targets)
    yield from _spent_rows(finished)
    name, maker = finished.plan.extractor.name, finished.run.system.kind
    yield "extractor", name if name == maker else f"{name} (answers of {maker})"
    yield "model", finished.plan.extractor.model or "none"
    if finished.plan.name:
        yield "name", finished.plan.name
    yield "signature", data_hash(finished.signature)
    yield "run", finished.run.id


def _kind_counts(finished: Finished) -> Counter[str]:
    counts: Counter[str] = Counter()
    for count in finished.run.finding_counts:
        if count.mistake:
            counts[count.kind] += count.count
    return counts


def sample_counts(finished: Finished) -> str:
    """Tell how many samples there are, and how many were scored."""
    samples = counted(_sample_count(finished), "sample")
    if finished.plan.repeats > 1:
        samples += f", {finished.plan.repeats} repeats, {len(finished.results)} answers"
    return (
        f"{samples}: {finished.summary.scored} scored, "
        f"{len(finished.summary.failed)} failed, {_unscored_count(finished)} without sidecar"
    )


def _sample_count(finished: Finished) -> int:
    return len(finished.results) // finished.plan.repeats


def _unscored_count(finished: Finished) -> int:
    return len(finished.results) - finished.summary.scored - len(finished.summary.failed)


def _score_table(finished: Finished) -> Table:
    """Show the scores of all samples and of each category; F1 only if enough is expected."""
    rows = [_score_row("overall", finished.summary)]
    for name, summary in finished.categories.items():
        rows.append(_score_row(name, summary, "f1" if _expects_few(summary) else None))
    return Table(_SCORE_COLUMNS, tuple(rows))


def _expects_few(summary: Summary) -> bool:
    return summary.counts.expected < FEWEST_EXPECTED


def _left_out_lines(categories: Iterable[Summary]) -> Iterator[str]:
    """Say why categories have a dash for F1, if one that was scored has."""
    if any(summary.scored and _expects_few(summary) for summary in categories):
        yield f"f1 of a category is left out where fewer than {FEWEST_EXPECTED} events are expected"


def _score_row(name: str, summary: Summary, left_out: Measure | None = None) -> tuple[object, ...]:
    known = summary.intervals
    ratios = [
        score_text(known[measure]) if known and measure != left_out else None
        for measure in _MEASURES
    ]
    counts = summary.counts
    return (name, summary.scored, len(summary.failed), *ratios, counts.tp, counts.fp, counts.fn)


def _interval_line(summary: Summary) -> str:
    """Explain the intervals in the table of scores."""
    f1 = summary.intervals.get("f1")
    if f1 is None:
        return "No sample was scored"
    remarks = interval_remarks(summary)
    if not f1.known:
        return remarks[0].capitalize()
    how = f"In brackets 95% intervals over {counted(f1.clusters, *summary.nouns)}"
    clean = "clean is the share without any mistake"
    return "; ".join((how, clean, *remarks))


def calibration_table(finished: Finished) -> Table:
    """Show how many events have each confidence, and the share of them that is right."""
    rows = []
    for level in finished.run.reliability.rows if finished.run.reliability else ():
        share = share_right(level)
        interval = share and f"{share.low:.3f} to {share.high:.3f}"
        rows.append((level.label, level.count, level.correct, share and share.value, interval))
    return Table(
        ("confidence", "events", "right", "share", "95% interval"),
        tuple(rows),
        (None, None, None, ".3f", None),
    )


def _repeat_lines(summary: Summary) -> Iterator[str]:
    """Describe how answers vary between repeats, if there are any."""
    repeats = summary.repeats
    if repeats is None:
        return
    count = repeats.repeats
    yield f"right in all {count} repeats (pass^{count}): {_share(repeats.right_in_all)}"
    yield f"right in any of them: {_share(repeats.right_in_any)}"
    yield (
        f"variance of F1 between samples {repeats.variance_between_units:.4f}, "
        f"between repeats of one {repeats.variance_between_repeats:.4f}"
    )
    noun = "sample flips" if len(repeats.flipping) == 1 else "samples flip"
    names = ": " + ", ".join(map(one_line, repeats.flipping)) if repeats.flipping else ""
    yield f"{len(repeats.flipping)} {noun} between right and wrong{names}"


def _share(share: Share) -> str:
    right = round(share.value * share.count)
    return f"{right} of {counted(share.count, 'sample')}, {_with_interval(share)}"


def _with_interval(share: Share) -> str:
    return f"{share.value:.3f}, 95% interval {share.low:.3f} to {share.high:.3f}"


def _targets_line(targets: Share | None) -> str:
    if targets is None:
        return "no update or delete was paired"
    right = round(targets.value * targets.count)
    noun = "update or delete names" if targets.count == 1 else "updates and deletes name"
    return (
        f"{right} of {targets.count} paired {noun} the right event of the calendar: "
        f"{_with_interval(targets)}"
    )


def _spent_rows(finished: Finished) -> Iterator[tuple[str, str]]:
    """List what the run took, and what replayed answers took when they were recorded."""
    spent, replayed = finished.spent, finished.replayed
    yield "tokens", tokens_line(spent.usage)
    yield "cost", _cost(spent.cost_usd)
    took = "nothing was asked" if replayed and not spent.latencies_s else _seconds(spent)
    yield "latency", f"{took}; the samples took {finished.run.seconds:.2f} s"
    if (call := finished.summary_call) is not None:
        tokens, cost = tokens_line(call.usage), _cost(call.cost_usd)
        yield "summary", f"{call.total_s:.2f} s, tokens {tokens}, cost {cost}, counted above"
    if replayed is not None:
        answers = f"{replayed.count} of {len(finished.results)} answers"
        yield "replayed", f"{answers}, not asked for again"
        yield "tokens then", tokens_line(replayed.usage)
        yield "cost then", _cost(replayed.cost_usd)
        yield "latency then", _seconds(replayed)


def _cost(cost_usd: float | None) -> str:
    return "unknown" if cost_usd is None else f"${cost_usd:.4f}"


def _seconds(spent: TotalSpent) -> str:
    latency = spent.latency
    if latency is None:
        return "unknown"
    form = "total {total_s:.2f} s, mean {mean_s:.3f} s, p50 {p50_s:.3f} s, p95 {p95_s:.3f} s"
    return form.format_map(latency)


def _answers_path(finished: Finished) -> Path | None:
    store = finished.plan.store
    return None if store is None else store.path


def _score_facts(counts: Counts, *, scored: bool) -> dict[str, object]:
    scores = event_scores(counts) if scored else None
    return {
        "precision": scores and scores.precision,
        "recall": scores and scores.recall,
        "f1": scores and scores.f1,
        "tp": counts.tp,
        "fp": counts.fp,
        "fn": counts.fn,
    }


def _calibration_facts(finished: Finished) -> dict[str, object]:
    facts: dict[str, object] = {}
    for level in finished.run.reliability.rows if finished.run.reliability else ():
        share = share_right(level)
        facts[level.label] = {
            "events": level.count,
            "right": level.correct,
            "share": share and share.value,
            "interval": share and asdict(share),
        }
    return facts


def _result_facts(result: Result) -> dict[str, object]:
    spent = result.spent
    facts: dict[str, object] = {"sample": result.sample.id, "repeat": result.repeat}
    if isinstance(result, Scored):
        facts |= {"status": "scored", **_score_facts(result.counts, scored=True)}
    elif isinstance(result, Failed):
        facts |= {"status": "failed", "reason": result.reason}
    else:
        facts["status"] = "unscored"
    return facts | {
        "latency_s": spent.latency_s,
        "replayed": spent.replayed,
        "attempts": spent.attempts,
        "tokens": spent.usage and asdict(spent.usage),
    }


def tokens_line(usage: Usage | None) -> str:
    if usage is None:
        return "unknown"
    counts = (("prompt", usage.prompt), ("output", usage.output), ("thinking", usage.thinking))
    return ", ".join(f"{name} {'unknown' if count is None else count}" for name, count in counts)
