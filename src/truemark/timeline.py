"""The runs of a folder over time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from truemark.errors import TruemarkError
from truemark.files import no_folder, read_error
from truemark.records import SUFFIX, Run, data_names, load_runs

_BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Timeline:
    """The runs with their files, newest last, and one warning per record that could not be read.

    `doubt` names a record that could not be read and may be newer than the newest run.
    """

    runs: tuple[tuple[Path, Run], ...]
    warnings: tuple[str, ...]
    doubt: str | None = None

    @property
    def data_names(self) -> dict[str, str]:
        return data_names(run for _, run in self.runs)


def read_timeline(folder: str | os.PathLike[str]) -> Timeline:
    """Read all records below the folder; a record that cannot be read adds a warning."""
    return timeline_of(_records_below(Path(folder)))


def timeline_of(records: Iterable[Path]) -> Timeline:
    """Read these records; runs of the same moment stay in the order in which they were written."""
    runs: list[tuple[Path, Run]] = []
    warnings = []
    unread: list[Path] = []
    for path in records:
        try:
            runs += [(path, run) for run in load_runs(path)]
        except TruemarkError as error:
            warnings.append(f"{error}; skipped")
            unread.append(path)
    runs.sort(key=lambda row: (moment_of(row[1]), _written_ns(row[0]), str(row[0])))
    return Timeline(tuple(runs), tuple(warnings), _doubt(unread, runs[-1][0]) if runs else None)


def _doubt(unread: Sequence[Path], newest: Path) -> str | None:
    last = max(unread, key=_written_ns, default=None)
    if last is None or _written_ns(last) < _written_ns(newest):
        return None
    return f"{last} cannot be read and is not older than {newest}; mend or remove it"


def _records_below(folder: Path) -> Sequence[Path]:
    if not folder.is_dir():
        raise TruemarkError(f"{folder}: {no_folder(folder)}; expected one with run records")
    try:
        paths = sorted(path for path in folder.rglob(f"*{SUFFIX}") if path.is_file())
    except OSError as error:
        raise read_error(folder, error) from error
    if not paths:
        raise TruemarkError(f"{folder}: has no run record (*{SUFFIX})")
    return paths


def _written_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:  # removed meanwhile
        return 0


def moment_of(run: Run) -> float:
    """Return the start of the run in seconds, to sort by; an invalid time sorts first."""
    try:
        moment = datetime.fromisoformat(run.started)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return float("-inf")


def sparkline(scores: Sequence[float]) -> str:
    """Draw scores as bars between the lowest and the highest of them."""
    low, high = min(scores), max(scores)
    top = len(_BARS) - 1
    if high == low:
        return _BARS[top // 2] * len(scores)
    return "".join(_BARS[round((score - low) / (high - low) * top)] for score in scores)
