"""A report of `sat-bench` as JSON, CSV and Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Literal, assert_never

from sat_bench.models.protocol import shown_rate
from sat_bench.record import Failed, signature_of
from sat_bench.report import (
    FAILED_CELL,
    POINT_COLUMNS,
    POINT_FORMATS,
    Report,
    Result,
    Row,
    certainty_table,
    changed_text,
    interval_lines,
    point_row,
    remarks,
    shown_threshold,
    shown_weights,
    table_of,
    talk_rows,
    talk_table,
)
from truemark.jsontext import to_json
from truemark.sections import Section, as_markdown, facts_of
from truemark.summary import macro_f1
from truemark.tables import Markdown, Table, escape_markdown, render
from truemark.text import counted, one_line
from truemark.uncertainty import Interval, PairedInterval

_ALL_TALKS = "all"
# Tables outside the contract start with F1, with three digits.
_LED_BY_F1 = ("threshold", "f1", "precision", "recall", "weighted", "tp", "fp", "fn")
_FINE_FORMATS = POINT_FORMATS | dict.fromkeys(("f1", "precision", "recall", "weighted"), ".3f")
_EFFORT_COLUMNS = ("seconds", "characters_per_s")
# Characters of the text that a system changed, per 1,000.
_LOSS_COLUMNS = ("changed", "deleted", "invented")
_CERTAINTY_COLUMNS = (
    *("f1_low", "f1_high", "clusters", "clean", "clean_low", "clean_high"),
    *("out_of_sample_f1", "out_of_sample_weighted"),
    *("best_threshold", "best_weighted", "difference", "difference_low", "difference_high"),
    *("p_value", "verdict", "smallest_difference"),
)
_MEASURES = ("sentence_f1", "macro_f1", "su_error_rate", "pk", "window_diff", "boundary_similarity")
_CSV_COLUMNS = (
    *("model", "talk", *POINT_COLUMNS, "optimal", "failed", "signature"),
    *(*_EFFORT_COLUMNS, *_LOSS_COLUMNS, "system", "condition", "f1_loss", "language"),
    *_CERTAINTY_COLUMNS,
    *_MEASURES,
    "language_macro_f1",
)


def show_as(report: Report, format: Literal["json", "csv", "markdown"]) -> str:
    """Write the report as JSON, CSV or Markdown, ending with a line break."""
    match format:
        case "json":
            return to_json(_document(report), indent=2) + "\n"
        case "csv":
            return render(table_of(_CSV_COLUMNS, list(_rows(report)), {}), "csv")
        case "markdown":
            return _markdown(report)
        case _:
            assert_never(format)


def _effort_row(result: Result) -> Row:
    measured = result.measurement
    return {"seconds": measured.seconds, "characters_per_s": measured.characters_per_s}


def _loss_row(result: Result) -> Row:
    return dict(zip(_LOSS_COLUMNS, result.measurement.loss.rates, strict=True))


def _certainty_row(result: Result) -> Row:
    """Return the intervals and the verdict of a result, as far as they are known."""
    row: Row = {"language_macro_f1": macro_f1(result.languages)}
    if f1 := result.summary.intervals.get("f1"):
        row |= {"clusters": f1.clusters, **_bounds("f1", f1)}
    if clean := result.summary.intervals.get("clean"):
        row |= {"clean": clean.value, **_bounds("clean", clean)}
    if new := result.held_out:
        row |= {"out_of_sample_f1": new.f1, "out_of_sample_weighted": new.weighted}
    if missed := result.missed:
        row |= {"best_threshold": missed.threshold, "best_weighted": missed.scores.weighted}
    if versus := result.versus:
        difference = versus.differences["f1"]
        row |= {"difference": difference.value, **_bounds("difference", difference)}
        row |= {"p_value": versus.p_value, "verdict": versus.verdict}
        if versus.power and versus.verdict == "not distinguishable":
            row["smallest_difference"] = versus.power.smallest_difference
    return row


def _bounds(name: str, interval: Interval | PairedInterval) -> Row:
    return {f"{name}_low": interval.low, f"{name}_high": interval.high} if interval.known else {}


def _measures(report: Report, result: Result) -> Row:
    """Return the additional measures, with `-inner` without the ends of the texts."""
    run = result.run
    measures = run.inner_measures if report.options.inner else run.measures
    return {name: measures[name] for name in _MEASURES if name in measures}


def _rows(report: Report) -> Iterator[Row]:
    """Yield a row per model and threshold, and with `-per-talk` per model and talk.

    `optimal` marks the rows to use; intervals, verdicts and measures are only in those.
    """
    for result in report.results:
        if isinstance(result, Failed):
            yield {"model": result.name, "talk": _ALL_TALKS, "failed": result.reason}
            continue
        named = {
            "model": result.name,
            "condition": result.condition if report.options.shows_conditions else None,
            "signature": signature_of(result.run),
            "system": result.identity or None,
        }
        shows_points = report.mode in ("evaluation", "sweep")
        for point in result.points if shows_points else (result.best,):
            row = named | {"talk": _ALL_TALKS, "optimal": int(point == result.best)}
            row |= point_row(result, point) | _effort_row(result) | _loss_row(result)
            if point == result.best:
                row |= {"f1_loss": result.f1_loss, **_certainty_row(result)}
                row |= _measures(report, result)
            yield row
        if report.options.per_talk:
            yield from (named | {"optimal": 1} | talk for talk in talk_rows(result))


def _document(report: Report) -> Row:
    """Return all results, without rounding."""
    options = report.options
    return {
        "mode": report.mode,
        "corpus": report.corpus,
        "talks": report.talks,
        "truth": report.truth,
        "tolerance": options.tolerance,
        "weights": asdict(options.weights),
        "results": [_result_document(report, result) for result in report.results],
    }


def _result_document(report: Report, result: Result | Failed) -> Row:
    if isinstance(result, Failed):
        return {"model": result.name, "failed": result.reason}
    document: Row = {
        "model": result.name,
        "best": point_row(result, result.best),
        "points": [point_row(result, point) for point in result.points],
        "signature": signature_of(result.run),
        **_effort_row(result),
        "per_1000_characters": _loss_row(result),
    }
    if result.identity:
        document["system"] = result.identity
    if report.options.shows_conditions:
        document |= {"condition": result.condition, "f1_loss": result.f1_loss}
    if result.run.measures:
        document["measures"] = dict(result.run.measures)
        document["inner_measures"] = dict(result.run.inner_measures)
    document |= _certainty_document(result)
    if report.options.per_talk:
        document["per_talk"] = [
            {name: value for name, value in row.items() if name != "language" or value}
            for row in talk_rows(result)
        ]
    return document


def _certainty_document(result: Result) -> Row:
    document: Row = {}
    if intervals := result.summary.intervals:
        document["intervals"] = facts_of(intervals)
        document["clusters_are"] = "talks"
    if result.languages:
        languages = {
            group.value: facts_of(group.interval) | {"clean": facts_of(group.clean)}
            for group in result.languages
        }
        document["languages"] = languages
        document["language_macro_f1"] = macro_f1(result.languages)
    if result.run.held_out and result.held_out:
        counts = asdict(result.run.held_out.counts)
        document["out_of_sample"] = {**asdict(result.held_out), **counts}
    if result.missed:
        outside = {"outside_the_grid": result.misses_outside}
        document["best_of_all"] = point_row(result, result.missed) | outside
    if versus := result.versus:
        document["against_the_first"] = {
            "verdict": versus.verdict,
            "differences": facts_of(versus.differences),
            "p_value": versus.p_value,
            "raw_p_value": versus.raw_p_value,
            "power": asdict(versus.power) if versus.power else None,
            "clusters_needed": versus.needed,
        }
    return document


def _markdown(report: Report) -> str:
    options, measured = report.options, report.measured
    first = (
        f"{counted(report.talks, 'talk')} from {one_line(report.corpus)}, truth {report.truth}, "
        f"tolerance {options.tolerance}, weights {shown_weights(options)}"
    )
    optimal = []
    if report.mode == "sweep":
        [result] = measured
        optimal.append(f"Optimal: {result.threshold_text(result.best.threshold)}")
    certain = any(result.summary.intervals for result in measured)
    lines = [*(interval_lines(report) if certain else ()), *remarks(report)]
    more = []
    if any(result.run.measures for result in measured):
        more.append(_measure_table(report))
    if options.per_talk:
        more.append(talk_table(report, _LED_BY_F1, _FINE_FORMATS))
    last = [
        Markdown(f"Signature: `{signature}`")
        for signature in dict.fromkeys(signature_of(result.run) for result in measured)
    ]
    for name, identity in dict.fromkeys((run.name, run.identity) for run in measured):
        if identity:
            plain = one_line(identity).replace("`", "'")
            last.append(Markdown(f"System {escape_markdown(name)}: `{plain}`"))
    return as_markdown(
        [
            Section("", [first], [_summary_table(report)]),
            Section("", optimal, [certainty_table(report, timed=False)] if certain else []),
            Section("", lines, more),
            Section("", last),
        ]
    )


def _summary_table(report: Report) -> Table:
    """Make a row per model and threshold; comparisons add speed and the loss of characters."""
    conditioned = report.mode == "conditions"
    timed = report.mode == "comparison" or len({result.name for result in report.results}) > 1
    lossy = timed and any(changed_text(result.measurement.loss) for result in report.measured)
    columns = (
        *("model", *(["condition"] if conditioned else []), *_LED_BY_F1),
        *(["f1_loss"] if conditioned else []),
        *(_EFFORT_COLUMNS if timed else ()),
        *(_LOSS_COLUMNS if lossy else ()),
    )
    rows = [row for row in _rows(report) if row["talk"] == _ALL_TALKS]
    for row in rows:
        threshold = row.get("threshold")
        shown = "-" if threshold is None else shown_threshold(threshold)
        row["threshold"] = FAILED_CELL if "failed" in row else shown
        row |= {name: shown_rate(row[name]) for name in _LOSS_COLUMNS if name in row}
    formats = _FINE_FORMATS | {"f1_loss": "z.3f", "seconds": ".2f", "characters_per_s": ",.0f"}
    return table_of(columns, rows, formats)


def _measure_table(report: Report) -> Table:
    """Make a table of the additional measures, one row per run."""
    columns = ("model", *(["condition"] if report.options.shows_conditions else []), *_MEASURES)
    rows = [row for row in _rows(report) if row["talk"] == _ALL_TALKS and row.get("optimal")]
    return table_of(columns, rows, dict.fromkeys(_MEASURES, ".3f"))
