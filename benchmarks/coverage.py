"""Measure how often intervals contain the truth, tests err, and the stated power is right.

Data sets are drawn from worlds whose truth is known. `python -m benchmarks.coverage` prints the
tables of docs/comparing.md in a few minutes; `tests/truemark/test_coverage.py` checks parts of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from truemark.power import concentrated_share, power_of
from truemark.resampling import flipped_sums
from truemark.tables import Table, render
from truemark.uncertainty import (
    ALL_MEASURES,
    FLIPS,
    LEVEL,
    Measure,
    Scoring,
    contributions,
    flip_p_values,
    paired_intervals,
    score_ends,
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Shape = tuple[int, int]

CLUSTERS = (6, 10, 20, 70, 300)
SETS = 2_000  # data sets per figure
SEED = 5
REPEATS = 5
_TRUTH_SETS = 2_000
_AT_ONCE = 250


def talks(generator: np.random.Generator, shape: Shape) -> Ints:
    """Draw about a hundred items per cluster, some with many more than others."""
    return 5 + generator.negative_binomial(3, 3 / 98, shape)


def samples(generator: np.random.Generator, shape: Shape) -> Ints:
    return generator.poisson(2, shape)


def sections(generator: np.random.Generator, shape: Shape) -> Ints:
    return generator.poisson(8, shape)


def few_events(generator: np.random.Generator, shape: Shape) -> Ints:
    """Draw sizes of clusters of which two in three are empty."""
    return generator.poisson(0.4, shape)


def one_large(generator: np.random.Generator, shape: Shape) -> Ints:
    """Draw sizes with one cluster as large as all others together."""
    sizes = talks(generator, shape)
    sizes[:, 0] = sizes[:, 1:].sum(axis=1)
    return sizes


@dataclass(frozen=True, slots=True)
class World:
    """The distribution of clusters: how many items each has, and how well two systems do on them.

    Talks differ by `talk_effect` for both systems alike and by `interaction` for each system, both
    on the logit scale, separately for precision and recall. The second system may fail completely
    on a share of the clusters, or differ from the first in a share only; `handicap`, also on the
    logit scale, makes both equally good, or unequal if wanted, in a share of the clusters or in
    all.
    """

    name: str
    sizes: Callable[[np.random.Generator, Shape], Ints] = talks
    precision: tuple[float, float] = (0.93, 0.93)
    recall: tuple[float, float] = (0.93, 0.93)
    talk_effect: float = 0.7
    interaction: float = 0.0
    failing: float = 0.0
    differing: float = 1.0
    handicap: float = 0.0
    handicapped: float = 1.0
    repeats: int = 1

    def draw(self, generator: np.random.Generator, shape: Shape) -> Ints:
        """Draw sets of clusters: tp, fp, fn, units without and with a mistake, of both systems."""
        sizes = self.sizes(generator, shape)
        easy = generator.normal(0, self.talk_effect, (2, *shape))
        moved = generator.random(shape) < self.handicapped
        first = self._system(generator, sizes, easy, 0)
        second = self._system(generator, sizes, easy + self.handicap * moved, 1)
        fails = generator.random(shape) < self.failing
        nothing = np.stack((0 * sizes, 0 * sizes, self.repeats * sizes), axis=-1)
        second[..., :3] = np.where(fails[..., np.newaxis], nothing, second[..., :3])
        differs = generator.random(shape) < self.differing
        second = np.where(differs[..., np.newaxis], second, first)
        return np.concatenate((first, second), axis=-1)

    def _system(
        self, generator: np.random.Generator, sizes: Ints, easy: Floats, which: int
    ) -> Ints:
        moved = easy + generator.normal(0, self.interaction, easy.shape)
        precision = _logistic(_logit(self.precision[which]) + moved[0])
        recall = _logistic(_logit(self.recall[which]) + moved[1])
        shape = (self.repeats, *sizes.shape)
        tp = generator.binomial(sizes, recall, shape)
        fp = generator.poisson(sizes * (1 - precision), shape)
        mistaken = fp + sizes - tp > 0
        parts = (tp, fp, sizes - tp, ~mistaken, mistaken)
        return np.stack([part.sum(axis=0) for part in parts], axis=-1)

    def truth(self, measure: Measure) -> tuple[float, float]:
        """Return the true scores of both systems."""
        if measure == "clean":
            whole = self.draw(np.random.default_rng(1), (_TRUTH_SETS, CLUSTERS[-1])).sum(
                axis=(0, 1)
            )
            return float(whole[3] / whole[3:5].sum()), float(whole[8] / whole[8:].sum())
        first, second = self._expected(0, 0.0), self._expected(1, self.handicap)
        second = self.handicapped * second + (1 - self.handicapped) * self._expected(1, 0.0)
        done = 1 - self.failing
        second = np.array((done * second[0], done * second[1], 1 - done * second[0]))
        second = self.differing * second + (1 - self.differing) * first
        scoring = Scoring(measure, empty=0.0)
        return float(scoring.of_rows(first)), float(scoring.of_rows(second))

    def _expected(self, which: int, handicap: float) -> Floats:
        """Return the expected true positives, false positives and false negatives per item."""
        points, weights = np.polynomial.hermite_e.hermegauss(60)
        moved = points * np.hypot(self.talk_effect, self.interaction) + handicap
        weights = weights / weights.sum()
        precision = weights @ _logistic(_logit(self.precision[which]) + moved)
        recall = weights @ _logistic(_logit(self.recall[which]) + moved)
        return np.array((recall, 1 - precision, 1 - recall))

    def with_difference(self, difference: float) -> World:
        """Return the world in which the second system's F1 is higher by this difference."""
        low, high = -12.0, 8.0
        for _ in range(40):
            moved = replace(self, handicap=(low + high) / 2)
            first, second = moved.truth("f1")
            too_low = second - first < difference
            low, high = (moved.handicap, high) if too_low else (low, moved.handicap)
        return moved


