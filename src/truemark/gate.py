"""The gate of a build: whether a run is good enough, and no worse than its baseline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from truemark.comparison import (
    WORTH_SEEING,
    Change,
    Comparison,
    compare,
    paired_tables,
    paired_units,
)
from truemark.power import chance_to_see
from truemark.records import Run
from truemark.summary import (
    Summary,
    cluster_nouns,
    failed_units,
    summarise,
    unit_nouns,
)
from truemark.text import counted
from truemark.uncertainty import (
    FEWEST_FOR_INTERVAL,
    FEWEST_FOR_VERDICT,
    Measure,
    PairedInterval,
    Scoring,
    count_differing,
)

Outcome = Literal["passed", "fell short", "inconclusive"]
LOSSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)  # that a passed gate may have missed
_OFTEN_MISSED = 0.3  # share of runs


@dataclass(frozen=True, slots=True)
class Criteria:
    """What a run must fulfil in each of the measures; None and False ask for nothing.

    With a `margin`, it must be shown that no more than that was lost against the baseline. With
    `failed_as_missed`, everything that was expected of a failed unit counts as missed.
    """

    fail_under: float | None = None
    fail_under_lower: float | None = None
    fail_if_worse: bool = False
    max_failed: float = 0.1
    measures: tuple[Measure, ...] = ("f1",)
    margin: float | None = None
    failed_as_missed: bool = False

    @property
    def compare(self) -> bool:
        """Whether a criterion needs a baseline."""
        return self.fail_if_worse or self.margin is not None

    @property
    def ask_nothing(self) -> bool:
        return self.fail_under is None and self.fail_under_lower is None and not self.compare


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement, what was measured, and whether it holds; None where not known."""

    asked: str
    found: str
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Gate:
    """The requirements for a run and the outcome.

    `doubt` says why a requirement cannot be checked: so many units failed that an outage could look
    like a change of the system, or too few clusters are there or differ. `unseen` says which losses
    the gate could have missed.
    """

    run: Run
    summary: Summary
    comparison: Comparison | None
    requirements: tuple[Requirement, ...]
    doubt: str | None
    unseen: tuple[str, ...] = ()
    failed_as_missed: bool = False

    @property
    def outcome(self) -> Outcome:
        answers = {requirement.holds for requirement in self.requirements}
        if False in answers:
            return "fell short"
        return "passed" if self.doubt is None and None not in answers else "inconclusive"

    @property
    def broken(self) -> tuple[Change, ...]:
        """The units that have more mistakes than in the baseline, worst first."""
        return self.comparison.against[0].broken if self.comparison else ()


def check(
    run: Run,
    baseline: Run | None,
    criteria: Criteria,
    *,
    anyway: bool = False,
) -> Gate:
    """Check a run against the criteria and, where there is one, the baseline."""
    if criteria.compare and baseline is None:
        asked = "fail_if_worse" if criteria.fail_if_worse else "margin"
        raise ValueError(f"{asked} needs a baseline, got none")
    scored = run
    if criteria.failed_as_missed:
        scored = _with_failed_as_missed(run, baseline)
        doubt = _unknown_expected(scored)
    else:
        doubt = _doubt("the run", run, criteria.max_failed)
    if doubt is None and baseline is not None:
        doubt = _doubt("the baseline", baseline, criteria.max_failed)
    if doubt is not None:
        return Gate(run, summarise(run), None, (), doubt)
    comparison = compare((baseline, scored), anyway=anyway) if baseline is not None else None
    summary = comparison.summaries[1] if comparison else summarise(scored)
    gate = Gate(
        run=run,
        summary=summary,
        comparison=comparison,
        requirements=tuple(_requirements(run, summary, comparison, criteria)),
        doubt=_too_few(run, summary, comparison, criteria)
        or _too_few_differ(scored, baseline, comparison, criteria),
        failed_as_missed=criteria.failed_as_missed,
    )
    if gate.outcome == "passed" and criteria.fail_if_worse and baseline is not None:
        assert comparison is not None
        differences = comparison.against[0].differences
        # A measure that is better has lost nothing.
        measures = [name for name in criteria.measures if differences[name].verdict != "better"]
        return replace(gate, unseen=tuple(_unseen_losses(baseline, scored, measures)))
    return gate


def _doubt(what: str, run: Run, max_failed: float) -> str | None:
    failed, units = len(failed_units(run)), len(run.units)
    if not units:
        return f"{what} has no {unit_nouns(run)[1]}"
    if failed == units or failed > max_failed * units:
        return f"{failed} of {units} {unit_nouns(run)[1]} of {what} failed, too many to tell"
    return None


def _with_failed_as_missed(run: Run, baseline: Run | None) -> Run:
    """Count everything expected of failed units as missed, where it is known what was expected.

    The unit says so, or else another repeat of it or the baseline does. A unit without expected
    items gets one miss, so that it is not clean.
    """
    known = {
        unit.id: unit.counts.expected
        for units in (baseline.units if baseline else (), run.units)
        for unit in units
        if unit.failed is None
    }
    units = []
    for unit in run.units:
        expected = known.get(unit.id) if unit.expected is None else unit.expected
        if unit.failed is not None and expected is not None:
            unit = replace(unit, tp=0, fp=0, fn=max(expected, 1), failed=None)
        units.append(unit)
    return replace(run, units=tuple(units))


def _unknown_expected(run: Run) -> str | None:
    failed = failed_units(run)
    if failed:
        return f"what was expected of {failed[0].id}, which failed, is not in the records"
    return None if run.units else f"the run has no {unit_nouns(run)[1]}"


