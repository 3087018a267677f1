"""Compare a run with another: with its record, or with its stored answers, scored again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from cal_ai.benchmark.asking import Plan, extract_all
from cal_ai.benchmark.record import SCORING, TOOL, record_run, run_signature
from cal_ai.benchmark.samples import Sample
from cal_ai.extractors.replay import ReplayExtractor
from truemark.comparison import Comparison, compare
from truemark.errors import TruemarkError
from truemark.folders import all_runs
from truemark.records import SUFFIX, Run

Baseline = Run | ReplayExtractor


def open_baseline(path: Path, samples: Sequence[Sample]) -> Baseline:
    """Open stored answers, a record, FOLDER/ID, or the newest comparable record of a folder.

    Raises a `TruemarkError` for a record of other samples or rules, before the run costs anything.
    """
    if path.is_file() and not path.name.endswith(SUFFIX):
        return ReplayExtractor(path)
    signature = run_signature(sample.digest for sample in samples)
    runs = all_runs(path)
    fitting = [run for run in runs if run.signature == signature]
    baseline = (fitting or runs)[-1]
    wanted = replace(baseline, tool=TOOL, signature=signature, scoring=SCORING, units=())
    for part, expected in wanted.comparison_key.items():
        if (value := baseline.comparison_key.get(part)) != expected:
            raise TruemarkError(
                f"{path}: {part} is {value}, expected {expected}: a run on other samples or with"
                f" other rules; truemark compare --anyway compares what both have"
            )
    return baseline


async def compare_with_baseline(plan: Plan, baseline: Baseline, run: Run) -> Comparison | None:
    """Compare the run with its baseline; None if no sample has scores in both."""
    if isinstance(baseline, ReplayExtractor):
        baseline = await _rescored(plan, baseline)
    before = {unit.key for unit in baseline.units if unit.failed is None}
    if before.isdisjoint(unit.key for unit in run.units if unit.failed is None):
        return None
    return compare((baseline, run))


async def _rescored(plan: Plan, answers: ReplayExtractor) -> Run:
    """Score stored answers on the samples of the plan."""
    recording = answers.recording
    started = datetime.fromtimestamp(recording.path.stat().st_mtime).astimezone()
    replay = replace(
        plan, extractor=answers, started=started, store=None, repeats=recording.repeats
    )
    results = await extract_all(replay, lambda result: None)
    return record_run(replay, results, 0.0)
