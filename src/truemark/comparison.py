"""Is one system better than another on the same units, by how much, and how sure is that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from truemark.counts import Counts
from truemark.errors import TruemarkError
from truemark.records import Run, Unit
from truemark.summary import Summary, block_rows, by_group, scoring_of, summarise
from truemark.text import clipped
from truemark.uncertainty import (
    DEFAULT_DRAWS,
    MEASURES,
    Draws,
    Measure,
    PairedInterval,
    Power,
    clustered,
    holm,
    paired_interval,
    paired_intervals,
    paired_test,
    power_of,
)

Ints = NDArray[np.int64]
Verdict = Literal["better", "worse", "not distinguishable"]
LEVEL = 0.05
WORTH_SEEING = 0.02
LONGEST_NAME = 200  # of a system, where it is told; longer ones lose their middle
Pair = tuple[Unit, Unit]


@dataclass(frozen=True, slots=True)
class Change:
    """A unit in which the two systems made unequally many mistakes, all repeats together."""

    unit: str
    before: Counts
    after: Counts

    @property
    def mistakes(self) -> int:
        """How many more mistakes there are now; fewer when below 0."""
        return self.after.fp + self.after.fn - self.before.fp - self.before.fn


@dataclass(frozen=True, slots=True)
class GroupDifference:
    """The difference in F1 over the units of one group, p corrected for all groups."""

    name: str
    value: str
    units: int
    difference: PairedInterval
    p_value: float


@dataclass(frozen=True, slots=True)
class Versus:
    """One system against the baseline, on the units that both have scores for.

    Differences are this one's score minus the baseline's. `p_value` is corrected by Holm's
    method where several systems are compared with the baseline. `power` is None where the two
    have equal counts everywhere, or there is but one cluster.
    """

    name: str
    units: int
    differences: dict[Measure, PairedInterval]
    raw_p_value: float
    p_value: float
    power: Power | None
    fixed: tuple[Change, ...]
    broken: tuple[Change, ...]
    groups: tuple[GroupDifference, ...]

    @property
    def clusters(self) -> int:
        return self.differences["f1"].clusters

    @property
    def verdict(self) -> Verdict:
        """What the test says of the difference in F1, in words."""
        difference = self.differences["f1"].value
        if self.p_value > LEVEL or difference == 0:
            return "not distinguishable"
        return "better" if difference > 0 else "worse"

    @property
    def needed(self) -> int | None:
        """How many clusters like these would show a difference of 0.02 at 80% power."""
        return self.power.clusters_needed(WORTH_SEEING) if self.power else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs on the same units, the first of them the baseline."""

    names: tuple[str, ...]
    summaries: tuple[Summary, ...]
    against: tuple[Versus, ...]
    draws: Draws
    differing: tuple[str, ...] = ()  # parts of the comparison key, where compared anyway


def compare(
    runs: Sequence[Run], *, anyway: bool = False, draws: Draws = DEFAULT_DRAWS
) -> Comparison:
    """The first run against each of the others; refuses runs that are not comparable.

    With `anyway` such runs are compared over the units they have in common.
    """
    if len(runs) < 2:
        raise ValueError(f"runs must be at least 2, got {len(runs)}")
    names = _names(runs)
    differing = _differing(runs, names, anyway)
    baseline = runs[0]
    against = [
        _versus(name, baseline, run, draws) for name, run in zip(names[1:], runs[1:], strict=True)
    ]
    adjusted = holm([one.raw_p_value for one in against])
    return Comparison(
        names=names,
        summaries=tuple(summarise(run, draws) for run in runs),
        against=tuple(
            replace(one, p_value=p_value) for one, p_value in zip(against, adjusted, strict=True)
        ),
        draws=draws,
        differing=differing,
    )


def _names(runs: Sequence[Run]) -> tuple[str, ...]:
    """The systems' names; where they are equal, with the start of the run or its number."""
    plain = [clipped(run.system.name, LONGEST_NAME) for run in runs]
    if len(set(plain)) == len(plain):
        return tuple(plain)
    dated = [f"{name} {run.started}" for name, run in zip(plain, runs, strict=True)]
    if len(set(dated)) == len(dated):
        return tuple(dated)
    return tuple(f"{name} #{number}" for number, name in enumerate(plain, start=1))


