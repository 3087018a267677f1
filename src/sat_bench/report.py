"""What `sat-bench` shows of its runs: the contract's text, JSON, CSV, Markdown, and notes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import assert_never

from sat_bench.defaults import TRUTH_RULES, WRITTEN, Mode, Options, TruthSource
from sat_bench.models.protocol import NO_LOSS, Loss, shown_rate
from sat_bench.record import EMPTY_RATIO, Effort, Failed, Measured, Measurement, signature_of
from truemark.comparison import Versus, compare
from truemark.counts import Counts, Scores, Weights, scores
from truemark.curve import SweepPoint, best, best_of_all, counts_at, point_of, sum_curves
from truemark.jsontext import to_json
from truemark.records import Run
from truemark.sections import (
    difference_facts,
    interval_facts,
)
from truemark.signature import Signature
from truemark.summary import GroupScore, Summary, numbered, summarise
from truemark.tables import Table, render
from truemark.text import one_line
from truemark.wording import interval_remarks, score_text, verdict_sentences

SHOWN_DIGITS = 3  # scores that agree to so many digits look the same wherever they are shown

_FAILED = "failed"
_ALL_TALKS = "all"
_PUBLISHED = "published defaults: 0.025 for base SaT models, 0.25 for the -sm ones"
_FLAT = 3  # as many neighbouring thresholds of equal score are worth a word
_F1_APART = 0.005
_AROUND = 5  # points of a narrower grid on either side of the best threshold

_COLUMNS = ("threshold", "precision", "recall", "f1", "weighted", "tp", "fp", "fn")
_FORMATS = dict(zip(_COLUMNS, (None, ".2f", ".2f", ".2f", ".2f", "d", "d", "d"), strict=True))
# Tables other than the contract's lead with F1, to three digits.
_LED_BY_F1 = ("threshold", "f1", "precision", "recall", "weighted", "tp", "fp", "fn")
_FINE_FORMATS = _FORMATS | dict.fromkeys(("f1", "precision", "recall", "weighted"), ".3f")
_EFFORT_COLUMNS = ("seconds", "characters_per_s")
# Per 1,000 characters: what a system that returns sentences did to the text.
_LOSS_COLUMNS = ("changed", "deleted", "invented")
_CERTAINTY_COLUMNS = (
    *("f1_low", "f1_high", "clusters", "clean", "clean_low", "clean_high"),
    *("out_of_sample_f1", "out_of_sample_weighted"),
    *("best_threshold", "best_weighted", "difference", "difference_low", "difference_high"),
    *("p_value", "verdict", "smallest_difference"),
)
_MEASURES = ("sentence_f1", "macro_f1", "su_error_rate", "pk", "window_diff", "boundary_similarity")
_NOT_ROUNDED = ("clusters", "best_threshold")
_CSV_COLUMNS = (
    *("model", "talk", *_COLUMNS, "optimal", "failed", "signature"),
    *(*_EFFORT_COLUMNS, *_LOSS_COLUMNS, "system", "condition", "f1_loss", "language"),
    *_CERTAINTY_COLUMNS,
    *_MEASURES,
)

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class Missed:
    """The best of all thresholds, where it beats those that were tried.

    `recommended` is the point of the model's own threshold, where that beats them too.
    """

    best: SweepPoint
    outside: bool
    recommended: SweepPoint | None


@dataclass(frozen=True, slots=True)
class Result:
    """What is shown of one run: its points at the thresholds tried, and how sure they are.

    `versus` compares it with the first system under the same condition; `f1_loss` is what F1 lost
    against the text as written.
    """

    run: Run
    points: tuple[SweepPoint, ...]
    best: SweepPoint
    effort: Effort | None = None
    loss: Loss = NO_LOSS
    summary: Summary | None = None
    missed: Missed | None = None
    versus: Versus | None = None
    f1_loss: float | None = None

    @property
    def name(self) -> str:
        return self.run.system.name

    @property
    def condition(self) -> str:
        return self.run.condition

    @property
    def graded(self) -> bool:
        """Whether thresholds make a difference."""
        return self.run.scoring.threshold is not None

    @property
    def identity(self) -> str:
        """What the answers of the system depend on, in one line."""
        parts = self.run.system.identity.items()
        return str(Signature(tuple((name, str(value)) for name, value in parts)))

    @property
    def held_out(self) -> Scores | None:
        """The scores with the threshold of each talk chosen on the others."""
        if self.run.held_out is None:
            return None
        return boundary_scores(self.run.held_out.counts, self.run.scoring.weights)

    @property
    def languages(self) -> tuple[GroupScore, ...]:
        """The scores by language, where there are several."""
        groups = self.summary.groups if self.summary else ()
        languages = tuple(group for group in groups if group.name == "language")
        return languages if len(languages) > 1 else ()

    def shown_at(self, threshold: float) -> float | None:
        """Return the threshold, or None where it makes no difference."""
        return threshold if self.graded else None


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that one call of `sat-bench` shows."""

    options: Options
    corpus: str
    talks: int
    results: tuple[Result | Failed, ...]
    truths: tuple[TruthSource, ...] = ()

    @property
    def mode(self) -> Mode:
        if self.options.shows_conditions:
            return "conditions"
        if self.options.compare:
            return "comparison"
        return "sweep" if self.options.sweeps else "evaluation"

    @property
    def truth(self) -> str:
        """What gave the truth of the talks, in words."""
        return ", ".join(
            f"rule: {truth}" if truth in TRUTH_RULES else truth for truth in self.truths
        )

    @property
    def measured(self) -> tuple[Result, ...]:
        return tuple(result for result in self.results if isinstance(result, Result))


