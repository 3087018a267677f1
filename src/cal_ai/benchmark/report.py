"""The report of a run as a Markdown page that a person wants to read."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from cal_ai.benchmark.figures import (
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
from cal_ai.benchmark.mistakes import NOTHING, Difference, Judged, shown_time
from cal_ai.benchmark.narrative import SECTIONS, Narrative, NoNarrative
from cal_ai.benchmark.overview import Overview
from cal_ai.benchmark.scoring import (
    Answered,
    Failed,
    Result,
    Scored,
    Unscored,
    event_scores,
)
from cal_ai.benchmark.sidecar import ExpectedEvent
from cal_ai.events import Event
from truemark.counts import total
from truemark.files import Spool
from truemark.sections import as_markdown, comparison_sections
from truemark.tables import Table, render
from truemark.text import one_line, shortened

# Underscores only at the edge of a word, slashes and dots only where an address becomes a link.
# What comes before is looked at last: at every place of the text it would take far longer.
_SPECIAL = re.compile(
    r"[&<>|\\`*\[\]~${}@]|_(?<![^\W_]_)|_(?![^\W_])|/(?<=:/)|\.(?<=www\.)", re.IGNORECASE
)

EVENT_COLUMNS = ("", "expected", "extracted", "differs")


class AnswerParts:
    """What the report says of each answer, written as it comes and kept out of memory."""

    def __init__(self, answers: int) -> None:
        self._texts = Spool()
        self._numbers = array("q", [0]) * answers

    def add(self, place: int, one: Judged) -> None:
        """Writes about a result that stands at that place in the order of samples and repeats."""
        text = "\n\n".join(part.rstrip("\n") for part in _answer_parts(one))
        self._numbers[place] = self._texts.add(text.encode())

    def __getitem__(self, place: int) -> str:
        return self._texts[self._numbers[place]].decode()


def markdown_report(
    overview: Overview, narrative: Narrative | NoNarrative, answers: AnswerParts
) -> Iterator[str]:
    """The whole page: summary tables, then every sample, worst first, then the AI summary."""
    before = [
        ("Scores", _scores(overview)),
        ("Kinds of mistakes", _kinds(overview)),
        ("Categories", [render(category_table(overview, escaped), "markdown")]),
        ("Calibration", _calibration(overview)),
        ("Events of the calendar", [f"{targets_line(overview)}."]),
        ("Repeats", ["\n".join(f"- {escaped(it, limit=600)}" for it in repeat_lines(overview))]),
        ("Against the baseline", _against(overview)),
        ("Cost and latency", [_costs(overview)]),
        ("Failed samples", _failures(overview)),
    ]
    filled = [(title, kept) for title, parts in before if (kept := list(filter(None, parts)))]
    titles = [*(title for title, _ in filled), "Samples", "AI summary"]
    yield "# Calendar extraction benchmark"
    yield from _apart([_facts(overview)])
    yield from _apart(["\n".join(f"- [{title}](#{_slug(title)})" for title in titles)])
    for title, section in filled:
        yield from _apart([f"## {title}", *section])
    given, repeats = overview.run.answers, overview.run.repeats
    yield from _apart(["## Samples", ""])
    yield from contents_table(worst_first(given, repeats))
    for sample in worst_first(given, repeats):
        yield from _apart(_section_parts(sample, answers))
    yield from _apart(["## AI summary", *_narrative(narrative)])
    yield "\n"


def _apart(parts: Iterable[str]) -> Iterator[str]:
    """The parts, each after an empty line."""
    for part in parts:
        yield "\n\n"
        yield part.rstrip("\n")


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
        ("samples", f"{sample_counts(overview)}, from {escaped(str(run.samples.folder))}"),
        ("extractor", escaped(extractor_line(overview))),
        ("model", escaped(run.model or "none")),
        ("system", f"{overview.record.system_id} ({escaped(_identity(overview))})"),
        ("signature", f"{run.signature.short} ({escaped(str(run.signature))})"),
    )
    return render(Table(("run", ""), rows), "markdown")


def _identity(overview: Overview) -> str:
    return ", ".join(f"{name} {value}" for name, value in overview.run.system.identity.items())


def _against(overview: Overview) -> list[str]:
    baseline = overview.baseline
    return [as_markdown(comparison_sections(baseline))] if baseline else []


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
        rows = tuple((answer_name(it), escaped(it.reason)) for it in overview.failed)
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
    """One sample with the answers of all its repeats, and where these and it itself stand."""

    anchor: str
    places: range
    answers: Sequence[Answered]

    @property
    def name(self) -> str:
        return escaped(self.answers[0].sample)


def worst_first(answers: Sequence[Answered], repeats: int) -> Iterator[Section]:
    """The samples, those of which most is wrong first."""
    samples = len(answers) // repeats
    order = sorted(range(samples), key=lambda first: _rank(answers[first::samples]))
    for number, first in enumerate(order, start=1):
        places = range(first, len(answers), samples)
        yield Section(f"sample-{number}", places, answers[first::samples])


def _rank(answers: Sequence[Answered]) -> tuple[int, float, int]:
    """Worst first: lowest F1, most mistakes; then failed, without sidecar, fine."""
    counts = total(it.counts for it in answers)
    if wrong := counts.fp + counts.fn:
        return 0, event_scores(counts).f1, -wrong
    statuses = [it.status for it in answers]
    for place, status in enumerate(("failed", "unscored"), start=1):
        if status in statuses:
            return place, 0.0, 0
    return 3, 0.0, 0


def contents_table(sections: Iterable[Section]) -> Iterator[str]:
    """Every sample with a link to its place, its counts and the kinds of its mistakes."""
    yield "| sample | f1 | tp | fp | fn | mistakes |"
    yield "\n| --- | ---: | ---: | ---: | ---: | --- |"
    for section in sections:
        counts = total(it.counts for it in section.answers)
        statuses = [it.status for it in section.answers]
        kinds = Counter(kind for it in section.answers for kind in it.kinds)
        told = [f"{count} {kind}" for kind, count in kinds.most_common()]
        if failed := statuses.count("failed"):
            told.append("FAILED" if len(statuses) == 1 else f"{failed} FAILED")
        f1 = f"{event_scores(counts).f1:.3f}" if "scored" in statuses else "-"
        numbers = f"{f1} | {counts.tp} | {counts.fp} | {counts.fn}"
        name = f"[{section.name}](#{section.anchor})"
        yield f"\n| {name} | {numbers} | {', '.join(told)} |"


def _section_parts(section: Section, texts: AnswerParts) -> Iterator[str]:
    yield f'<a id="{section.anchor}"></a>'
    yield f"### {section.name}"
    for place, answer in zip(section.places, section.answers, strict=True):
        if len(section.places) > 1:
            yield f"**Repeat {answer.repeat + 1}**"
        yield texts[place]


def _answer_parts(one: Judged) -> Iterator[str]:
    yield _sample_facts(one.result)
    if isinstance(one.result, Scored):
        rows = tuple(_event_rows(one))
        nothing = "Nothing was expected and nothing was extracted."
        yield render(Table(EVENT_COLUMNS, rows), "markdown") if rows else nothing
    elif isinstance(one.result, Unscored):
        rows = tuple(("", "", _extracted(event), "") for event in one.result.extracted)
        nothing = "Nothing was extracted."
        yield render(Table(EVENT_COLUMNS, rows), "markdown") if rows else nothing


def answer_name(it: Answered) -> str:
    number = f" #{it.repeat + 1}" if it.repeat else ""
    return f"{escaped(it.sample)}{number}"


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


def _event_rows(one: Judged) -> Iterator[tuple[str, str, str, str]]:
    """The events of a sample side by side, mistakes first and matches last."""
    for mistake in one.mistakes:
        differs = [_difference(it) for it in mistake.differences]
        differs += [f"{_difference(it)}, not counted" for it in mistake.remarks]
        yield (
            mistake.kind,
            NOTHING if mistake.expected is None else _expected(mistake.expected),
            NOTHING if mistake.extracted is None else _extracted(mistake.extracted, reasons=True),
            "; ".join(differs),
        )
    for match in one.matches:
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
