"""Comparison, history and gate for people and programs: text, markdown, JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal

from truemark.comparison import WORTH_SEEING, Change, Comparison, Versus
from truemark.counts import Counts
from truemark.gate import Gate
from truemark.jsontext import to_json
from truemark.record_files import Timeline
from truemark.summary import Summary
from truemark.tables import Table, escape_markdown, render
from truemark.text import one_line
from truemark.uncertainty import MEASURES, Interval, PairedInterval

SheetFormat = Literal["text", "markdown", "json"]
Sheet = Sequence[str | Table]  # sentences and tables, one below the other
MOST_LISTED = 20


def show_sheet(sheet: Sheet, format: Literal["text", "markdown"]) -> str:
    """The sheet's parts with an empty line between them."""
    parts = []
    for part in sheet:
        if isinstance(part, Table):
            parts.append(render(part, format))
        else:
            parts.append((escape_markdown(part) if format == "markdown" else one_line(part)) + "\n")
    return "\n".join(parts)


def comparison_sheet(comparison: Comparison) -> Sheet:
    """Scores, differences, verdicts, groups, and the units that were broken and fixed."""
    basis = _basis(comparison)
    parts: list[str | Table] = [_scores_table(comparison, basis)]
    for versus in comparison.against:
        parts += [line + basis for line in verdict_lines(comparison.names[0], versus)]
        parts.append(_differences_table(versus, basis))
        if versus.groups:
            parts.append(_groups_table(versus, basis))
        for title, changes in (("broken", versus.broken), ("fixed", versus.fixed)):
            if changes:
                parts.append(f"{_units(len(changes))} {title} by {versus.name}{basis}")
                parts.append(_changes_table(changes, basis))
    draws = comparison.draws
    how = f"{draws.confidence:.0%} intervals in brackets, {draws.resamples} resamples"
    parts.append(f"{how} and permutations, seed {draws.seed}{basis}")
    return parts


def _basis(comparison: Comparison) -> str:
    """What every line says when the runs are not comparable."""
    if not comparison.differing:
        return ""
    return f" (units in common only; {', '.join(comparison.differing)} differ)"


def _table(
    columns: tuple[str, ...],
    rows: Sequence[tuple[object, ...]],
    formats: tuple[str | None, ...],
    basis: str,
) -> Table:
    if not basis:
        return Table(columns, tuple(rows), formats)
    return Table(
        (*columns, "basis"), tuple((*row, basis.strip(" ()")) for row in rows), (*formats, None)
    )


_SCORE_COLUMNS = ("units", "failed", *MEASURES, "clusters")


def _scores_table(comparison: Comparison, basis: str) -> Table:
    rows = [
        (name, *_score_row(summary))
        for name, summary in zip(comparison.names, comparison.summaries, strict=True)
    ]
    return _table(("system", *_SCORE_COLUMNS), rows, (None,) * 7, basis)


def _score_row(summary: Summary) -> tuple[object, ...]:
    shown = [_score(summary.intervals[one]) if summary.intervals else None for one in MEASURES]
    clusters = summary.intervals["f1"].clusters if summary.intervals else None
    return summary.scored, len(summary.failed), *shown, clusters


def _score(interval: Interval) -> str:
    return f"{interval.value:.3f} ({_range(interval)})"


def _range(interval: Interval) -> str:
    return f"{interval.low:.3f} to {interval.high:.3f}"


def _signed_range(interval: PairedInterval) -> str:
    return f"{interval.low:+.3f} to {interval.high:+.3f}"


def verdict_lines(baseline: str, versus: Versus) -> list[str]:
    """The verdict in a line, and a second one of what could have been seen where there is none."""
    f1 = versus.differences["f1"]
    lines = [
        f"{versus.name} against {baseline}: {versus.verdict}, f1 {f1.value:+.4f}"
        f" (95% interval {f1.low:+.4f} to {f1.high:+.4f}), p {versus.p_value:.4f},"
        f" {_units(versus.units)} in both, {versus.clusters} clusters"
    ]
    if versus.verdict != "not distinguishable":
        return lines
    if versus.power is None:
        lines.append("no spread between the two: what could have been seen is not known")
        return lines
    lines.append(
        f"smallest difference that could have been seen (80% power): "
        f"{versus.power.smallest_difference:.3f}; a difference of {WORTH_SEEING} would need"
        f" {versus.needed} clusters like these"
    )
    return lines


def _differences_table(versus: Versus, basis: str) -> Table:
    rows = [(measure, one.value, _signed_range(one)) for measure, one in versus.differences.items()]
    return _table(("measure", "difference", "95% interval"), rows, (None, "+.4f", None), basis)


def _groups_table(versus: Versus, basis: str) -> Table:
    rows = [
        (
            f"{one.name}: {one.value}",
            one.units,
            one.difference.value,
            _signed_range(one.difference),
            one.p_value,
        )
        for one in versus.groups
    ]
    columns = ("group", "units", "f1 difference", "95% interval", "p")
    return _table(columns, rows, (None, None, "+.4f", None, ".4f"), basis)


