"""Reports of runs: sections of sentences and tables, as text, Markdown or JSON.

    sections = [
        Section("Speed", ["2 talks in 0.4 s"], facts={"seconds": 0.4}),
        Section(tables=[Table(("talk", "f1"), (("a", 0.91), ("b", 0.87)), (None, ".3f"))]),
    ]
    page = show(sections, "markdown")

Text and Markdown show headings, sentences and tables; JSON shows the facts of all sections as one
object, with unrounded numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal

from truemark.comparison import Change, Comparison, GroupDifference, Versus
from truemark.gate import Gate
from truemark.jsontext import to_json
from truemark.leaderboard import Board
from truemark.records import Unit
from truemark.summary import FEWEST_EXPECTED, Summary, failed_units, summarise, unit_nouns
from truemark.tables import Table, escape_markdown, render
from truemark.text import counted, one_line
from truemark.timeline import Timeline, sparkline
from truemark.uncertainty import (
    ALL_MEASURES,
    DEFAULT_SEED,
    FLIPS,
    LEVEL,
    Interval,
    PairedInterval,
)
from truemark.wording import (
    answer,
    dash_remarks,
    difference_text,
    interval_name,
    interval_remarks,
    range_text,
    score_text,
    signed_range,
    verdict_sentences,
)

Form = Literal["text", "markdown", "json"]
MOST_LISTED = 20


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, sentences and tables for people, and the same as facts for programs."""

    heading: str = ""
    sentences: Sequence[str] = ()
    tables: Sequence[Table] = ()
    facts: Mapping[str, object] = field(default_factory=dict)


def show(sections: Iterable[Section], form: Form) -> str:
    """Render the sections in one of the three forms."""
    if form == "json":
        return as_json(sections)
    return as_markdown(sections) if form == "markdown" else as_text(sections)


def as_text(sections: Iterable[Section]) -> str:
    """Render headings, sentences and tables for a terminal, with an empty line between them."""
    parts: list[str] = []
    for section in sections:
        headings = [section.heading] if section.heading else []
        parts += [one_line(sentence) + "\n" for sentence in (*headings, *section.sentences)]
        parts += [render(table, "text") for table in section.tables]
    return "\n".join(parts)


def as_markdown(sections: Iterable[Section], level: int = 2) -> str:
    """Render headings, sentences and tables as Markdown; `level` is that of the headings."""
    parts: list[str] = []
    for section in sections:
        if section.heading:
            parts.append(f"{'#' * level} {escape_markdown(section.heading)}\n")
        parts += [escape_markdown(sentence) + "\n" for sentence in section.sentences]
        parts += [render(table, "markdown") for table in section.tables]
    return "\n".join(parts)


def as_json(sections: Iterable[Section]) -> str:
    """Render the facts of all sections as one JSON object."""
    return to_json(all_facts(sections), indent=2) + "\n"


def all_facts(sections: Iterable[Section]) -> dict[str, object]:
    """Join the facts of all sections."""
    return {name: fact for section in sections for name, fact in section.facts.items()}


def comparison_sections(comparison: Comparison) -> list[Section]:
    """Show scores, verdicts, differences, groups, and the units that were broken and fixed."""
    named = list(zip(comparison.names, comparison.summaries, strict=True))
    columns = ("system", *_score_columns(comparison.summaries[0]))
    rows = tuple((name, *_score_row(summary)) for name, summary in named)
    runs = [
        {"name": name, "run": summary.run.id, **summary_facts(summary)} for name, summary in named
    ]
    sections = [Section(tables=[Table(columns, rows)], facts={"runs": runs})]
    for versus in comparison.against:
        sections += _versus_sections(comparison.names[0], versus)
    how = f"95% intervals in brackets; differences from at most {FLIPS} permutations"
    remarks = [*interval_remarks(comparison.summaries[0]), f"{how}, seed {DEFAULT_SEED}"]
    if len(comparison.against) > 1 or any(len(versus.groups) > 1 for versus in comparison.against):
        remarks.append(
            "p and intervals of differences are corrected for several comparisons by Holm's"
            f" method: an interval contains 0 exactly when p is above {LEVEL:g}"
        )
    if any(group.too_small for versus in comparison.against for group in versus.groups):
        remarks.append(
            "f1 differences are left out for groups with fewer than"
            f" {FEWEST_EXPECTED} expected items"
        )
    remarks += dash_remarks(comparison)
    facts = {
        "against_the_first": [_versus_facts(versus) for versus in comparison.against],
        "differing": list(comparison.differing),
        "confidence": 1 - LEVEL,
        "permutations": FLIPS,
        "seed": DEFAULT_SEED,
    }
    sections.append(Section(sentences=remarks, facts=facts))
    if not comparison.differing:
        return sections
    basis = f"units in common only; {', '.join(comparison.differing)} differ"
    return [_with_basis(section, basis) for section in sections]