def results_of(
    outcomes: Sequence[tuple[Measured, Run] | Failed], options: Options
) -> Iterator[Result | Failed]:
    """Add to each run what is shown beside it; failures stay as they are."""
    versus = {
        condition: iter(_versus_first(outcomes, condition)) for condition in options.conditions
    }
    written_f1 = 0.0
    for outcome in outcomes:
        if isinstance(outcome, Failed):
            yield outcome
            continue
        measured, run = outcome
        measurement, weights = measured.measurement, options.weights
        points = measurement.sweep(measured.thresholds, weights)
        optimum = best(points)
        if measured.condition == WRITTEN:
            written_f1 = optimum.scores.f1
        yield Result(
            run,
            points,
            optimum,
            measurement.effort,
            measurement.loss,
            summarise(run),
            missed_by_the_grid(measurement, points, run) if options.sweeps else None,
            next(versus[measured.condition]),
            written_f1 - optimum.scores.f1 if measured.condition != WRITTEN else None,
        )


def _versus_first(
    outcomes: Sequence[tuple[Measured, Run] | Failed], condition: str
) -> tuple[Versus | None, ...]:
    """Compare the runs of a condition with the first of them; None for the first itself."""
    runs = [
        outcome[1]
        for outcome in outcomes
        if not isinstance(outcome, Failed) and outcome[0].condition == condition
    ]
    return (None, *compare(runs).against) if len(runs) > 1 else (None,)


def missed_by_the_grid(
    measurement: Measurement, points: Sequence[SweepPoint], run: Run
) -> Missed | None:
    """Find the best of all thresholds where it beats the grid by more than rounding."""
    weights, recommended = run.scoring.weights, run.scoring.own_threshold
    if not measurement.graded:
        return None
    tried = _rounded(best(points))
    optimum = best_of_all(sum_curves(measurement.curves), weights, empty=EMPTY_RATIO)
    if _rounded(optimum) <= tried:
        return None
    point: SweepPoint | None = None
    if recommended is not None:
        counts = counts_at(measurement.curves, recommended)
        point = point_of(recommended, counts, weights, empty=EMPTY_RATIO)
    thresholds = [point.threshold for point in points]
    outside = not min(thresholds) <= optimum.threshold <= max(thresholds)
    return Missed(optimum, outside, point if point and _rounded(point) > tried else None)


def _rounded(point: SweepPoint) -> float:
    return round(point.scores.weighted, SHOWN_DIGITS)


def boundary_scores(counts: Counts, weights: Weights) -> Scores:
    """Compute the ratios of boundary counts; 0 where there is nothing to divide by."""
    return scores(counts, empty=EMPTY_RATIO, weights=weights)


def shown_threshold(threshold: float | None) -> str:
    """Write a threshold with three decimals, or as many as it takes to tell it from others.

    A dash stands for that of a system without probabilities.
    """
    if threshold is None:
        return "-"
    exponent = Decimal(repr(threshold)).as_tuple().exponent
    return f"{threshold:.{max(3, -int(exponent))}f}"


def _shown_weights(options: Options) -> str:
    return f"(wp={options.weights.precision}, wr={options.weights.recall})"


