"""A measurement as a run of truemark: its units, what intervals and comparison need, its file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sat_bench.evaluation import (
    EMPTY_RATIO,
    FEW_TALKS,
    Measured,
    Measurement,
    TalkPoints,
    default_threshold,
)
from sat_bench.models.finding import ModelFiles
from sat_bench.models.reach import DEFAULT_WEIGHTING, Weighting
from sat_bench.models.runtimes import DEFAULT_RUNTIME, Runtime
from sat_bench.models.systems import System
from truemark import __version__
from truemark.counts import Weights
from truemark.errors import TruemarkError, os_reason
from truemark.record_parts import held_out_of, position_blocks
from truemark.records import SUFFIX, HeldOut, Run, ScoringRules, Unit, is_record
from truemark.records import System as RunSystem
from truemark.signature import Signature

if TYPE_CHECKING:
    from truemark.sweep import SweepTable

TOOL = "sat-bench"
WORDS = {"unit": "talk", "units": "talks", "item": "sentence end", "items": "sentence ends"}

MODEL_MARK = "{model}"
_NOT_IN_NAMES = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True, slots=True)
class Setup:
    """What a number depends on besides the system, and what the system was run with."""

    data: str
    truth: str
    tolerance: int
    weights: Weights
    overlap: int | None
    conditions: tuple[str, ...] = ()
    sweeps: bool = False
    weighting: Weighting = DEFAULT_WEIGHTING
    runtime: Runtime = DEFAULT_RUNTIME

    @property
    def comparable(self) -> dict[str, str]:
        """What two runs must have in common for their numbers to mean the same."""
        conditions = {"conditions": ",".join(self.conditions)} if self.conditions else {}
        return {
            "data": self.data[:12],
            "truth": self.truth,
            "tolerance": str(self.tolerance),
            **conditions,
        }

    @property
    def signature(self) -> Signature:
        """The same in one line, with the version and the weights."""
        weights = ("wp", str(self.weights.precision)), ("wr", str(self.weights.recall))
        return Signature(((TOOL, __version__), *self.comparable.items(), *weights))

    def identity(self, system: System) -> Signature:
        """What the answers of the system depend on."""
        return Signature((*system.identity, *self._windows(system)))

    def _windows(self, system: System) -> tuple[tuple[str, str], ...]:
        """The windows that a SaT model reads with; another system has none."""
        if not isinstance(system, ModelFiles):
            return ()
        reach = system.reach.sharing(self.overlap, self.weighting)
        windows: tuple[tuple[str, str], ...] = (
            ("window", str(reach.window)),
            ("overlap", str(reach.overlap)),
        )
        if self.weighting != DEFAULT_WEIGHTING:
            windows += (("weighting", self.weighting),)
        return (*windows, ("runtime", self.runtime)) if self.runtime != DEFAULT_RUNTIME else windows


def run_of(measured: Measured, setup: Setup, started: str, seconds: float | None = None) -> Run:
    """The run of one system: its units at the best of its thresholds, under each condition."""
    system, measurement = measured.model, measured.measurement
    parts = [measurement.under(condition) for condition in measurement.conditions]
    chosen = set(chosen_thresholds(measurement, setup.weights).values())
    rules = ScoringRules(
        empty=EMPTY_RATIO,
        weights=setup.weights,
        threshold=chosen.pop() if len(chosen) == 1 and measurement.graded else None,
        own_threshold=default_threshold(system) if measurement.graded else None,
        tolerance=setup.tolerance,
    )
    return Run(
        tool=TOOL,
        version=__version__,
        started=started,
        seconds=seconds,
        system=RunSystem(system.name, kind_of(system), dict(setup.identity(system).parts)),
        signature=setup.comparable,
        scoring=rules,
        units=_distinct(units_of(measurement, setup)),
        held_out=_together([held_out(part, rules) for part in parts]) if setup.sweeps else None,
        words=WORDS,
    )


def under_condition(run: Run, condition: str) -> Run:
    """The run with the units of one condition only; those without any have the condition ''."""
    units = (unit for unit in run.units if unit.group.get("condition", "") == condition)
    return replace(run, units=tuple(units))


def kind_of(system: System) -> str:
    """A word for what kind of system it is."""
    kind, colon, _ = system.name.partition(":")
    return kind if colon and not isinstance(system, ModelFiles) else "sat"


def chosen_thresholds(measurement: Measurement, weights: Weights) -> dict[str, float]:
    """The best of the thresholds under each condition."""
    return {
        condition: measurement.under(condition).best(weights).threshold
        for condition in measurement.conditions
    }


def units_of(measurement: Measurement, setup: Setup) -> Iterator[Unit]:
    """The talks in the order they were measured, each at the threshold of its condition.

    Few talks are given in blocks of consecutive sentences, which are resampled in their place.
    """
    chosen = chosen_thresholds(measurement, setup.weights)
    few = len(measurement.talks) < FEW_TALKS * len(chosen)
    scored_talks = measurement.scored or (None,) * len(measurement.talks)
    for talk, scored in zip(measurement.talks, scored_talks, strict=True):
        threshold = chosen[talk.condition]
        counts = talk.counts(measurement.thresholds.index(threshold))
        unit = Unit(
            talk.talk if not talk.condition else f"{talk.talk} ({talk.condition})",
            *(counts.tp, counts.fp, counts.fn),
            group=_group(talk),
            cluster=talk.talk if talk.condition else None,
            seconds=scored.seconds if scored else None,
            replayed=scored.replayed if scored else False,
        )
        if scored and few:
            predictions, truths = scored.group
            found = predictions.above(threshold)
            unit = replace(unit, blocks=position_blocks(found, truths, setup.tolerance))
        yield unit


def _group(talk: TalkPoints) -> dict[str, str]:
    group = {"condition": talk.condition, "language": talk.language}
    return {name: value for name, value in group.items() if value}


def _distinct(units: Iterable[Unit]) -> tuple[Unit, ...]:
    """The units; of those that share a name, the later ones are numbered."""
    seen: Counter[str] = Counter()
    named = []
    for unit in units:
        seen[unit.id] += 1
        times = seen[unit.id]
        named.append(replace(unit, id=f"{unit.id} #{times}") if times > 1 else unit)
    return tuple(named)


def held_out(part: Measurement, rules: ScoringRules) -> HeldOut | None:
    """The counts when the threshold of each talk is chosen on the other talks."""
    if len(part.thresholds) < 2 or not part.talks:
        return None
    return held_out_of(_table(part), rules)


def _table(part: Measurement) -> SweepTable:
    import numpy as np

    from truemark.sweep import SweepTable

    matched = np.array([talk.tp for talk in part.talks], dtype=np.int32)
    invented = np.array([talk.fp for talk in part.talks], dtype=np.int32)
    missed = np.array([talk.fn[0] for talk in part.talks], dtype=np.int64)
    return SweepTable(part.thresholds, matched, matched + invented, missed + matched[:, 0])


def _together(parts: list[HeldOut | None]) -> HeldOut | None:
    """The counts of all conditions, where each of them has some."""
    found = [part for part in parts if part]
    if not found or len(found) < len(parts):
        return None
    return HeldOut(
        sum(part.tp for part in found),
        sum(part.fp for part in found),
        sum(part.fn for part in found),
        "leave one talk out",
    )


def record_paths(path: Path, models: Sequence[str]) -> tuple[Path, ...]:
    """The file for each model's record; its folder exists afterwards.

    A path with `{model}` in it is a pattern, one that ends in .json a file, any other a folder.
    """
    found = tuple(_path(path, name) for name in _file_names(models))
    for file in found:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TruemarkError(
                f"{file.parent}: no folder for run records can be made here: {os_reason(error)}"
            ) from error
        if file.is_dir():
            raise TruemarkError(f"{file}: is a folder; expected a place for a run record")
        if file.is_file() and file.stat().st_size and not is_record(file):
            raise TruemarkError(f"{file}: is no run record, and would be lost; name another file")
    return found


def _path(path: Path, name: str) -> Path:
    if MODEL_MARK in str(path):
        return Path(str(path).replace(MODEL_MARK, name))
    if path.suffix == ".json" and not path.is_dir():
        return path
    return path / f"{name}{SUFFIX}"


def _file_names(models: Sequence[str]) -> list[str]:
    """The models as parts of file names; of equal ones the later are numbered."""
    seen: Counter[str] = Counter()
    names = []
    for model in models:
        name = _NOT_IN_NAMES.sub("-", model).strip("-.") or "model"
        seen[name] += 1
        names.append(f"{name}-{seen[name]}" if seen[name] > 1 else name)
    return names
