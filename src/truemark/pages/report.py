"""The page of runs: one alone, or several side by side with a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median, quantiles

from truemark.comparison import Comparison, Versus, compare, run_names
from truemark.leaderboard import Board, rank
from truemark.pages.document import document, payload_of
from truemark.pages.figures import figures_of
from truemark.pages.scales import Scale, difference_scale, score_scale
from truemark.records import WRITTEN, Run, Unit, finding_counts
from truemark.summary import GroupScore, Summary, summarise
from truemark.uncertainty import MEASURES
from truemark.wording import answer, interval_name, interval_remarks, verdict_sentences

MOST_UNITS = 40  # beyond which the list of units is no overview
# Kinds that are either a false positive or a false negative, whatever they are compared with.
_COUNTED_ONCE = ("missed", "invented", "duplicate")
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


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that can be compared, each with its number on the page; the first is the baseline.

    `heading` is what they have in common and others on the page have not.
    """

    heading: str
    numbers: tuple[int, ...]
    runs: tuple[Run, ...]
    names: tuple[str, ...]
    summaries: tuple[Summary, ...]
    comparison: Comparison | None
    scale: Scale
    differences: Scale

    @property
    def several(self) -> bool:
        return len(self.runs) > 1

    @property
    def verdicts(self) -> list[tuple[Versus, str]]:
        """Pair each comparison with the baseline with its verdict in words."""
        against = self.comparison.against if self.comparison else ()
        return [
            (versus, "; ".join(verdict_sentences(self.names[0], versus)) + ".")
            for versus in against
        ]

    @property
    def board(self) -> Board:
        """Rank the runs; of pairs with the baseline the verdict that the page states decides."""
        board = rank("", self.runs, self.summaries, self.names)
        against = self.comparison.against if self.comparison else ()
        apart = {pair for pair in board.told_apart if self.names[0] not in pair}
        for versus in against:
            match versus.verdict:
                case "better":
                    apart.add((versus.name, self.names[0]))
                case "worse":
                    apart.add((self.names[0], versus.name))
        return replace(board, told_apart=frozenset(apart))

    @property
    def answer(self) -> str:
        """Say which run to take, for someone who reads one sentence."""
        if self.comparison is None or self.comparison.differing:
            return ""
        board = self.board
        return answer(board, _WORDS | dict(self.runs[0].words), self._units_missing(board))

    def _units_missing(self, board: Board) -> int | None:
        """Return how many more clusters would tell the best from the first that may equal it."""
        names = [standing.name for standing in board.standings]
        for other in names[1:]:
            if (names[0], other) in board.told_apart:
                continue
            for versus in self.comparison.against if self.comparison else ():
                if {self.names[0], versus.name} == {names[0], other} and versus.needed:
                    return max(0, versus.needed - versus.clusters) or None
            return None
        return None

    @property
    def failed(self) -> list[tuple[str, Unit]]:
        named = zip(self.names, self.summaries, strict=True)
        return [(name, unit) for name, summary in named for unit in summary.failed]


def report_page(runs: Sequence[Run], *, anyway: bool = False) -> str:
    """Draw runs as one page of HTML; comparable runs form a group, the first its baseline.

    With `anyway` all runs are one group, compared over their common units.
    """
    names = run_names(runs)
    groups = comparable_groups(runs, names, anyway)
    summaries = {
        number: summary
        for group in groups
        for number, summary in zip(group.numbers, group.summaries, strict=True)
    }
    in_order = [summaries[number] for number in range(len(runs))]
    figures = figures_of(runs, names)
    return document(
        "report.html.j2",
        payload_of(runs, names, [group.numbers for group in groups], figures),
        title=" and ".join(names),
        runs=runs,
        names=names,
        several=len(runs) > 1,
        groups=groups,
        measures=MEASURES,
        remarks=interval_remarks,
        interval_name=interval_name,
        words=_WORDS | dict(runs[0].words),
        bars=_bars(runs, in_order),
        group_scale=score_scale(score.interval for summary in in_order for score in summary.groups),
        kept=sum(len(run.findings) for run in runs),
        counted_twice=sorted(
            {
                finding.kind
                for run in runs
                for finding in run.findings
                if finding.mistake and finding.kind not in _COUNTED_ONCE
                if finding.expected is not None and finding.got is not None
            }
        ),
        found=sum(count.count for run in runs for count in finding_counts(run)),
        figures=figures,
        spendings=[spending for spending in map(_spending, names, runs) if spending.known],
    )