def show(report: Report) -> str:
    """Write the report in the format that was asked for, ending with a line break."""
    match report.options.format:
        case "text":
            return _text(report)
        case "json":
            return to_json(_document(report), indent=2) + "\n"
        case "csv":
            return render(_csv_table(report), "csv")
        case "markdown":
            return _markdown(report)
        case _:
            assert_never(report.options.format)


def _text(report: Report) -> str:
    body = {
        "evaluation": _evaluation,
        "sweep": _sweep,
        "comparison": _comparison,
        "conditions": _conditions,
    }[report.mode]
    parts = [f"Loaded {report.talks} talks from {one_line(report.corpus)}\n", body(report)]
    if report.options.per_talk:
        parts.append(render(_talk_table(report), "text"))
    return "\n".join(parts)


def _evaluation(report: Report) -> str:
    [result] = report.measured
    ratios, counts = result.best.scores, result.best.counts
    return (
        f"Precision: {ratios.precision:.2f}  Recall: {ratios.recall:.2f}  "
        f"F1: {ratios.f1:.2f}  Weighted: {ratios.weighted:.2f}\n"
        f"(TP: {counts.tp}, FP: {counts.fp}, FN: {counts.fn})\n"
    )


def _sweep(report: Report) -> str:
    [result] = report.measured
    ruler = "-" * 50
    lines = [
        f"Threshold Sweep Results {_shown_weights(report.options)}",
        ruler,
        _columns("Thresh", "Prec", "Rec", "F1", "Weighted"),
    ]
    for point in result.points:
        ratios = point.scores
        numbers = (ratios.precision, ratios.recall, ratios.f1, ratios.weighted)
        threshold = shown_threshold(result.shown_at(point.threshold))
        lines.append(_columns(threshold, *map("{:.2f}".format, numbers)))
    threshold = shown_threshold(result.shown_at(result.best.threshold))
    optimal = f"Optimal: {threshold} (Weighted: {result.best.scores.weighted:.2f})"
    return "\n".join((*lines, ruler, optimal, ""))


def _comparison(report: Report) -> str:
    lines = [
        f"Model Comparison {_shown_weights(report.options)}",
        "-" * 60,
        f"{'Model':<30} {_columns('Thresh', 'F1', 'Weighted')}",
    ]
    for result in report.results:
        cells = _FAILED if isinstance(result, Failed) else _columns(*_best_cells(result))
        lines.append(f"{one_line(result.name):<30} {cells}")
    return "\n".join((*lines, ""))


def _conditions(report: Report) -> str:
    one_model = len({result.name for result in report.results}) == 1
    swept = any(len(result.points) > 1 for result in report.measured)
    return _swept_conditions(report) if one_model and swept else _condition_rows(report)


def _condition_rows(report: Report) -> str:
    """Write a row per model and condition, each at the best of its thresholds."""
    lines = [
        f"Conditions {_shown_weights(report.options)}",
        "-" * 78,
        f"{'Model':<30} {'Condition':<15} {_columns('Thresh', 'F1', 'Weighted', 'Loss')}",
    ]
    for result in report.results:
        if isinstance(result, Failed):
            lines.append(f"{one_line(result.name):<30} {_FAILED}")
            continue
        cells = _columns(*_best_cells(result), _shown_loss(result))
        lines.append(f"{one_line(result.name):<30} {result.condition:<15} {cells}")
    return "\n".join((*lines, ""))


def _best_cells(result: Result) -> tuple[str, str, str]:
    threshold = shown_threshold(result.shown_at(result.best.threshold))
    return threshold, f"{result.best.scores.f1:.2f}", f"{result.best.scores.weighted:.2f}"


def _swept_conditions(report: Report) -> str:
    """Write the weighted score of one model at each threshold, a column per condition."""
    results = report.measured
    width = max(8, *(len(result.condition) for result in results))

    def line(label: str, *cells: str) -> str:
        return " ".join((f"{label:<8}", *(f"{cell:<{width}}" for cell in cells))).rstrip()

    ruler = "-" * max(50, 8 + (width + 1) * len(results))
    lines = [
        f"Weighted Score by Threshold and Condition {_shown_weights(report.options)}",
        ruler,
        line("Thresh", *(result.condition for result in results)),
    ]
    for points in zip(*(result.points for result in results), strict=True):
        weighted = (f"{point.scores.weighted:.2f}" for point in points)
        lines.append(line(shown_threshold(points[0].threshold), *weighted))
    lines += [
        ruler,
        line("Optimal", *(shown_threshold(result.best.threshold) for result in results)),
        line("F1", *(f"{result.best.scores.f1:.2f}" for result in results)),
        line("Loss", *map(_shown_loss, results)),
    ]
    return "\n".join((*lines, ""))


