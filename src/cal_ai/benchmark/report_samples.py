"""The samples in the report: a table of all of them, then each with its events side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from cal_ai.benchmark.differences import NOTHING, Difference, shown_time
from cal_ai.benchmark.escaping import escaped
from cal_ai.benchmark.figures import tokens_line
from cal_ai.benchmark.mistakes import matches_of, mistakes_of
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
from truemark.tables import Table, render

EVENT_COLUMNS = ("", "expected", "extracted", "differs")


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
