"""Sums of rows under random signs: how large a difference can be by chance alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FLIPPED = 1_000  # rows that get a sign each; of more rows, those furthest from zero
_AT_ONCE = 1_000


def flipped_sums(columns: Floats, flips: int, generator: np.random.Generator) -> Floats:
    """Sum each column under `flips` random choices of signs for the rows; the first is all plus.

    If there are at most `flips` choices, opposites counted once, each is taken once. Beyond a
    thousand rows, the sum of the smallest ones is drawn from the normal distribution that has the
    same covariance.
    """
    if 2 ** (min(len(columns), 64) - 1) <= flips:
        return _all_signs(len(columns)) @ columns
    size = np.sqrt((columns**2).mean(axis=0))
    scaled = columns / np.where(size > 0, size, 1.0)
    order = np.argsort(-(scaled**2).sum(axis=1), kind="stable")
    outer, inner = scaled[order[:FLIPPED]], scaled[order[FLIPPED:]]
    sums = [scaled.sum(axis=0, keepdims=True)]
    for done in range(1, flips, _AT_ONCE):
        shape = (min(_AT_ONCE, flips - done), len(outer))
        signs = 2.0 * generator.integers(0, 2, shape, dtype=np.int8) - 1.0
        sums.append(signs @ outer)
        if len(inner):
            sums[-1] += generator.multivariate_normal(
                np.zeros(columns.shape[1]), inner.T @ inner, shape[0], "ignore", method="eigh"
            )
    total: Floats = np.concatenate(sums) * size
    return total


def _all_signs(count: int) -> Floats:
    """Return all choices of signs for `count` rows; the first row is always plus."""
    choices = np.arange(2 ** (count - 1))[:, np.newaxis]
    return 1 - 2 * (choices >> np.arange(count) & 1)[:, ::-1].astype(np.float64)
