"""The figures of a run in words and tables, for the console, the report and the AI summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from cal_ai.benchmark.mistakes import KINDS, Difference, mistakes_of
from cal_ai.benchmark.overview import Finished, Latency, Overview
from cal_ai.benchmark.scoring import Failed, Result, Scored, event_scores
from truemark.calibration import LevelAccuracy
from truemark.counts import Counts
from truemark.sections import comparison_sections
from truemark.services.calls import Usage
from truemark.tables import Table, render
from truemark.text import one_line
from truemark.uncertainty import Interval, Measure, Share, wilson

_FAILURES = 20
SCORE_COLUMNS = ("", "scored", "failed", "precision", "recall", "f1", "tp", "fp", "fn")


def mistakes(result: Scored) -> Iterator[str]:
    """Why a sample has less than full scores, one line per mistake: `missed: create Lunch`."""
    for one in mistakes_of(result):
        event = one.expected or one.extracted
        assert event is not None, "a mistake is about an event"
        if one.differences:
            yield f"{one.kind}: {one_line(event.title)}: {'; '.join(map(_told, one.differences))}"
        else:
            yield f"{one.kind}: {event.action} {one_line(event.title)}"


def _told(difference: Difference) -> str:
    """A difference as `start expected 2026-02-20 10:00, got nothing (missing)`."""
    expected, got = one_line(difference.expected), one_line(difference.got)
    return f"{difference.field} expected {expected}, got {got} ({difference.by})"


def sample_counts(overview: Overview) -> str:
    run = overview.run
    samples = f"{len(run.answers) // run.repeats} samples"
    if run.repeats > 1:
        samples += f", {run.repeats} repeats, {len(run.answers)} answers"
    return (
        f"{samples}: {overview.scored} scored, "
        f"{len(overview.failed)} failed, {overview.unscored} without sidecar"
    )


def score_table(overview: Overview) -> Table:
    """Scores and counts over all samples, then per category."""
    return Table(SCORE_COLUMNS, (_overall_row(overview), *category_table(overview).rows))


def overall_table(overview: Overview) -> Table:
    """Scores and counts over all samples."""
    return Table(SCORE_COLUMNS, (_overall_row(overview),))


def category_table(overview: Overview, shown: Callable[[str], str] = str) -> Table:
    """Scores and counts per category, each by the name that `shown` makes of it."""
    rows = tuple(
        _score_row(shown(it.name), it.scored, it.failed, it.counts, it.intervals)
        for it in overview.categories
    )
    return Table(SCORE_COLUMNS, rows)


def _overall_row(overview: Overview) -> tuple[object, ...]:
    scored, failed = overview.scored, len(overview.failed)
    return _score_row("overall", scored, failed, overview.counts, overview.summary.intervals)


def _score_row(
    name: str, scored: int, failed: int, counts: Counts, intervals: Mapping[Measure, Interval]
) -> tuple[object, ...]:
    measures: tuple[Measure, ...] = ("precision", "recall", "f1")
    ratios = [_score(intervals.get(measure)) for measure in measures]
    return (name, scored, failed, *ratios, counts.tp, counts.fp, counts.fn)


def _score(interval: Interval | None) -> str | None:
    """A score with its interval, as `0.714 (0.602 to 0.809)`."""
    if interval is None:
        return None
    return f"{interval.value:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def calibration_table(overview: Overview) -> Table:
    """Per level of confidence: the events that claimed it, and the share that was right."""
    return Table(
        ("confidence", "events", "right", "share", "95% interval"),
        tuple(map(_calibration_row, overview.calibration)),
        (None, None, None, ".3f", None),
    )


def _calibration_row(it: LevelAccuracy) -> tuple[object, ...]:
    share = wilson(it.correct, it.count)
    interval = None if share is None else f"{share.low:.3f} to {share.high:.3f}"
    return it.level, it.count, it.correct, it.accuracy, interval


def interval_line(overview: Overview) -> str:
    """How the intervals in the tables of scores were made."""
    if (it := overview.summary.intervals.get("f1")) is None:
        return "No sample was scored"
    noun = "sample" if it.clusters == 1 else "samples"
    return (
        f"In brackets {it.confidence:.0%} intervals: {it.resamples} resamples of {it.clusters} "
        f"{noun}, seed {it.seed}"
    )


def kinds_table(overview: Overview, shown: Callable[[str], str] = str) -> Table:
    """How many mistakes of each kind there are, in all samples and per category."""
    counted = overview.kinds
    categories = [it.name for it in overview.categories if it.scored]
    rows = []
    for kind in KINDS:
        own = [counted[kind, category] for category in categories]
        if sum(own):
            rows.append((kind, sum(own), *own))
    columns = [shown(name) for name in categories]
    return Table(("kind of mistake", "all samples", *_distinct(columns)), tuple(rows))


def _distinct(names: Sequence[str]) -> list[str]:
    """The names with a number where one is there already, as when two are cut to the same."""
    return [
        name
        if name not in (*names[:place], "kind of mistake", "all samples")
        else f"{name} {place}"
        for place, name in enumerate(names)
    ]


def extractor_line(overview: Overview) -> str:
    """The extractor, and of replayed answers the one that gave them."""
    run = overview.run
    asked = run.extractor == run.system.kind
    return run.extractor if asked else f"{run.extractor} (answers of {run.system.kind})"


def kinds_line(overview: Overview) -> str:
    """The kinds of mistakes, most frequent first."""
    counted = overview.kind_counts.most_common()
    return ", ".join(f"{count} {kind}" for kind, count in counted) or "none"


def verdict_lines(overview: Overview) -> Iterator[str]:
    """How the run compares with its baseline, where there is one."""
    if overview.baseline:
        _, versus, *_ = comparison_sections(overview.baseline)
        yield from map(one_line, versus.sentences)


def repeat_lines(overview: Overview) -> Iterator[str]:
    """What asking several times shows; nothing where each sample was asked about once."""
    if (it := overview.summary.repeats) is None:
        return
    yield f"right in all {it.repeats} repeats (pass^{it.repeats}): {_share(it.right_in_all)}"
    yield f"right in any of them: {_share(it.right_in_any)}"
    yield (
        f"variance of F1 between samples {it.variance_between_units:.4f}, "
        f"between repeats of one {it.variance_between_repeats:.4f}"
    )
    noun = "sample flips" if len(it.flipping) == 1 else "samples flip"
    names = ": " + ", ".join(map(one_line, it.flipping)) if it.flipping else ""
    yield f"{len(it.flipping)} {noun} between right and wrong{names}"


def _share(it: Share) -> str:
    right = round(it.value * it.count)
    return (
        f"{right} of {it.count} samples, {it.value:.3f}, 95% interval {it.low:.3f} to {it.high:.3f}"
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
    run_s = f"the run took {overview.run.wall_s:.2f} s"
    if overview.latency is None:
        return f"{'nothing was asked' if overview.replayed else 'unknown'}; {run_s}"
    return f"{_latency(overview.latency)}; {run_s}"


def _latency(it: Latency) -> str:
    return (
        f"total {it.total_s:.2f} s, mean {it.mean_s:.3f} s, p50 {it.p50_s:.3f} s, "
        f"p95 {it.p95_s:.3f} s"
    )


def replayed_facts(overview: Overview) -> Iterator[tuple[str, str]]:
    """What replayed answers took when they were given; nothing where none is replayed."""
    if (it := overview.replayed) is None:
        return
    yield "replayed", f"{it.count} of {len(overview.run.answers)} answers, not asked for again"
    yield "tokens then", tokens_line(it.usage)
    yield "cost then", cost_line(it.cost_usd)
    yield "latency then", "unknown" if it.latency is None else _latency(it.latency)


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


def text_summary(finished: Finished) -> str:
    """The numbers for a person."""
    overview, run = finished.overview, finished.overview.run
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
    facts += [("failed", f"{it.sample}: {it.reason}") for it in overview.failed[:_FAILURES]]
    if len(overview.failed) > _FAILURES:
        facts += [("failed", f"and {len(overview.failed) - _FAILURES} more, see the report")]
    facts += [("answers", str(run.recording))] if run.recording else []
    facts += [("record", str(finished.record)), ("report", str(finished.report))]
    width = max(len(name) for name, _ in facts) + 2
    parts.append("".join(f"{name:<{width}}{one_line(value)}\n" for name, value in facts))
    return "\n".join(parts)
