"""Compare systems on the same units: which is better, by how much, and how surely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from truemark.counts import Counts
from truemark.errors import TruemarkError
from truemark.power import Power, power_of
from truemark.records import WRITTEN, Run, Unit
from truemark.summary import (
    FEWEST_EXPECTED,
    Nouns,
    Summary,
    by_group,
    cluster_nouns,
    cluster_of,
    count_row,
    scored_units,
    summarise,
    unit_nouns,
)
from truemark.text import clipped
from truemark.uncertainty import (
    ALL_MEASURES,
    FEWEST_FOR_VERDICT,
    Measure,
    PairedInterval,
    Scoring,
    clustered,
    paired_intervals,
)

Ints = NDArray[np.int64]
WORTH_SEEING = 0.02
LONGEST_NAME = 200  # characters of a system's name that are shown
Pair = tuple[Unit, Unit]


class NotComparableError(TruemarkError):
    """The signatures of two runs differ, so their numbers do not mean the same."""


@dataclass(frozen=True, slots=True)
class Change:
    """A unit on which two systems made different numbers of mistakes, over all repeats."""

    unit: str
    before: Counts
    after: Counts

    @property
    def mistakes(self) -> int:
        """How many more mistakes there are now; negative if there are fewer."""
        return self.after.mistakes - self.before.mistakes


@dataclass(frozen=True, slots=True)
class GroupDifference:
    """The difference in F1 over the units of one group, corrected for the number of groups.

    `expected` is how many items there were to find, `clean` the difference in the share of units
    without a mistake.
    """

    name: str
    value: str
    units: int
    expected: int
    difference: PairedInterval
    clean: PairedInterval

    @property
    def too_small(self) -> bool:
        """Whether so little was expected that F1 says nothing, and tables show a dash."""
        return self.expected < FEWEST_EXPECTED


@dataclass(frozen=True, slots=True)
class Versus:
    """One system against the baseline, on the units that both have scores for.

    Differences are the system's score minus the baseline's, corrected where several systems are
    compared with it. `power` is None where too few clusters differ to know.
    """

    name: str
    units: int
    differences: dict[Measure, PairedInterval]
    power: Power | None
    fixed: tuple[Change, ...]
    broken: tuple[Change, ...]
    groups: tuple[GroupDifference, ...]
    nouns: Nouns  # what clusters are called
    unit_nouns: Nouns

    @property
    def clusters(self) -> int:
        return self.differences["f1"].clusters

    @property
    def p_value(self) -> float:
        return self.differences["f1"].p_value

    @property
    def raw_p_value(self) -> float:
        """The p-value before it was corrected for the number of systems."""
        return self.differences["f1"].raw_p_value

    @property
    def verdict(self) -> str:
        """What the test says of the difference in F1, in words."""
        f1 = self.differences["f1"]
        if f1.known:
            return f1.verdict
        return f"too few {self.nouns[1]} to tell (at least {FEWEST_FOR_VERDICT})"

    @property
    def needed(self) -> int | None:
        """How many clusters like these would show a difference of 0.02 at 80% power."""
        return self.power.clusters_needed if self.power else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs on the same units, the first of them the baseline."""

    names: tuple[str, ...]
    summaries: tuple[Summary, ...]
    against: tuple[Versus, ...]
    differing: tuple[str, ...] = ()  # parts of the comparison key, where compared anyway


def compare(
    runs: Sequence[Run],
    *,
    anyway: bool = False,
    summaries: Sequence[Summary] | None = None,
    names: Sequence[str] | None = None,
) -> Comparison:
    """Compare the first run with each of the others; refuse runs that are not comparable.

    With `anyway` such runs are compared over the units they have in common. A caller that has
    the `summaries` already, or `names` to show, passes them.
    """
    if len(runs) < 2:
        raise ValueError(f"runs must be at least 2, got {len(runs)}")
    names = tuple(names or run_names(runs))
    differing = _differing(runs, names, anyway)
    baseline, *others = runs
    pairs = [paired_units(baseline, run) for run in others]
    if not all(pairs):
        name = names[1 + pairs.index([])]
        raise TruemarkError(
            f"{name} and {baseline.system.name} have no scored unit in common; nothing to compare"
        )
    tables = [paired_tables(units) for units in pairs]
    empty = baseline.scoring.empty
    differences = {
        measure: paired_intervals(tables, Scoring(measure, empty)) for measure in ALL_MEASURES
    }
    against = []
    for place, run in enumerate(others):
        changes = _changes(pairs[place])
        level = 1 - differences["f1"][place].confidence
        f1 = Scoring("f1", run.scoring.empty)
        versus = Versus(
            name=names[place + 1],
            units=len(pairs[place]),
            differences={measure: of_all[place] for measure, of_all in differences.items()},
            power=power_of(*tables[place], f1, WORTH_SEEING, level),
            fixed=tuple(change for change in reversed(changes) if change.mistakes < 0),
            broken=tuple(change for change in changes if change.mistakes > 0),
            groups=_group_differences(pairs[place], run),
            nouns=cluster_nouns(run),
            unit_nouns=unit_nouns(run),
        )
        against.append(versus)
    return Comparison(
        names=names,
        summaries=tuple(summaries or (summarise(run) for run in runs)),
        against=tuple(against),
        differing=differing,
    )