def _changes_table(changes: Sequence[Change], basis: str) -> Table:
    rows: list[tuple[object, ...]] = [
        (one.unit, one.mistakes, _mistakes(one.before), _mistakes(one.after))
        for one in changes[:MOST_LISTED]
    ]
    if len(changes) > MOST_LISTED:
        rest = changes[MOST_LISTED:]
        rows.append((f"{len(rest)} more", sum(one.mistakes for one in rest), None, None))
    columns = ("unit", "change in mistakes", "before", "after")
    return _table(columns, rows, (None, "+d", None, None), basis)


def _units(count: int) -> str:
    return f"{count} unit{'s' * (count != 1)}"


def _mistakes(counts: Counts) -> int:
    return counts.fp + counts.fn


def comparison_json(comparison: Comparison) -> str:
    """The whole comparison with every unit that changed."""
    against = [
        {
            **asdict(versus),
            "verdict": versus.verdict,
            "clusters": versus.clusters,
            "clusters_needed": versus.needed,
            "fixed": [_change(one) for one in versus.fixed],
            "broken": [_change(one) for one in versus.broken],
        }
        for versus in comparison.against
    ]
    runs = [
        {"name": name, **_summary(summary)}
        for name, summary in zip(comparison.names, comparison.summaries, strict=True)
    ]
    content = {
        "runs": runs,
        "against_the_first": against,
        "differing": list(comparison.differing),
        **asdict(comparison.draws),
    }
    return to_json(content, indent=2) + "\n"


def _change(change: Change) -> dict[str, object]:
    return {**asdict(change), "mistakes": change.mistakes}


def _summary(summary: Summary) -> dict[str, object]:
    return {
        "counts": asdict(summary.counts),
        "scored": summary.scored,
        "failed": [{"unit": unit.id, "reason": unit.failed} for unit in summary.failed],
        "intervals": {name: asdict(one) for name, one in summary.intervals.items()},
        "groups": [asdict(one) for one in summary.groups],
        "held_out_f1": summary.held_out,
        "repeats": asdict(summary.repeats) if summary.repeats else None,
    }


def timeline_sheet(timeline: Timeline) -> Sheet:
    """The runs, newest last, and a small trend per system."""
    columns = ("started", "tool", "system", "data", "f1", "95% interval", "clusters", "failed")
    rows = []
    for past in timeline.runs:
        f1 = past.summary.intervals.get("f1")
        rows.append(
            (
                past.run.started,
                past.run.tool,
                past.run.system.name,
                past.data[:6],
                f1.value if f1 else None,
                _range(f1) if f1 else None,
                f1.clusters if f1 else None,
                len(past.summary.failed),
            )
        )
    trends = [
        (f"{one.system} ({one.tool})", one.data[:6], one.picture, one.scores[0], one.scores[-1])
        for one in timeline.trends
    ]
    return [
        Table(columns, tuple(rows), (None, None, None, None, ".3f", None, None, None)),
        "scores are comparable where data is the same",
        Table(
            ("system", "data", "trend of f1", "first", "last"),
            tuple(trends),
            (None, None, None, ".3f", ".3f"),
        ),
    ]


def timeline_json(timeline: Timeline) -> str:
    """The runs with all their intervals, newest last."""
    runs = [
        {
            "path": past.path,
            "started": past.run.started,
            "tool": past.run.tool,
            "system": past.run.system.name,
            "data": past.data,
            **_summary(past.summary),
        }
        for past in timeline.runs
    ]
    trends = [asdict(one) for one in timeline.trends]
    return to_json({"runs": runs, "trends": trends}, indent=2) + "\n"


def gate_sheet(gate: Gate) -> Sheet:
    """The outcome first, then what was asked and found, then the comparison."""
    title = f"{gate.run.tool} {gate.run.system.name}: {gate.outcome}"
    parts: list[str | Table] = [f"{title}; {gate.doubt}" if gate.doubt else title]
    if gate.requirements:
        rows = [(one.asked, one.found, "yes" if one.holds else "no") for one in gate.requirements]
        parts.append(Table(("asked", "found", "holds"), tuple(rows)))
    if gate.comparison is not None:
        parts += comparison_sheet(gate.comparison)
    else:
        parts.append(Table(_SCORE_COLUMNS, (_score_row(gate.summary),)))
    if gate.summary.failed:
        failures = tuple((unit.id, unit.failed) for unit in gate.summary.failed[:MOST_LISTED])
        parts.append(f"{_units(len(gate.summary.failed))} failed")
        parts.append(Table(("unit", "reason"), failures))
    return parts


def gate_json(gate: Gate) -> str:
    """The outcome, what was asked and found, and the run's numbers."""
    versus = gate.comparison.against[0] if gate.comparison else None
    content = {
        "outcome": gate.outcome,
        "doubt": gate.doubt,
        "requirements": [asdict(one) for one in gate.requirements],
        "run": {"name": gate.run.system.name, **_summary(gate.summary)},
        "verdict": versus.verdict if versus else None,
        "broken": [_change(one) for one in gate.broken],
    }
    return to_json(content, indent=2) + "\n"


def gate_summary(gate: Gate) -> str:
    """A few lines of markdown for the page of a build."""
    sheet = list(gate_sheet(gate))
    heading = f"### {escape_markdown(str(sheet[0]))}\n\n"
    return heading + show_sheet(sheet[1:6], "markdown") + "\n"
