"""The report of `sat-bench`: the contract's text for stdout, intervals and remarks for stderr.

JSON, CSV and Markdown are written by `formats`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Any

from sat_bench.defaults import TRUTH_RULES, WRITTEN, Mode, Options, TruthSource
from sat_bench.models.protocol import Loss
from sat_bench.record import (
    EMPTY_RATIO,
    Failed,
    Measured,
    Measurement,
    run_of,
    signature_of,
)
from truemark.comparison import Versus, compare
from truemark.counts import Scores, scores
from truemark.curve import SweepPoint, best, best_of_all, point_of
from truemark.records import Run
from truemark.signature import signature_line
from truemark.summary import FEWEST_EXPECTED, GroupScore, Summary, macro_f1, summarise
from truemark.tables import Table, render
from truemark.text import counted, one_line
from truemark.wording import (
    interval_remarks,
    range_text,
    score_text,
    signed_range,
    verdict_sentences,
)

SHOWN_DIGITS = 3  # scores that agree to this many digits look the same wherever they are shown
FAILED_CELL = "failed"

_PUBLISHED = "published defaults: 0.025 for base SaT models, 0.25 for the -sm ones"
_FLAT = 3  # this many neighbouring thresholds of equal score are worth a remark
_F1_APART = 0.005
_AROUND = 5  # points of a narrower grid on either side of the best threshold
_ALL_LANGUAGES = "all"
_MACRO = "mean of languages"

POINT_COLUMNS = ("threshold", "precision", "recall", "f1", "weighted", "tp", "fp", "fn")
POINT_FORMATS = dict(
    zip(POINT_COLUMNS, (None, ".2f", ".2f", ".2f", ".2f", "d", "d", "d"), strict=True)
)
_CERTAINTY_FORMATS = {
    "f1": ".3f",
    "out of sample": ".3f",
    "characters/s": ",.0f",
    "difference": "+.3f",
    "p": ".4f",
}

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    """The results of one run: its points at the thresholds tried, and their intervals.

    `missed` is the best of all thresholds, if it beats those that were tried; `versus` compares the
    system with the first one under the same condition; `f1_loss` is how much lower F1 is than on
    the text as written.
    """

    measured: Measured
    run: Run
    points: tuple[SweepPoint, ...]
    best: SweepPoint
    summary: Summary
    missed: SweepPoint | None = None
    versus: Versus | None = None
    f1_loss: float | None = None

    @property
    def name(self) -> str:
        return self.run.system.name

    @property
    def condition(self) -> str:
        return self.run.condition

    @property
    def measurement(self) -> Measurement:
        return self.measured.measurement

    @property
    def graded(self) -> bool:
        """Whether thresholds make a difference."""
        return self.run.scoring.threshold is not None

    @property
    def identity(self) -> str:
        """What the answers of the system depend on, in one line."""
        return signature_line(self.run.system.identity)

    @property
    def held_out(self) -> Scores | None:
        """The scores with the threshold of each talk chosen on the other talks."""
        if self.run.held_out is None:
            return None
        weights = self.run.scoring.weights
        return scores(self.run.held_out.counts, empty=EMPTY_RATIO, weights=weights)

    @property
    def misses_outside(self) -> bool:
        """Whether the best of all thresholds lies outside the grid."""
        tried = [point.threshold for point in self.points]
        return self.missed is not None and not min(tried) <= self.missed.threshold <= max(tried)

    @property
    def languages(self) -> tuple[GroupScore, ...]:
        """The scores by language, if there are several languages."""
        languages = tuple(group for group in self.summary.groups if group.name == "language")
        return languages if len(languages) > 1 else ()

    def threshold_text(self, threshold: float) -> str:
        """Write a threshold, or a dash if thresholds make no difference."""
        return shown_threshold(threshold) if self.graded else "-"


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that a run of `sat-bench` shows."""

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
        """The sources of the true sentence ends, in words."""
        return ", ".join(
            f"rule: {truth}" if truth in TRUTH_RULES else truth for truth in self.truths
        )

    @property
    def measured(self) -> tuple[Result, ...]:
        return tuple(result for result in self.results if isinstance(result, Result))


