"""Leaderboards: the newest run of each system, ranked; one board per set of comparable runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from statistics import median
from string import ascii_lowercase

from truemark.comparison import paired_tables, paired_units, run_names
from truemark.records import Run
from truemark.summary import Summary, macro_f1, scored_units, summarise
from truemark.timeline import Timeline
from truemark.uncertainty import FEWEST_FOR_VERDICT, LEVEL, Scoring, paired_intervals


@dataclass(frozen=True, slots=True)
class Standing:
    """A system on a leaderboard; systems that share a letter cannot be told apart."""

    name: str
    summary: Summary
    letters: str

    @property
    def seconds_per_unit(self) -> float | None:
        """The median time of units that were not replayed; None where no time was measured."""
        seconds = [
            unit.seconds
            for unit in self.summary.run.units
            if unit.seconds is not None and not unit.replayed
        ]
        return median(seconds) if seconds else None

    @property
    def cost(self) -> float | None:
        costs = [unit.cost for unit in self.summary.run.units if unit.cost is not None]
        return sum(costs) if costs else None


@dataclass(frozen=True, slots=True)
class Board:
    """The systems on the same data under the same rules, best first.

    `told_apart` holds the names of the pairs, the better first, whose difference is more than
    chance; `known` is false where there are too few clusters to tell any pair apart, corrected for
    the number of pairs. `enough` is how many it takes.
    """

    tool: str
    data: str
    standings: tuple[Standing, ...]
    told_apart: frozenset[tuple[str, str]]
    known: bool
    enough: int = FEWEST_FOR_VERDICT

    @property
    def group_names(self) -> tuple[str, ...]:
        """The names of groups, such as language, that have more than one value and an F1."""
        scores = [score for standing in self.standings for score in standing.summary.groups]
        values: dict[str, set[str]] = {}
        for score in scores:
            values.setdefault(score.name, set()).add(score.value)
        with_f1 = {score.name for score in scores if not score.too_small}
        return tuple(
            name for name, different in values.items() if len(different) > 1 and name in with_f1
        )

    def by_group(self, name: str) -> tuple[tuple[str, ...], list[tuple[float | None, ...]]]:
        """Tabulate F1 by the values of a group and their mean, a row per system.

        F1 is None where too few items are expected.
        """
        groups = [
            {score.value: score for score in standing.summary.groups if score.name == name}
            for standing in self.standings
        ]
        values = tuple(dict.fromkeys(value for known in groups for value in known))
        rows = [
            (
                *(
                    None
                    if value not in known or known[value].too_small
                    else known[value].interval.value
                    for value in values
                ),
                macro_f1(list(known.values())),
            )
            for known in groups
        ]
        return (*values, "mean"), rows


def leaderboards(timeline: Timeline) -> tuple[Board, ...]:
    """Rank the systems of a folder by F1, a board for each set of comparable runs."""
    newest: dict[str, dict[str, Run]] = {}
    for _, run in timeline.runs:  # newest last
        if scored_units(run):
            newest.setdefault(run.data_id, {})[run.system_id] = run
    names = timeline.data_names
    return tuple(
        rank(names[data], [summarise(run) for run in by_system.values()])
        for data, by_system in newest.items()
    )


def rank(data: str, summaries: Sequence[Summary], names: Sequence[str] | None = None) -> Board:
    """Rank comparable runs by F1 and find which of them differ by more than chance.

    p is corrected for all pairs by Holm's method. Runs without a score are left out.
    """
    runs = [summary.run for summary in summaries]
    named = zip(names or run_names(runs), summaries, strict=True)
    scored = [(name, summary) for name, summary in named if summary.intervals]
    scored.sort(key=lambda row: (-row[1].intervals["f1"].value, row[0]))
    pairs = {
        (first, second): paired_units(scored[second][1].run, scored[first][1].run)
        for first, second in combinations(range(len(scored)), 2)
    }
    tables = {pair: paired_tables(units) for pair, units in pairs.items() if units}
    differences = paired_intervals(list(tables.values()), Scoring("f1", runs[0].scoring.empty))
    # All n clusters agree by chance in 2 of 2**n cases, and Holm's first p counts once per pair.
    enough = max(FEWEST_FOR_VERDICT, math.ceil(1 + math.log2(max(len(differences), 1) / LEVEL)))
    known = any(difference.clusters >= enough for difference in differences)
    apart = {
        pair
        for pair, difference in zip(tables, differences, strict=True)
        if difference.known and difference.p_value <= LEVEL
    }
    letters = letters_of(len(scored), apart) if known else [""] * len(scored)
    return Board(
        tool=runs[0].tool,
        data=data,
        standings=tuple(
            Standing(*row, shared) for row, shared in zip(scored, letters, strict=True)
        ),
        told_apart=frozenset((scored[first][0], scored[second][0]) for first, second in apart),
        known=known,
        enough=enough,
    )


def letters_of(count: int, apart: set[tuple[int, int]]) -> list[str]:
    """Assign letters to systems such that two share one exactly if they cannot be told apart.

    `apart` holds the pairs that can be told apart, the smaller number first.

        letters_of(3, {(0, 2)})  # ["a", "ab", "b"]: the middle one is like both others
    """
    alike = [
        {other for other in range(count) if (min(one, other), max(one, other)) not in apart}
        for one in range(count)
    ]
    # Groups are made for pairs that share none yet: of all that are possible there may be
    # 3 ** (count / 3).
    together = [set[int]() for _ in range(count)]
    groups: list[set[int]] = []
    for first, second in combinations_with_replacement(range(count), 2):
        if second not in alike[first] or second in together[first]:
            continue
        group = {first, second}
        for known in (False, True):
            for other in range(count):
                if (other in together[first]) == known and group <= alike[other]:
                    group.add(other)
        for member in group:
            together[member] |= group
        groups.append(group)
    groups.sort(key=sorted)
    return [
        "".join(_letter(place) for place, group in enumerate(groups) if number in group)
        for number in range(count)
    ]


def _letter(place: int) -> str:
    number, letter = divmod(place, len(ascii_lowercase))
    return ascii_lowercase[letter] + (str(number) if number else "")
