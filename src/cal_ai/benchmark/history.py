"""The line that a run leaves behind, to be compared with the runs before and after it."""

from __future__ import annotations

from pathlib import Path

from cal_ai.benchmark.overview import Overview
from cal_ai.extractors.protocol import Usage
from truemark import history

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