def comparable_runs(runs: Sequence[Run]) -> tuple[list[Run], list[str]]:
    """Return the runs that share scored units with the first scored one, and say why others do not.

    Runs on other data are kept, for `compare` to refuse.
    """
    kept: list[Run] = []
    reasons: list[str] = []
    for name, run in zip(run_names(runs), runs, strict=True):
        if not scored_units(run):
            reasons.append(f"{name}: has no scored {unit_nouns(run)[0]}, so it is not compared")
            continue
        first = kept[0] if kept else run
        if run.data_id == first.data_id and not paired_units(first, run):
            reasons.append(
                f"{name}: has no scored {unit_nouns(run)[0]} in common with {first.system.name},"
                " so it is not compared"
            )
            continue
        kept.append(run)
    return kept, reasons


def run_names(runs: Sequence[Run]) -> tuple[str, ...]:
    """Name the runs by system; those that share a name get their condition, start, or a number."""
    names = [clipped(run.system.name, LONGEST_NAME) for run in runs]
    conditions = ["" if run.condition == WRITTEN else f" ({run.condition})" for run in runs]
    starts = [f" {run.started}" for run in runs]
    numbers = [f" #{number}" for number in range(1, len(runs) + 1)]
    for additions in (conditions, starts, numbers):
        longer = [name + added for name, added in zip(names, additions, strict=True)]
        if additions is starts and len(set(longer)) < len(longer):
            continue  # equal starts do not distinguish runs
        shared = {name for name in names if names.count(name) > 1}
        names = [new if old in shared else old for old, new in zip(names, longer, strict=True)]
    return tuple(names)


def _differing(runs: Sequence[Run], names: Sequence[str], anyway: bool) -> tuple[str, ...]:
    expected = runs[0].comparison_key
    differing: dict[str, None] = {}
    for name, run in zip(names[1:], runs[1:], strict=True):
        key = run.comparison_key
        for part in [*expected, *(part for part in key if part not in expected)]:
            if expected.get(part) == key.get(part):
                continue
            if not anyway:
                default = {"condition": WRITTEN}.get(part)
                raise NotComparableError(
                    f"{name} is not comparable with {names[0]}: {part} is"
                    f" {key.get(part, default or 'absent')},"
                    f" expected {expected.get(part, default or 'none')};"
                    " --anyway compares the units in common"
                )
            differing[part] = None
    return tuple(differing)


def paired_units(baseline: Run, run: Run) -> list[Pair]:
    """Pair the units that both runs scored: before, after."""
    now = {unit.key: unit for unit in run.units if unit.failed is None}
    return [
        (unit, now[unit.key]) for unit in baseline.units if unit.failed is None and unit.key in now
    ]


def paired_tables(pairs: Sequence[Pair]) -> tuple[Ints, Ints]:
    """Add up the counts of paired units per cluster, after and before."""
    rows = [(*count_row(after), *count_row(before)) for before, after in pairs]
    clusters = [cluster_of(before) for before, _ in pairs]
    table = clustered(np.array(rows, dtype=np.int64).reshape(len(rows), 10), clusters)
    return table[:, :5], table[:, 5:]


def _changes(pairs: Sequence[Pair]) -> list[Change]:
    """Sort units by how many mistakes they gained, most first."""
    before: dict[str, Counts] = {}
    after: dict[str, Counts] = {}
    for earlier, later in pairs:
        before[earlier.id] = before.get(earlier.id, Counts.zero) + earlier.counts
        after[earlier.id] = after.get(earlier.id, Counts.zero) + later.counts
    changes = [Change(unit, before[unit], after[unit]) for unit in before]
    return sorted(changes, key=lambda change: (-change.mistakes, change.unit))


def _group_differences(pairs: Sequence[Pair], run: Run) -> tuple[GroupDifference, ...]:
    groups = list(by_group(pairs, lambda pair: pair[0].group))
    tables = [paired_tables(members) for _, _, members in groups]
    f1 = paired_intervals(tables, Scoring("f1", run.scoring.empty))
    clean = paired_intervals(tables, Scoring("clean", run.scoring.empty))
    return tuple(
        GroupDifference(
            name=name,
            value=value,
            units=len(members),
            expected=sum(unit.counts.expected for unit, _ in members),
            difference=f1[place],
            clean=clean[place],
        )
        for place, (name, value, members) in enumerate(groups)
    )
