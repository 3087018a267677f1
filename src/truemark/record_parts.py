"""Parts of a run record made from what a benchmark has at hand."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import isfinite

from truemark.counts import EQUAL_WEIGHTS, Counts, total
from truemark.matching import match_positions
from truemark.records import CurveColumns, HeldOut, Mark, ScoringRules
from truemark.sweep import Curve, Group, SweepTable, leave_one_out

CURVE_POINTS = 2_000
_DIGITS = 7  # as many as probabilities in single precision have


def curve_columns(curve: Curve, rules: ScoringRules, points: int = CURVE_POINTS) -> CurveColumns:
    """The curve with at most `points` points; its best ones and the thresholds in force stay."""
    import numpy as np

    columns = (curve.matched, curve.predicted - curve.matched, curve.expected - curve.matched)
    kept = {0, len(curve) - 1}
    for weights in (rules.weights, EQUAL_WEIGHTS):
        kept.add(curve.best(weights, empty=rules.empty))
    for level in (rules.threshold, rules.own_threshold):
        if level is not None:
            kept.add(max(0, int(np.searchsorted(curve.thresholds, level, side="right")) - 1))
    places = sorted(kept)
    if points > len(kept):
        room = min(points - len(kept), len(curve))
        spread = np.linspace(0, len(curve) - 1, room).round().astype(np.int64)
        places = np.union1d(places, spread).tolist()
    tp, fp, fn = (tuple(column[places].tolist()) for column in columns)
    return CurveColumns(tuple(curve.thresholds[places].tolist()), tp, fp, fn)


def held_out_of(table: SweepTable, rules: ScoringRules) -> HeldOut | None:
    """The counts when each group is scored at the threshold that is best for all the others."""
    if len(table) < 2:
        return None
    chosen = leave_one_out(table, rules.weights, empty=rules.empty)
    counts = total(point.counts for point in chosen)
    return HeldOut(counts.tp, counts.fp, counts.fn, "leave one out")


def over_tolerances(
    groups: Sequence[Group], threshold: float, tolerances: Sequence[int]
) -> CurveColumns:
    """The counts summed over all groups at each tolerance, in ascending order of it."""
    levels = sorted(set(tolerances))
    rows = [total(_counts_at(group, threshold, level) for group in groups) for level in levels]
    return CurveColumns(
        tuple(map(float, levels)),
        tuple(one.tp for one in rows),
        tuple(one.fp for one in rows),
        tuple(one.fn for one in rows),
    )


def _counts_at(group: Group, threshold: float, tolerance: int) -> Counts:
    scored, expected = group
    predicted = scored.above(threshold)
    matched = len(match_positions(predicted, expected, tolerance))
    return Counts.of(matched=matched, predicted=len(predicted), expected=len(expected))


def position_blocks(
    predicted: Sequence[int], expected: Sequence[int], tolerance: int, truths_per_block: int = 10
) -> tuple[tuple[int, int, int], ...]:
    """The counts (tp, fp, fn) of parts of a unit that hold so many truths each.

    Parts are cut by the truth alone, so that two systems have the same ones: a truth counts in
    its part, and a prediction without one in the part in which it lies.
    """
    truths = sorted(expected)
    ends = truths[truths_per_block - 1 :: truths_per_block]
    if ends and ends[-1] == truths[-1]:
        ends.pop()
    guesses = sorted(predicted)
    pairs = match_positions(guesses, truths, tolerance)
    blocks = [[0, 0, 0] for _ in range(len(ends) + 1)]
    found, used = {column for _, column in pairs}, {row for row, _ in pairs}
    for number, position in enumerate(truths):
        blocks[bisect_left(ends, position)][0 if number in found else 2] += 1
    for number, position in enumerate(guesses):
        if number not in used:
            blocks[bisect_left(ends, position)][1] += 1
    return tuple((tp, fp, fn) for tp, fp, fn in blocks)


def position_marks(
    group: Group, threshold: float, tolerance: int, least: float
) -> tuple[Mark, ...]:
    """What lies where in a unit's text: found, invented and missed positions, and candidates.

    Candidates are the positions with a score above `least` that the threshold leaves out; a
    score of infinity, which is always predicted, has no probability.
    """
    scored, expected = group
    shown = scored.scores > min(least, threshold)
    positions, scores = scored.positions[shown].tolist(), scored.scores[shown].tolist()
    predicted = [number for number, score in enumerate(scores) if score > threshold]
    pairs = dict(match_positions([positions[n] for n in predicted], expected, tolerance))
    truths = {predicted[row]: expected[column] for row, column in pairs.items()}
    marks = []
    for number, (position, score) in enumerate(zip(positions, scores, strict=True)):
        truth = truths.get(number)
        if score > threshold:
            role = "invented" if truth is None else "found"
        elif score > least:
            role = "candidate"
        else:
            continue
        probability = round(score, _DIGITS) if isfinite(score) else None
        elsewhere = truth if truth != position else None
        marks.append(Mark(position, position, role, probability, elsewhere))
    missed = set(range(len(expected))) - set(pairs.values())
    marks += [Mark(expected[n], expected[n], "missed") for n in missed]
    return tuple(sorted(marks, key=lambda mark: (mark.start, mark.role)))
