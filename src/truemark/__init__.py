"""Scoring core: precision and recall under a tolerance."""

from truemark.counts import Counts, Scores, Weights, scores
from truemark.errors import TruemarkError
from truemark.matching import match_by_cost, match_positions

__version__ = "0.1.0"

__all__ = [
    "Counts",
    "Scores",
    "TruemarkError",
    "Weights",
    "__version__",
    "match_by_cost",
    "match_positions",
    "scores",
]
