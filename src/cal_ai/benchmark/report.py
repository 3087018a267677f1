"""The report of a run as a Markdown page that a person wants to read."""

from __future__ import annotations

from collections.abc import Iterator

from cal_ai.benchmark.escaping import escaped
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
from cal_ai.benchmark.narrative import SECTIONS, Narrative, NoNarrative
from cal_ai.benchmark.overview import Overview
from cal_ai.benchmark.report_samples import (
    contents_table,
    result_name,
    sample_parts,
    worst_first,
)
from truemark.sheets import show_sheet
from truemark.tables import Table, render


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
