"""Choose the runs meant by a folder that is given instead of a record."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from truemark.errors import TruemarkError
from truemark.records import SUFFIX, Run, load_run, load_runs
from truemark.timeline import read_timeline

_Paths = Sequence[str | os.PathLike[str]]
_RUN_ID = re.compile("[0-9a-f]{8}")


def comparable_groups(paths: _Paths) -> list[list[Run]]:
    """Return the runs to compare, those on the same data together, the baseline first.

    A single folder stands for all of its runs, oldest first; a folder among several for its
    newest run on each kind of data.
    """
    if len(paths) == 1:
        groups: dict[str, list[Run]] = {}
        for run in all_runs(paths[0]):
            groups.setdefault(run.data_id, []).append(run)
        several = [runs for runs in groups.values() if len(runs) > 1]
        if not several:
            raise TruemarkError(f"{paths[0]}: has no two runs on the same data to compare")
        return several
    newest = [newest_runs(path) for path in paths]
    if all(len(runs) == 1 for runs in newest):
        return [[run for runs in newest for run in runs.values()]]
    shared = [[runs[data] for runs in newest if data in runs] for data in newest[0]]
    several = [runs for runs in shared if len(runs) > 1]
    if not several:
        raise TruemarkError(f"{paths[0]}: has no run on the same data as one in {paths[1]}")
    return several


def pairs_to_check(
    run: str | os.PathLike[str], against: str | os.PathLike[str] | None
) -> list[tuple[Run, Run | None]]:
    """Return the runs to check, each with the run on the same data to compare it with."""
    runs = newest_runs(run)
    if against is None:
        return [(checked, None) for checked in runs.values()]
    baselines = newest_runs(against)
    if len(runs) == len(baselines) == 1:
        return [(next(iter(runs.values())), next(iter(baselines.values())))]
    shared: list[tuple[Run, Run | None]] = [
        (runs[data], baselines[data]) for data in runs if data in baselines
    ]
    if not shared:
        raise TruemarkError(f"{against}: has no run on the same data as one in {run}")
    return shared


def newest_runs(path: str | os.PathLike[str]) -> dict[str, Run]:
    """Return the newest run of a folder on each kind of data, or the run of a record or an id."""
    runs = all_runs(path) if Path(path).is_dir() or _names_run(path) else [load_run(path)]
    return {run.data_id: run for run in runs}


def all_runs(path: str | os.PathLike[str]) -> list[Run]:
    """Return the runs of a folder, oldest first, those of a record, or the run of FOLDER/ID."""
    if Path(path).is_dir():
        return [run for _, run in read_timeline(path).runs]
    if not _names_run(path):
        return list(load_runs(path))
    folder, name = Path(path).parent, Path(path).name
    timeline = read_timeline(folder)
    # Copies of a record hold the same run.
    runs = {run.id: run for _, run in timeline.runs if run.id == name}
    if not runs:
        reasons = "".join(f"; {warning}" for warning in timeline.warnings)
        raise TruemarkError(
            f"{path}: no such record, and no run below {folder} has this id:"
            f" truemark history {folder} lists them{reasons}"
        )
    return list(runs.values())


def _names_run(path: str | os.PathLike[str]) -> bool:
    """Decide whether a path is FOLDER/ID, with the id that tables and pages show of a run."""
    folder, name = Path(path).parent, Path(path).name
    if Path(path).exists() or not _RUN_ID.fullmatch(name) or not folder.is_dir():
        return False
    return any(folder.rglob(f"*{SUFFIX}"))
