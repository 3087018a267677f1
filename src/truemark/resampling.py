"""Sums over resampled or swapped groups, many at once and in bounded memory.

Few groups are drawn one by one. Of many, those with equal rows are drawn together, and where
even that leaves too many kinds, the five hundred furthest out are drawn exactly and all the
others, none of which stands out, together from the normal distribution that has their mean and
covariance. Mean and covariance of the sums are then those of drawing every group by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

ONE_BY_ONE = 5_000  # groups up to which each is drawn by itself
EXACT_KINDS = 500
_BITS = 64
_CELLS_AT_ONCE = 1_000_000
_DRAWN_AT_ONCE = 100_000  # cells that fit into the cache of a processor


def resampled_sums(rows: Ints, resamples: int, generator: np.random.Generator) -> Floats:
    """Per resample the column sums of as many rows as there are, drawn with replacement."""
    if len(rows) <= ONE_BY_ONE:
        return _drawn_one_by_one(rows, resamples, generator)
    kinds, sizes = _kinds(rows)
    outer, inner = _outermost_first(kinds, kinds - rows.mean(axis=0))
    shares = np.append(sizes[outer], sizes[inner].sum()) / len(rows)
    mean, root = _moments(kinds[inner], sizes[inner])
    parts = []
    for size in _portions(resamples, len(shares)):
        drawn = generator.multinomial(len(rows), shares, size)
        sums = drawn[:, :-1] @ kinds[outer].astype(np.float64)
        if len(inner):
            rest = drawn[:, -1:]
            noise = generator.standard_normal((size, rows.shape[1])) @ root
            sums += np.maximum(rest * mean + np.sqrt(rest) * noise, 0)
        parts.append(sums)
    return np.concatenate(parts)


def swapped_sums(differences: Ints, swaps: int, generator: np.random.Generator) -> Floats:
    """Per swap the column sums of the rows that a fair coin picks."""
    # A row picked is its mirror image left out, plus a constant: both are one kind.
    leading = np.take_along_axis(
        differences, np.argmax(differences != 0, axis=1)[:, np.newaxis], axis=1
    )
    mirrored = leading[:, 0] < 0
    constant = differences[mirrored].sum(axis=0)
    kinds, sizes = _kinds(np.where(mirrored[:, np.newaxis], -differences, differences))
    outer, inner = _outermost_first(kinds, kinds)
    half = sizes[inner] @ kinds[inner] / 2
    spread = kinds[inner] * np.sqrt(sizes[inner, np.newaxis]) / 2
    root = _root(spread.T @ spread)
    parts = []
    for size in _portions(swaps, len(outer) + int(sizes[outer].sum()) // _BITS):
        sums = _picked(sizes[outer], size, generator) @ kinds[outer].astype(np.float64)
        noise = generator.standard_normal((size, differences.shape[1])) @ root
        parts.append(sums + (half + noise if len(inner) else 0) + constant)
    return np.concatenate(parts)


def _kinds(rows: Ints) -> tuple[Ints, Ints]:
    """The distinct rows in ascending order, and how often each occurs."""
    lowest = rows.min(axis=0)
    spans = [int(span) for span in rows.max(axis=0) - lowest + 1]
    if prod(spans) >= 2**62:
        kinds, sizes = np.unique(rows, axis=0, return_counts=True)
        return kinds, sizes
    # One number per row sorts many times faster than rows do.
    keys = np.zeros(len(rows), dtype=np.int64)
    for column, span in zip((rows - lowest).T, spans, strict=True):
        keys = keys * span + column
    _, first, sizes = np.unique(keys, return_index=True, return_counts=True)
    return rows[first], sizes


def _drawn_one_by_one(rows: Ints, resamples: int, generator: np.random.Generator) -> Floats:
    numbers, fields = _side_by_side(rows)
    drawn = np.empty((resamples, rows.shape[1]))
    done = 0
    for size in _portions(resamples, len(rows), _DRAWN_AT_ONCE):
        chosen = generator.integers(0, len(rows), (size, len(rows)), dtype=np.int64)
        sums = [each.take(chosen).sum(axis=1) for each in numbers]
        for column, (which, shift, mask) in enumerate(fields):
            drawn[done : done + size, column] = sums[which] >> shift & mask
        done += size
    return drawn


def _side_by_side(rows: Ints) -> tuple[Ints, list[tuple[int, int, int]]]:
    """Columns as parts of the same numbers, so that one sum adds up several of them.

    Of each column the number that it is in, where it begins there, and a mask of its sum's bits.
    """
    fields: list[tuple[int, int, int]] = []
    which, used = -1, _BITS
    for most in rows.max(axis=0).tolist():
        width = (most * len(rows)).bit_length()
        if used + width >= _BITS:
            which, used = which + 1, 0
        fields.append((which, used, (1 << width) - 1))
        used += width
    numbers = np.zeros((which + 1, len(rows)), dtype=np.int64)
    for column, (number, shift, _) in zip(rows.T, fields, strict=True):
        numbers[number] += column << shift
    return numbers, fields


def _picked(sizes: Ints, draws: int, generator: np.random.Generator) -> Floats:
    """Per draw how many of each kind a fair coin picks: the bits set in as many random ones."""
    words = -(-sizes // _BITS)
    ends = np.cumsum(words)
    drawn = generator.integers(0, 2**_BITS, (draws, int(words.sum())), dtype=np.uint64)
    spare = (words * _BITS - sizes).astype(np.uint64)
    drawn[:, ends - 1] >>= spare
    counts = np.bitwise_count(drawn)
    if len(words) < drawn.shape[1]:
        counts = np.add.reduceat(counts, ends - words, axis=1, dtype=np.int64)
    return counts.astype(np.float64)


def _outermost_first(kinds: Ints, centred: Floats | Ints) -> tuple[Ints, Ints]:
    """The kinds to draw exactly, and the others."""
    if len(kinds) <= EXACT_KINDS:
        return np.arange(len(kinds)), np.arange(0)
    scaled = centred / np.maximum(np.abs(centred).mean(axis=0), 1e-300)
    order = np.argsort(-(scaled**2).sum(axis=1), kind="stable")
    return order[:EXACT_KINDS], order[EXACT_KINDS:]


def _moments(kinds: Ints, sizes: Ints) -> tuple[Floats, Floats]:
    """The mean of one draw among these kinds, and a root of its covariance."""
    if not len(kinds):
        return np.zeros(kinds.shape[1]), np.zeros((kinds.shape[1],) * 2)
    shares = sizes / sizes.sum()
    mean = shares @ kinds
    spread = (kinds - mean) * np.sqrt(shares)[:, np.newaxis]
    return mean, _root(spread.T @ spread)


def _root(covariance: Floats) -> Floats:
    values, vectors = np.linalg.eigh(covariance)
    root: Floats = (vectors * np.sqrt(np.maximum(values, 0))).T
    return root


def _portions(draws: int, width: int, cells: int = _CELLS_AT_ONCE) -> Iterator[int]:
    """Sizes that add up to `draws`, each small enough to hold its table of draws in memory."""
    portion = max(1, cells // max(1, width))
    while draws > 0:
        yield min(portion, draws)
        draws -= portion