def _differing(runs: Sequence[Run], names: Sequence[str], anyway: bool) -> tuple[str, ...]:
    expected = runs[0].comparison_key
    differing: dict[str, None] = {}
    for name, run in zip(names[1:], runs[1:], strict=True):
        found = run.comparison_key
        for part in [*expected, *(part for part in found if part not in expected)]:
            if expected.get(part) == found.get(part):
                continue
            if not anyway:
                raise TruemarkError(
                    f"{name} is not comparable with {names[0]}: {part} is"
                    f" {found.get(part, 'absent')}, expected {expected.get(part, 'none')};"
                    " --anyway compares the units in common"
                )
            differing[part] = None
    return tuple(differing)


def _versus(name: str, baseline: Run, run: Run, draws: Draws) -> Versus:
    pairs = _pairs(baseline, run)
    if not pairs:
        raise TruemarkError(
            f"{name} and {baseline.system.name} have no scored unit in common; nothing to compare"
        )
    before, after = _paired_tables(pairs)
    rules = run.scoring
    scorings = [scoring_of(rules, measure) for measure in MEASURES]
    differences = dict(zip(MEASURES, paired_intervals(after, before, scorings, draws), strict=True))
    f1 = differences["f1"]
    p_value = paired_test(after, before, scoring_of(rules, "f1"), draws).p_value
    changes = _changes(pairs)
    return Versus(
        name=name,
        units=len(pairs),
        differences=differences,
        raw_p_value=p_value,
        p_value=p_value,
        power=power_of(f1.standard_error, f1.clusters),
        fixed=tuple(one for one in reversed(changes) if one.mistakes < 0),
        broken=tuple(one for one in changes if one.mistakes > 0),
        groups=_group_differences(pairs, run, draws),
    )


def _pairs(baseline: Run, run: Run) -> list[Pair]:
    """The units that both runs scored: before, after."""
    now = {unit.key: unit for unit in run.units if unit.failed is None}
    return [
        (unit, now[unit.key]) for unit in baseline.units if unit.failed is None and unit.key in now
    ]


def _paired_tables(pairs: Sequence[Pair]) -> tuple[Ints, Ints]:
    """The counts per cluster, before and after; whole units where their blocks do not pair."""
    clusters, rows = [], []
    for before, after in pairs:
        parts = block_rows(before)
        others = block_rows(after)
        if len(parts) != len(others):
            cluster = before.id if before.cluster is None else before.cluster
            parts = [((cluster, -1), (before.tp, before.fp, before.fn))]
            others = [((cluster, -1), (after.tp, after.fp, after.fn))]
        for (cluster_of_part, row), (_, other) in zip(parts, others, strict=True):
            clusters.append(cluster_of_part)
            rows.append((*row, *other))
    table = clustered(np.array(rows, dtype=np.int64), clusters)
    return table[:, :3], table[:, 3:]


def _changes(pairs: Sequence[Pair]) -> list[Change]:
    """Units by how many mistakes they gained, most first."""
    before: dict[str, Counts] = {}
    after: dict[str, Counts] = {}
    for one, other in pairs:
        before[one.id] = before.get(one.id, Counts.zero) + one.counts
        after[one.id] = after.get(one.id, Counts.zero) + other.counts
    changes = [Change(unit, before[unit], after[unit]) for unit in before]
    return sorted(changes, key=lambda one: (-one.mistakes, one.unit))


def _group_differences(
    pairs: Sequence[Pair], run: Run, draws: Draws
) -> tuple[GroupDifference, ...]:
    f1 = scoring_of(run.scoring, "f1")
    found = []
    for name, value, own in by_group(pairs, lambda pair: pair[0].group):
        before, after = _paired_tables(own)
        p_value = paired_test(after, before, f1, draws).p_value
        found.append((name, value, len(own), paired_interval(after, before, f1, draws), p_value))
    adjusted = holm([one[-1] for one in found])
    return tuple(
        GroupDifference(*one[:-1], p_value) for one, p_value in zip(found, adjusted, strict=True)
    )
