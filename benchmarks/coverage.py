"""How often 95% intervals hold the truth and how often a test errs; prints a markdown table.

`python -m benchmarks.coverage` takes about two minutes. `tests/truemark/test_coverage.py` checks
the same with fewer resamples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from truemark.tables import Table, render
from truemark.uncertainty import Draws, Scoring, intervals_of, paired_interval, paired_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

F1 = Scoring("f1", empty=0.0)
CLUSTERS = (20, 70, 500)
SEED = 5
_TRUTH_FROM = 2_000_000


@dataclass(frozen=True, slots=True)
class World:
    """Where clusters come from: how many items each has, and how well it is done."""

    name: str
    sizes: Callable[[np.random.Generator, int], Ints]
    precision: tuple[float, float]  # of a beta distribution over clusters
    recall: tuple[float, float]

    def rates(self, generator: np.random.Generator, count: int) -> tuple[Ints, Floats, Floats]:
        """Per cluster its size, its precision and its recall."""
        return (
            self.sizes(generator, count),
            generator.beta(*self.precision, count),
            generator.beta(*self.recall, count),
        )

    def draw(self, generator: np.random.Generator, count: int) -> Ints:
        """So many clusters: rows of tp, fp, fn."""
        return marked(generator, *self.rates(generator, count))

    def pair(self, generator: np.random.Generator, count: int) -> tuple[Ints, Ints]:
        """The same clusters done twice, equally well but for chance."""
        rates = self.rates(generator, count)
        return marked(generator, *rates), marked(generator, *rates)


def marked(generator: np.random.Generator, sizes: Ints, precision: Floats, recall: Floats) -> Ints:
    tp = generator.binomial(sizes, recall)
    fp = generator.poisson(sizes * (1 - precision))
    return np.stack((tp, fp, sizes - tp), axis=1)


LONG = World("long texts", lambda g, n: 5 + g.negative_binomial(3, 3 / 103, n), (18, 2), (18, 3))
SHORT = World("short samples", lambda g, n: g.poisson(1.5, n), (4, 1), (4, 1.5))
GOOD = World("short samples, few mistakes", lambda g, n: g.poisson(2, n), (12, 1), (12, 1))


def coverage(world: World, clusters: int, *, draws: int, resamples: int) -> float:
    """The share of simulated data sets whose interval holds the true F1."""
    generator = np.random.default_rng(SEED)
    truth = float(F1.of_rows(world.draw(generator, _TRUTH_FROM).sum(axis=0)))
    held = 0
    for number in range(draws):
        rows = world.draw(generator, clusters)
        (interval,) = intervals_of(rows, (F1,), Draws(resamples=resamples, seed=number))
        held += interval.low <= truth <= interval.high
    return held / draws


def paired_coverage(world: World, clusters: int, *, draws: int, resamples: int) -> float:
    """The share of equal pairs of systems whose interval of the difference holds 0."""
    generator = np.random.default_rng(SEED)
    held = 0
    for number in range(draws):
        pair = world.pair(generator, clusters)
        interval = paired_interval(*pair, F1, Draws(resamples=resamples, seed=number))
        held += interval.low <= 0 <= interval.high
    return held / draws


def false_alarms(world: World, clusters: int, *, draws: int, resamples: int) -> float:
    """The share of equal pairs of systems that the test calls different at 5%."""
    generator = np.random.default_rng(SEED)
    alarms = 0
    for number in range(draws):
        pair = world.pair(generator, clusters)
        test = paired_test(*pair, F1, Draws(resamples=resamples, seed=number))
        alarms += test.p_value <= 0.05
    return alarms / draws


def main() -> None:
    rows = [
        (
            world.name,
            clusters,
            *(
                measure(world, clusters, draws=2_000, resamples=999)
                for measure in (coverage, paired_coverage, false_alarms)
            ),
        )
        for world in (LONG, SHORT, GOOD)
        for clusters in CLUSTERS
    ]
    columns = ("Data", "Clusters", "Interval holds", "Difference holds", "Test errs")
    print(render(Table(columns, tuple(rows), (None, None, ".1%", ".1%", ".1%")), "markdown"))


if __name__ == "__main__":
    main()
