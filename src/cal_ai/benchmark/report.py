"""The report of a run as a Markdown page that a person wants to read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from cal_ai.benchmark.figures import (
    baseline_sheet,
    calibration_table,
    category_table,
    cost_line,
    extractor_line,
    interval_line,
    kinds_table,
    latency_line,
    overall_table,
    repeat_lines,
    replayed_facts,
    sample_counts,
    targets_line,
    tokens_line,
)
from cal_ai.benchmark.mistakes import NOTHING, Difference, matches_of, mistakes_of, shown_time
from cal_ai.benchmark.narrative import SECTIONS, Narrative, NoNarrative
from cal_ai.benchmark.overview import Overview
from cal_ai.benchmark.scoring import (
    Failed,
    Result,
    Scored,
    Unscored,
    event_scores,
    overall_counts,
)
from cal_ai.benchmark.sidecar import ExpectedEvent
from cal_ai.events import Event
from truemark.counts import Counts
from truemark.sheets import show_sheet
from truemark.tables import Table, render
from truemark.text import one_line, shortened

# Underscores only at the edge of a word, slashes and dots only where an address becomes a link.
# What comes before is looked at last: at every place of the text it would take far longer.
_SPECIAL = re.compile(
    r"[&<>|\\`*\[\]~${}@]|_(?<![^\W_]_)|_(?![^\W_])|/(?<=:/)|\.(?<=www\.)", re.IGNORECASE
)

EVENT_COLUMNS = ("", "expected", "extracted", "differs")


def markdown_report(overview: Overview, narrative: Narrative | NoNarrative) -> str:
    """The whole page: summary tables, then every sample, worst first, then the AI summary."""
    samples = worst_first(overview.run.results)
    sections = [
        ("Scores", _scores(overview)),
        ("Kinds of mistakes", _kinds(overview)),
        ("Categories", [render(category_table(overview, escaped), "markdown")]),
        ("Calibration", _calibration(overview)),
        ("Events of the calendar", [f"{targets_line(overview)}."]),
        ("Repeats", ["\n".join(f"- {escaped(it, limit=600)}" for it in repeat_lines(overview))]),
        ("Against the baseline", [show_sheet(baseline_sheet(overview), "markdown")]),
        ("Cost and latency", [_costs(overview)]),
        ("Failed samples", _failures(overview)),
        (
            "Samples",
            [contents_table(samples), *(part for it in samples for part in sample_parts(it))],
        ),
        ("AI summary", _narrative(narrative)),
    ]
    filled = [(title, kept) for title, parts in sections if (kept := list(filter(None, parts)))]
    parts = ["# Calendar extraction benchmark", _facts(overview)]
    parts.append("\n".join(f"- [{title}](#{_slug(title)})" for title, _ in filled))
    for title, section in filled:
        parts += [f"## {title}", *section]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _slug(title: str) -> str:
    return title.casefold().replace(" ", "-")


def _scores(overview: Overview) -> list[str]:
    return [render(overall_table(overview), "markdown"), f"{interval_line(overview)}."]


def _kinds(overview: Overview) -> list[str]:
    table = kinds_table(overview, escaped)
    if not table.rows:
        return ["No mistakes."]
    return [
        "A pair that is nearly right is one mistake, by the first thing that is wrong with it;"
        " what has nothing in common with the event it was paired with is missed and invented.",
        render(table, "markdown"),
    ]


def _calibration(overview: Overview) -> list[str]:
    return [
        "Events by the confidence stated for them, and the share that was right.",
        render(calibration_table(overview), "markdown"),
    ]


def _facts(overview: Overview) -> str:
    run = overview.run
    replayed = [fact for fact in replayed_facts(overview) if fact[0] == "replayed"]
    rows = (
        ("started", run.started.isoformat(" ", "seconds")),
        *replayed,
        ("samples", f"{sample_counts(overview)}, from {escaped(str(run.folder))}"),
        ("extractor", escaped(extractor_line(overview))),
        ("model", escaped(run.model or "none")),
        ("system", f"{overview.record.system_id} ({escaped(_identity(overview))})"),
        ("signature", f"{run.signature.short} ({escaped(str(run.signature))})"),
    )
    return render(Table(("run", ""), rows), "markdown")


def _identity(overview: Overview) -> str:
    return ", ".join(f"{name} {value}" for name, value in overview.run.system.identity.items())


def _costs(overview: Overview) -> str:
    rows = (
        ("tokens", tokens_line(overview.usage)),
        ("cost", cost_line(overview.cost_usd)),
        ("latency", latency_line(overview)),
        *replayed_facts(overview),
    )
    return render(Table(("spent", ""), rows), "markdown")


def _failures(overview: Overview) -> Iterator[str]:
    if overview.failed:
        yield "They got no usable answer, so they are in none of the scores."
        rows = tuple((result_name(it), escaped(it.reason)) for it in overview.failed)
        yield render(Table(("sample", "reason"), rows), "markdown")


def _narrative(narrative: Narrative | NoNarrative) -> Iterator[str]:
    if isinstance(narrative, NoNarrative):
        yield f"AI summary unavailable: {escaped(narrative.reason)}"
        return
    for name, lines in zip(SECTIONS, narrative.sections, strict=True):
        yield f"### {name}"
        yield "\n".join(f"- {escaped(line, limit=600)}" for line in lines) or "(nothing said)"


@dataclass(frozen=True, slots=True)
class Section:
    """One sample with the results of all its repeats, and where it stands on the page."""

    anchor: str
    results: tuple[Result, ...]

    @property
    def counts(self) -> Counts:
        return overall_counts(it for it in self.results if isinstance(it, Scored))

    @property
    def rank(self) -> tuple[int, float, int]:
        """Worst first: lowest F1, most mistakes; then failed, without sidecar, fine."""
        counts = self.counts
        wrong = counts.fp + counts.fn
        if wrong:
            return 0, event_scores(counts).f1, -wrong
        for place, kind in enumerate((Failed, Unscored), start=1):
            if any(isinstance(it, kind) for it in self.results):
                return place, 0.0, 0
        return 3, 0.0, 0


def worst_first(results: tuple[Result, ...]) -> list[Section]:
    by_sample: dict[str, list[Result]] = {}
    for result in results:
        by_sample.setdefault(result.sample.id, []).append(result)
    found = sorted((Section("", tuple(own)) for own in by_sample.values()), key=lambda it: it.rank)
    return [replace(it, anchor=f"sample-{number}") for number, it in enumerate(found, start=1)]


def contents_table(sections: Sequence[Section]) -> str:
    """Every sample with a link to its place, its counts and the kinds of its mistakes."""
    lines = [
        "| sample | f1 | tp | fp | fn | mistakes |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for section in sections:
        counts, scored = section.counts, [it for it in section.results if isinstance(it, Scored)]
        kinds = Counter(one.kind for it in scored for one in mistakes_of(it))
        told = [f"{count} {kind}" for kind, count in kinds.most_common()]
        if failed := sum(isinstance(it, Failed) for it in section.results):
            told.append("FAILED" if len(section.results) == 1 else f"{failed} FAILED")
        name = f"[{escaped(section.results[0].sample.id)}](#{section.anchor})"
        f1 = f"{event_scores(counts).f1:.3f}" if scored else "-"
        numbers = f"{f1} | {counts.tp} | {counts.fp} | {counts.fn}"
        lines.append(f"| {name} | {numbers} | {', '.join(told)} |")
    return "\n".join(lines)


def sample_parts(section: Section) -> Iterator[str]:
    yield f'<a id="{section.anchor}"></a>'
    yield f"### {escaped(section.results[0].sample.id)}"
    for result in section.results:
        if len(section.results) > 1:
            yield f"**Repeat {result.repeat + 1}**"
        yield _sample_facts(result)
        if isinstance(result, Scored):
            rows = tuple(_event_rows(result))
            nothing = "Nothing was expected and nothing was extracted."
            yield render(Table(EVENT_COLUMNS, rows), "markdown") if rows else nothing
        elif isinstance(result, Unscored):
            rows = tuple(("", "", _extracted(event), "") for event in result.extracted)
            nothing = "Nothing was extracted."
            yield render(Table(EVENT_COLUMNS, rows), "markdown") if rows else nothing


def result_name(result: Result) -> str:
    number = f" #{result.repeat + 1}" if result.repeat else ""
    return f"{escaped(result.sample.id)}{number}"


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
    if spent.replayed:
        facts.append("replayed")
    return " · ".join(facts)


def _event_rows(result: Scored) -> Iterator[tuple[str, str, str, str]]:
    """The events of a sample side by side, mistakes first and matches last."""
    for mistake in mistakes_of(result):
        differs = [_difference(it) for it in mistake.differences]
        differs += [f"{_difference(it)}, not counted" for it in mistake.remarks]
        yield (
            mistake.kind,
            NOTHING if mistake.expected is None else _expected(mistake.expected),
            NOTHING if mistake.extracted is None else _extracted(mistake.extracted, reasons=True),
            "; ".join(differs),
        )
    for match in matches_of(result):
        differs = [f"{_difference(it)}, within tolerance" for it in match.differences]
        differs += [f"{_difference(it)}, not counted" for it in match.remarks]
        yield "match", _expected(match.expected), _extracted(match.extracted), "; ".join(differs)


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
        parts.append(f"because: {escaped(event.reasoning, limit=600)}")
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


def escaped(text: str, limit: int = 300) -> str:
    """One line of `text` that Markdown shows as it is: no markup, no HTML, no link, no table cell.

    What cannot be seen (control characters, direction overrides, halves of surrogate pairs) becomes
    a replacement character; what is longer than `limit` ends in an ellipsis.
    """
    line = " ".join(one_line(text[: 4 * limit]).split())
    return _SPECIAL.sub(lambda found: f"&#{ord(found.group())};", shortened(line, limit))
