"""Measures from the segmentation literature other than precision, recall and F1.

Each measure is a pair of functions: one counts the components of a text, which can be added up, the
other turns their sum into a value, None where it would divide by 0. Boundaries are counted in units
of the text, such as words: boundary 3 lies after the third unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from truemark.counts import Counts, scores


def whole_segments(pairs: Iterable[tuple[int, int]], predicted: int, expected: int) -> Counts:
    """Count the segments whose ends are both right.

    `pairs` are the indices of matched boundaries among `predicted` and `expected` ones. Each
    boundary ends a segment that begins at the boundary before it.

    >>> whole_segments([(0, 0), (1, 2), (2, 3)], predicted=3, expected=4)
    Counts(tp=2, fp=1, fn=2)
    """
    matched = set(pairs) | {(-1, -1)}
    whole = sum((first - 1, second - 1) in matched for first, second in matched if first >= 0)
    return Counts.of(matched=whole, predicted=predicted, expected=expected)


def segment_f1(counts: Counts) -> float | None:
    return scores(counts, empty=0.0).f1 if counts.predicted + counts.expected else None


def su_error_rate(counts: Counts) -> float | None:
    """Return the NIST error rate: misses and false alarms per expected boundary; can exceed 1.

    >>> su_error_rate(Counts(8, 1, 2))
    0.3
    """
    return (counts.fp + counts.fn) / counts.expected if counts.expected else None


def window_errors(predicted: Sequence[int], expected: Sequence[int], length: int) -> Counter[str]:
    """Count the `windows` of a text, half as long as the mean expected segment, and wrong ones.

    In a `crossed` window only one side has a boundary, in an `unequal` one their numbers differ.
    """
    size = max(1, round(length / (2 * len(expected)))) if expected else length
    size = min(size, length)
    if size < 1:
        return Counter()
    columns = []
    for boundaries in (predicted, expected):
        present = np.zeros(length + 1, dtype=np.int64)
        present[list(boundaries)] = 1
        before = np.cumsum(present)  # the number of boundaries up to each unit
        columns.append(before[size:] - before[: length - size + 1])
    ours, theirs = columns
    crossed, unequal = ((ours > 0) != (theirs > 0)).sum(), (ours != theirs).sum()
    return Counter(windows=len(ours), crossed=int(crossed), unequal=int(unequal))


def pk(errors: Counter[str]) -> float | None:
    """Return the share of crossed windows (Beeferman and others 1999)."""
    return errors["crossed"] / errors["windows"] if errors["windows"] else None


def window_diff(errors: Counter[str]) -> float | None:
    """Return the share of unequal windows (Pevzner and Hearst 2002)."""
    return errors["unequal"] / errors["windows"] if errors["windows"] else None


def boundary_edits(predicted: Iterable[int], expected: Iterable[int]) -> Counter[str]:
    """Count the edits of Fournier's boundary edit distance (2013), one boundary type, n = 2.

    A boundary is `added` or deleted, `moved` by one unit, or `equal`.
    """
    ours, theirs = set(predicted), set(expected)
    different = ours ^ theirs
    moved: set[int] = set()
    transpositions = 0
    for place in sorted(different):
        following = place + 1
        if place in moved or following not in different:
            continue
        if (place in ours) != (following in ours):
            moved |= {place, following}
            transpositions += 1
    added = len(different) - len(moved)
    return Counter(added=added, moved=transpositions, equal=len(ours & theirs))


def boundary_similarity(edits: Counter[str]) -> float | None:
    """Return Fournier's B: 1 if all boundaries are equal; a moved one costs half of a missing one.

    >>> boundary_similarity(Counter(added=1, moved=1, equal=2))
    0.625
    """
    whole = edits["added"] + edits["moved"] + edits["equal"]
    return 1 - (edits["added"] + edits["moved"] / 2) / whole if whole else None


def mean_f1(counts: Iterable[Counts]) -> float | None:
    """Average the F1 of the texts, so that short ones count as much as long ones.

    A text without any expected or predicted boundary has no F1 and is left out.

    >>> mean_f1([Counts(3, 0, 0), Counts(1, 1, 1), Counts(0, 0, 0)])
    0.75
    """
    values = [scores(text, empty=0.0).f1 for text in counts if text.predicted + text.expected]
    return sum(values) / len(values) if values else None