def _shown_loss(result: Result) -> str:
    return "" if result.f1_loss is None else f"{result.f1_loss:.2f}"


def _columns(*cells: str) -> str:
    return " ".join(f"{cell:<8}" for cell in cells).rstrip()


def notes(report: Report) -> Iterator[str]:
    """Say what the tables have no room for: intervals, the score out of sample, verdicts."""
    options = report.options
    timed = options.compare and options.format == "text"
    first: dict[str, str] = {}
    for result in report.measured:
        baseline = first.setdefault(result.condition, result.name)
        where = f"{result.condition}: " if options.shows_conditions else ""
        label = f"{result.name}, {result.condition}" if options.shows_conditions else result.name
        for line in (*_remarks(result, options, timed=timed), *_certainty_lines(result, options)):
            yield f"{label}: {line}"
        if result.versus:
            for sentence in verdict_sentences(baseline, result.versus):
                yield f"{where}{sentence}"


def signatures(report: Report) -> Iterator[str]:
    """Name each system and what makes the numbers comparable."""
    for name, identity in dict.fromkeys((run.name, run.identity) for run in report.measured):
        yield f"system {name}: {identity}" if report.options.compare else f"system: {identity}"
    for signature in dict.fromkeys(str(signature_of(result.run)) for result in report.measured):
        yield f"signature: {signature}"


def _remarks(result: Result, options: Options, *, timed: bool) -> Iterator[str]:
    if options.sweeps and not result.graded:
        yield "gives no probabilities, so its sweep is a single point"
    if _changed_text(result.loss):
        yield f"{result.loss}; its sentences were aligned to the text as far as they go"
    if timed and result.effort:
        effort = result.effort
        yield f"{effort.seconds:.2f} s, {effort.characters_per_s:,.0f} characters/s"


def _changed_text(loss: Loss) -> bool:
    return bool(loss.changed or loss.deleted or loss.invented)


def _certainty_lines(result: Result, options: Options) -> Iterator[str]:
    if result.summary and result.summary.intervals:
        yield _interval_line(result.summary)
        for group in result.languages:
            f1 = "-" if group.too_small else score_text(group.interval)
            clean = score_text(group.clean)
            talks = numbered(group.units, ("talk", "talks"))
            yield f"{group.value}: F1 {f1}, clean {clean}, {talks}"
    if result.held_out:
        yield _out_of_sample_line(result.held_out, result.best.scores)
    if options.sweeps:
        yield from _shape_lines(result)
        if hint := beyond_the_grid(result):
            yield hint


def _shape_lines(result: Result) -> Iterator[str]:
    """Say where the optimum is flat, and where F1 has its best if that is elsewhere."""
    if len(result.points) < _FLAT:
        return
    tried = [point.threshold for point in result.points]
    low = high = tried.index(result.best.threshold)
    while low and _rounded(result.points[low - 1]) == _rounded(result.best):
        low -= 1
    while high + 1 < len(tried) and _rounded(result.points[high + 1]) == _rounded(result.best):
        high += 1
    if high - low + 1 >= _FLAT:
        yield (
            f"{shown_threshold(tried[low])} to {shown_threshold(tried[high])} are equal "
            f"(Weighted {result.best.scores.weighted:.3f}); the middle is "
            f"{shown_threshold(tried[(low + high) // 2])}"
        )
    highest = max(result.points, key=lambda point: point.scores.f1)
    if highest.scores.f1 - result.best.scores.f1 > _F1_APART:
        yield (
            f"F1 has its best, {highest.scores.f1:.3f}, at "
            f"{shown_threshold(highest.threshold)}; at the optimum of the weighted score it is "
            f"{result.best.scores.f1:.3f}"
        )


