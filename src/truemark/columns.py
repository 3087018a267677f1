"""Scores of many counts at once: columns of tp, fp, fn to columns of ratios.

The same arithmetic as `counts.scores`, operation by operation, so that both give equal floats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from truemark.counts import EQUAL_WEIGHTS, Weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    CountColumn = NDArray[np.int64] | NDArray[np.float64]


def score_columns(
    tp: CountColumn,
    fp: CountColumn,
    fn: CountColumn,
    *,
    empty: float,
    weights: Weights = EQUAL_WEIGHTS,
) -> dict[str, Column]:
    """Columns `precision`, `recall`, `f1` and `weighted`; a ratio of 0 to 0 is `empty`."""
    import numpy as np

    tp = np.asarray(tp, dtype=np.float64)
    predicted, expected = tp + fp, tp + fn
    precision = _ratio(tp, predicted, empty)
    recall = _ratio(tp, expected, empty)
    harmonic = _ratio(2 * precision * recall, precision + recall, 0.0)
    f1 = np.where(tp > 0, _ratio(2 * tp, predicted + expected, 0.0), harmonic)
    total = weights.precision + weights.recall
    weighted = weights.precision * precision + weights.recall * recall
    weighted = weighted / total if total else np.zeros_like(weighted)
    return {"precision": precision, "recall": recall, "f1": f1, "weighted": weighted}


def _ratio(part: Column, whole: Column, empty: float) -> Column:
    import numpy as np

    result: Column = np.divide(part, whole, out=np.full_like(part, empty), where=whole != 0)
    return result


def best_row(
    tp: CountColumn,
    fp: CountColumn,
    fn: CountColumn,
    *,
    empty: float,
    weights: Weights = EQUAL_WEIGHTS,
) -> int:
    """The row of highest weighted score; ties go to the higher F1, then to the first row."""
    import numpy as np

    ratios = score_columns(tp, fp, fn, empty=empty, weights=weights)
    highest = np.flatnonzero(ratios["weighted"] == ratios["weighted"].max())
    return int(highest[np.argmax(ratios["f1"][highest])])
