"""The report: results as text or in the form that `-format` names, and notes on what they mean."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import assert_never

from sat_bench.evaluation import Measurement, boundary_scores
from sat_bench.forms import csv_table, document, markdown, talk_table
from sat_bench.results import (
    Assessment,
    Missed,
    ModelResult,
    Report,
    meant,
    shown_threshold,
    shown_weights,
)
from truemark.counts import Weights
from truemark.jsontext import to_json
from truemark.sections import verdict_sentences
from truemark.tables import Format, render
from truemark.text import one_line

_FAILED = "failed"

_PUBLISHED = "published defaults: 0.025 for base SaT models, 0.25 for the -sm ones"
_AROUND = 5  # points of a narrower grid on either side of the best threshold


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


def notes(report: Report, *, sweeps: bool, timed: bool = False) -> Iterator[str]:
    """The lines for all results, in their order; `timed` with how long each took."""
    first: dict[str, str] = {}
    seen: set[str] = set()
    for result in report.measured:
        first.setdefault(result.condition, result.name)
        if result.name not in seen:
            seen.add(result.name)
            for line in _remarks(result.measurement, sweeps=sweeps, timed=timed):
                yield f"{result.name}: {line}"
        label = f"{result.name}, {result.condition}" if result.condition else result.name
        for line in _lines(result, report.weights, sweeps=sweeps):
            yield f"{label}: {line}"
        if result.versus:
            where = f"{result.condition}: " if result.condition else ""
            for line in verdict_sentences(first[result.condition], result.versus):
                yield f"{where}{line}"


def _remarks(found: Measurement, *, sweeps: bool, timed: bool) -> Iterator[str]:
    """What the contract's tables have no room for."""
    if sweeps and not found.graded:
        yield "gives no probabilities, so its sweep is a single point"
    if found.loss:
        yield f"{found.loss}; its sentences were aligned to the text as far as they go"
    if timed and found.effort:
        effort = found.effort
        yield f"{effort.seconds:.2f} s, {effort.characters_per_s:,.0f} characters/s"


def _lines(result: ModelResult, weights: Weights, *, sweeps: bool) -> Iterator[str]:
    assessment = result.assessment
    if assessment and assessment.intervals:
        yield _interval(assessment)
        for group in assessment.languages:
            yield (
                f"{group.value}: F1 {group.interval.value:.3f} (95% interval "
                f"{group.interval.low:.3f} to {group.interval.high:.3f}), {group.units} talks"
            )
    if assessment and assessment.held_out:
        yield _out_of_sample(assessment, result.measurement, weights)
    if sweeps:
        missed = assessment.missed if assessment else None
        if hint := beyond_the_grid(result.measurement, weights, missed):
            yield hint


def _interval(assessment: Assessment) -> str:
    shown = (
        f"{name} {one.value:.3f} ({one.low:.3f} to {one.high:.3f})"
        for name, one in (
            ("F1", assessment.intervals["f1"]),
            ("precision", assessment.intervals["precision"]),
            ("recall", assessment.intervals["recall"]),
        )
    )
    return f"{', '.join(shown)}; 95% intervals over {assessment.clusters_in_words}"


def _out_of_sample(assessment: Assessment, measurement: Measurement, weights: Weights) -> str:
    assert assessment.held_out
    new = boundary_scores(assessment.held_out, weights)
    here = measurement.best(weights).scores(weights)
    return (
        f"out of sample F1 {new.f1:.3f}, Weighted {new.weighted:.3f}, with the threshold of each "
        f"talk chosen on the others; {_signed(new.f1 - here.f1)} and "
        f"{_signed(new.weighted - here.weighted)} against the optimum on all of them"
    )


def _signed(difference: float) -> str:
    return f"{round(difference, 3) + 0.0:+.3f}"  # no minus before a zero


def beyond_the_grid(
    measurement: Measurement, weights: Weights, missed: Missed | None = None
) -> str | None:
    """What the grid missed, or that its best point is at its edge; nothing at a perfect score."""
    best = measurement.best(weights)
    weighted = best.scores(weights).weighted
    if missed:
        return f"{_what_was_missed(missed, best.threshold, weighted, weights)}: try " + (
            _narrower(missed.best.threshold) + (f" ({_PUBLISHED})" if missed.outside else "")
        )
    thresholds = measurement.thresholds
    if len(thresholds) < 2 or best.threshold not in (thresholds[0], thresholds[-1]):
        return None
    if weighted == 1:
        return None
    edge = "first" if best.threshold == thresholds[0] else "last"
    said = f"the optimum {shown_threshold(best.threshold)} is the {edge} point of the grid"
    wider = _wider(thresholds, edge == "first")
    known = (
        "no threshold beyond it does better" if measurement.curves else "one beyond may do better"
    )
    return (
        f"{said} (Weighted {weighted:.3f}), {known}; to see more: {wider} ({_PUBLISHED})"
        if wider
        else None
    )


def _what_was_missed(missed: Missed, tried: float, weighted: float, weights: Weights) -> str:
    best = boundary_scores(missed.best.counts, weights).weighted
    said = (
        f"the best of all thresholds is {shown_threshold(missed.best.threshold)} (Weighted "
        f"{best:.3f}), {'outside the grid' if missed.outside else 'between its points'}, whose "
        f"best is {shown_threshold(tried)} ({weighted:.3f})"
    )
    if missed.own:
        own = boundary_scores(missed.own.counts, weights).weighted
        said += f"; the model's own, {shown_threshold(missed.own.threshold)}, has {own:.3f}"
    return said


def _narrower(threshold: float) -> str:
    """The flags of a grid around a threshold, one decimal place finer than its first digit."""
    place = math.floor(math.log10(threshold)) if threshold > 0 else -3
    step = 10.0 ** (place - 1)
    middle = round(threshold / step)
    low, high = max(0, middle - _AROUND), middle + _AROUND + 1
    least, most = low * step, min(1.0, high * step)
    return f"-sweep-min {least:g} -sweep-max {most:g} -sweep-step {step:g}"


def _wider(thresholds: tuple[float, ...], downwards: bool) -> str | None:
    if downwards:
        first = thresholds[0]
        return f"-sweep-min {first / 10:g} -sweep-step {first / 10:g}" if first > 0 else None
    last, step = thresholds[-1], thresholds[1] - thresholds[0]
    return f"-sweep-max {min(1.0, max(0.5, 2 * last)):g}" if last + step < 1 else None