def _interval_line(summary: Summary) -> str:
    shown = ", ".join(
        f"{name} {score_text(interval)}"
        for name, interval in (
            ("F1", summary.intervals["f1"]),
            ("precision", summary.intervals["precision"]),
            ("recall", summary.intervals["recall"]),
            ("talks without a mistake", summary.intervals["clean"]),
        )
    )
    f1 = summary.intervals["f1"]
    how = [f"95% intervals over {numbered(f1.clusters, summary.nouns)}"] if f1.known else []
    return "; ".join((shown, *how, *interval_remarks(summary)))


def _out_of_sample_line(new: Scores, here: Scores) -> str:
    return (
        f"out of sample F1 {new.f1:.3f}, Weighted {new.weighted:.3f}, with the threshold of each "
        f"talk chosen on the others; {_signed(new.f1 - here.f1)} and "
        f"{_signed(new.weighted - here.weighted)} against the optimum on all of them"
    )


def _signed(difference: float) -> str:
    return f"{round(difference, 3) + 0.0:+.3f}"  # no minus before a zero


def beyond_the_grid(result: Result) -> str | None:
    """Say what the grid missed, or that its best point is at its edge; not at a perfect score."""
    optimum = result.best
    if result.missed:
        return _missed_line(result.missed, optimum)
    thresholds = [point.threshold for point in result.points]
    if len(thresholds) < 2 or optimum.threshold not in (thresholds[0], thresholds[-1]):
        return None
    if optimum.scores.weighted == 1:
        return None
    edge = "first" if optimum.threshold == thresholds[0] else "last"
    wider = _wider(thresholds, edge == "first")
    if not wider:
        return None
    return (
        f"the optimum {shown_threshold(optimum.threshold)} is the {edge} point of the grid "
        f"(Weighted {optimum.scores.weighted:.3f}), no threshold beyond it does better; "
        f"to see more: {wider} ({_PUBLISHED})"
    )


def _missed_line(missed: Missed, tried: SweepPoint) -> str:
    where = "outside the grid" if missed.outside else "between its points"
    line = (
        f"the best of all thresholds is {shown_threshold(missed.best.threshold)} (Weighted "
        f"{missed.best.scores.weighted:.3f}), {where}, whose "
        f"best is {shown_threshold(tried.threshold)} ({tried.scores.weighted:.3f})"
    )
    if point := missed.recommended:
        line += (
            f"; the model's own, {shown_threshold(point.threshold)}, "
            f"has {point.scores.weighted:.3f}"
        )
    line += f": try {_narrower(missed.best.threshold)}"
    return f"{line} ({_PUBLISHED})" if missed.outside else line


def _narrower(threshold: float) -> str:
    """Give the flags of a grid around a threshold, one decimal finer than its first digit."""
    place = math.floor(math.log10(threshold)) if threshold > 0 else -3
    step = 10.0 ** (place - 1)
    middle = round(threshold / step)
    low, high = max(0, middle - _AROUND), middle + _AROUND + 1
    least, most = low * step, min(1.0, high * step)
    return f"-sweep-min {least:g} -sweep-max {most:g} -sweep-step {step:g}"


def _wider(thresholds: Sequence[float], downwards: bool) -> str | None:
    if downwards:
        first = thresholds[0]
        return f"-sweep-min {first / 10:g} -sweep-step {first / 10:g}" if first > 0 else None
    last, step = thresholds[-1], thresholds[1] - thresholds[0]
    return f"-sweep-max {min(1.0, max(0.5, 2 * last)):g}" if last + step < 1 else None


def _point_row(result: Result, point: SweepPoint) -> Row:
    ratios, counts = asdict(point.scores), asdict(point.counts)
    values = {"threshold": result.shown_at(point.threshold), **ratios, **counts}
    return {name: values[name] for name in _COLUMNS}


def _talk_rows(result: Result) -> Iterator[Row]:
    """Give id, language and values of each talk at the best threshold."""
    for unit in result.run.units:
        point = point_of(
            result.best.threshold, unit.counts, result.run.scoring.weights, empty=EMPTY_RATIO
        )
        yield {
            "talk": unit.id,
            "language": unit.group.get("language"),
            **_point_row(result, point),
        }


def _effort_row(result: Result) -> Row:
    effort = result.effort
    seconds = (effort.seconds, effort.characters_per_s) if effort else (None, None)
    return dict(zip(_EFFORT_COLUMNS, seconds, strict=True))


def _loss_row(result: Result) -> Row:
    return dict(_loss_rates(result))


def _loss_rates(result: Result) -> Iterator[tuple[str, float]]:
    return zip(_LOSS_COLUMNS, result.loss.rates, strict=True)


