"""Results as text, JSON, CSV and Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Literal, assert_never

from sat_bench.evaluation import Failed, Measurement, boundary_scores
from truemark.counts import Counts, Weights
from truemark.jsontext import to_json
from truemark.signature import Signature
from truemark.sweep import SweepPoint
from truemark.tables import Format, Table, render

Mode = Literal["evaluation", "sweep", "comparison"]

_ALL_TALKS = "all"
_COLUMNS = ("threshold", "precision", "recall", "f1", "weighted", "tp", "fp", "fn")
_NUMBER_FORMATS = (None, ".2f", ".2f", ".2f", ".2f", "d", "d", "d")
_EFFORT_COLUMNS = ("seconds", "characters_per_s")
# Per 1,000 characters: what a system that returns sentences did to the text.
_LOSS_COLUMNS = ("changed", "deleted", "invented")
_UNKNOWN = (None,) * (len(_EFFORT_COLUMNS) + len(_LOSS_COLUMNS))


@dataclass(frozen=True, slots=True)
class ModelResult:
    """What was measured of a model, and the signature under which its numbers compare."""

    name: str
    measurement: Measurement
    signature: Signature


@dataclass(frozen=True, slots=True)
class Report:
    """Everything one call of `sat-bench` has to show."""

    mode: Mode
    corpus: str
    talks: int
    truth: str
    tolerance: int
    weights: Weights
    results: tuple[ModelResult | Failed, ...]
    per_talk: bool = False

    @property
    def measured(self) -> tuple[ModelResult, ...]:
        """The results without those of models that failed."""
        return tuple(result for result in self.results if isinstance(result, ModelResult))


def show(report: Report, format: Format) -> str:
    """The report in the given format, ending with a line break."""
    match format:
        case "text":
            return _text(report)
        case "json":
            return to_json(_document(report), indent=2) + "\n"
        case "csv":
            return render(_flat_table(report), "csv")
        case "markdown":
            return _markdown(report)
        case _:
            assert_never(format)


def shown_threshold(threshold: float | None) -> str:
    """The threshold with three decimals, or as many as it takes to tell it from others.

    A dash stands for that of a system without probabilities.
    """
    if threshold is None:
        return "-"
    exponent = Decimal(repr(threshold)).as_tuple().exponent
    return f"{threshold:.{max(3, -int(exponent))}f}"


def _text(report: Report) -> str:
    body = {"evaluation": _evaluation, "sweep": _sweep, "comparison": _comparison}[report.mode]
    parts = [f"Loaded {report.talks} talks from {report.corpus}\n", body(report)]
    if report.per_talk:
        parts.append(render(_talk_table(report), "text"))
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
        f"Threshold Sweep Results {_shown_weights(report.weights)}",
        ruler,
        _columns("Thresh", "Prec", "Rec", "F1", "Weighted"),
    ]
    for point in result.measurement.points:
        ratios = boundary_scores(point.counts, report.weights)
        numbers = (ratios.precision, ratios.recall, ratios.f1, ratios.weighted)
        threshold = _meant(result, point.threshold)
        lines.append(_columns(shown_threshold(threshold), *map("{:.2f}".format, numbers)))
    best = result.measurement.best(report.weights)
    weighted = best.scores(report.weights).weighted
    threshold = _meant(result, best.threshold)
    optimal = f"Optimal: {shown_threshold(threshold)} (Weighted: {weighted:.2f})"
    return "\n".join((*lines, ruler, optimal, ""))


def _comparison(report: Report) -> str:
    lines = [
        f"Model Comparison {_shown_weights(report.weights)}",
        "-" * 60,
        f"{'Model':<30} {_columns('Thresh', 'F1', 'Weighted')}",
    ]
    for result in report.results:
        cells = "failed"
        if isinstance(result, ModelResult):
            best = result.measurement.best(report.weights)
            ratios = best.scores(report.weights)
            numbers = map("{:.2f}".format, (ratios.f1, ratios.weighted))
            cells = _columns(shown_threshold(_meant(result, best.threshold)), *numbers)
        lines.append(f"{result.name:<30} {cells}")
    return "\n".join((*lines, ""))


def _columns(*cells: str) -> str:
    return " ".join(f"{cell:<8}" for cell in cells).rstrip()


def _shown_weights(weights: Weights) -> str:
    return f"(wp={weights.precision}, wr={weights.recall})"


def _meant(result: ModelResult, threshold: float) -> float | None:
    """The threshold, or nothing where it makes no difference."""
    return threshold if result.measurement.graded else None


def _values(threshold: float | None, counts: Counts, weights: Weights) -> tuple[float | None, ...]:
    ratios = boundary_scores(counts, weights)
    return (
        *(threshold, ratios.precision, ratios.recall, ratios.f1, ratios.weighted),
        *(counts.tp, counts.fp, counts.fn),
    )


def _talk_rows(
    report: Report, result: ModelResult
) -> Iterator[tuple[str, tuple[float | None, ...]]]:
    best = result.measurement.best(report.weights)
    for talk, counts in best.talks:
        yield talk, _values(_meant(result, best.threshold), counts, report.weights)


def _effort(result: ModelResult) -> tuple[float | None, ...]:
    effort = result.measurement.effort
    return (effort.seconds, effort.characters_per_s) if effort else (None, None)


def _talk_table(report: Report) -> Table:
    rows = tuple(
        (result.name, talk, shown_threshold(values[0]), *values[1:])
        for result in report.measured
        for talk, values in _talk_rows(report, result)
    )
    columns, formats = ("model", "talk", *_COLUMNS), (None, None, *_NUMBER_FORMATS)
    if report.mode == "comparison":
        return Table(columns, rows, formats)
    return Table(columns[1:], tuple(row[1:] for row in rows), formats[1:])


def _flat_table(report: Report) -> Table:
    """One row per model and threshold, or model and talk; `optimal` marks the row to use."""
    rows: list[tuple[object, ...]] = []
    for result in report.results:
        if isinstance(result, Failed):
            empty = (None,) * len(_COLUMNS)
            rows.append((result.name, _ALL_TALKS, *empty, None, result.reason, None, *_UNKNOWN))
            continue
        more = (*_effort(result), *result.measurement.loss.rates)
        best = result.measurement.best(report.weights).threshold
        signature = str(result.signature)
        for point in _shown_points(report, result):
            threshold = _meant(result, point.threshold)
            values = _values(threshold, point.counts, report.weights)
            optimal = int(point.threshold == best)
            rows.append((result.name, _ALL_TALKS, *values, optimal, None, signature, *more))
        if report.per_talk:
            for talk, values in _talk_rows(report, result):
                rows.append((result.name, talk, *values, 1, None, signature, *_UNKNOWN))
    told = ("optimal", "failed", "signature", *_EFFORT_COLUMNS, *_LOSS_COLUMNS)
    return Table(("model", "talk", *_COLUMNS, *told), tuple(rows))


def _shown_points(report: Report, result: ModelResult) -> tuple[SweepPoint, ...]:
    if report.mode != "comparison":
        return result.measurement.points
    best = result.measurement.best(report.weights)
    return (SweepPoint(best.threshold, best.counts),)


def _document(report: Report) -> dict[str, object]:
    return {
        "mode": report.mode,
        "corpus": report.corpus,
        "talks": report.talks,
        "truth": report.truth,
        "tolerance": report.tolerance,
        "weights": asdict(report.weights),
        "results": [_result_document(report, result) for result in report.results],
    }


def _result_document(report: Report, result: ModelResult | Failed) -> dict[str, object]:
    if isinstance(result, Failed):
        return {"model": result.name, "failed": result.reason}

    def named(threshold: float, counts: Counts) -> dict[str, object]:
        values = _values(_meant(result, threshold), counts, report.weights)
        return dict(zip(_COLUMNS, values, strict=True))

    best = result.measurement.best(report.weights)
    document: dict[str, object] = {
        "model": result.name,
        "best": named(best.threshold, best.counts),
        "points": [named(point.threshold, point.counts) for point in result.measurement.points],
        "signature": str(result.signature),
        **dict(zip(_EFFORT_COLUMNS, _effort(result), strict=True)),
        "per_1000_characters": dict(zip(_LOSS_COLUMNS, result.measurement.loss.rates, strict=True)),
    }
    if report.per_talk:
        document["per_talk"] = [
            {"talk": talk, **named(best.threshold, counts)} for talk, counts in best.talks
        ]
    return document


def _markdown(report: Report) -> str:
    parts = [
        f"{report.talks} talks from {report.corpus}, tolerance {report.tolerance}, "
        f"weights {_shown_weights(report.weights)}\n",
        render(_summary(report), "markdown"),
    ]
    if report.mode == "sweep":
        [result] = report.measured
        best = result.measurement.best(report.weights)
        parts.append(f"Optimal: {shown_threshold(_meant(result, best.threshold))}\n")
    if report.per_talk:
        parts.append(render(_talk_table(report), "markdown"))
    parts.extend(f"Signature: `{result.signature}`\n" for result in report.measured)
    return "\n".join(parts)


def _summary(report: Report) -> Table:
    """A row for each model and threshold; in a comparison also the time, and any loss."""
    compared = report.mode == "comparison"
    lossy = compared and any(result.measurement.loss for result in report.measured)
    effort, loss = _EFFORT_COLUMNS if compared else (), _LOSS_COLUMNS if lossy else ()
    rows: list[tuple[object, ...]] = []
    for result in report.results:
        if isinstance(result, Failed):
            width = len(_COLUMNS) - 1 + len(effort) + len(loss)
            rows.append((result.name, "failed", *(None,) * width))
            continue
        more = (*(_effort(result) if effort else ()),)
        more += result.measurement.loss.rates if loss else ()
        for point in _shown_points(report, result):
            threshold = shown_threshold(_meant(result, point.threshold))
            _, *values = _values(None, point.counts, report.weights)
            rows.append((result.name, threshold, *values, *more))
    formats = (None, *_NUMBER_FORMATS, *(".2f", ",.0f")[: len(effort)], *(".1f" for _ in loss))
    return Table(("model", *_COLUMNS, *effort, *loss), tuple(rows), formats)


_PUBLISHED = "published defaults: 0.025 for base SaT models, 0.25 for the -sm ones"


def beyond_the_grid(measurement: Measurement, weights: Weights) -> str | None:
    """A hint to widen the grid where the optimum lies at its edge, else nothing."""
    thresholds = measurement.thresholds
    best = measurement.best(weights).threshold
    if len(thresholds) < 2 or best not in (thresholds[0], thresholds[-1]):
        return None
    step = thresholds[1] - thresholds[0]
    if best == thresholds[0]:
        if best <= 0:
            return None
        edge, flags = "first", f"-sweep-min {best / 10:g} -sweep-step {best / 10:g}"
    else:
        if best + step >= 1:
            return None
        wider = min(1.0, max(0.5, 2 * best))
        edge, flags = "last", f"-sweep-max {wider:g}"
    return (
        f"the optimum {shown_threshold(best)} is the {edge} point of the grid, "
        f"a better one may lie beyond it: try {flags} ({_PUBLISHED})"
    )
