"""Results as JSON, CSV and Markdown: everything that was measured, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import compress

from sat_bench.evaluation import Failed, boundary_scores
from sat_bench.results import ModelResult, Report, meant, shown_threshold, shown_weights
from truemark.counts import Counts, Weights
from truemark.sweep import SweepPoint
from truemark.tables import Table, render

_ALL_TALKS = "all"
_COLUMNS = ("threshold", "precision", "recall", "f1", "weighted", "tp", "fp", "fn")
_NUMBER_FORMATS = (None, ".2f", ".2f", ".2f", ".2f", "d", "d", "d")
_EFFORT_COLUMNS = ("seconds", "characters_per_s")
# Per 1,000 characters: what a system that returns sentences did to the text.
_LOSS_COLUMNS = ("changed", "deleted", "invented")


def certainty(result: ModelResult, weights: Weights) -> dict[str, object]:
    """How sure a result is, flat: the same names in every form; None where there is nothing."""
    assessment, versus = result.assessment, result.versus
    f1 = assessment.intervals.get("f1") if assessment else None
    new = assessment.held_out if assessment else None
    new_scores = boundary_scores(new, weights) if new else None
    missed = assessment.missed if assessment else None
    difference = versus.differences["f1"] if versus else None
    power = versus.power if versus and versus.verdict == "not distinguishable" else None
    return {
        "f1_low": f1.low if f1 else None,
        "f1_high": f1.high if f1 else None,
        "clusters": f1.clusters if f1 else None,
        "out_of_sample_f1": new_scores.f1 if new_scores else None,
        "out_of_sample_weighted": new_scores.weighted if new_scores else None,
        "best_threshold": missed.best.threshold if missed else None,
        "best_weighted": boundary_scores(missed.best.counts, weights).weighted if missed else None,
        "difference": difference.value if difference else None,
        "difference_low": difference.low if difference else None,
        "difference_high": difference.high if difference else None,
        "p_value": versus.p_value if versus else None,
        "verdict": versus.verdict if versus else None,
        "smallest_difference": power.smallest_difference if power else None,
    }


_CERTAINTY = (
    *("f1_low", "f1_high", "clusters", "out_of_sample_f1", "out_of_sample_weighted"),
    *("best_threshold", "best_weighted", "difference", "difference_low", "difference_high"),
    *("p_value", "verdict", "smallest_difference"),
)
_AS_THEY_ARE = ("clusters", "best_threshold")


def _values(threshold: float | None, counts: Counts, weights: Weights) -> tuple[float | None, ...]:
    ratios = boundary_scores(counts, weights)
    return (
        *(threshold, ratios.precision, ratios.recall, ratios.f1, ratios.weighted),
        *(counts.tp, counts.fp, counts.fn),
    )


def _talk_rows(
    report: Report, result: ModelResult
) -> Iterator[tuple[str, str, tuple[float | None, ...]]]:
    """The id, the language and the values of each talk at the best threshold."""
    best = result.measurement.best(report.weights)
    for (talk, counts), points in zip(best.talks, result.measurement.talks, strict=True):
        threshold = meant(result, best.threshold)
        yield talk, points.language, _values(threshold, counts, report.weights)


def _effort(result: ModelResult) -> tuple[float | None, ...]:
    effort = result.measurement.effort
    return (effort.seconds, effort.characters_per_s) if effort else (None, None)


def talk_table(report: Report) -> Table:
    """A row per talk; only those columns that tell rows apart."""
    rows = [
        (result.name, result.condition, talk, language, shown_threshold(values[0]), *values[1:])
        for result in report.measured
        for talk, language, values in _talk_rows(report, result)
    ]
    shown = (
        report.mode in ("comparison", "conditions"),
        report.mode == "conditions",
        True,
        any(row[3] for row in rows),
        *(True for _ in _COLUMNS),
    )
    columns = ("model", "condition", "talk", "language", *_COLUMNS)
    return _compressed(columns, rows, (None, None, None, None, *_NUMBER_FORMATS), shown)


def _compressed(
    columns: Iterable[str],
    rows: Iterable[tuple[object, ...]],
    formats: Iterable[str | None],
    shown: Sequence[bool],
) -> Table:
    """The table without the columns that are not shown."""
    return Table(
        tuple(compress(columns, shown)),
        tuple(tuple(compress(row, shown)) for row in rows),
        tuple(compress(formats, shown)),
    )


_CSV_COLUMNS = (
    *("model", "talk", *_COLUMNS, "optimal", "failed", "signature"),
    *(*_EFFORT_COLUMNS, *_LOSS_COLUMNS, "system", "condition", "f1_loss", "language"),
    *_CERTAINTY,
)


def csv_table(report: Report) -> Table:
    """One row per model and threshold, or model and talk; `optimal` marks the row to use.

    How sure a result is stands in that row.
    """
    rows: list[dict[str, object]] = []
    for result in report.results:
        if isinstance(result, Failed):
            rows.append({"model": result.name, "talk": _ALL_TALKS, "failed": result.reason})
            continue
        same = {
            "model": result.name,
            "condition": result.condition or None,
            "signature": str(result.signature),
            "system": str(result.system) or None,
        }
        best = result.measurement.best(report.weights).threshold
        for point in _shown_points(report, result):
            row = same | {"talk": _ALL_TALKS, "optimal": int(point.threshold == best)}
            row |= _named(result, point.threshold, point.counts, report.weights)
            row |= zip(_EFFORT_COLUMNS, _effort(result), strict=True)
            row |= zip(_LOSS_COLUMNS, result.measurement.loss.rates, strict=True)
            if point.threshold == best:
                row |= {"f1_loss": result.f1_loss, **certainty(result, report.weights)}
            rows.append(row)
        if report.per_talk:
            for talk, language, values in _talk_rows(report, result):
                own = {"talk": talk, "language": language or None, "optimal": 1}
                rows.append(same | own | dict(zip(_COLUMNS, values, strict=True)))
    return Table(_CSV_COLUMNS, tuple(tuple(map(row.get, _CSV_COLUMNS)) for row in rows))


def _shown_points(report: Report, result: ModelResult) -> tuple[SweepPoint, ...]:
    if report.mode in ("evaluation", "sweep"):
        return result.measurement.points
    best = result.measurement.best(report.weights)
    return (SweepPoint(best.threshold, best.counts),)


def _named(
    result: ModelResult, threshold: float, counts: Counts, weights: Weights
) -> dict[str, object]:
    values = _values(meant(result, threshold), counts, weights)
    return dict(zip(_COLUMNS, values, strict=True))


def document(report: Report) -> dict[str, object]:
    """Everything, without rounding."""
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
    weights = report.weights
    best = result.measurement.best(weights)
    found: dict[str, object] = {
        "model": result.name,
        "best": _named(result, best.threshold, best.counts, weights),
        "points": [
            _named(result, one.threshold, one.counts, weights) for one in result.measurement.points
        ],
        "signature": str(result.signature),
        **dict(zip(_EFFORT_COLUMNS, _effort(result), strict=True)),
        "per_1000_characters": dict(zip(_LOSS_COLUMNS, result.measurement.loss.rates, strict=True)),
    }
    if result.system.parts:
        found["system"] = str(result.system)
    if result.condition:
        found |= {"condition": result.condition, "f1_loss": result.f1_loss}
    found |= _certainty_document(result, weights)
    if report.per_talk:
        found["per_talk"] = [
            {"talk": talk, **({"language": language} if language else {})}
            | dict(zip(_COLUMNS, values, strict=True))
            for talk, language, values in _talk_rows(report, result)
        ]
    return found


def _certainty_document(result: ModelResult, weights: Weights) -> dict[str, object]:
    found: dict[str, object] = {}
    if assessment := result.assessment:
        found["intervals"] = {name: asdict(one) for name, one in assessment.intervals.items()}
        found["clusters_are"] = "blocks of sentences" if assessment.by_blocks else "talks"
        if assessment.languages:
            found["languages"] = {
                group.value: asdict(group.interval) for group in assessment.languages
            }
        if assessment.held_out:
            ratios = boundary_scores(assessment.held_out, weights)
            found["out_of_sample"] = {**asdict(ratios), **asdict(assessment.held_out)}
        if missed := assessment.missed:
            best = missed.best
            found["best_of_all"] = {
                **_named(result, best.threshold, best.counts, weights),
                "outside_the_grid": missed.outside,
            }
    if versus := result.versus:
        found["against_the_first"] = {
            "verdict": versus.verdict,
            "differences": {name: asdict(one) for name, one in versus.differences.items()},
            "p_value": versus.p_value,
            "raw_p_value": versus.raw_p_value,
            "power": asdict(versus.power) if versus.power else None,
            "clusters_needed": versus.needed,
        }
    return found


def markdown(report: Report) -> str:
    """Tables and lines for a page."""
    parts = [
        f"{report.talks} talks from {report.corpus}, tolerance {report.tolerance}, "
        f"weights {shown_weights(report.weights)}\n",
        render(_summary(report), "markdown"),
    ]
    if report.mode == "sweep":
        [result] = report.measured
        best = result.measurement.best(report.weights)
        parts.append(f"Optimal: {shown_threshold(meant(result, best.threshold))}\n")
    if any(result.assessment for result in report.measured):
        parts.append(render(_certainty_table(report), "markdown"))
    if report.per_talk:
        parts.append(render(talk_table(report), "markdown"))
    for signature in dict.fromkeys(str(result.signature) for result in report.measured):
        parts.append(f"Signature: `{signature}`\n")
    for name, system in dict.fromkeys((one.name, str(one.system)) for one in report.measured):
        if system:
            parts.append(f"System {name}: `{system}`\n")
    return "\n".join(parts)


def _summary(report: Report) -> Table:
    """A row for each model and threshold; in a comparison also the time, and any loss."""
    compared, conditioned = report.mode == "comparison", report.mode == "conditions"
    timed = compared or len({result.name for result in report.results}) > 1
    lossy = timed and any(result.measurement.loss for result in report.measured)
    columns = ("model", "condition", *_COLUMNS, "f1_loss", *_EFFORT_COLUMNS, *_LOSS_COLUMNS)
    shown = {"condition": conditioned, "f1_loss": conditioned}
    shown |= dict.fromkeys(_EFFORT_COLUMNS, timed) | dict.fromkeys(_LOSS_COLUMNS, lossy)
    rows: list[tuple[object, ...]] = []
    for result in report.results:
        if isinstance(result, Failed):
            rows.append((result.name, None, "failed", *(None,) * (len(columns) - 3)))
            continue
        more = (result.f1_loss, *_effort(result), *result.measurement.loss.rates)
        for point in _shown_points(report, result):
            threshold = shown_threshold(meant(result, point.threshold))
            _, *values = _values(None, point.counts, report.weights)
            rows.append((result.name, result.condition, threshold, *values, *more))
    return _compressed(
        columns,
        rows,
        (None, None, *_NUMBER_FORMATS, ".2f", ".2f", ",.0f", ".1f", ".1f", ".1f"),
        [shown.get(column, True) for column in columns],
    )


def _certainty_table(report: Report) -> Table:
    """How sure the results are: only those columns that hold something."""
    rows = [
        {"model": result.name, "condition": result.condition or None}
        | certainty(result, report.weights)
        for result in report.measured
    ]
    used = tuple(name for name in rows[0] if any(row[name] is not None for row in rows))
    formats = tuple(None if name in _AS_THEY_ARE else ".3f" for name in used)
    return Table(used, tuple(tuple(row[name] for name in used) for row in rows), formats)