def _too_few(
    run: Run, summary: Summary, comparison: Comparison | None, criteria: Criteria
) -> str | None:
    """Say which criterion cannot be checked with so few clusters, if there is one."""
    nouns = cluster_nouns(run)
    f1 = summary.intervals["f1"]
    if criteria.fail_under_lower is not None and not f1.known:
        return (
            f"{counted(f1.clusters, *nouns)} are too few for an interval"
            f" (at least {FEWEST_FOR_INTERVAL})"
        )
    if criteria.compare and comparison is not None:
        difference = comparison.against[0].differences["f1"]
        if not difference.known:
            return (
                f"{counted(difference.clusters, *nouns)} are too few to tell whether it is worse"
                f" (at least {FEWEST_FOR_VERDICT})"
            )
    return None


def _too_few_differ(
    run: Run, baseline: Run | None, comparison: Comparison | None, criteria: Criteria
) -> str | None:
    """Name the measure that fell, but on too few clusters for the test to say worse, if any did.

    A loss that nobody would want to see is no reason to doubt: single units always vary.
    """
    if comparison is None or baseline is None or not criteria.fail_if_worse:
        return None
    if criteria.margin is not None:  # which says what loss matters, and the interval decides
        return None
    tables = paired_tables(paired_units(baseline, run))
    for measure in criteria.measures:
        difference = comparison.against[0].differences[measure]
        if difference.whole_range or -difference.value < WORTH_SEEING:
            continue
        lost = -difference.value
        differing = count_differing(*tables, Scoring(measure, run.scoring.empty))
        if differing < FEWEST_FOR_VERDICT:
            only = counted(differing, *cluster_nouns(run))
            return (
                f"{_measure_name(measure, run)} fell by {lost:.3f} on only {only}, too few to tell"
                f" whether it is worse (at least {FEWEST_FOR_VERDICT}); --margin asks for a limit"
            )
    return None


def _requirements(
    run: Run, summary: Summary, comparison: Comparison | None, criteria: Criteria
) -> Iterator[Requirement]:
    for measure in criteria.measures:
        name, interval = _measure_name(measure, run), summary.intervals[measure]
        if criteria.fail_under is not None:
            found = f"{interval.value:.4f}"
            if interval.known:
                found += f" (95% interval {interval.low:.4f} to {interval.high:.4f})"
            holds = interval.value >= criteria.fail_under
            yield Requirement(f"{name} of {criteria.fail_under:g} or more", found, holds)
        if criteria.fail_under_lower is not None and interval.known:
            asked = f"lower end of the {name} interval {criteria.fail_under_lower:g} or more"
            holds = interval.low >= criteria.fail_under_lower
            yield Requirement(asked, f"{interval.low:.4f}", holds)
        if comparison is not None:
            difference = comparison.against[0].differences[measure]
            if difference.known and criteria.fail_if_worse:
                yield _not_worse(name, difference)
            if difference.known and criteria.margin is not None:
                yield _within_margin(name, difference, criteria.margin)


def _not_worse(name: str, difference: PairedInterval) -> Requirement:
    asked = f"{name} not worse than the baseline"
    if difference.whole_range:
        # A ratio of 0 to 0, such as the precision of a system that marks nothing.
        return Requirement(asked, f"cannot be decided ({difference.value:+.4f})", None)
    found = f"{difference.verdict} ({difference.value:+.4f}, p {difference.p_value:.4f})"
    return Requirement(asked, found, difference.verdict != "worse")


def _within_margin(name: str, difference: PairedInterval, margin: float) -> Requirement:
    """Require that a loss of the margin or more is ruled out."""
    asked = f"{name} lost less than {margin:g}"
    ends = f"{difference.value:+.4f}, 95% interval {difference.low:+.4f} to {difference.high:+.4f}"
    if difference.equivalent(margin):
        return Requirement(asked, f"equivalent within the margin ({ends})", True)
    if difference.not_inferior(margin):
        return Requirement(asked, f"no loss of {margin:g} or more ({ends})", True)
    if difference.verdict == "worse":
        found = f"worse, and a loss of {margin:g} or more is not ruled out ({ends})"
        return Requirement(asked, found, False)
    return Requirement(asked, f"not known ({ends})", None)


def _measure_name(measure: Measure, run: Run) -> str:
    if measure == "clean":
        return f"share of clean {unit_nouns(run)[1]}"
    return measure


def _unseen_losses(baseline: Run, run: Run, measures: Iterable[Measure]) -> Iterator[str]:
    """Say for each measure the largest loss that the test would often have missed."""
    after, before = paired_tables(paired_units(baseline, run))
    nouns = cluster_nouns(run)
    for measure in measures:
        scoring = Scoring(measure, run.scoring.empty)
        largest, score = None, float(scoring.of_rows(before.sum(axis=0)))
        for loss in LOSSES:
            if loss > max(score, LOSSES[0]):  # more than there is cannot be lost
                break
            seen = chance_to_see(before, after, scoring, loss)
            if seen is None:
                break
            if largest is None or 1 - seen >= _OFTEN_MISSED:
                largest = loss, 1 - seen
            if 1 - seen < _OFTEN_MISSED:
                break
        name = _measure_name(measure, run)
        if largest is None:
            yield f"{name}: too few {nouns[1]} differ to know what loss would have been missed"
        else:
            loss, tenths = largest[0], round(10 * largest[1])
            how_often = {0: "hardly any run", 10: "nearly every run"}
            runs = how_often.get(tenths, f"{tenths} of 10 runs")
            yield f"{name}: a loss of {loss:g} would have been missed in {runs} like this"
