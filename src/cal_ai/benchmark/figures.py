"""The figures of a run in words and tables, for the console, the report and the AI summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cal_ai.benchmark.differences import Difference
from cal_ai.benchmark.overview import Overview
from cal_ai.benchmark.scoring import Scored
from cal_ai.extractors.protocol import Usage
from truemark.counts import Counts, Scores
from truemark.tables import Table
from truemark.text import one_line

SCORE_COLUMNS = ("", "scored", "failed", "precision", "recall", "f1", "tp", "fp", "fn")
SCORE_FORMATS = (None, None, None, ".3f", ".3f", ".3f", None, None, None)


def mistakes(result: Scored) -> Iterator[str]:
    """Why a sample has less than full scores: near misses, then what is missing or too much."""
    for pair in result.near_misses:
        title = one_line(result.sidecar.expected_events[pair.expected].title)
        yield f"near miss: {title}: {'; '.join(map(_told, result.differences(pair)))}"
    for expected in result.missed:
        yield f"missed: {expected.action} {one_line(expected.title)}"
    for extracted in result.spurious:
        yield f"not expected: {extracted.action} {one_line(extracted.title)}"


def _told(difference: Difference) -> str:
    """A difference as `start expected 2026-02-20 10:00, got nothing (missing)`."""
    expected, got = one_line(difference.expected), one_line(difference.got)
    return f"{difference.field} expected {expected}, got {got} ({difference.by})"


def sample_counts(overview: Overview) -> str:
    return (
        f"{len(overview.run.results)} samples: {len(overview.scored)} scored, "
        f"{len(overview.failed)} failed, {len(overview.unscored)} without sidecar"
    )


def score_table(overview: Overview) -> Table:
    """Scores and counts over all samples, then per category."""
    return Table(
        SCORE_COLUMNS, (_overall_row(overview), *category_table(overview).rows), SCORE_FORMATS
    )


def overall_table(overview: Overview) -> Table:
    """Scores and counts over all samples."""
    return Table(SCORE_COLUMNS, (_overall_row(overview),), SCORE_FORMATS)


def category_table(overview: Overview, shown: Callable[[str], str] = str) -> Table:
    """Scores and counts per category, each by the name that `shown` makes of it."""
    rows = tuple(
        _score_row(shown(it.name), it.scored, it.failed, it.counts, it.scores)
        for it in overview.categories
    )
    return Table(SCORE_COLUMNS, rows, SCORE_FORMATS)


def _overall_row(overview: Overview) -> tuple[object, ...]:
    scored, failed = len(overview.scored), len(overview.failed)
    return _score_row("overall", scored, failed, overview.counts, overview.scores)


def _score_row(
    name: str, scored: int, failed: int, counts: Counts, scores: Scores | None
) -> tuple[object, ...]:
    ratios = (scores.precision, scores.recall, scores.f1) if scores else (None, None, None)
    return (name, scored, failed, *ratios, counts.tp, counts.fp, counts.fn)


def calibration_table(overview: Overview) -> Table:
    """Per level of confidence: the events that claimed it, and the share that was right."""
    rows = tuple((it.level, it.count, it.correct, it.accuracy) for it in overview.calibration)
    return Table(("confidence", "events", "right", "share"), rows, (None, None, None, ".3f"))


def interval_line(overview: Overview) -> str:
    if (it := overview.f1_interval) is None:
        return "no sample was scored"
    return (
        f"f1 {it.value:.3f}, {it.confidence:.0%} interval {it.low:.3f} to {it.high:.3f} "
        f"({it.resamples} resamples, seed {it.seed})"
    )


def baseline_line(overview: Overview) -> str:
    """How the run compares with its baseline; empty when there is none or nothing in common."""
    if (it := overview.baseline) is None:
        return ""
    noun = "sample" if it.samples == 1 else "samples"
    return (
        f"f1 {it.f1:.3f} against {it.baseline_f1:.3f} of the baseline "
        f"({one_line(it.model or 'no model')}) on {it.samples} {noun}: {it.test.difference:+.3f}, "
        f"p = {it.test.p_value:.4f} ({it.test.permutations} permutations, seed {it.test.seed})"
    )


def targets_line(overview: Overview) -> str:
    """Target accuracy: how many paired updates and deletes name the right event."""
    if (it := overview.targets) is None:
        return "no update or delete was paired"
    right = round(it.value * it.count)
    noun = "update or delete names" if it.count == 1 else "updates and deletes name"
    return (
        f"{right} of {it.count} paired {noun} the right event of the calendar: "
        f"{it.value:.3f}, 95% interval {it.low:.3f} to {it.high:.3f}"
    )


def tokens_line(usage: Usage | None) -> str:
    if usage is None:
        return "unknown"
    known = (("prompt", usage.prompt), ("output", usage.output), ("thinking", usage.thinking))
    return ", ".join(f"{name} {'unknown' if n is None else n}" for name, n in known)


def cost_line(cost_usd: float | None) -> str:
    return "unknown" if cost_usd is None else f"${cost_usd:.4f}"


def latency_line(overview: Overview) -> str:
    if (it := overview.latency) is None:
        return "unknown"
    return (
        f"total {it.total_s:.2f} s, mean {it.mean_s:.3f} s, p50 {it.p50_s:.3f} s, "
        f"p95 {it.p95_s:.3f} s; the run took {overview.run.wall_s:.2f} s"
    )
