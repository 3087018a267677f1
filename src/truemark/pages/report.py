"""The page of runs: one alone, or several side by side with a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median, quantiles

from truemark.comparison import Comparison, Versus, compare, run_names
from truemark.leaderboard import Board, rank
from truemark.pages.document import document, payload_of, signed
from truemark.pages.figures import COLORS, Figure, Shown, figures_of
from truemark.pages.scales import Scale, difference_scale, score_scale
from truemark.records import WRITTEN, Run, Unit, data_names, finding_counts
from truemark.summary import GroupScore, Summary, macro_f1, summarise
from truemark.uncertainty import MEASURES
from truemark.wording import (
    answer,
    dash_remarks,
    interval_name,
    interval_remarks,
    verdict_sentences,
)

MOST_BARS = 12  # that a panel shows at first
MOST_UNITS = 40  # beyond that, a list of units is no overview
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
class Panel:
    """Bars of one kind; a long list takes the width of the page."""

    name: str
    rows: list[Bar]

    @property
    def wide(self) -> bool:
        return len(self.rows) > MOST_BARS


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that can be compared; the first is the baseline.

    `heading` names what distinguishes them from other groups on the page.
    """

    heading: str
    shown: tuple[Shown, ...]
    comparison: Comparison | None

    @property
    def runs(self) -> list[Run]:
        return [shown.run for shown in self.shown]

    @property
    def names(self) -> list[str]:
        return [shown.name for shown in self.shown]

    @property
    def summaries(self) -> list[Summary]:
        return [shown.summary for shown in self.shown]

    @property
    def several(self) -> bool:
        return len(self.shown) > 1

    @property
    def against(self) -> tuple[Versus, ...]:
        return self.comparison.against if self.comparison else ()

    @property
    def verdicts(self) -> list[tuple[Versus, str]]:
        """Pair each comparison with the baseline with its verdict in words."""
        return [
            (versus, "; ".join(verdict_sentences(self.names[0], versus)) + ".")
            for versus in self.against
        ]

    @property
    def scale(self) -> Scale:
        return score_scale(
            shown.summary.intervals[measure]
            for shown in self.shown
            if shown.summary.intervals
            for measure in MEASURES
        )

    @property
    def differences(self) -> Scale:
        """The scale of all differences with the baseline."""
        return difference_scale(
            difference
            for versus in self.against
            for difference in (
                *(versus.differences[measure] for measure in MEASURES),
                *(group.difference for group in versus.groups),
            )
        )

    @property
    def board(self) -> Board:
        """Rank the runs; the verdicts that the page states decide about pairs with the baseline."""
        board = rank("", self.summaries, self.names)
        apart = {pair for pair in board.told_apart if self.names[0] not in pair}
        for versus in self.against:
            match versus.verdict:
                case "better":
                    apart.add((versus.name, self.names[0]))
                case "worse":
                    apart.add((self.names[0], versus.name))
        known = board.known or any(versus.differences["f1"].known for versus in self.against)
        return replace(board, told_apart=frozenset(apart), known=known)

    @property
    def answer(self) -> str:
        """Say in one sentence which run is best."""
        if self.comparison is None or self.comparison.differing:
            return ""
        board = self.board
        return answer(board, _WORDS | dict(self.runs[0].words), self._units_needed(board))

    def _units_needed(self, board: Board) -> tuple[str, int] | None:
        """Name the next run that may equal the best, and about how many clusters would tell."""
        names = [standing.name for standing in board.standings]
        for other in names[1:]:
            if (names[0], other) in board.told_apart:
                continue
            for versus in self.against:
                if {self.names[0], versus.name} == {names[0], other} and versus.needed:
                    return (other, versus.needed) if versus.needed > versus.clusters else None
            return None
        return None

    @property
    def facts(self) -> list[str]:
        """Say what the scores rest on; facts that all runs share are said once."""
        of_runs = [_facts(shown.summary) for shown in self.shown]
        common = [fact for fact in of_runs[0] if all(fact in facts for facts in of_runs)]
        common += dash_remarks(self.comparison) if self.comparison else []
        return [f"{fact[:1].upper()}{fact[1:]}" for fact in common] + [
            f"{shown.name}: {fact}"
            for shown, facts in zip(self.shown, of_runs, strict=True)
            for fact in facts
            if fact not in common
        ]

    @property
    def figures(self) -> list[Figure]:
        return figures_of(self.shown)

    @property
    def bars(self) -> list[tuple[str, list[Bar]]]:
        return _bars(self.runs, self.summaries)

    @property
    def panels(self) -> tuple[list[list[Panel]], list[Panel]]:
        """Arrange the panels of bars: two columns of about equal height, and wide ones below."""
        panels = [Panel(name, rows) for name, rows in self.bars]
        narrow = [panel for panel in panels if not panel.wide]
        if len(narrow) < 2:
            return [], panels
        columns: list[list[Panel]] = [[], []]
        for panel in narrow:
            shortest = min(columns, key=lambda column: sum(len(above.rows) for above in column))
            shortest.append(panel)
        return columns, [panel for panel in panels if panel.wide]

    @property
    def bar_scale(self) -> Scale:
        scores = (score for summary in self.summaries for score in summary.groups)
        return score_scale(score.interval for score in scores)

    def mean_f1s(self, group: str) -> list[tuple[str, float]]:
        """Pair each run with its mean F1 over the values of a group, such as languages."""
        means = [
            (shown.name, macro_f1([g for g in shown.summary.groups if g.name == group]))
            for shown in self.shown
        ]
        return [(name, mean) for name, mean in means if mean is not None]

    @property
    def kept(self) -> int:
        """Count the findings that the records keep."""
        return sum(len(run.findings) for run in self.runs)

    @property
    def found(self) -> int:
        return sum(count.count for run in self.runs for count in finding_counts(run))

    @property
    def counted_twice(self) -> list[str]:
        """List the kinds of mistakes that the scores count as one missed and one invented."""
        return sorted(
            {
                finding.kind
                for run in self.runs
                for finding in run.findings
                if finding.mistake and finding.kind not in _COUNTED_ONCE
                if finding.expected is not None and finding.got is not None
            }
        )

    @property
    def spendings(self) -> list[dict[str, object]]:
        spendings = [_spending(shown.name, shown.run) for shown in self.shown]
        return [spending for spending in spendings if spending]

    @property
    def failed(self) -> list[tuple[str, Unit]]:
        return [(shown.name, unit) for shown in self.shown for unit in shown.summary.failed]


