"""The runs of a folder over time."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from truemark.errors import TruemarkError
from truemark.files import read_error
from truemark.records import SUFFIX, Run, load_runs
from truemark.signature import data_hash
from truemark.summary import Summary, summarise

_BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class PastRun:
    """One run of the folder; runs with the same `data` are comparable."""

    path: Path
    run: Run
    summary: Summary
    data: str

    @property
    def moment(self) -> float:
        """When the run started, in seconds, to sort by; what is no time comes first."""
        try:
            moment = datetime.fromisoformat(self.run.started)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return float("-inf")

    @property
    def f1(self) -> float | None:
        interval = self.summary.intervals.get("f1")
        return interval.value if interval else None


@dataclass(frozen=True, slots=True)
class Trend:
    """The scores of one system on the same data, oldest first."""

    tool: str
    system: str
    data: str
    scores: tuple[float, ...]

    @property
    def picture(self) -> str:
        """Draw the scores as bars between the lowest and the highest of them."""
        low, high = min(self.scores), max(self.scores)
        width = high - low or 1.0
        top = len(_BARS) - 1
        if high == low:
            return _BARS[top // 2] * len(self.scores)
        return "".join(_BARS[round((score - low) / width * top)] for score in self.scores)


@dataclass(frozen=True, slots=True)
class Timeline:
    """The runs, newest last, and one warning per record that could not be read."""

    runs: tuple[PastRun, ...]
    warnings: tuple[str, ...]

    @property
    def data_names(self) -> dict[str, str]:
        """Name each set of comparable runs by its corpus and condition; else by its digest."""
        parts: dict[str, list[str]] = {}
        for past in self.runs:
            corpus = past.run.corpus or past.data[:6]
            condition = [past.run.condition] if "condition" in past.run.signature else []
            parts.setdefault(past.data, [corpus, *condition])
        names = {data: ", ".join(named) for data, named in parts.items()}
        shared = Counter(names.values())
        return {
            data: f"{name} ({data[:6]})" if shared[name] > 1 else name
            for data, name in names.items()
        }

    @property
    def trends(self) -> tuple[Trend, ...]:
        """One per system and data, in order of first appearance."""
        scores: dict[tuple[str, str, str], list[float]] = {}
        for past in self.runs:
            if past.f1 is not None:
                key = past.run.tool, past.run.system.name, past.data
                scores.setdefault(key, []).append(past.f1)
        return tuple(Trend(*key, tuple(values)) for key, values in scores.items())


def read_timeline(folder: str | os.PathLike[str]) -> Timeline:
    """Read all records below the folder; a record that cannot be read adds a warning."""
    past_runs, warnings = [], []
    for path in _records_below(Path(folder)):
        try:
            runs = load_runs(path)
        except TruemarkError as error:
            warnings.append(f"{error}; skipped")
            continue
        for run in runs:
            parts = (f"{name}:{value}" for name, value in sorted(run.comparison_key.items()))
            summary = summarise(run, by_group=False)
            past_runs.append(PastRun(path, run, summary, data_hash(*parts)))
    past_runs.sort(key=lambda past: (past.moment, str(past.path)))
    return Timeline(tuple(past_runs), tuple(warnings))


def _records_below(folder: Path) -> Sequence[Path]:
    if not folder.is_dir():
        raise TruemarkError(f"{folder}: no such folder; expected one with run records")
    try:
        paths = sorted(path for path in folder.rglob(f"*{SUFFIX}") if path.is_file())
    except OSError as error:
        raise read_error(folder, error) from error
    if not paths:
        raise TruemarkError(f"{folder}: has no run record (*{SUFFIX})")
    return paths
