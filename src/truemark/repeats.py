"""What asking several times shows: how much of the spread lies between repeats of one unit."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, pvariance

from truemark.records import Run, Unit
from truemark.uncertainty import Scoring, Share, wilson


@dataclass(frozen=True, slots=True)
class Repeats:
    """Units that were asked equally often, and how alike their repeats are.

    A unit is right in a repeat when it has no mistake there; one that failed is not. Variances
    are of F1: of the units' means, and of the repeats around them.
    """

    repeats: int
    right_in_all: Share
    right_in_any: Share
    flipping: tuple[str, ...]
    variance_between_units: float
    variance_between_repeats: float


def repeats_of(run: Run) -> Repeats | None:
    """The repeats of a run; None where no unit has more than one."""
    by_id: dict[str, list[Unit]] = {}
    for unit in run.units:
        by_id.setdefault(unit.id, []).append(unit)
    most = max(map(len, by_id.values()), default=0)
    if most < 2:
        return None
    whole = {name: own for name, own in by_id.items() if len(own) == most}
    right = {name: [_right(unit) for unit in own] for name, own in whole.items()}
    f1 = Scoring("f1", run.scoring.empty, run.scoring.weights)
    scores = [[f1(unit.counts) for unit in own if unit.failed is None] for own in whole.values()]
    scored = [own for own in scores if own]
    in_all = wilson(sum(map(all, right.values())), len(right))
    in_any = wilson(sum(map(any, right.values())), len(right))
    assert in_all is not None
    assert in_any is not None
    return Repeats(
        repeats=most,
        right_in_all=in_all,
        right_in_any=in_any,
        flipping=tuple(name for name, own in right.items() if any(own) and not all(own)),
        variance_between_units=pvariance(map(fmean, scored)) if scored else 0.0,
        variance_between_repeats=fmean(map(pvariance, scored)) if scored else 0.0,
    )


def _right(unit: Unit) -> bool:
    return unit.failed is None and not unit.fp and not unit.fn
