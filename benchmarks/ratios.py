"""Read ratios from the output of measurements, and compare them with stored ones.

A ratio compares things that ran in turns, so unlike seconds it holds on other machines too.
`benchmarks/ratios.json` has those of docs/performance.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from truemark.files import write_atomically

STORED = Path(__file__).with_name("ratios.json")
ALLOWED_FALL = 0.15

# Columns with ratios, and whether larger is better.
COLUMNS = {
    "times wtpsplit-lite": True,
    "of the bare loop": True,
    "times faster": True,
    "times as fast as one worker": True,
    "times onnx": True,
    "times the first": True,
    "ratio": False,
    "times the plain loop": False,
}
PEERS = ("wtpsplit-lite", "bare ", "plain ", "one worker", "onnx")


@dataclass(frozen=True, slots=True)
class Fall:
    """A ratio that is worse than the stored one."""

    name: str
    stored: float
    found: float

    @property
    def share(self) -> float:
        """The share of the speed that is lost: 0.2 if four fifths are left."""
        low, high = sorted((self.found, self.stored))
        return 1 - low / high if high else 0.0

    def __str__(self) -> str:
        return f"{self.name}: {self.found:g}, stored {self.stored:g}: fell by {self.share:.0%}"


def ratios_of(script: str, printed: str) -> dict[str, float]:
    """Read the ratios in the markdown tables that a script printed, without the rows of peers."""
    return {
        f"{script}: {row[0]}, {head[0]}: {column}": float(cell.replace(",", ""))
        for head, row in _rows(printed)
        if not row[0].startswith(PEERS)
        for column, cell in zip(head, row, strict=True)
        if column.lower() in COLUMNS and cell not in ("", "-")
    }


def falls(stored: Mapping[str, float], measured: Mapping[str, float]) -> list[Fall]:
    """Return the ratios that are worse than stored by more than is allowed, the worst first."""
    pairs = (Fall(name, stored[name], value) for name, value in measured.items() if name in stored)
    fallen = [pair for pair in pairs if _is_worse(pair) and pair.share > ALLOWED_FALL]
    return sorted(fallen, key=lambda fall: -fall.share)


def missing(script: str, stored: Mapping[str, float], measured: Mapping[str, float]) -> list[str]:
    """Return the stored ratios of a script that it no longer prints."""
    return [name for name in stored if name.startswith(f"{script}: ") and name not in measured]


def read_stored(path: Path = STORED) -> dict[str, float]:
    """Read all stored ratios by name; return none if there is no file yet."""
    if not path.is_file():
        return {}
    stored: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
    return stored


def store(script: str, measured: Mapping[str, float], path: Path = STORED) -> None:
    """Replace the stored ratios of a script."""
    kept = {
        name: value
        for name, value in read_stored(path).items()
        if not name.startswith(f"{script}: ")
    }
    content = json.dumps(
        dict(sorted((kept | dict(measured)).items())), indent=1, ensure_ascii=False
    )
    write_atomically(path, f"{content}\n")


def _is_worse(pair: Fall) -> bool:
    larger_is_better = COLUMNS[pair.name.rpartition(": ")[2].lower()]
    return pair.found < pair.stored if larger_is_better else pair.found > pair.stored


def _rows(printed: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield each row of each table with the header of its table."""
    head: list[str] = []
    for line in printed.splitlines():
        if not line.startswith("|"):
            head = []
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not head:
            head = cells
        elif not set("".join(cells)) <= set("-: "):
            yield head, cells
