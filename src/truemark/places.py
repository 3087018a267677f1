"""Mark the positions of a text at one threshold, and count them at several tolerances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

from truemark.counts import Counts, total
from truemark.matching import ScoredPositions, match_positions, nearest_pairs
from truemark.records import CurveColumns, Mark

Group = tuple[ScoredPositions, Sequence[int]]
"""The predictions for a text, and the expected positions."""

_DIGITS = 7  # as many as probabilities in single precision have


def over_tolerances(
    groups: Sequence[Group], threshold: float, tolerances: Iterable[int]
) -> CurveColumns:
    """Sum the counts of all groups at each tolerance, in ascending order of it."""
    levels = sorted(set(tolerances))
    sums = [total(_counts(group, threshold, level) for group in groups) for level in levels]
    return CurveColumns(
        tuple(map(float, levels)),
        tuple(counts.tp for counts in sums),
        tuple(counts.fp for counts in sums),
        tuple(counts.fn for counts in sums),
    )


def _counts(group: Group, threshold: float, tolerance: int) -> Counts:
    scored, expected = group
    predicted = scored.above(threshold)
    matched = len(match_positions(predicted, expected, tolerance))
    return Counts.of(matched=matched, predicted=len(predicted), expected=len(expected))


def position_marks(
    group: Group, threshold: float, tolerance: int, least: float
) -> tuple[Mark, ...]:
    """Mark the found, invented and missed positions of a text, and candidates.

    Candidates are positions with a score above `least` that the threshold leaves out. An infinite
    score, which is always predicted, has no probability.
    """
    scored, expected = group
    shown = scored.scores > min(least, threshold)
    positions, scores = scored.positions[shown].tolist(), scored.scores[shown].tolist()
    predicted = [number for number, score in enumerate(scores) if score > threshold]
    pairs = dict(nearest_pairs([positions[n] for n in predicted], expected, tolerance))
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
