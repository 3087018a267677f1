"""What a run prints: a line per sample as it ends, and the figures when all have."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from cal_ai.benchmark.figures import (
    baseline_line,
    calibration_table,
    cost_line,
    interval_line,
    latency_line,
    sample_counts,
    score_table,
    targets_line,
    tokens_line,
)
from cal_ai.benchmark.overview import Overview
from cal_ai.benchmark.scoring import Failed, Result, Scored, event_scores
from truemark.counts import Counts, Scores
from truemark.jsontext import to_json
from truemark.tables import render
from truemark.text import one_line

_FAILURES = 20


def progress_line(number: int, of: int, result: Result) -> str:
    """The line for the `number`-th sample to end: `[3/45] crud/lunch... P=0.91 R=0.87 (2.3s)`."""
    if isinstance(result, Scored):
        scores = event_scores(result.counts)
        said = f"P={scores.precision:.2f} R={scores.recall:.2f}"
    elif isinstance(result, Failed):
        said = f"FAILED ({one_line(result.reason)})"
    else:
        said = "no sidecar"
    name = one_line(result.sample.id)
    return f"[{number}/{of}] {name}... {said} ({result.spent.latency_s:.1f}s)"


def text_summary(overview: Overview, report: Path) -> str:
    """The numbers for a person."""
    run = overview.run
    parts = [
        f"{sample_counts(overview)}\n",
        render(score_table(overview), "text"),
        "\n".join(filter(None, (interval_line(overview), baseline_line(overview)))) + "\n",
        render(calibration_table(overview), "text"),
    ]
    facts = [
        ("targets", targets_line(overview)),
        ("tokens", tokens_line(overview.usage)),
        ("cost", cost_line(overview.cost_usd)),
        ("latency", latency_line(overview)),
        ("extractor", run.extractor),
        ("model", run.model or "none"),
        ("signature", run.signature.short),
    ]
    facts += [("failed", f"{it.sample.id}: {it.reason}") for it in overview.failed[:_FAILURES]]
    if len(overview.failed) > _FAILURES:
        facts += [("failed", f"and {len(overview.failed) - _FAILURES} more, see the report")]
    facts += [("answers", str(run.recording))] if run.recording else []
    facts += [("report", str(report))]
    width = max(len(name) for name, _ in facts) + 2
    parts.append("".join(f"{name:<{width}}{one_line(value)}\n" for name, value in facts))
    return "\n".join(parts)


def json_summary(overview: Overview, report: Path) -> str:
    """The same for a program, every number in full, and a line of facts per sample."""
    scores, run = overview.scores, overview.run
    return (
        to_json(
            {
                "extractor": run.extractor,
                "model": run.model,
                "signature": run.signature.short,
                "samples": len(run.results),
                "scored": len(overview.scored),
                "failed": len(overview.failed),
                "unscored": len(overview.unscored),
                "overall": _score_fields(overview.counts, scores),
                "f1_interval": overview.f1_interval and asdict(overview.f1_interval),
                "baseline": overview.baseline and asdict(overview.baseline),
                "categories": {
                    it.name: {"scored": it.scored, "failed": it.failed}
                    | _score_fields(it.counts, it.scores)
                    for it in overview.categories
                },
                "calibration": {
                    it.level: {"events": it.count, "right": it.correct, "share": it.accuracy}
                    for it in overview.calibration
                },
                "targets": overview.targets and asdict(overview.targets),
                "tokens": overview.usage and asdict(overview.usage),
                "cost_usd": overview.cost_usd,
                "latency": overview.latency and asdict(overview.latency),
                "wall_s": run.wall_s,
                "results": [_result_fields(result) for result in run.results],
                "answers": run.recording,
                "report": report,
            },
            indent=2,
        )
        + "\n"
    )


def _score_fields(counts: Counts, scores: Scores | None) -> dict[str, object]:
    return {
        "precision": scores and scores.precision,
        "recall": scores and scores.recall,
        "f1": scores and scores.f1,
        "tp": counts.tp,
        "fp": counts.fp,
        "fn": counts.fn,
    }


def _result_fields(result: Result) -> dict[str, object]:
    fields: dict[str, object] = {"sample": result.sample.id}
    if isinstance(result, Scored):
        counts = result.counts
        fields |= {"status": "scored"} | _score_fields(counts, event_scores(counts))
    elif isinstance(result, Failed):
        fields |= {"status": "failed", "reason": result.reason}
    else:
        fields |= {"status": "unscored"}
    spent = result.spent
    usage = spent.usage and asdict(spent.usage)
    return fields | {"latency_s": spent.latency_s, "attempts": spent.attempts, "tokens": usage}
