"""The page of one run, or of several side by side: verdict, mistakes in context, curves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from truemark.comparison import WORTH_SEEING, Comparison, Versus, compare
from truemark.pages.document import document, signed
from truemark.pages.figures import figures_of
from truemark.pages.payload import payload_of
from truemark.pages.scales import difference_scale, score_scale
from truemark.record_files import finding_counts
from truemark.records import Run
from truemark.summary import GroupScore, Summary, summarise
from truemark.uncertainty import DEFAULT_DRAWS, MEASURES, Draws

MOST_UNITS = 40  # beyond which the list of units is no overview
_WORDS = {"unit": "unit", "units": "units", "item": "item", "items": "items"}


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
        names, summaries = (runs[0].system.name,), (summarise(runs[0], draws),)
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
