"""What is said about a result on standard error: how sure it is, and what else to try."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sat_bench.evaluation import Measurement, boundary_scores
from sat_bench.results import Assessment, Missed, ModelResult, Report, shown_threshold
from truemark.counts import Weights
from truemark.sheets import verdict_lines

_PUBLISHED = "published defaults: 0.025 for base SaT models, 0.25 for the -sm ones"
_AROUND = 5  # points of a narrower grid on either side of the best threshold


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
            for line in verdict_lines(first[result.condition], result.versus):
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