def comparable_groups(runs: Sequence[Run], names: Sequence[str], anyway: bool) -> list[Group]:
    """Put runs that can be compared together, in order of first appearance."""
    together: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for number, run in enumerate(runs):
        key = () if anyway else tuple(sorted(run.comparison_key.items()))
        together.setdefault(key, []).append(number)
    keys = [runs[numbers[0]].comparison_key for numbers in together.values()]
    return [
        _group(_heading(key, keys), numbers, runs, names, anyway)
        for key, numbers in zip(keys, together.values(), strict=True)
    ]


def _heading(key: Mapping[str, str], keys: Sequence[Mapping[str, str]]) -> str:
    """Name the parts of the comparison key in which the groups of a page differ."""
    parts = dict.fromkeys(part for other in keys for part in other)
    differing = [part for part in parts if len({other.get(part) for other in keys}) > 1]
    default = {"condition": WRITTEN}
    return ", ".join(f"{part} {key.get(part, default.get(part, 'none'))}" for part in differing)


def _group(
    heading: str,
    numbers: Sequence[int],
    all_runs: Sequence[Run],
    all_names: Sequence[str],
    anyway: bool,
) -> Group:
    runs = tuple(all_runs[number] for number in numbers)
    names = tuple(all_names[number] for number in numbers)
    summaries = tuple(summarise(run) for run in runs)
    comparison = None
    if len(runs) > 1:
        comparison = compare(runs, anyway=anyway, summaries=summaries, names=names)
    against = comparison.against if comparison else ()
    intervals = [
        difference
        for versus in against
        for difference in (
            *(versus.differences[measure] for measure in MEASURES),
            *(group.difference for group in versus.groups),
        )
    ]
    return Group(
        heading=heading,
        numbers=tuple(numbers),
        runs=runs,
        names=names,
        summaries=summaries,
        comparison=comparison,
        scale=score_scale(
            summary.intervals[measure]
            for summary in summaries
            if summary.intervals
            for measure in MEASURES
        ),
        differences=difference_scale(intervals),
    )


def _bars(runs: Sequence[Run], summaries: Sequence[Summary]) -> list[tuple[str, list[Bar]]]:
    """Make the panels of bars: kinds, then a panel per name of groups; most mistakes first."""
    kinds: dict[str, Counter[int]] = {}
    mistaken: set[str] = set()
    groups: dict[tuple[str, str], Counter[int]] = {}
    for number, run in enumerate(runs):
        for count in finding_counts(run):
            kinds.setdefault(count.kind, Counter())[number] += count.count
            if count.mistake:
                mistaken.add(count.kind)
                for pair in count.group.items():
                    groups.setdefault(pair, Counter())[number] += count.count
    scores = [
        {(score.name, score.value): score for score in summary.groups} for summary in summaries
    ]
    for known in scores:
        for pair in known:
            groups.setdefault(pair, Counter())
    panels: dict[str, list[Bar]] = {}
    if kinds:
        panels["kind"] = [
            Bar("kind", "kind", kind, _per_run(counts, runs), kind not in mistaken)
            for kind, counts in kinds.items()
        ]
    for (name, value), counts in groups.items():
        f1s = tuple(known.get((name, value)) for known in scores)
        bar = Bar("group", name, value, _per_run(counts, runs), scores=f1s)
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
        for finding in run.findings:
            counts.setdefault(finding.unit, Counter())[number] += finding.mistake
    word = runs[0].words.get("unit", "unit")
    return [Bar("unit", word, unit, _per_run(mistakes, runs)) for unit, mistakes in counts.items()]


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
