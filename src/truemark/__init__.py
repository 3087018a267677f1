"""Scoring core: precision and recall under a tolerance, and the records of runs."""

from typing import TYPE_CHECKING

from truemark.counts import Counts, Scores, Weights, scores
from truemark.errors import TruemarkError
from truemark.matching import match_by_cost, match_positions

if TYPE_CHECKING:
    from truemark.comparison import compare
    from truemark.gate import Criteria, check
    from truemark.record_files import load_run, write_run
    from truemark.records import Difference, Finding, Mark, Run, ScoringRules, System, Unit
    from truemark.summary import summarise

__version__ = "0.1.0"

__all__ = [
    "Counts",
    "Criteria",
    "Difference",
    "Finding",
    "Mark",
    "Run",
    "Scores",
    "ScoringRules",
    "System",
    "TruemarkError",
    "Unit",
    "Weights",
    "__version__",
    "check",
    "compare",
    "load_run",
    "match_by_cost",
    "match_positions",
    "scores",
    "summarise",
    "write_run",
]

# Imported when first asked for: commands that write no record start without them.
_HOMES = {
    "truemark.comparison": ("compare",),
    "truemark.gate": ("Criteria", "check"),
    "truemark.record_files": ("load_run", "write_run"),
    "truemark.records": (
        "Difference",
        "Finding",
        "Mark",
        "Run",
        "ScoringRules",
        "System",
        "Unit",
    ),
    "truemark.summary": ("summarise",),
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'truemark' has no attribute {name!r}")
