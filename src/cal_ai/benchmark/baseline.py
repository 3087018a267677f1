"""Another run to compare with: its record, or the answers it stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cal_ai.benchmark.record import SCORING, TOOL, run_signature
from cal_ai.benchmark.samples import Sample
from cal_ai.extractors.replay import ReplayExtractor
from truemark.comparison import Comparison, compare
from truemark.errors import TruemarkError
from truemark.record_files import SUFFIX, load_run
from truemark.records import Run

Baseline = Run | ReplayExtractor


def open_baseline(path: Path, samples: Sequence[Sample]) -> Baseline:
    """The baseline in a file; a record is refused when it is of other samples or rules.

    Now, not when the run has ended: by then it has been paid for.
    """
    if not path.name.endswith(SUFFIX):
        return ReplayExtractor(path)
    found = load_run(path)
    mine = replace(
        found, tool=TOOL, signature=dict(run_signature(samples).parts), scoring=SCORING, units=()
    )
    for part, expected in mine.comparison_key.items():
        if (value := found.comparison_key.get(part)) != expected:
            raise TruemarkError(
                f"{path}: {part} is {value}, expected {expected}: a run on other samples or by"
                " other rules; truemark compare --anyway compares what both have"
            )
    return found


def compared(baseline: Run, record: Run) -> Comparison | None:
    """The run against its baseline; None when no sample has scores in both."""
    before = {unit.key for unit in baseline.units if unit.failed is None}
    if before.isdisjoint(unit.key for unit in record.units if unit.failed is None):
        return None
    return compare((baseline, record))
