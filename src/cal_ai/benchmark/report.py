"""The report of a run as a Markdown page that a person wants to read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from cal_ai.benchmark.differences import NOTHING, Difference, shown_time
from cal_ai.benchmark.figures import (
    baseline_line,
    calibration_table,
    category_table,
    cost_line,
    interval_line,
    latency_line,
    overall_table,
    sample_counts,
    targets_line,
    tokens_line,
)
from cal_ai.benchmark.narrative import SECTIONS, Narrative, NoNarrative
from cal_ai.benchmark.overview import Overview
from cal_ai.benchmark.pairing import Pair
from cal_ai.benchmark.scoring import Failed, Result, Scored, Unscored, event_scores
from cal_ai.benchmark.sidecar import ExpectedEvent
from cal_ai.events import Event
from truemark.tables import Table, render

EVENT_COLUMNS = ("", "expected", "extracted", "differs")


def markdown_report(overview: Overview, narrative: Narrative | NoNarrative) -> str:
    """The whole page: summary tables, then every sample, then the AI summary.

    Samples with near misses come first, for there a prompt or a tolerance is nearly right; then
    those with other mistakes, then the rest.
    """
    parts = [
        "# Calendar extraction benchmark",
        _facts(overview),
        "## Scores",
        render(overall_table(overview), "markdown"),
        interval_line(overview),
        *filter(None, [escaped(baseline_line(overview), limit=600)]),
        "## Categories",
        render(category_table(overview, escaped), "markdown"),
        "## Calibration",
        "Events by the confidence stated for them, and the share that was right.",
        render(calibration_table(overview), "markdown"),
        "## Events of the calendar",
        f"{targets_line(overview)}.",
        "## Cost and latency",
        _costs(overview),
        *_failures(overview),
        "## Samples",
        *(part for result in _ordered(overview.run.results) for part in _sample(result)),
        "## AI summary",
        *_narrative(narrative),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _facts(overview: Overview) -> str:
    run = overview.run
    rows = (
        ("started", run.started.isoformat(" ", "seconds")),
        ("samples", f"{sample_counts(overview)}, from {escaped(str(run.folder))}"),
        ("extractor", escaped(run.extractor)),
        ("model", escaped(run.model or "none")),
        ("signature", f"{run.signature.short} ({escaped(str(run.signature))})"),
    )
    return render(Table(("run", ""), rows), "markdown")


def _costs(overview: Overview) -> str:
    rows = (
        ("tokens", tokens_line(overview.usage)),
        ("cost", cost_line(overview.cost_usd)),
        ("latency", latency_line(overview)),
    )
    return render(Table(("spent", ""), rows), "markdown")


def _failures(overview: Overview) -> Iterator[str]:
    if overview.failed:
        yield "## Failed samples"
        yield "They got no usable answer, so they are in none of the scores."
        rows = tuple((escaped(it.sample.id), escaped(it.reason)) for it in overview.failed)
        yield render(Table(("sample", "reason"), rows), "markdown")


def _ordered(results: tuple[Result, ...]) -> list[Result]:
    def rank(result: Result) -> int:
        if not isinstance(result, Scored):
            return 2
        if result.near_misses:
            return 0
        return 1 if result.missed or result.spurious else 3

    return sorted(results, key=rank)


def _sample(result: Result) -> Iterator[str]:
    yield f"### {escaped(result.sample.id)}"
    yield _sample_facts(result)
    match result:
        case Scored():
            rows = tuple(_event_rows(result))
            yield (
                render(Table(EVENT_COLUMNS, rows), "markdown")
                if rows
                else ("Nothing was expected and nothing was extracted.")
            )
        case Unscored():
            rows = tuple(("", "", _extracted(event), "") for event in result.extracted)
            yield (
                render(Table(EVENT_COLUMNS, rows), "markdown")
                if rows
                else ("Nothing was extracted.")
            )
        case Failed():
            pass


def _sample_facts(result: Result) -> str:
    spent = result.spent
    match result:
        case Scored():
            counts = result.counts
            scores = event_scores(counts)
            facts = [
                f"tolerance {result.sidecar.tolerance}",
                f"precision {scores.precision:.3f}, recall {scores.recall:.3f}, F1 {scores.f1:.3f}",
                f"{counts.tp} TP, {counts.fp} FP, {counts.fn} FN",
            ]
        case Unscored():
            facts = ["no sidecar: extracted, not scored"]
        case Failed():
            facts = [f"FAILED: {escaped(result.reason)}"]
    facts += [f"{spent.latency_s:.2f} s", f"tokens: {tokens_line(spent.usage)}"]
    if spent.attempts > 1:
        facts.append(f"{spent.attempts} attempts")
    return " · ".join(facts)


def _event_rows(result: Scored) -> Iterator[tuple[str, str, str, str]]:
    """The events of a sample side by side, near misses first and matches last."""
    for pair in result.near_misses:
        yield _pair_row("near miss", result, pair)
    for expected in result.missed:
        yield "missed", _expected(expected), NOTHING, ""
    for extracted in result.spurious:
        yield "not expected", NOTHING, _extracted(extracted, reasons=True), ""
    for pair in result.pairs:
        if pair.is_match:
            yield _pair_row("match", result, pair)


def _pair_row(what: str, result: Scored, pair: Pair) -> tuple[str, str, str, str]:
    differs = [_difference(it) for it in result.differences(pair)]
    differs += [f"{_difference(it)}, not counted" for it in result.remarks(pair)]
    return (
        what,
        _expected(result.sidecar.expected_events[pair.expected]),
        _extracted(result.extracted[pair.extracted], reasons=not pair.is_match),
        "; ".join(differs),
    )


def _difference(it: Difference) -> str:
    by = escaped(it.by)
    return f"{it.field}: expected {escaped(it.expected)}, got {escaped(it.got)} ({by})"


def _expected(event: ExpectedEvent) -> str:
    parts = [f"{event.action} {escaped(event.title)}"]
    parts += _when_and_where(event.start_time, event.end_time, event.location)
    if event.attendees_contain:
        parts.append(f"with {escaped(', '.join(event.attendees_contain))}")
    return ", ".join(parts)


def _extracted(event: Event, *, reasons: bool = False) -> str:
    parts = [f"{event.action} {escaped(event.title)}"]
    parts += _when_and_where(event.start_time, event.end_time, event.location)
    if event.attendees:
        parts.append(f"with {escaped(', '.join(event.attendees))}")
    if event.existing_event_id is not None:
        parts.append(f"event {event.existing_event_id}")
    parts.append(f"confidence {event.confidence}")
    if reasons and event.reasoning:
        parts.append(f"because: {escaped(event.reasoning)}")
    return ", ".join(parts)


def _when_and_where(
    start: datetime | None, end: datetime | None, location: str | None
) -> Iterator[str]:
    if start is not None or end is not None:
        yield shown_time(start) + _until(start, end)
    if location:
        yield f"at {escaped(location)}"


def _until(start: datetime | None, end: datetime | None) -> str:
    if end is None:
        return ""
    same_day = start is not None and start.date() == end.date() and start.tzinfo == end.tzinfo
    return f" to {end.time().isoformat('minutes') if same_day else shown_time(end)}"


def _narrative(narrative: Narrative | NoNarrative) -> Iterator[str]:
    if isinstance(narrative, NoNarrative):
        yield f"AI summary unavailable: {escaped(narrative.reason)}"
        return
    for name, lines in zip(SECTIONS, narrative.sections, strict=True):
        yield f"### {name}"
        yield "\n".join(f"- {escaped(line, limit=600)}" for line in lines) or "(nothing said)"


_JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
# Underscores only at the edge of a word, slashes and dots only where an address becomes a link.
# What comes before is looked at last: at every place of the text it would take far longer.
_SPECIAL = re.compile(
    r"[&<>|\\`*\[\]~${}@]|_(?<![^\W_]_)|_(?![^\W_])|/(?<=:/)|\.(?<=www\.)", re.IGNORECASE
)


def escaped(text: str, limit: int = 300) -> str:
    """One line of `text` that Markdown shows as it is: no markup, no HTML, no link, no table cell.

    What cannot be seen (control characters, direction overrides, halves of surrogate pairs) becomes
    a replacement character; what is longer than `limit` ends in an ellipsis.
    """
    line = " ".join(text[: 4 * limit].split())
    if not line.isprintable():
        line = "".join(map(_visible, line))
    if len(line) > limit:
        line = line[: limit - 1] + "…"
    return _SPECIAL.sub(lambda found: f"&#{ord(found.group())};", line)


def _visible(character: str) -> str:
    # Joiners shape emoji and several scripts; what else cannot be printed only misleads.
    if character.isprintable() or character in _JOINERS:
        return character
    return "\N{REPLACEMENT CHARACTER}"
