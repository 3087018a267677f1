"""The scores of one run with their intervals: over everything, by group, and between repeats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from truemark.counts import Counts, total
from truemark.records import ReliabilityRow, Run, Unit
from truemark.uncertainty import (
    ALL_MEASURES,
    Interval,
    Measure,
    Scoring,
    Share,
    clustered,
    intervals_of,
    variance_components,
    wilson,
)

Ints = NDArray[np.int64]
T = TypeVar("T")
FEWEST_EXPECTED = 5  # items; F1 of fewer says nothing
Nouns = tuple[str, str]  # singular and plural


@dataclass(frozen=True, slots=True)
class GroupScore:
    """The units that have `value` under `name`, such as language: en."""

    name: str
    value: str
    counts: Counts
    units: int
    interval: Interval  # of F1
    clean: Interval

    @property
    def too_small(self) -> bool:
        """Whether so little was expected that F1 says nothing, and tables show a dash."""
        return self.counts.expected < FEWEST_EXPECTED


def macro_f1(groups: Sequence[GroupScore]) -> float | None:
    """Average F1 over groups, such as languages; None unless two or more are large enough."""
    scores = [group.interval.value for group in groups if not group.too_small]
    return sum(scores) / len(scores) if len(scores) > 1 else None


@dataclass(frozen=True, slots=True)
class Summary:
    """One run in numbers; `intervals` is empty when nothing was scored.

    `nouns` are what clusters are called.
    """

    run: Run
    counts: Counts
    scored: int
    failed: tuple[Unit, ...]
    intervals: Mapping[Measure, Interval]
    groups: tuple[GroupScore, ...]
    held_out: float | None
    repeats: Repeats | None
    nouns: Nouns


def summarise(run: Run, *, by_group: bool = True) -> Summary:
    """Score the units that did not fail, each measure with its interval."""
    scored = scored_units(run)
    scorings = {measure: Scoring(measure, run.scoring.empty) for measure in ALL_MEASURES}
    intervals = intervals_of(cluster_table(scored), scorings.values()) if scored else ()
    return Summary(
        run=run,
        counts=total(unit.counts for unit in scored),
        scored=len(scored),
        failed=failed_units(run),
        intervals=dict(zip(scorings, intervals, strict=True)) if scored else {},
        groups=_groups(scored, run.scoring.empty) if by_group else (),
        held_out=scorings["f1"](run.held_out.counts) if run.held_out else None,
        repeats=repeats_of(run),
        nouns=cluster_nouns(run),
    )


def scored_units(run: Run) -> tuple[Unit, ...]:
    """Return the units that did not fail."""
    return tuple(unit for unit in run.units if unit.failed is None)


def failed_units(run: Run) -> tuple[Unit, ...]:
    return tuple(unit for unit in run.units if unit.failed is not None)


def by_group(
    items: Iterable[T], group_of: Callable[[T], Mapping[str, str]]
) -> Iterator[tuple[str, str, list[T]]]:
    """Yield every group as its name, its value and its items, in order of first appearance."""
    groups: dict[str, dict[str, list[T]]] = {}
    for item in items:
        for name, value in group_of(item).items():
            groups.setdefault(name, {}).setdefault(value, []).append(item)
    for name, values in groups.items():
        for value, members in values.items():
            yield name, value, members


def cluster_nouns(run: Run) -> Nouns:
    """Return the nouns for a run's clusters: those for its units, unless units name clusters."""
    if any(unit.cluster is not None for unit in run.units):
        return run.words.get("cluster", "cluster"), run.words.get("clusters", "clusters")
    return unit_nouns(run)


def unit_nouns(run: Run) -> Nouns:
    return run.words.get("unit", "unit"), run.words.get("units", "units")


def cluster_of(unit: Unit) -> str:
    """Return the cluster of a unit; by default its id, which its repeats share."""
    return unit.id if unit.cluster is None else unit.cluster


def cluster_table(units: Sequence[Unit]) -> Ints:
    """Add up per cluster: tp, fp, fn, units without a mistake, units with one."""
    rows = np.array([count_row(unit) for unit in units], dtype=np.int64)
    return clustered(rows.reshape(len(units), 5), [cluster_of(unit) for unit in units])


def count_row(unit: Unit) -> tuple[int, int, int, int, int]:
    """Return tp, fp, fn, and a 1 in the column for units without a mistake or with one."""
    clean = not unit.counts.mistakes
    return unit.tp, unit.fp, unit.fn, int(clean), int(not clean)


def _groups(units: Sequence[Unit], empty: float) -> tuple[GroupScore, ...]:
    scorings = (Scoring("f1", empty), Scoring("clean", empty))
    groups = []
    for name, value, members in by_group(units, lambda unit: unit.group):
        f1, clean = intervals_of(cluster_table(members), scorings)
        counts = total(unit.counts for unit in members)
        groups.append(GroupScore(name, value, counts, len(members), f1, clean))
    return tuple(groups)


@dataclass(frozen=True, slots=True)
class Repeats:
    """Units that were asked equally often, and how similar their repeats are.

    A unit is right in a repeat when it has no mistake there; one that failed is not. Variances
    are of F1: between units, and between repeats of a unit.
    """

    repeats: int
    right_in_all: Share
    right_in_any: Share
    flipping: tuple[str, ...]
    variance_between_units: float
    variance_between_repeats: float


def repeats_of(run: Run) -> Repeats | None:
    """Compare the repeats of a run; None where no unit has more than one."""
    by_id: dict[str, list[Unit]] = {}
    for unit in run.units:
        by_id.setdefault(unit.id, []).append(unit)
    most = max(map(len, by_id.values()), default=0)
    if most < 2:
        return None
    whole = {name: units for name, units in by_id.items() if len(units) == most}
    right = {
        name: [unit.failed is None and not unit.counts.mistakes for unit in units]
        for name, units in whole.items()
    }
    f1 = Scoring("f1", run.scoring.empty)
    scores = [
        [f1(unit.counts) for unit in units if unit.failed is None] for units in whole.values()
    ]
    between, within = variance_components(scores)
    in_all = wilson(sum(map(all, right.values())), len(right))
    in_any = wilson(sum(map(any, right.values())), len(right))
    assert in_all is not None
    assert in_any is not None
    return Repeats(
        repeats=most,
        right_in_all=in_all,
        right_in_any=in_any,
        flipping=tuple(name for name, times in right.items() if any(times) and not all(times)),
        variance_between_units=between,
        variance_between_repeats=within,
    )


def share_right(row: ReliabilityRow) -> Share | None:
    """Return the share of right predictions, with the recorded interval or else Wilson's."""
    share = wilson(row.correct, row.count)
    if share is None or row.low is None or row.high is None:
        return share
    return replace(share, low=row.low, high=row.high)
