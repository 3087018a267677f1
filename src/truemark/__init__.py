"""Scoring core: precision and recall under a tolerance, and the records of runs."""

import os

TYPE_CHECKING = False  # importing typing takes time, during which Ctrl-C is not handled
if TYPE_CHECKING:
    from truemark.assignment import match_by_cost
    from truemark.comparison import compare
    from truemark.counts import Counts, Scores, Weights, scores
    from truemark.errors import TruemarkError
    from truemark.gate import Criteria, check
    from truemark.matching import match_positions
    from truemark.records import (
        Difference,
        Finding,
        Mark,
        Run,
        ScoringRules,
        System,
        Unit,
        load_run,
        write_run,
    )
    from truemark.summary import summarise

__version__ = "0.1.0"

# onnxruntime reports every use to its makers unless this is set before it is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

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

_HOMES = {
    "assignment": ("match_by_cost",),
    "comparison": ("compare",),
    "counts": ("Counts", "Scores", "Weights", "scores"),
    "errors": ("TruemarkError",),
    "gate": ("Criteria", "check"),
    "matching": ("match_positions",),
    "records": (
        *("Difference", "Finding", "Mark", "Run", "ScoringRules", "System", "Unit"),
        *("load_run", "write_run"),
    ),
    "summary": ("summarise",),
}


def __getattr__(name: str) -> object:
    from truemark.imports import lazy_attribute

    return lazy_attribute(__name__, _HOMES, name)
