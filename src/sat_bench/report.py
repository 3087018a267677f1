"""Results as text, and in the other forms that `-format` names."""

from __future__ import annotations

from typing import assert_never

from sat_bench.evaluation import boundary_scores
from sat_bench.forms import csv_table, document, markdown, talk_table
from sat_bench.results import ModelResult, Report, meant, shown_threshold, shown_weights
from truemark.jsontext import to_json
from truemark.tables import Format, render
from truemark.text import one_line

_FAILED = "failed"


def show(report: Report, format: Format) -> str:
    """The report in the given format, ending with a line break."""
    match format:
        case "text":
            return _text(report)
        case "json":
            return to_json(document(report), indent=2) + "\n"
        case "csv":
            return render(csv_table(report), "csv")
        case "markdown":
            return markdown(report)
        case _:
            assert_never(format)


def _text(report: Report) -> str:
    body = {
        "evaluation": _evaluation,
        "sweep": _sweep,
        "comparison": _comparison,
        "conditions": _conditions,
    }[report.mode]
    parts = [f"Loaded {report.talks} talks from {one_line(report.corpus)}\n", body(report)]
    if report.per_talk:
        parts.append(render(talk_table(report), "text"))
    return "\n".join(parts)


def _evaluation(report: Report) -> str:
    [result] = report.measured
    best = result.measurement.best(report.weights)
    ratios, counts = best.scores(report.weights), best.counts
    return (
        f"Precision: {ratios.precision:.2f}  Recall: {ratios.recall:.2f}  "
        f"F1: {ratios.f1:.2f}  Weighted: {ratios.weighted:.2f}\n"
        f"(TP: {counts.tp}, FP: {counts.fp}, FN: {counts.fn})\n"
    )


def _sweep(report: Report) -> str:
    [result] = report.measured
    ruler = "-" * 50
    lines = [
        f"Threshold Sweep Results {shown_weights(report.weights)}",
        ruler,
        _columns("Thresh", "Prec", "Rec", "F1", "Weighted"),
    ]
    for point in result.measurement.points:
        ratios = boundary_scores(point.counts, report.weights)
        numbers = (ratios.precision, ratios.recall, ratios.f1, ratios.weighted)
        threshold = meant(result, point.threshold)
        lines.append(_columns(shown_threshold(threshold), *map("{:.2f}".format, numbers)))
    best = result.measurement.best(report.weights)
    weighted = best.scores(report.weights).weighted
    threshold = meant(result, best.threshold)
    optimal = f"Optimal: {shown_threshold(threshold)} (Weighted: {weighted:.2f})"
    return "\n".join((*lines, ruler, optimal, ""))


def _comparison(report: Report) -> str:
    lines = [
        f"Model Comparison {shown_weights(report.weights)}",
        "-" * 60,
        f"{'Model':<30} {_columns('Thresh', 'F1', 'Weighted')}",
    ]
    for result in report.results:
        cells = _FAILED
        if isinstance(result, ModelResult):
            best = result.measurement.best(report.weights)
            ratios = best.scores(report.weights)
            numbers = map("{:.2f}".format, (ratios.f1, ratios.weighted))
            cells = _columns(shown_threshold(meant(result, best.threshold)), *numbers)
        lines.append(f"{one_line(result.name):<30} {cells}")
    return "\n".join((*lines, ""))


def _conditions(report: Report) -> str:
    one_model = len({result.name for result in report.results}) == 1
    swept = any(len(result.measurement.thresholds) > 1 for result in report.measured)
    return _swept_conditions(report) if one_model and swept else _condition_rows(report)


def _condition_rows(report: Report) -> str:
    """A row per model and condition, each at its own threshold or the best of its own."""
    lines = [
        f"Conditions {shown_weights(report.weights)}",
        "-" * 78,
        f"{'Model':<30} {'Condition':<15} {_columns('Thresh', 'F1', 'Weighted', 'Loss')}",
    ]
    for result in report.results:
        if not isinstance(result, ModelResult):
            lines.append(f"{one_line(result.name):<30} {_FAILED}")
            continue
        best = result.measurement.best(report.weights)
        ratios = best.scores(report.weights)
        numbers = map("{:.2f}".format, (ratios.f1, ratios.weighted))
        cells = _columns(
            shown_threshold(meant(result, best.threshold)), *numbers, _shown_loss(result)
        )
        lines.append(f"{one_line(result.name):<30} {result.condition:<15} {cells}")
    return "\n".join((*lines, ""))


def _swept_conditions(report: Report) -> str:
    """The weighted score of one model at each threshold, a column per condition."""
    results = report.measured
    width = max(8, *(len(result.condition) for result in results))

    def line(label: str, *cells: str) -> str:
        return " ".join((f"{label:<8}", *(f"{cell:<{width}}" for cell in cells))).rstrip()

    bests = [result.measurement.best(report.weights) for result in results]
    ruler = "-" * max(50, 8 + (width + 1) * len(results))
    lines = [
        f"Weighted Score by Threshold and Condition {shown_weights(report.weights)}",
        ruler,
        line("Thresh", *(result.condition for result in results)),
    ]
    for points in zip(*(result.measurement.points for result in results), strict=True):
        scores = (boundary_scores(point.counts, report.weights).weighted for point in points)
        lines.append(line(shown_threshold(points[0].threshold), *map("{:.2f}".format, scores)))
    lines += [
        ruler,
        line("Optimal", *(shown_threshold(best.threshold) for best in bests)),
        line("F1", *(f"{best.scores(report.weights).f1:.2f}" for best in bests)),
        line("Loss", *map(_shown_loss, results)),
    ]
    return "\n".join((*lines, ""))


def _shown_loss(result: ModelResult) -> str:
    return "" if result.f1_loss is None else f"{result.f1_loss:.2f}"


def _columns(*cells: str) -> str:
    return " ".join(f"{cell:<8}" for cell in cells).rstrip()