def _logit(share: float) -> float:
    return float(np.log(share / (1 - share)))


def _logistic(value: Floats) -> Floats:
    shares: Floats = 1 / (1 + np.exp(-value))
    return shares


F1 = Scoring("f1", empty=0.0)
GOOD, FAIR = (0.99, 0.99), (0.85, 0.85)
TALKS = World("talk effects")
INTERACTION = World("model × talk interaction", interaction=0.4)
SHORT = World("short samples", samples, FAIR, FAIR)
RARE = World("rare events", few_events, FAIR, FAIR)
NEAR_PERFECT = World("near-perfect talks", precision=GOOD, recall=GOOD)
NEAR_PERFECT_SHORT = World("near-perfect short samples", samples, GOOD, GOOD)
LARGE = World("one cluster of half the data", one_large)
TRADED = World("precision traded for recall", talks, (0.98, 0.86), (0.86, 0.98), interaction=0.2)
TRADED_SHORT = World("the same, short samples", samples, (0.95, 0.7), (0.7, 0.95))
FAILING = World("a failing tenth, long talks", failing=0.1)
FAILING_SECTIONS = World("a failing tenth, sections of 8", sections, FAIR, FAIR, failing=0.1)
FAILING_SHORT = World("a failing tenth, short samples", samples, FAIR, FAIR, failing=0.1)
SPARSE = World("sparse differences", samples, FAIR, FAIR, differing=0.2)
REPEATED = World("five repeats", samples, FAIR, FAIR, talk_effect=1.5, repeats=REPEATS)
UNEQUAL = (TRADED, TRADED_SHORT, FAILING, FAILING_SECTIONS, FAILING_SHORT)
ALONE = (TALKS, SHORT, RARE, NEAR_PERFECT, NEAR_PERFECT_SHORT, LARGE, REPEATED)
PAIRED = (TALKS, INTERACTION, *ALONE[1:], *UNEQUAL, SPARSE)