def _certainty_row(result: Result) -> Row:
    """Say how sure a result is, under the same names in every form; None where nothing is known."""
    versus, missed, new = result.versus, result.missed, result.held_out
    intervals = result.summary.intervals if result.summary else {}
    f1, clean = intervals.get("f1"), intervals.get("clean")
    difference = versus.differences["f1"] if versus else None
    power = versus.power if versus and versus.verdict == "not distinguishable" else None
    return {
        "f1_low": f1.low if f1 and f1.known else None,
        "f1_high": f1.high if f1 and f1.known else None,
        "clusters": f1.clusters if f1 else None,
        "clean": clean.value if clean else None,
        "clean_low": clean.low if clean and clean.known else None,
        "clean_high": clean.high if clean and clean.known else None,
        "out_of_sample_f1": new.f1 if new else None,
        "out_of_sample_weighted": new.weighted if new else None,
        "best_threshold": missed.best.threshold if missed else None,
        "best_weighted": missed.best.scores.weighted if missed else None,
        "difference": difference.value if difference else None,
        "difference_low": difference.low if difference and difference.known else None,
        "difference_high": difference.high if difference and difference.known else None,
        "p_value": versus.p_value if versus else None,
        "verdict": versus.verdict if versus else None,
        "smallest_difference": power.smallest_difference if power else None,
    }


def _measures(report: Report, result: Result) -> Row:
    """Give the measures of the field, with the end of the texts or, where asked for, without."""
    run = result.run
    measures = run.inner_measures if report.options.inner else run.measures
    return {name: measures[name] for name in _MEASURES if name in measures}


def _shown_points(report: Report, result: Result) -> tuple[SweepPoint, ...]:
    return result.points if report.mode in ("evaluation", "sweep") else (result.best,)


def _csv_table(report: Report) -> Table:
    """Make one row per model and threshold, or model and talk; `optimal` marks the row to use.

    How sure a result is stands in that row.
    """
    rows: list[Row] = []
    for result in report.results:
        if isinstance(result, Failed):
            rows.append({"model": result.name, "talk": _ALL_TALKS, "failed": result.reason})
            continue
        same = {
            "model": result.name,
            "condition": result.condition if report.options.shows_conditions else None,
            "signature": str(signature_of(result.run)),
            "system": result.identity or None,
        }
        for point in _shown_points(report, result):
            row = same | {"talk": _ALL_TALKS, "optimal": int(point == result.best)}
            row |= _point_row(result, point) | _effort_row(result) | _loss_row(result)
            if point == result.best:
                row |= {"f1_loss": result.f1_loss, **_certainty_row(result)}
                row |= _measures(report, result)
            rows.append(row)
        if report.options.per_talk:
            rows += [same | {"optimal": 1} | talk for talk in _talk_rows(result)]
    return Table(_CSV_COLUMNS, tuple(tuple(map(row.get, _CSV_COLUMNS)) for row in rows))


def _document(report: Report) -> Row:
    """Give everything without rounding."""
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
        "best": _point_row(result, result.best),
        "points": [_point_row(result, point) for point in result.points],
        "signature": str(signature_of(result.run)),
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
            for row in _talk_rows(result)
        ]
    return document


def _certainty_document(result: Result) -> Row:
    document: Row = {}
    if result.summary:
        intervals = result.summary.intervals.items()
        document["intervals"] = {name: interval_facts(interval) for name, interval in intervals}
        document["clusters_are"] = "talks"
    if result.languages:
        languages = {
            group.value: interval_facts(group.interval) | {"clean": interval_facts(group.clean)}
            for group in result.languages
        }
        document["languages"] = languages
    if result.run.held_out and result.held_out:
        counts = asdict(result.run.held_out.counts)
        document["out_of_sample"] = {**asdict(result.held_out), **counts}
    if result.missed:
        outside = {"outside_the_grid": result.missed.outside}
        document["best_of_all"] = _point_row(result, result.missed.best) | outside
    if versus := result.versus:
        differences = versus.differences.items()
        document["against_the_first"] = {
            "verdict": versus.verdict,
            "differences": {name: difference_facts(difference) for name, difference in differences},
            "p_value": versus.p_value,
            "raw_p_value": versus.raw_p_value,
            "power": asdict(versus.power) if versus.power else None,
            "clusters_needed": versus.needed,
        }
    return document