def results_of(
    outcomes: Sequence[Measured | Failed], options: Options, data: str
) -> tuple[Result | Failed, ...]:
    """Make the run of each system, and compare the runs of each condition with the first.

    `data` is the checksum of the corpus.
    """
    results = [
        outcome if isinstance(outcome, Failed) else result_of(outcome, options, data)
        for outcome in outcomes
    ]
    written_f1 = 0.0
    for place, result in enumerate(results):
        if isinstance(result, Failed):
            continue
        if result.condition == WRITTEN:
            written_f1 = result.best.scores.f1
        else:
            results[place] = replace(result, f1_loss=written_f1 - result.best.scores.f1)
    for condition in options.conditions:
        same = {
            place: result
            for place, result in enumerate(results)
            if isinstance(result, Result) and result.condition == condition
        }
        if len(same) > 1:
            runs = [result.run for result in same.values()]
            summaries = [result.summary for result in same.values()]
            _, *others = same
            against = compare(runs, summaries=summaries).against
            for place, versus in zip(others, against, strict=True):
                results[place] = replace(same[place], versus=versus)
    return tuple(results)


def result_of(measured: Measured, options: Options, data: str) -> Result:
    """Make the run of one system at the best of its thresholds, with intervals."""
    measurement = measured.measurement
    points = measurement.sweep(measured.thresholds, options.weights)
    tried = best(points)
    run = run_of(measured, tried.threshold, options, data)
    missed = None
    if options.sweeps and measurement.graded:
        optimum = best_of_all(measurement.summed, options.weights, empty=EMPTY_RATIO)
        missed = optimum if _rounded(optimum) > _rounded(tried) else None
    return Result(measured, run, points, tried, summarise(run), missed)


def _rounded(point: SweepPoint) -> float:
    return round(point.scores.weighted, SHOWN_DIGITS)


def shown_threshold(threshold: float) -> str:
    """Write a threshold with three decimals, or more if it takes more to tell it from others."""
    exponent = Decimal(repr(threshold)).as_tuple().exponent
    return f"{threshold:.{max(3, -int(exponent))}f}"


def shown_weights(options: Options) -> str:
    return f"(wp={options.weights.precision}, wr={options.weights.recall})"


def show_text(report: Report) -> str:
    """Write the contract's text, ending with a line break."""
    one_model = len({result.name for result in report.results}) == 1
    swept = any(len(result.points) > 1 for result in report.measured)
    if report.mode == "evaluation":
        body = _evaluation(report)
    elif report.mode == "sweep":
        body = _sweep(report)
    elif report.mode == "conditions" and one_model and swept:
        body = _swept_conditions(report)
    else:
        body = _best_rows(report)
    parts = [f"Loaded {counted(report.talks, 'talk')} from {one_line(report.corpus)}\n", body]
    if report.options.per_talk:
        parts.append(render(talk_table(report, POINT_COLUMNS, POINT_FORMATS), "text"))
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
        f"Threshold Sweep Results {shown_weights(report.options)}",
        ruler,
        _columns("Thresh", "Prec", "Rec", "F1", "Weighted"),
    ]
    for point in result.points:
        ratios = point.scores
        numbers = (ratios.precision, ratios.recall, ratios.f1, ratios.weighted)
        threshold = result.threshold_text(point.threshold)
        lines.append(_columns(threshold, *map("{:.2f}".format, numbers)))
    threshold = result.threshold_text(result.best.threshold)
    optimal = f"Optimal: {threshold} (Weighted: {result.best.scores.weighted:.2f})"
    return "\n".join((*lines, ruler, optimal, ""))


def _best_rows(report: Report) -> str:
    """Write a row per model, or per model and condition, each at the best of its thresholds."""
    conditioned = report.mode == "conditions"
    title, width = ("Conditions", 78) if conditioned else ("Model Comparison", 60)
    names = ("Thresh", "F1", "Weighted", *(["Loss"] if conditioned else []))
    under = f"{'Condition':<15} " if conditioned else ""
    lines = [
        f"{title} {shown_weights(report.options)}",
        "-" * width,
        f"{'Model':<30} {under}{_columns(*names)}",
    ]
    for result in report.results:
        cells = FAILED_CELL
        if isinstance(result, Result):
            threshold, ratios = result.threshold_text(result.best.threshold), result.best.scores
            under = f"{result.condition:<15} " if conditioned else ""
            scored = (f"{ratios.f1:.2f}", f"{ratios.weighted:.2f}", _shown_loss(result))
            cells = under + _columns(threshold, *scored)
        lines.append(f"{one_line(result.name):<30} {cells}")
    return "\n".join((*lines, ""))