def coverage(world: World, clusters: int, measures: Sequence[Measure]) -> list[float]:
    """Return for each measure the share of data sets whose interval contains the true score."""
    data = world.draw(np.random.default_rng(SEED), (SETS, clusters))[..., :5]
    shares = []
    for measure in measures:
        truth, _ = world.truth(measure)
        _, low, high = score_ends(data, Scoring(measure, empty=0.0))
        shares.append(float(((low <= truth) & (truth <= high)).mean()))
    return shares


def false_alarms(world: World, clusters: int) -> tuple[float, float]:
    """Return how often equal systems are called different, and how many clusters differ."""
    equal = world.with_difference(0.0) if world in UNEQUAL else world
    generator = np.random.default_rng(SEED)
    alarms, differing = [], []
    for _ in range(0, SETS, _AT_ONCE):
        data = equal.draw(generator, (_AT_ONCE, clusters))
        added, _, _ = contributions(data, F1)
        length = np.sqrt((added**2).sum(axis=1, keepdims=True))
        added = (added / np.maximum(length, 1e-300)).T
        sums = flipped_sums(np.concatenate((added, added**3), axis=1), FLIPS, generator)
        alarms.append(flip_p_values(sums[:, :_AT_ONCE], sums[:, _AT_ONCE:]) <= LEVEL)
        differing.append((added != 0).sum(axis=0))
    return float(np.mean(alarms)), float(np.mean(differing))


def power(world: World, clusters: int, sets: int) -> tuple[float, list[float]]:
    """Return the loss that is stated to be detected in 80 of 100 cases, and how often it is.

    The loss is spread over all clusters, then concentrated in a tenth of them, at least six. The
    stated loss varies with the data set, so the median of twenty is used.
    """
    generator = np.random.default_rng(SEED)
    losses = []
    for data in world.draw(generator, (20, clusters)):
        estimate = power_of(data[:, :5], data[:, 5:], F1)
        losses.append(estimate.smallest_difference if estimate else np.inf)
    loss = float(np.median(losses))
    shares = []
    for share in (1.0, concentrated_share(clusters, loss)) if np.isfinite(loss) else ():
        worse = replace(world, handicapped=share).with_difference(-loss)
        pairs = worse.draw(generator, (sets, clusters))
        detected = [
            paired_intervals([(data[:, 5:], data[:, :5])], F1)[0].high < 0 for data in pairs
        ]
        shares.append(sum(detected) / sets)
    return loss, shares


def interval_table(worlds: Sequence[World] = ALONE, counts: Sequence[int] = CLUSTERS) -> Table:
    """Make the table of the shares of intervals that contain the truth."""
    rows = [
        (world.name, clusters, *coverage(world, clusters, ALL_MEASURES))
        for world in worlds
        for clusters in counts
    ]
    columns = ("World", "Clusters", "F1", "Precision", "Recall", "Clean")
    return Table(columns, tuple(rows), (None, None, *(".1%",) * 4))


def alarm_table(worlds: Sequence[World] = PAIRED, counts: Sequence[int] = CLUSTERS) -> Table:
    """Make the table of the shares of equal systems that are called different."""
    rows = [
        (world.name, clusters, *reversed(false_alarms(world, clusters)))
        for world in worlds
        for clusters in counts
    ]
    columns = ("World", "Clusters", "Clusters that differ", "Test errs")
    return Table(columns, tuple(rows), (None, None, ".0f", ".1%"))


def power_table() -> Table:
    """Make the table of losses stated to be detected in 80 of 100 cases, and how often they are."""
    rows = []
    for world in (TALKS, INTERACTION, NEAR_PERFECT, SHORT):
        for clusters in (24, 70, 150):
            loss, seen = power(world, clusters, SETS // 4)
            shown = (loss, *seen) if seen else (None, None, None)
            rows.append((world.name, clusters, *shown))
    columns = ("World", "Clusters", "Loss said to be seen", "Seen if spread", "Seen if in few")
    return Table(columns, tuple(rows), (None, None, ".3f", ".0%", ".0%"))


def main() -> None:
    for table in (interval_table, alarm_table, power_table):
        print(render(table(), "markdown"), flush=True)


if __name__ == "__main__":
    main()
