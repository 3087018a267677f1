"""What a run prints: a line per sample as it ends, and the figures when all have."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from cal_ai.benchmark.figures import (
    calibration_table,
    cost_line,
    extractor_line,
    interval_line,
    kind_counts,
    kinds_line,
    latency_line,
    repeat_lines,
    replayed_facts,
    sample_counts,
    score_table,
    targets_line,
    tokens_line,
    verdict_lines,
)
from cal_ai.benchmark.overview import Overview
from cal_ai.benchmark.scoring import Failed, Result, Scored, event_scores
from truemark.counts import Counts, Scores
from truemark.jsontext import to_json
from truemark.sheets import comparison_json
from truemark.tables import render
from truemark.text import one_line
from truemark.uncertainty import wilson

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
    if result.repeat:
        name += f" #{result.repeat + 1}"
    took = f"{result.spent.latency_s:.1f}s"
    took = f"replayed, {took} then" if result.spent.replayed else took
    return f"[{number}/{of}] {name}... {said} ({took})"


@dataclass(frozen=True, slots=True)
class Written:
    """Where a run has left its report and its record."""

    report: Path
    record: Path


def text_summary(overview: Overview, written: Written) -> str:
    """The numbers for a person."""
    run = overview.run
    parts = [
        f"{sample_counts(overview)}\n",
        render(score_table(overview), "text"),
        "\n".join([interval_line(overview), *repeat_lines(overview)]) + "\n",
        *(f"{line}\n" for line in verdict_lines(overview)),
        render(calibration_table(overview), "text"),
    ]
    facts = [
        ("mistakes", kinds_line(overview)),
        ("targets", targets_line(overview)),
        ("tokens", tokens_line(overview.usage)),
        ("cost", cost_line(overview.cost_usd)),
        ("latency", latency_line(overview)),
        *replayed_facts(overview),
        ("extractor", extractor_line(overview)),
        ("model", run.model or "none"),
        ("signature", run.signature.short),
    ]
    facts += [("failed", f"{it.sample.id}: {it.reason}") for it in overview.failed[:_FAILURES]]
    if len(overview.failed) > _FAILURES:
        facts += [("failed", f"and {len(overview.failed) - _FAILURES} more, see the report")]
    facts += [("answers", str(run.recording))] if run.recording else []
    facts += [("record", str(written.record)), ("report", str(written.report))]
    width = max(len(name) for name, _ in facts) + 2
    parts.append("".join(f"{name:<{width}}{one_line(value)}\n" for name, value in facts))
    return "\n".join(parts)


def json_summary(overview: Overview, written: Written) -> str:
    """The same for a program, every number in full, and a line of facts per sample."""
    scores, run = overview.scores, overview.run
    intervals = overview.summary.intervals
    return (
        to_json(
            {
                "extractor": run.extractor,
                "model": run.model,
                "signature": run.signature.short,
                "system": overview.record.system_id,
                "samples": len(run.results) // run.repeats,
                "repeats": run.repeats,
                "scored": len(overview.scored),
                "failed": len(overview.failed),
                "unscored": len(overview.unscored),
                "overall": _score_fields(overview.counts, scores),
                "intervals": {name: asdict(it) for name, it in intervals.items()},
                "baseline": overview.baseline and json.loads(comparison_json(overview.baseline)),
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
                "mistakes": dict(kind_counts(overview)),
                "targets": overview.targets and asdict(overview.targets),
                "tokens": overview.usage and asdict(overview.usage),
                "cost_usd": overview.cost_usd,
                "latency": overview.latency and asdict(overview.latency),
                "replayed": overview.replayed and asdict(overview.replayed),
                "wall_s": run.wall_s,
                "results": [_result_fields(result) for result in run.results],
                "answers": run.recording,
                "record": written.record,
                "report": written.report,
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


def _result_fields(result: Result) -> dict[str, object]:
    fields: dict[str, object] = {"sample": result.sample.id, "repeat": result.repeat}
    if isinstance(result, Scored):
        counts = result.counts
        fields |= {"status": "scored"} | _score_fields(counts, event_scores(counts))
    elif isinstance(result, Failed):
        fields |= {"status": "failed", "reason": result.reason}
    else:
        fields |= {"status": "unscored"}
    spent = result.spent
    usage = spent.usage and asdict(spent.usage)
    return fields | {
        "latency_s": spent.latency_s,
        "replayed": spent.replayed,
        "attempts": spent.attempts,
        "tokens": usage,
    }
