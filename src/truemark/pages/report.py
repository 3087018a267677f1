"""The pages of runs: of one, of several side by side with a verdict, and of a folder over time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Protocol

from truemark.comparison import LONGEST_NAME, WORTH_SEEING, Comparison, Versus, compare
from truemark.pages.document import document, payload_of, signed
from truemark.pages.figures import COLORS, Figure, Series, figures_of
from truemark.records import Run, finding_counts
from truemark.summary import GroupScore, Summary, summarise
from truemark.text import clipped
from truemark.timeline import PastRun, Timeline
from truemark.uncertainty import DEFAULT_DRAWS, MEASURES, Draws

MOST_UNITS = 40  # beyond which the list of units is no overview
_WORDS = {"unit": "unit", "units": "units", "item": "item", "items": "items"}
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)


@dataclass(frozen=True, slots=True)
class Bar:
    """The mistakes, or remarks, of one kind or group, per run; `scores` are the group's F1s."""

    filter: str
    name: str
    value: str
    counts: tuple[int, ...]
    remark: bool = False
    scores: tuple[GroupScore | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Spending:
    """What a run cost and how long its units took, where known and not replayed."""

    name: str
    seconds: float | None
    median_s: float | None
    slowest_s: float | None  # 95 of 100 took less
    cost: float | None
    cost_per_unit: float | None
    tokens: tuple[tuple[str, int], ...]
    replayed: int

    @property
    def known(self) -> bool:
        return any(value is not None for value in (self.seconds, self.median_s, self.cost)) or bool(
            self.tokens
        )


def report_page(runs: Sequence[Run], *, anyway: bool = False, draws: Draws = DEFAULT_DRAWS) -> str:
    """The page as HTML; with several runs the first is the baseline.

    Runs that are not comparable are refused; with `anyway` their common units are compared.
    """
    comparison = compare(runs, anyway=anyway, draws=draws) if len(runs) > 1 else None
    if comparison is not None:
        names, summaries = comparison.names, comparison.summaries
    else:
        names = (clipped(runs[0].system.name, LONGEST_NAME),)
        summaries = (summarise(runs[0], draws),)
    figures = figures_of(runs, names)
    shown = [one for own in summaries for one in own.intervals.values()]
    return document(
        "report.html.j2",
        payload_of(runs, names, figures),
        title=" and ".join(names),
        runs=runs,
        names=names,
        several=len(runs) > 1,
        summaries=summaries,
        comparison=comparison,
        measures=MEASURES,
        words=_WORDS | dict(runs[0].words),
        scale=score_scale(shown),
        differences=_difference_scale(comparison),
        verdicts=_verdicts(comparison) if comparison else (),
        bars=_bars(runs, summaries),
        group_scale=score_scale(one.interval for own in summaries for one in own.groups),
        kept=sum(len(run.findings) for run in runs),
        found=sum(one.count for run in runs for one in finding_counts(run)),
        figures=figures,
        spendings=[one for one in map(_spending, names, runs) if one.known],
        failed=[
            (name, unit)
            for name, summary in zip(names, summaries, strict=True)
            for unit in summary.failed
        ],
    )


def _difference_scale(comparison: Comparison | None) -> object:
    against = comparison.against if comparison else ()
    return difference_scale(
        one
        for versus in against
        for one in (*versus.differences.values(), *(group.difference for group in versus.groups))
    )


def _verdicts(comparison: Comparison) -> list[tuple[Versus, str]]:
    return [(one, _verdict(comparison.names[0], one)) for one in comparison.against]


def _verdict(baseline: str, versus: Versus) -> str:
    f1 = versus.differences["f1"]
    measured = (
        f"F1 {signed(f1.value)}, 95% interval {signed(f1.low)} to {signed(f1.high)},"
        f" p {versus.p_value:.4f} from {versus.clusters:,} clusters"
    )
    if versus.verdict != "not distinguishable":
        return f"{versus.name} is {versus.verdict} than {baseline} ({measured})."
    sentence = f"{versus.name} and {baseline} cannot be told apart ({measured})."
    if versus.power is None:
        return f"{sentence} There is no spread between the two to learn from."
    return (
        f"{sentence} The smallest difference that so many could have shown is"
        f" {versus.power.smallest_difference:.3f}; to see {WORTH_SEEING:g} would take"
        f" {versus.needed:,} clusters like these."
    )


def _bars(runs: Sequence[Run], summaries: Sequence[Summary]) -> list[tuple[str, list[Bar]]]:
    """The panels of bars: kinds first, then a panel per name of groups; most mistakes first."""
    kinds: dict[str, Counter[int]] = {}
    mistaken: set[str] = set()
    groups: dict[tuple[str, str], Counter[int]] = {}
    for number, run in enumerate(runs):
        for one in finding_counts(run):
            kinds.setdefault(one.kind, Counter())[number] += one.count
            if one.mistake:
                mistaken.add(one.kind)
                for pair in one.group.items():
                    groups.setdefault(pair, Counter())[number] += one.count
    scores = [{(one.name, one.value): one for one in own.groups} for own in summaries]
    for known in scores:
        for pair in known:
            groups.setdefault(pair, Counter())
    panels: dict[str, list[Bar]] = {}
    if kinds:
        panels["kind"] = [
            Bar("kind", "kind", kind, _per_run(own, runs), kind not in mistaken)
            for kind, own in kinds.items()
        ]
    for (name, value), own in groups.items():
        found = tuple(known.get((name, value)) for known in scores)
        bar = Bar("group", name, value, _per_run(own, runs), scores=found)
        panels.setdefault(f"group {name}", []).append(bar)
    if len({unit.id for run in runs for unit in run.units}) <= MOST_UNITS:
        panels["units"] = _unit_bars(runs)
    return [
        (bars[0].name, sorted(bars, key=lambda bar: (bar.remark, -sum(bar.counts), bar.value)))
        for bars in panels.values()
        if bars
    ]


def _unit_bars(runs: Sequence[Run]) -> list[Bar]:
    counts: dict[str, Counter[int]] = {}
    for number, run in enumerate(runs):
        for one in run.findings:
            counts.setdefault(one.unit, Counter())[number] += one.mistake
    word = runs[0].words.get("unit", "unit")
    return [Bar("unit", word, unit, _per_run(own, runs)) for unit, own in counts.items()]


def _per_run(counts: Counter[int], runs: Sequence[Run]) -> tuple[int, ...]:
    return tuple(counts[number] for number in range(len(runs)))


def _spending(name: str, run: Run) -> Spending:
    spent = [unit for unit in run.units if not unit.replayed]
    seconds = [unit.seconds for unit in spent if unit.seconds is not None]
    costs = [unit.cost for unit in spent if unit.cost is not None]
    tokens: Counter[str] = Counter()
    for unit in spent:
        tokens.update(unit.tokens)
    return Spending(
        name=name,
        seconds=run.seconds,
        median_s=median(seconds) if seconds else None,
        slowest_s=quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else None,
        cost=sum(costs) if costs else None,
        cost_per_unit=sum(costs) / len(costs) if costs else None,
        tokens=tuple((+tokens).items()),
        replayed=len(run.units) - len(spent),
    )


@dataclass(frozen=True, slots=True)
class Chapter:
    """The comparable runs of one tool, newest last, with their chart."""

    tool: str
    data: str
    runs: tuple[PastRun, ...]
    scale: Scale
    figure: Figure


def history_page(timeline: Timeline, title: str) -> str:
    """The page as HTML."""
    together: dict[tuple[str, str], list[PastRun]] = {}
    for past in timeline.runs:
        together.setdefault((past.run.tool, past.data), []).append(past)
    chapters = [
        _chapter(number, tool, data, own)
        for number, ((tool, data), own) in enumerate(together.items())
    ]
    return document(
        "history.html.j2",
        {"runs": [], "findings": [], "figures": [one.figure.drawn for one in chapters]},
        title=title,
        chapters=chapters,
        warnings=timeline.warnings,
        count=len(timeline.runs),
    )


def _chapter(number: int, tool: str, data: str, runs: Sequence[PastRun]) -> Chapter:
    shown = [past.summary.intervals["f1"] for past in runs if past.summary.intervals]
    return Chapter(tool, data[:6], tuple(runs), score_scale(shown), _history_figure(number, runs))


def _history_figure(number: int, runs: Sequence[PastRun]) -> Figure:
    """F1 with its interval, run after run; a line per system."""
    points: dict[str, list[tuple[float, ...]]] = {}
    rows = []
    for place, past in enumerate(runs):
        f1 = past.summary.intervals.get("f1")
        own = points.setdefault(past.run.system.name, [])
        if f1 is not None:
            own.append((place, f1.value, f1.low, f1.high))
            rows.append(
                (past.run.started, past.run.system.name, f1.value, f1.low, f1.high, f1.clusters)
            )
    return Figure(
        id=f"history-{number}",
        title="F1 over time",
        says="Run after run, newest last; bars are 95% intervals.",
        x="",
        y="F1",
        series=tuple(
            Series(name, tuple(own), f"run-{color % COLORS}", dots=True)
            for color, (name, own) in enumerate(points.items())
        ),
        labels=tuple(past.run.started[:10] for past in runs),
        columns=("started", "system", "f1", "95% from", "to", "clusters"),
        rows=tuple(rows),
    )


class Ranged(Protocol):
    """A number with its interval."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Scale:
    """A line from `low` to `high` with a tick every `step`."""

    low: float
    high: float
    step: float

    def at(self, value: float) -> str:
        """The place of `value` as a share of the width; what lies outside is put on the edge."""
        share = (value - self.low) / (self.high - self.low)
        return f"{100 * min(max(share, 0), 1):.2f}%"

    @property
    def ticks(self) -> tuple[float, ...]:
        count = round((self.high - self.low) / self.step)
        return tuple(round(self.low + number * self.step, 4) for number in range(count + 1))


def score_scale(shown: Iterable[Ranged]) -> Scale:
    """From a round number below every interval up to 1."""
    lowest = min((one.low for one in shown), default=0.0)
    step = _step(1 - lowest)
    below = min(math.floor(lowest / step + 1e-9), round(1 / step) - 1)  # 1 itself is no width
    return Scale(max(0.0, below * step), 1.0, step)


def difference_scale(shown: Iterable[Ranged]) -> Scale:
    """Equally far to both sides of 0, as far as the widest interval."""
    widest = max((max(abs(one.low), abs(one.high)) for one in shown), default=0.1)
    step = _step(2 * widest)
    reach = min(1.0, max(1, math.ceil(widest / step - 1e-9)) * step)
    return Scale(-reach, reach, step)


def _step(width: float) -> float:
    return next((step for step in _STEPS if width / step <= 6), _STEPS[-1])