def _swept_conditions(report: Report) -> str:
    """Write the weighted score of one model at each threshold, a column per condition."""
    results = report.measured
    width = max(8, *(len(result.condition) for result in results))

    def line(label: str, *cells: str) -> str:
        return " ".join((f"{label:<8}", *(f"{cell:<{width}}" for cell in cells))).rstrip()

    ruler = "-" * max(50, 8 + (width + 1) * len(results))
    lines = [
        f"Weighted Score by Threshold and Condition {shown_weights(report.options)}",
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
    return "" if result.f1_loss is None else f"{result.f1_loss:z.2f}"


def _columns(*cells: str) -> str:
    return " ".join(f"{cell:<8}" for cell in cells).rstrip()


def notes(report: Report) -> Iterator[str]:
    """Yield what the contract's text leaves out: intervals, verdicts, what the grid missed.

    For several runs or languages, most of it is a table, which the other formats include anyway.
    """
    results = report.measured
    if len(results) == 1 and not results[0].languages:
        [result] = results
        yield from (f"{_label(report, result)}: {line}" for line in _certainty_lines(result))
    elif results and report.options.format == "text":
        yield from render(certainty_table(report, timed=True), "text").splitlines()
        yield from interval_lines(report)
    yield from remarks(report)


def interval_lines(report: Report) -> Iterator[str]:
    """Yield, without repeats, what the intervals were resampled over, and remarks on them."""
    yield from dict.fromkeys(
        line for result in report.measured for line in _resampled(result.summary)
    )
    if any(group.too_small for result in report.measured for group in result.languages):
        yield (
            "a dash stands for the F1 of languages with fewer than"
            f" {FEWEST_EXPECTED} true ends; their mean leaves them out"
        )


def remarks(report: Report) -> Iterator[str]:
    """Yield remarks on each run that no table shows."""
    first: dict[str, str] = {}
    for result in report.measured:
        baseline = first.setdefault(result.condition, result.name)
        label = _label(report, result)
        for line in _remarks(result, report.options):
            yield f"{label}: {line}"
        if result.versus:
            [_, *open_questions] = verdict_sentences(baseline, result.versus)
            for sentence in open_questions:
                yield f"{label}, against {baseline}: {sentence}"


def _label(report: Report, result: Result) -> str:
    return f"{result.name}, {result.condition}" if report.options.shows_conditions else result.name


def signatures(report: Report) -> Iterator[str]:
    """Yield the identity of each system, and each signature."""
    for name, identity in dict.fromkeys((run.name, run.identity) for run in report.measured):
        yield f"system {name}: {identity}" if report.options.compare else f"system: {identity}"
    for signature in dict.fromkeys(signature_of(result.run) for result in report.measured):
        yield f"signature: {signature}"


def certainty_table(report: Report, *, timed: bool) -> Table:
    """Make a table of intervals and verdicts, without empty columns.

    If a run has several languages, a row for each and one for their mean follow its row.
    """
    rows = [row for result in report.measured for row in _certainty_rows(report, result, timed)]
    used = tuple(name for name in rows[0] if any(row.get(name) is not None for row in rows))
    return table_of(used, rows, _CERTAINTY_FORMATS)


def _certainty_rows(report: Report, result: Result, timed: bool) -> Iterator[Row]:
    named: Row = {
        "model": result.name,
        "condition": result.condition if report.options.shows_conditions else None,
    }
    intervals = result.summary.intervals
    f1, clean = intervals.get("f1"), intervals.get("clean")
    versus = result.versus
    difference = versus.differences["f1"] if versus else None
    known = versus is not None and difference is not None and difference.known
    yield named | {
        "language": _ALL_LANGUAGES if result.languages else None,
        "f1": result.best.scores.f1,
        "95% interval": range_text(f1) if f1 else None,
        "clean": score_text(clean) if clean else None,
        "out of sample": result.held_out.f1 if result.held_out else None,
        "characters/s": result.measurement.characters_per_s if timed else None,
        "difference": difference.value if difference else None,
        "interval of difference": signed_range(difference) if difference else None,
        "p": versus.p_value if versus and known else None,
        "verdict": versus.verdict if versus else None,
    }
    for group in result.languages:
        yield named | {
            "language": group.value,
            "f1": None if group.too_small else group.interval.value,
            "95% interval": None if group.too_small else range_text(group.interval),
            "clean": score_text(group.clean),
        }
    if result.languages:
        yield named | {"language": _MACRO, "f1": macro_f1(result.languages)}


def _remarks(result: Result, options: Options) -> Iterator[str]:
    if options.sweeps and not result.graded:
        yield "has no probabilities, so its sweep is a single point"
    elif options.thresholds and not result.graded:
        yield "has no probabilities, so -threshold has no effect"
    if changed_text(result.measurement.loss):
        loss = result.measurement.loss
        yield f"{loss}; its sentences were aligned to the text as far as possible"
    if options.sweeps:
        yield from _shape_lines(result)
        if hint := beyond_the_grid(result):
            yield hint


def _certainty_lines(result: Result) -> Iterator[str]:
    if intervals := result.summary.intervals:
        named = (
            ("F1", intervals["f1"]),
            ("precision", intervals["precision"]),
            ("recall", intervals["recall"]),
            ("talks without a mistake", intervals["clean"]),
        )
        shown = ", ".join(f"{name} {score_text(interval)}" for name, interval in named)
        yield "; ".join((shown, *_resampled(result.summary)))
    if new := result.held_out:
        optimum = result.best.scores
        yield (
            f"out of sample F1 {new.f1:.3f}, Weighted {new.weighted:.3f}, with the threshold of "
            f"each talk chosen on the others; {_signed(new.f1 - optimum.f1)} and "
            f"{_signed(new.weighted - optimum.weighted)} against the optimum on all of them"
        )


def changed_text(loss: Loss) -> bool:
    """Whether a system returned different characters than it was given."""
    return bool(loss.changed or loss.deleted or loss.invented)


def _shape_lines(result: Result) -> Iterator[str]:
    """Remark on a flat optimum, and on the threshold of the best F1 if it is another one."""
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


def _resampled(summary: Summary) -> list[str]:
    f1 = summary.intervals.get("f1")
    over = [f"95% intervals over {counted(f1.clusters, *summary.nouns)}"] if f1 and f1.known else []
    return [*over, *interval_remarks(summary)]


def _signed(difference: float) -> str:
    return f"{round(difference, 3) + 0.0:+.3f}"  # adding 0.0 turns -0.0 into 0.0


def beyond_the_grid(result: Result) -> str | None:
    """Return what the grid missed, or that its best point is at its edge and not perfect."""
    optimum = result.best
    if result.missed:
        return _missed_line(result, result.missed)
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


def _missed_line(result: Result, missed: SweepPoint) -> str:
    tried, rules = result.best, result.run.scoring
    where = "outside the grid" if result.misses_outside else "between its points"
    line = (
        f"the best of all thresholds is {shown_threshold(missed.threshold)} (Weighted "
        f"{missed.scores.weighted:.3f}), {where}, whose "
        f"best is {shown_threshold(tried.threshold)} ({tried.scores.weighted:.3f})"
    )
    if (recommended := rules.own_threshold) is not None:
        counts = result.measurement.summed.counts(recommended)
        own_point = point_of(recommended, counts, rules.weights, empty=EMPTY_RATIO)
        if _rounded(own_point) > _rounded(tried):
            line += (
                f"; the model's own, {shown_threshold(recommended)}, "
                f"has {own_point.scores.weighted:.3f}"
            )
    line += f": try {_narrower(missed.threshold)}"
    return f"{line} ({_PUBLISHED})" if result.misses_outside else line


def _narrower(threshold: float) -> str:
    """Return the flags of a grid around a threshold, one decimal finer than its first digit."""
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


def point_row(result: Result, point: SweepPoint) -> Row:
    ratios, counts = asdict(point.scores), asdict(point.counts)
    threshold = point.threshold if result.graded else None
    values = {"threshold": threshold, **ratios, **counts}
    return {name: values[name] for name in POINT_COLUMNS}


def talk_rows(result: Result) -> Iterator[Row]:
    """Yield id, language and values of each talk at the best threshold."""
    for unit in result.run.units:
        point = point_of(
            result.best.threshold, unit.counts, result.run.scoring.weights, empty=EMPTY_RATIO
        )
        yield {
            "talk": unit.id,
            "language": unit.group.get("language"),
            **point_row(result, point),
        }


def talk_table(
    report: Report, point_columns: tuple[str, ...], formats: Mapping[str, str | None]
) -> Table:
    """Make a row per talk; model, condition and language are shown only if they differ."""
    rows = [
        {"model": result.name, "condition": result.condition}
        | row
        | {"threshold": result.threshold_text(result.best.threshold)}
        for result in report.measured
        for row in talk_rows(result)
    ]
    columns = (
        *(["model"] if report.mode in ("comparison", "conditions") else []),
        *(["condition"] if report.mode == "conditions" else []),
        "talk",
        *(["language"] if any(row["language"] for row in rows) else []),
        *point_columns,
    )
    return table_of(columns, rows, formats)


def table_of(
    columns: tuple[str, ...], rows: Sequence[Row], formats: Mapping[str, str | None]
) -> Table:
    """Make a table of these columns; rows may lack some of them or have more."""
    return Table(
        columns,
        tuple(tuple(row.get(name) for name in columns) for row in rows),
        tuple(formats.get(name) for name in columns),
    )