def _with_basis(section: Section, basis: str) -> Section:
    """Say in every sentence and row on what basis incomparable runs are compared."""
    tables = [
        Table(
            (*table.columns, "basis"),
            tuple((*row, basis) for row in table.rows),
            (*table.number_formats, None) if table.number_formats else (),
        )
        for table in section.tables
    ]
    sentences = [f"{sentence} ({basis})" for sentence in section.sentences]
    return replace(section, sentences=sentences, tables=tables)


def _score_columns(summary: Summary) -> tuple[str, ...]:
    counted = ("scored", "failed", *ALL_MEASURES)
    return (*counted, _noun(summary.nouns[1], "clusters", ("system", "run", *counted)), "run")


def _noun(noun: str, general: str, taken: Sequence[str]) -> str:
    """Name a column with the run's noun, or the general one if another column has that name."""
    return general if noun in taken else noun


def _score_row(summary: Summary) -> tuple[object, ...]:
    scores = [
        score_text(summary.intervals[measure]) if summary.intervals else None
        for measure in ALL_MEASURES
    ]
    clusters = summary.intervals["f1"].clusters if summary.intervals else None
    return summary.scored, len(summary.failed), *scores, clusters, summary.run.id


def facts_of(value: object) -> Any:
    """Turn results into plain values for JSON.

    The ends of an interval are null where there are too few clusters.
    """
    if isinstance(value, Interval | PairedInterval):
        facts = asdict(value) if value.known else asdict(value) | {"low": None, "high": None}
        return facts | {"rough": value.rough} if isinstance(value, Interval) else facts
    if isinstance(value, Mapping):
        return {name: facts_of(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [facts_of(item) for item in value]
    if not is_dataclass(value):
        return value
    facts = {field.name: facts_of(getattr(value, field.name)) for field in fields(value)}
    match value:
        case Change():
            return facts | {"mistakes": value.mistakes}
        case GroupDifference():
            return facts | {"p_value": value.difference.p_value}
    return facts


def _versus_sections(baseline: str, versus: Versus) -> list[Section]:
    differences = tuple(
        (measure, difference.value, signed_range(difference))
        for measure, difference in versus.differences.items()
    )
    interval = interval_name(versus.differences.values())
    tables = [Table(("measure", "difference", interval), differences, (None, "+.4f", None))]
    if versus.groups:
        tables.append(_groups_table(versus))
    sections = [Section(sentences=verdict_sentences(baseline, versus), tables=tables)]
    for title, changes in (("broken", versus.broken), ("fixed", versus.fixed)):
        if changes:
            sentence = f"{counted(len(changes), *versus.unit_nouns)} {title} by {versus.name}"
            table = _changes_table(changes, versus.unit_nouns[0])
            sections.append(Section(sentences=[sentence], tables=[table]))
    return sections


def _groups_table(versus: Versus) -> Table:
    rows = tuple(
        (
            f"{group.name}: {group.value}",
            group.units,
            None if group.too_small else group.difference.value,
            None if group.too_small else signed_range(group.difference),
            None if group.too_small or not group.difference.known else group.difference.p_value,
            difference_text(group.clean),
        )
        for group in versus.groups
    )
    interval = interval_name(group.difference for group in versus.groups)
    columns = ("group", "f1 difference", interval, "p", "clean difference")
    units = _noun(versus.unit_nouns[1], "units", (*columns, "basis"))
    formats = (None, None, "+.4f", None, ".4f", None)
    return Table((columns[0], units, *columns[1:]), rows, formats)


def _changes_table(changes: Sequence[Change], unit: str) -> Table:
    rows: list[tuple[object, ...]] = [
        (change.unit, change.mistakes, change.before.mistakes, change.after.mistakes)
        for change in changes[:MOST_LISTED]
    ]
    if len(changes) > MOST_LISTED:
        rest = changes[MOST_LISTED:]
        rows.append((f"{len(rest)} more", sum(change.mistakes for change in rest), None, None))
    columns = ("change in mistakes", "before", "after")
    unit_noun = _noun(unit, "unit", (*columns, "basis"))
    return Table((unit_noun, *columns), tuple(rows), (None, "+d", None, None))


def _versus_facts(versus: Versus) -> dict[str, object]:
    facts = facts_of(versus)
    del facts["nouns"], facts["unit_nouns"]
    return {
        **facts,
        "p_value": versus.p_value,
        "raw_p_value": versus.raw_p_value,
        "verdict": versus.verdict,
        "clusters_are": versus.nouns[1],
        "clusters": versus.clusters,
        "clusters_needed": versus.needed,
    }


def summary_facts(summary: Summary) -> dict[str, object]:
    """Return the numbers of one run for JSON."""
    return {
        "counts": facts_of(summary.counts),
        "scored": summary.scored,
        "failed": [_failure_facts(unit) for unit in summary.failed],
        "intervals": facts_of(summary.intervals),
        "clusters_are": summary.nouns[1],
        "remarks": interval_remarks(summary),
        "groups": facts_of(summary.groups),
        "held_out_f1": summary.held_out,
        "repeats": facts_of(summary.repeats),
    }


def _failure_facts(unit: Unit) -> dict[str, object]:
    return {"unit": unit.id, "reason": unit.failed}


def timeline_sections(timeline: Timeline) -> list[Section]:
    """Show the runs of a folder, newest last, and a small trend per system."""
    named_columns = ("started", "tool", "system", "data", "f1", "95% interval", "clean")
    summaries = [summarise(run, by_group=False) for _, run in timeline.runs]
    nouns = {summary.nouns[1] for summary in summaries}
    clusters = nouns.pop() if len(nouns) == 1 else "clusters"
    clusters = _noun(clusters, "clusters", (*named_columns, "failed", "run"))
    columns = (*named_columns, clusters, "failed", "run")
    names = timeline.data_names
    rows, runs = [], []
    f1s: dict[tuple[str, str, str], list[float]] = {}
    for (path, run), summary in zip(timeline.runs, summaries, strict=True):
        scores: tuple[object, ...] = (None,) * 4
        if summary.intervals:
            f1, clean = summary.intervals["f1"], summary.intervals["clean"]
            scores = f1.value, range_text(f1), score_text(clean), f1.clusters
            f1s.setdefault((run.tool, run.system.name, run.data_id), []).append(f1.value)
        named = (run.started, run.tool, run.system.name)
        rows.append((*named, names[run.data_id], *scores, len(summary.failed), run.id))
        runs.append(
            {
                "path": path,
                **dict(zip(("started", "tool", "system"), named, strict=True)),
                "data": run.data_id,
                "run": run.id,
                **summary_facts(summary),
            }
        )
    trends = [
        (f"{system} ({tool})", names[data], sparkline(values), values[0], values[-1])
        for (tool, system, data), values in f1s.items()
    ]
    trend_facts = [
        {"tool": tool, "system": system, "data": data, "scores": values}
        for (tool, system, data), values in f1s.items()
    ]
    return [
        Section(
            tables=[Table(columns, tuple(rows), (*(None,) * 4, ".3f", *(None,) * 5))],
            facts={"runs": runs},
        ),
        Section(
            sentences=["scores are comparable if the data is the same"],
            tables=[
                Table(
                    ("system", "data", "trend of f1", "first", "last"),
                    tuple(trends),
                    (None, None, None, ".3f", ".3f"),
                )
            ],
            facts={"trends": trend_facts},
        ),
    ]


def leaderboard_sections(boards: Sequence[Board]) -> list[Section]:
    """Show a table for each board, best first, and one for each way in which units are grouped."""
    sections, dashes = [], False
    for board in boards:
        best = board.standings[0].summary.run
        unit = unit_nouns(best)[0]
        columns = ("system", *ALL_MEASURES, "same", f"s/{unit}", "cost", "run")
        rows = [
            (
                standing.name,
                *(score_text(standing.summary.intervals[measure]) for measure in ALL_MEASURES),
                standing.letters or None,
                standing.seconds_per_unit,
                standing.cost,
                standing.summary.run.id,
            )
            for standing in board.standings
        ]
        sentence = answer(board, dict(best.words))
        tables = [Table(columns, tuple(rows), (*(None,) * 6, ".3g", ".4f", None))]
        for name in board.group_names:
            values, scores = board.by_group(name)
            dashes = dashes or any(None in f1s for f1s in scores)
            by_system = tuple((row[0], *f1s) for row, f1s in zip(rows, scores, strict=True))
            named = (f"f1 by {name}", *values)
            tables.append(Table(named, by_system, (None, *(".3f",) * len(values))))
        sections.append(
            Section(f"{board.tool}: {board.data}", [sentence] if sentence else [], tables)
        )
    letters = "systems that share a letter under `same` cannot be told apart (Holm, all pairs)"
    remarks = [f"95% intervals in brackets; {letters}"]
    if dashes:
        remarks.append(
            "a dash stands for the F1 of groups with fewer than"
            f" {FEWEST_EXPECTED} expected items; the mean leaves them out"
        )
    facts = {"boards": [_board_facts(board) for board in boards]}
    return [*sections, Section(sentences=remarks, facts=facts)]


def _board_facts(board: Board) -> dict[str, object]:
    return {
        "tool": board.tool,
        "data": board.data,
        "told_apart": sorted(board.told_apart) if board.known else None,
        "systems": [
            {
                "name": standing.name,
                "run": standing.summary.run.id,
                "same": standing.letters,
                "seconds_per_unit": standing.seconds_per_unit,
                "cost": standing.cost,
                **summary_facts(standing.summary),
            }
            for standing in board.standings
        ],
    }


_ANSWERS = {True: "yes", False: "no", None: "not known"}


def gate_sections(gate: Gate, data: str) -> list[Section]:
    """Show the outcome on the named data first, then the requirements, then the comparison."""
    versus = gate.comparison.against[0] if gate.comparison else None
    failed = failed_units(gate.run)
    facts = {
        "tool": gate.run.tool,
        "data": data,
        "outcome": gate.outcome,
        "doubt": gate.doubt,
        "requirements": facts_of(gate.requirements),
        "run": {
            "name": gate.run.system.name,
            **summary_facts(gate.summary),
            "failed": [_failure_facts(unit) for unit in failed],
        },
        "failed_as_missed": gate.failed_as_missed,
        "unseen": list(gate.unseen),
        "verdict": versus.verdict if versus else None,
        "broken": facts_of(gate.broken),
    }
    sections = [Section(sentences=[_gate_title(gate, data)], facts=facts)]
    if gate.requirements:
        rows = [
            (requirement.asked, requirement.found, _ANSWERS[requirement.holds])
            for requirement in gate.requirements
        ]
        table = Table(("asked", "found", "holds"), tuple(rows))
        sections.append(Section(sentences=gate.unseen, tables=[table]))
    if gate.comparison is not None:
        # The facts of a comparison come from `truemark compare`.
        sections += [replace(part, facts={}) for part in comparison_sections(gate.comparison)]
    else:
        table = Table(_score_columns(gate.summary), (_score_row(gate.summary),))
        sections.append(Section(sentences=interval_remarks(gate.summary), tables=[table]))
    if failed:
        failures = tuple((unit.id, unit.failed) for unit in failed[:MOST_LISTED])
        nouns = unit_nouns(gate.run)
        sentence = f"{counted(len(failed), *nouns)} failed"
        if gate.failed_as_missed:
            sentence += ", everything expected there counted as missed"
        sections.append(
            Section(
                "", [sentence], [Table((_noun(nouns[0], "unit", ("reason",)), "reason"), failures)]
            )
        )
    return sections


def _gate_title(gate: Gate, data: str) -> str:
    title = f"{gate.run.tool} {gate.run.system.name} on {data}: {gate.outcome}"
    return f"{title}; {gate.doubt}" if gate.doubt else title


def gate_summary(gate: Gate, data: str) -> str:
    """Summarise the gate in a few lines of Markdown for the page of a build."""
    _, *sections = gate_sections(gate, data)
    titled = replace(sections[0], heading=_gate_title(gate, data))
    return as_markdown([titled, *sections[1:3]], level=3) + "\n"