def _facts(summary: Summary) -> list[str]:
    run = summary.run
    words = _WORDS | dict(run.words)
    facts = []
    if summary.intervals:
        scored = f"{summary.scored:,} {words['units' if summary.scored != 1 else 'unit']} scored"
        clusters = f"{summary.intervals['f1'].clusters:,} {summary.nouns[1]}"
        failed = f"; {len(summary.failed)} failed" if summary.failed else ""
        facts.append(f"{scored}, intervals from {clusters}{failed}")
    facts += interval_remarks(summary)
    if summary.held_out is not None and summary.intervals:
        facts.append(
            f"with the threshold chosen on the other {words['units']} each time, F1"
            f" {_moved(summary.intervals['f1'].value, summary.held_out)}: what to expect on new"
            f" {words['units']}"
        )
    if summary.repeats:
        repeats = summary.repeats
        facts.append(
            f"asked {repeats.repeats} times each: {repeats.right_in_all.value:.0%} right every"
            f" time, {repeats.right_in_any.value:.0%} at least once; {len(repeats.flipping)} flip"
        )
    return facts + [note.rstrip(".") for note in run.notes]


def _moved(before: float, after: float) -> str:
    """Say where a score goes: `falls to 0.727 (−0.007)`."""
    change = signed(after - before)
    if change == signed(0):
        return f"stays at {after:.3f}"
    return f"{'falls' if after < before else 'rises'} to {after:.3f} ({change})"


def report_page(runs: Sequence[Run], *, anyway: bool = False) -> str:
    """Draw runs as one page of HTML; comparable runs form a group, the first its baseline.

    With `anyway` all runs are one group, compared over their common units.
    """
    groups = comparable_groups(runs, anyway)
    shown = [run for group in groups for run in group.shown]
    names = {run.name: run.color for run in shown}
    figures = [figure for group in groups for figure in group.figures]
    return document(
        "report.html.j2",
        payload_of([(group.heading, group.shown) for group in groups], figures),
        title=" and ".join(names),
        names=names,
        runs=[run.run for run in shown],
        groups=groups,
        several=any(group.several for group in groups),
        measures=MEASURES,
        interval_name=interval_name,
        most_bars=MOST_BARS,
        words=_WORDS | dict(runs[0].words),
    )


def comparable_groups(runs: Sequence[Run], anyway: bool = False) -> list[Group]:
    """Put runs that can be compared together, in order of first appearance.

    A system has the same colour in all of them.
    """
    together: dict[str, list[Run]] = {}
    for run in runs:
        together.setdefault("" if anyway else run.data_id, []).append(run)
    headings = _headings([members[0] for members in together.values()])
    colors: dict[str, str] = {}
    groups: list[Group] = []
    for heading, members in zip(headings, together.values(), strict=True):
        names, summaries = run_names(members), [summarise(run) for run in members]
        comparison = None
        if len(members) > 1:
            comparison = compare(members, anyway=anyway, summaries=summaries, names=names)
        before = sum(len(group.shown) for group in groups)
        shown = tuple(
            Shown(number, name, colors.setdefault(name, f"run-{len(colors) % COLORS}"), summary)
            for number, (name, summary) in enumerate(
                zip(names, summaries, strict=True), start=before
            )
        )
        groups.append(Group(heading, shown, comparison))
    return groups


def _headings(firsts: Sequence[Run]) -> list[str]:
    """Name groups by corpus and condition, as commands do; else by the parts that differ."""
    if len(firsts) < 2:
        return [""]
    names = data_names(firsts)
    shown = [names[run.data_id] for run in firsts]
    if all(run.corpus for run in firsts) and not any(
        name.endswith(f"({run.data_id[:6]})") for name, run in zip(shown, firsts, strict=True)
    ):
        return shown
    keys = [run.comparison_key for run in firsts]
    parts = dict.fromkeys(part for key in keys for part in key)
    differing = [part for part in parts if len({key.get(part) for key in keys}) > 1]
    default = {"condition": WRITTEN}
    return [
        ", ".join(f"{part} {key.get(part, default.get(part, 'none'))}" for part in differing)
        for key in keys
    ]


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


def _spending(name: str, run: Run) -> dict[str, object] | None:
    """Say what a run cost and how long its units took, where known and not replayed."""
    spent = [unit for unit in run.units if not unit.replayed]
    seconds = [unit.seconds for unit in spent if unit.seconds is not None]
    costs = [unit.cost for unit in spent if unit.cost is not None]
    tokens: Counter[str] = Counter()
    for unit in spent:
        tokens.update(unit.tokens)
    if run.seconds is None and not (seconds or costs or +tokens):
        return None
    return {
        "name": name,
        "seconds": run.seconds,
        "median_s": median(seconds) if seconds else None,
        # The 95th percentile.
        "slowest_s": quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else None,
        "cost": sum(costs) if costs else None,
        "cost_per_unit": sum(costs) / len(costs) if costs else None,
        "tokens": list((+tokens).items()),
        "replayed": len(run.units) - len(spent),
    }
