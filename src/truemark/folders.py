"""Choose the runs meant by a folder that is given instead of a record."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from truemark.command import note
from truemark.errors import TruemarkError
from truemark.records import SUFFIX, Run, load_run, load_runs
from truemark.timeline import Timeline, read_timeline, timeline_of

_Paths = Sequence[str | os.PathLike[str]]
_RUN_ID = re.compile("[0-9a-f]{8}")


def comparable_groups(paths: _Paths) -> tuple[list[list[Run]], int]:
    """Return the runs to compare, those on the same data together, the baseline first.

    A single folder stands for the newest run of each system, the system that was measured first
    being the baseline, or for the last two runs of its only system. A folder among several stands
    for its newest run on each kind of data; if it has none on the data of the first, the closest
    runs go together. The number says how many older runs are left out of a single folder.
    """
    if len(paths) == 1:
        return _groups_of_folder(paths[0])
    baselines, *others = [_newest_runs(path)[0] for path in paths]
    if not all(baselines.keys() & runs.keys() for runs in others):
        return [
            [baseline, *(_closest(baseline, runs) for runs in others)]
            for baseline in baselines.values()
        ], 0
    groups = [
        [baseline, *(runs[data] for runs in others if data in runs)]
        for data, baseline in baselines.items()
    ]
    return [runs for runs in groups if len(runs) > 1], 0


def _closest(run: Run, others: Mapping[str, Run]) -> Run:
    """Return the run that differs least in what comparable runs have in common."""
    key = run.comparison_key.items()
    return min(others.values(), key=lambda other: len(key ^ other.comparison_key.items()))


def _groups_of_folder(folder: str | os.PathLike[str]) -> tuple[list[list[Run]], int]:
    groups: dict[str, list[Run]] = {}
    for run in {run.id: run for run in all_runs(folder)}.values():
        groups.setdefault(run.data_id, []).append(run)
    compared, left_out = [], 0
    for runs in groups.values():
        newest = newest_of_systems(runs)
        chosen = newest if len(newest) > 1 else runs[-2:]
        if len(chosen) > 1:
            compared.append(chosen)
            left_out += len(runs) - len(chosen)
    if not compared:
        raise TruemarkError(f"{folder}: has no two runs on the same data to compare")
    return compared, left_out


def runs_to_draw(paths: _Paths) -> tuple[list[Run], int]:
    """Return the runs for a page, and how many older runs of folders are left out.

    A folder stands for the newest run of each system on each kind of data.
    """
    chosen: list[Run] = []
    left_out = 0
    for path in paths:
        runs = all_runs(path)
        if Path(path).is_dir():
            different = len({run.id for run in runs})
            runs = newest_of_systems(runs)
            left_out += different - len(runs)
        chosen += runs
    return chosen, left_out


def newest_of_systems(runs: Iterable[Run]) -> list[Run]:
    """Keep the last run of each system on each kind of data, in the order of their first runs."""
    return list({(run.data_id, run.system_id): run for run in runs}.values())


def pairs_to_check(
    run: str | os.PathLike[str], against: str | os.PathLike[str] | None
) -> tuple[list[tuple[Run, Run | None]], str | None]:
    """Return the runs to check, each with the run on the same data to compare it with.

    If no two are on the same data, each comes with the closest run. The text says why newer runs
    than these may be meant; None if they are surely the newest.
    """
    runs, doubt = _newest_runs(run)
    if against is None:
        return [(checked, None) for checked in runs.values()], doubt
    baselines, doubt_of_baseline = _newest_runs(against)
    shared: list[tuple[Run, Run | None]] = [
        (runs[data], baselines[data]) for data in runs if data in baselines
    ]
    if not shared:
        shared = [(checked, _closest(checked, baselines)) for checked in runs.values()]
    return shared, doubt or doubt_of_baseline


def _newest_runs(path: str | os.PathLike[str]) -> tuple[dict[str, Run], str | None]:
    """Return the newest run of a folder on each kind of data, or the run of a record or an id.

    The text names a record that could not be read and may be newer.
    """
    doubt = None
    if Path(path).is_dir():
        timeline = _require_runs(read_timeline(path), path, note)
        runs, doubt = [run for _, run in timeline.runs], timeline.doubt
    elif _names_run(path):
        runs = all_runs(path)
    else:
        named = _records_named(path, note)
        runs = [load_run(named.runs[-1][0] if named else path)]
        doubt = named.doubt if named else None
    return {run.data_id: run for run in runs}, doubt


def all_runs(path: str | os.PathLike[str]) -> list[Run]:
    """Return the runs of a folder, oldest first, those of a record, or the run of FOLDER/ID."""
    if Path(path).is_dir():
        return [run for _, run in _require_runs(read_timeline(path), path, note).runs]
    if not _names_run(path):
        return list(load_runs(find_record(path, note)))
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


def find_record(
    path: str | os.PathLike[str], tell: Callable[[str], None] = lambda line: None
) -> Path:
    """Return the file of a record; FOLDER/NAME without such a file means the newest of that name.

    A record in a folder is named after its system and its run, so `runs/base` and
    `runs/base.run.json` both find `runs/base.1a2b3c4d.run.json`. `tell` gets a line that says so,
    and one for each record of the name that cannot be read.
    """
    named = _records_named(path, tell)
    return named.runs[-1][0] if named else Path(path)


def _records_named(path: str | os.PathLike[str], tell: Callable[[str], None]) -> Timeline | None:
    """Read the records that FOLDER/NAME means; None where the path is a file or means none."""
    wanted = Path(path)
    if os.path.lexists(wanted):
        return None
    name = re.compile(re.escape(wanted.name.removesuffix(SUFFIX)) + rf"(\.{_RUN_ID.pattern})?")
    records = [
        record
        for record in wanted.parent.glob(f"*{SUFFIX}")
        if name.fullmatch(record.name.removesuffix(SUFFIX)) and record.is_file()
    ]
    if not records:
        return None
    timeline = _require_runs(timeline_of(records), wanted, tell)
    tell(f"{path}: the newest record of this name is {timeline.runs[-1][0]}")
    return timeline


def _require_runs(
    timeline: Timeline, path: str | os.PathLike[str], tell: Callable[[str], None]
) -> Timeline:
    """Raise an error if no record could be read; tell which ones were skipped."""
    if not timeline.runs:
        raise TruemarkError(f"{path}: has no readable run record: {'; '.join(timeline.warnings)}")
    for warning in timeline.warnings:
        tell(f"warning: {warning}")
    return timeline


def _names_run(path: str | os.PathLike[str]) -> bool:
    """Decide whether a path is FOLDER/ID, with the id that tables and pages show of a run."""
    folder, name = Path(path).parent, Path(path).name
    if Path(path).exists() or not _RUN_ID.fullmatch(name) or not folder.is_dir():
        return False
    return any(folder.rglob(f"*{SUFFIX}"))
