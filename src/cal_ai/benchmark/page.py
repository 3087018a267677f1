"""Write the report of a run in Markdown: its numbers, then every sample with its events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from cal_ai.benchmark.mistakes import (
    KINDS,
    NOTHING,
    in_words,
    matches_of,
    mistakes_of,
    shown_span,
)
from cal_ai.benchmark.report import NO_HEAD, Finished, run_rows, run_sections, tokens_line
from cal_ai.benchmark.scoring import Failed, Result, Scored, Unscored, event_scores
from cal_ai.benchmark.sidecar import ExpectedEvent
from cal_ai.events import Event
from truemark.counts import Counts, total
from truemark.records import Finding
from truemark.sections import Section, as_markdown, comparison_sections
from truemark.tables import Markdown, Table, escape_markdown
from truemark.text import one_line, shortened

EVENT_COLUMNS = ("", "expected", "extracted", "differs")
_CONTENT_COLUMNS = ("sample", "f1", "tp", "fp", "fn", "mistakes")


def markdown_report(finished: Finished, ai_summary: Sequence[Section]) -> Iterator[str]:
    """Write the page: summary tables, then every sample, worst first, then the AI summary."""
    overview, *sections = [*run_sections(finished), *_more_sections(finished)]
    results = finished.results
    count = len(results) // finished.plan.repeats
    samples = sorted((results[first::count] for first in range(count)), key=rank)
    contents = contents_table(samples, finished.run.findings)
    headings = [section.heading for section in sections if section.heading]
    links = [
        f"- [{heading}](#{heading.casefold().replace(' ', '-')})\n"
        for heading in (*headings, "Samples", "AI summary")
    ]
    yield "# Calendar extraction benchmark\n\n"
    yield as_markdown([overview]) + "\n"
    yield "".join(links) + "\n"
    yield as_markdown([*sections, Section("Samples", tables=[contents])]) + "\n"
    for number, answers in enumerate(samples, start=1):
        yield f'<a id="sample-{number}"></a>\n\n'
        yield as_markdown(sample_sections(answers), level=3) + "\n"
    yield as_markdown([Section("AI summary")]) + "\n"
    yield as_markdown(ai_summary, level=3)


def _more_sections(finished: Finished) -> Iterator[Section]:
    """Show what the text on the console leaves out or shortens."""
    run, plan = finished.run, finished.plan
    identity = ", ".join(f"{name} {value}" for name, value in run.system.identity.items())
    rows = (
        ("started", plan.started.isoformat(" ", "seconds")),
        ("folder", one_line_of(str(plan.folder))),
        *((name, one_line_of(value)) for name, value in run_rows(finished)),
        ("data and rules", one_line_of(finished.signature)),
        ("system", f"{run.system_id} ({one_line_of(identity)})"),
    )
    yield Section("Run", tables=[Table(NO_HEAD, rows)])
    yield _kinds_section(finished)
    if finished.comparison is not None:
        yield Section("Against the baseline")
        yield from comparison_sections(finished.comparison)
    if failed := finished.summary.failed:
        failures = [
            (
                one_line_of(unit.id) + (f" #{unit.repeat + 1}" if unit.repeat else ""),
                one_line_of(unit.failed or ""),
            )
            for unit in failed
        ]
        yield Section(
            "Failed samples",
            ["They got no usable answer, so they are not part of any score."],
            [Table(("sample", "reason"), tuple(failures))],
        )


def _kinds_section(finished: Finished) -> Section:
    """Count the mistakes of each kind, in all samples and per category."""
    counts = {
        (count.kind, count.group["category"]): count.count
        for count in finished.run.finding_counts
        if count.mistake
    }
    if not counts:
        return Section("Kinds of mistakes", ["No mistakes."])
    categories = [name for name, summary in finished.categories.items() if summary.scored]
    rows = []
    for kind in KINDS:
        row = [counts.get((kind, category), 0) for category in categories]
        if sum(row):
            rows.append((kind, sum(row), *row))
    columns = ["kind of mistake", "all samples"]
    for category in categories:
        name = one_line_of(category)
        # Shortened names may be equal.
        columns.append(f"{name} {len(columns) - 2}" if name in columns else name)
    sentence = (
        "A pair that is nearly right is one mistake, named after the first thing that is wrong"
        " with it; if the two events have nothing in common, one is missed and the other invented."
    )
    return Section("Kinds of mistakes", [sentence], [Table(tuple(columns), tuple(rows))])


def _counts(results: Iterable[Result]) -> Counts:
    return total(result.counts for result in results if isinstance(result, Scored))


def rank(results: Sequence[Result]) -> tuple[int, float, int]:
    """Rank a sample, worst first: by F1 and mistakes, then failed, unscored and perfect ones."""
    counts = _counts(results)
    if counts.mistakes:
        return 0, event_scores(counts).f1, -counts.mistakes
    if any(isinstance(result, Failed) for result in results):
        return 1, 0.0, 0
    if any(isinstance(result, Unscored) for result in results):
        return 2, 0.0, 0
    return 3, 0.0, 0


def contents_table(samples: Sequence[Sequence[Result]], findings: Iterable[Finding]) -> Table:
    """List every sample with a link, its counts and the kinds of its mistakes."""
    kinds: dict[str, Counter[str]] = {}
    for finding in findings:
        if finding.mistake:
            kinds.setdefault(finding.unit, Counter())[finding.kind] += 1
    rows = []
    for number, results in enumerate(samples, start=1):
        counts = _counts(results)
        kinds_here = kinds.get(results[0].sample.id, Counter())
        remarks = [f"{count} {kind}" for kind, count in kinds_here.most_common()]
        if failed := sum(isinstance(result, Failed) for result in results):
            remarks.append("FAILED" if len(results) == 1 else f"{failed} FAILED")
        scored = any(isinstance(result, Scored) for result in results)
        f1 = event_scores(counts).f1 if scored else None
        name = (
            escape_markdown(one_line_of(results[0].sample.id))
            .replace("[", "&#91;")
            .replace("]", "&#93;")
        )
        link = Markdown(f"[{name}](#sample-{number})")
        rows.append((link, f1, counts.tp, counts.fp, counts.fn, ", ".join(remarks)))
    return Table(_CONTENT_COLUMNS, tuple(rows), (None, ".3f", None, None, None, None))


def sample_sections(answers: Sequence[Result]) -> Iterator[Section]:
    """Show a sample, with a section for each of its answers."""
    heading = one_line_of(answers[0].sample.id)
    for result in answers:
        sentences = [_result_line(result)]
        if len(answers) > 1:
            sentences.insert(0, Markdown(f"**Repeat {result.repeat + 1}**"))
        rows = tuple(_event_rows(result))
        if not rows and not isinstance(result, Failed):
            expected = "expected and nothing was " if isinstance(result, Scored) else ""
            sentences.append(f"Nothing was {expected}extracted.")
        yield Section(heading, sentences, [Table(EVENT_COLUMNS, rows)] if rows else [])
        heading = ""


def _result_line(result: Result) -> str:
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
            facts = [f"FAILED: {one_line_of(result.reason)}"]
    facts += [f"{spent.latency_s:.2f} s", f"tokens: {tokens_line(spent.usage)}"]
    if spent.attempts > 1:
        facts.append(f"{spent.attempts} attempts")
    if spent.replayed:
        facts.append("replayed")
    return " · ".join(facts)


def _event_rows(result: Result) -> Iterator[tuple[str, str, str, str]]:
    """List the events of an answer with the expected ones, mistakes first and matches last."""
    if isinstance(result, Unscored):
        for event in result.extracted:
            yield "", "", _extracted(event), ""
    if not isinstance(result, Scored):
        return
    for assessment in (*mistakes_of(result), *matches_of(result)):
        allowed = "" if assessment.is_mistake else ", within tolerance"
        differs = [f"{in_words(deviation)}{allowed}" for deviation in assessment.differences]
        differs += [f"{in_words(deviation)}, not counted" for deviation in assessment.remarks]
        expected, extracted = assessment.expected, assessment.extracted
        yield (
            assessment.kind if assessment.is_mistake else "match",
            NOTHING if expected is None else _described(expected, expected.attendees_contain),
            NOTHING if extracted is None else _extracted(extracted, reasons=assessment.is_mistake),
            "; ".join(one_line_of(difference, limit=900) for difference in differs),
        )


def _extracted(event: Event, *, reasons: bool = False) -> str:
    parts = [_described(event, event.attendees)]
    if event.existing_event_id is not None:
        parts.append(f"event {event.existing_event_id}")
    parts.append(f"confidence {event.confidence}")
    if reasons and event.reasoning:
        parts.append(f"because: {one_line_of(event.reasoning, limit=600)}")
    return ", ".join(parts)


def _described(event: Event | ExpectedEvent, people: Sequence[str]) -> str:
    parts = [f"{event.action} {one_line_of(event.title)}"]
    if event.start_time is not None or event.end_time is not None:
        parts.append(shown_span(event.start_time, event.end_time))
    if event.location:
        parts.append(f"at {one_line_of(event.location)}")
    if people:
        parts.append(f"with {one_line_of(', '.join(people))}")
    return ", ".join(parts)


def bullet(text: str) -> Markdown:
    return Markdown(f"- {escape_markdown(one_line_of(text, limit=600))}")


def one_line_of(text: str, limit: int = 300) -> str:
    """Put a text on one line and shorten it to `limit` characters."""
    return shortened(" ".join(one_line(text[: 4 * limit]).split()), limit)
