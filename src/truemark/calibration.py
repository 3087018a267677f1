"""Calibration of stated probabilities: accuracy per bin, Brier score, calibration error."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truemark.records import Reliability, ReliabilityRow
from truemark.uncertainty import Share, clustered_share


def expected_calibration_error(
    probabilities: ArrayLike, outcomes: ArrayLike, bins: int = 15
) -> float:
    """Average the distance between probability and accuracy of a bin, weighted by its count."""
    claimed, right = _checked(probabilities, outcomes)
    if not len(claimed):
        raise ValueError("probabilities must not be empty, got none")
    gaps = (abs(stated - correct) for _, correct, stated in _bins(claimed, right, bins))
    return sum(gaps) / len(claimed)


def _bins(
    claimed: NDArray[np.float64], right: NDArray[np.bool_], bins: int
) -> list[tuple[int, int, float]]:
    """Return for each bin the number of predictions, of right ones, and the summed probability."""
    place = _places(claimed, bins)
    columns = (
        np.bincount(place, minlength=bins).tolist(),
        np.bincount(place[right], minlength=bins).tolist(),
        np.bincount(place, weights=claimed, minlength=bins).tolist(),
    )
    return list(zip(*columns, strict=True))


def brier_score(probabilities: ArrayLike, outcomes: ArrayLike) -> float:
    """Average the squared distance between probability and outcome (1 for right, 0 for wrong)."""
    claimed, right = _checked(probabilities, outcomes)
    if not len(claimed):
        raise ValueError("probabilities must not be empty, got none")
    return float(((claimed - right) ** 2).mean())


def error_by_chance(probabilities: ArrayLike, bins: int = 15) -> float:
    """Estimate the calibration error that chance causes where every probability is true.

    The number of right predictions in a bin then varies around the sum of its probabilities, by
    the mean distance of a normal distribution of the same variance.
    """
    claimed = np.asarray(probabilities, dtype=np.float64)
    if not len(claimed):
        raise ValueError("probabilities must not be empty, got none")
    variance = np.bincount(_places(claimed, bins), weights=claimed * (1 - claimed))
    return float(np.sqrt(2 / np.pi * variance).sum() / len(claimed))


def reliability_of(
    probabilities: ArrayLike,
    outcomes: ArrayLike,
    bins: int = 15,
    *,
    clusters: ArrayLike | None = None,
    above: float | None = None,
) -> Reliability:
    """Make the part of a run record that says how often each stated probability was right.

    Bins are of equal width from 0 to 1, and the last one includes 1. `clusters` holds the number of
    the cluster of each prediction, such as its text. Brier score and calibration error are over
    predictions with a probability above `above`, where given: thousands of places that nobody would
    predict would hide the errors of the others.
    """
    claimed, right = _checked(probabilities, outcomes)
    shares: list[Share | None] = [None] * bins
    if clusters is not None:
        shares = _clustered_shares(claimed, right, np.asarray(clusters, dtype=np.int64), bins)
    rows = []
    for number, (count, correct, stated) in enumerate(_bins(claimed, right, bins)):
        lower, upper, share = number / bins, (number + 1) / bins, shares[number]
        rows.append(
            ReliabilityRow(
                f"{lower:.2f} to {upper:.2f}",
                count,
                correct,
                lower,
                upper,
                stated / count if count else None,
                share.low if share else None,
                share.high if share else None,
            )
        )
    if above is not None:
        claimed, right = claimed[claimed > above], right[claimed > above]
    if not len(claimed):
        return Reliability(tuple(rows))
    return Reliability(
        tuple(rows),
        brier_score(claimed, right),
        expected_calibration_error(claimed, right, bins),
        error_by_chance(claimed, bins),
        len(claimed),
    )


def _clustered_shares(
    claimed: NDArray[np.float64],
    right: NDArray[np.bool_],
    clusters: NDArray[np.int64],
    bins: int,
) -> list[Share | None]:
    """Return the share of right predictions per bin, with an interval from the clusters."""
    places = _places(claimed, bins)
    shares = []
    for place in range(bins):
        chosen = places == place
        counts = np.bincount(clusters[chosen])
        correct = np.bincount(clusters[chosen & right], minlength=len(counts))
        shares.append(clustered_share(correct.tolist(), counts.tolist()))
    return shares


def _places(claimed: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
    """Return the number of the bin of each probability."""
    if bins < 1:
        raise ValueError(f"bins must be 1 or more, got {bins}")
    edges = np.arange(bins + 1) / bins
    return np.minimum(np.searchsorted(edges, claimed, side="right") - 1, bins - 1)


def _checked(
    probabilities: ArrayLike, outcomes: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    claimed = np.asarray(probabilities, dtype=np.float64)
    right = np.asarray(outcomes, dtype=np.bool_)
    if claimed.ndim != 1 or claimed.shape != right.shape:
        raise ValueError(
            "probabilities and outcomes must be two rows of equal length, "
            f"got shapes {claimed.shape} and {right.shape}"
        )
    if not ((claimed >= 0) & (claimed <= 1)).all():
        raise ValueError("probabilities must be between 0 and 1, got others")
    return claimed, right