def _markdown(report: Report) -> str:
    parts = [
        f"{report.talks} talks from {report.corpus}, truth {report.truth}, "
        f"tolerance {report.options.tolerance}, weights {_shown_weights(report.options)}\n",
        render(_summary_table(report), "markdown"),
    ]
    if report.mode == "sweep":
        [result] = report.measured
        threshold = shown_threshold(result.shown_at(result.best.threshold))
        parts.append(f"Optimal: {threshold}\n")
    if any(result.summary for result in report.measured):
        parts.append(render(_certainty_table(report), "markdown"))
    if any(result.run.measures for result in report.measured):
        parts.append(render(_measure_table(report), "markdown"))
    if report.options.per_talk:
        parts.append(render(_talk_table(report, _LED_BY_F1, _FINE_FORMATS), "markdown"))
    for signature in dict.fromkeys(str(signature_of(result.run)) for result in report.measured):
        parts.append(f"Signature: `{signature}`\n")
    for name, identity in dict.fromkeys((run.name, run.identity) for run in report.measured):
        if identity:
            parts.append(f"System {name}: `{identity}`\n")
    return "\n".join(parts)


def _summary_table(report: Report) -> Table:
    """Make a row for each model and threshold; in a comparison also with time, and any loss."""
    conditioned = report.mode == "conditions"
    timed = report.mode == "comparison" or len({result.name for result in report.results}) > 1
    lossy = timed and any(_changed_text(result.loss) for result in report.measured)
    columns = (
        *("model", *(["condition"] if conditioned else []), *_LED_BY_F1),
        *(["f1_loss"] if conditioned else []),
        *(_EFFORT_COLUMNS if timed else ()),
        *(_LOSS_COLUMNS if lossy else ()),
    )
    rows: list[Row] = []
    for result in report.results:
        if isinstance(result, Failed):
            rows.append({"model": result.name, "threshold": _FAILED})
            continue
        same = {"model": result.name, "condition": result.condition, "f1_loss": result.f1_loss}
        for point in _shown_points(report, result):
            threshold = shown_threshold(result.shown_at(point.threshold))
            row = same | _point_row(result, point) | {"threshold": threshold}
            rates = {name: shown_rate(rate) for name, rate in _loss_rates(result)}
            rows.append(row | _effort_row(result) | rates)
    formats = _FINE_FORMATS | {"f1_loss": ".3f", "seconds": ".2f", "characters_per_s": ",.0f"}
    return _table(columns, rows, formats)


def _certainty_table(report: Report) -> Table:
    """Show how sure the results are, in only those columns that hold something."""
    conditioned = report.options.shows_conditions
    rows = [
        {"model": result.name, "condition": result.condition if conditioned else None}
        | _certainty_row(result)
        for result in report.measured
    ]
    used = tuple(name for name in rows[0] if any(row[name] is not None for row in rows))
    return _table(used, rows, {name: ".3f" for name in used if name not in _NOT_ROUNDED})


def _measure_table(report: Report) -> Table:
    """Show the measures of the field, one row per run."""
    conditioned = report.options.shows_conditions
    rows = [
        {"model": result.name, "condition": result.condition, **_measures(report, result)}
        for result in report.measured
    ]
    columns = ("model", *(["condition"] if conditioned else []), *_MEASURES)
    return _table(columns, rows, dict.fromkeys(_MEASURES, ".3f"))


def _talk_table(
    report: Report,
    point_columns: tuple[str, ...] = _COLUMNS,
    formats: dict[str, str | None] = _FORMATS,
) -> Table:
    """Make a row per talk, with only those columns that tell rows apart."""
    rows = [
        {"model": result.name, "condition": result.condition}
        | row
        | {"threshold": shown_threshold(result.shown_at(result.best.threshold))}
        for result in report.measured
        for row in _talk_rows(result)
    ]
    columns = (
        *(["model"] if report.mode in ("comparison", "conditions") else []),
        *(["condition"] if report.mode == "conditions" else []),
        "talk",
        *(["language"] if any(row["language"] for row in rows) else []),
        *point_columns,
    )
    return _table(columns, rows, formats)


def _table(columns: tuple[str, ...], rows: Sequence[Row], formats: dict[str, str | None]) -> Table:
    return Table(
        columns,
        tuple(tuple(row.get(name) for name in columns) for row in rows),
        tuple(formats.get(name) for name in columns),
    )
