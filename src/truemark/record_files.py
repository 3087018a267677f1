"""Run records as files: written, read, what a large one leaves out, a folder of them over time."""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from truemark.errors import TruemarkError
from truemark.files import open_regular, read_error, read_text, write_atomically
from truemark.jsontext import decoded, encoded, to_json
from truemark.records import FORMAT, Finding, FindingCount, Run, Unit
from truemark.signature import data_hash
from truemark.summary import Summary, summarise
from truemark.uncertainty import DEFAULT_DRAWS, Draws

SUFFIX = ".run.json"
_HEAD = 100  # bytes, in which a record says what it is
_BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Caps:
    """How much of a large run its record keeps."""

    findings_per_kind: int = 500
    finding_text: int = 2_000
    unit_text: int = 200_000
    all_texts: int = 1_000_000
    seed: int = 20260220


DEFAULT_CAPS = Caps()


def capped(run: Run, caps: Caps = DEFAULT_CAPS) -> Run:
    """The run with at most so many findings per kind, their true numbers beside them.

    Findings are sampled by seed and keep their order; texts of units are kept while they fit,
    those with the most mistakes first. Where a finding's text is too long its end is cut.
    """
    return replace(
        run,
        findings=_sampled([_short(one, caps.finding_text) for one in run.findings], caps),
        finding_counts=finding_counts(run),
        units=_with_texts_that_fit(run.units, caps),
    )


def _sampled(findings: Sequence[Finding], caps: Caps) -> tuple[Finding, ...]:
    import random

    places: dict[str, list[int]] = {}
    for place, one in enumerate(findings):
        places.setdefault(one.kind, []).append(place)
    chosen: list[int] = []
    for kind, own in places.items():
        if len(own) > caps.findings_per_kind:
            own = random.Random(f"{caps.seed} {kind}").sample(own, caps.findings_per_kind)
        chosen += own
    return tuple(findings[place] for place in sorted(chosen))


def _short(finding: Finding, longest: int) -> Finding:
    if len(finding.text) <= longest:
        return finding
    marks = tuple(
        replace(mark, end=min(mark.end, longest)) for mark in finding.marks if mark.start < longest
    )
    return replace(finding, text=finding.text[:longest], marks=marks)


def finding_counts(run: Run) -> tuple[FindingCount, ...]:
    """The true number of findings per kind and group: as recorded, else of those in the run."""
    if run.finding_counts:
        return run.finding_counts
    groups = {unit.key: tuple(unit.group.items()) for unit in run.units}
    counts = Counter(
        (one.kind, one.mistake, groups.get((one.unit, one.repeat), ())) for one in run.findings
    )
    return tuple(
        FindingCount(kind, count, dict(group), mistake)
        for (kind, mistake, group), count in counts.items()
    )


def _with_texts_that_fit(units: tuple[Unit, ...], caps: Caps) -> tuple[Unit, ...]:
    sizes = ((unit.key, unit.fp + unit.fn, len(unit.text or "")) for unit in units)
    if not (without := texts_left_out(sizes, caps)):
        return units
    return tuple(
        replace(unit, text=None, marks=(), text_left_out=True) if unit.key in without else unit
        for unit in units
    )


def texts_left_out(
    sizes: Iterable[tuple[tuple[str, int], int, int]], caps: Caps = DEFAULT_CAPS
) -> set[tuple[str, int]]:
    """Which texts do not fit, of units by key, number of mistakes and characters of the text."""
    left = caps.all_texts
    without: set[tuple[str, int]] = set()
    for key, _, size in sorted(sizes, key=lambda one: -one[1]):
        if size > min(left, caps.unit_text):
            without.add(key)
        else:
            left -= size
    return without


def write_run(path: str | os.PathLike[str], run: Run, caps: Caps = DEFAULT_CAPS) -> None:
    """Puts the capped record at `path`, whole or not at all."""
    write_atomically(path, dumped(run, caps))


def dumped(run: Run, caps: Caps = DEFAULT_CAPS) -> bytes:
    """The capped record as JSON in UTF-8."""
    content = encoded(capped(run, caps))
    assert isinstance(content, dict)
    # Item by item: a single string of all, four bytes a character for the sake of one emoji,
    # would be most of the memory that a large run takes.
    written = io.BytesIO()
    for key, value in ({"format": run.format} | content).items():
        written.write(b", " if written.tell() else b"{")
        written.write(f"{to_json(key)}: ".encode())
        if not isinstance(value, list):
            written.write(to_json(value).encode())
            continue
        for number, item in enumerate(value):
            written.write(b", " if number else b"[")
            written.write(to_json(item).encode())
        written.write(b"]" if value else b"[]")
    written.write(b"}\n")
    return written.getvalue()


def load_run(path: str | os.PathLike[str]) -> Run:
    """The record at `path`; fields of later versions are kept in `extra`."""
    text = read_text(path)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TruemarkError(f"{path}: not JSON ({error}); expected a run record") from error
    found = content.get("format") if isinstance(content, dict) else None
    if not isinstance(found, str) or not found.startswith("truemark.run/"):
        raise TruemarkError(f"{path}: not a run record; expected format {FORMAT!r}")
    if found != FORMAT and not found.startswith(FORMAT + "."):
        raise TruemarkError(f"{path}: format {found!r} is newer than {FORMAT!r}; update truemark")
    return decoded(Run, content, str(path))


def is_record(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a run record does."""
    try:
        with open_regular(path) as file:
            return FORMAT.partition("/")[0].encode() in file.read(_HEAD)
    except TruemarkError:
        return False


def schema() -> dict[str, object]:
    """The JSON Schema of a run record."""
    from importlib import resources

    text = (resources.files("truemark") / "run.schema.json").read_text(encoding="utf-8")
    content: dict[str, object] = json.loads(text)
    return content


@dataclass(frozen=True, slots=True)
class PastRun:
    """One run of the folder; runs with the same `data` are comparable."""

    path: Path
    run: Run
    summary: Summary
    data: str

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
        """The scores as bars between the lowest and the highest of them."""
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
    def trends(self) -> tuple[Trend, ...]:
        """One per system and data, in order of first appearance."""
        scores: dict[tuple[str, str, str], list[float]] = {}
        for past in self.runs:
            if past.f1 is not None:
                key = past.run.tool, past.run.system.name, past.data
                scores.setdefault(key, []).append(past.f1)
        return tuple(Trend(*key, tuple(own)) for key, own in scores.items())


def read_timeline(folder: str | os.PathLike[str], draws: Draws = DEFAULT_DRAWS) -> Timeline:
    """All records below the folder; those that cannot be read are named, not fatal."""
    found, warnings = [], []
    for path in _records_below(Path(folder)):
        try:
            run = load_run(path)
        except TruemarkError as error:
            warnings.append(f"{error}; skipped")
            continue
        key = data_hash(*(f"{name}:{value}" for name, value in sorted(run.comparison_key.items())))
        found.append(PastRun(path, run, summarise(run, draws, by_group=False), key))
    found.sort(key=lambda past: (_moment(past.run.started), str(past.path)))
    return Timeline(tuple(found), tuple(warnings))


def _records_below(folder: Path) -> Sequence[Path]:
    if not folder.is_dir():
        raise TruemarkError(f"{folder}: no such folder; expected one with run records")
    try:
        paths = sorted(path for path in folder.rglob(f"*{SUFFIX}") if path.is_file())
    except OSError as error:
        raise read_error(folder, error) from error
    if not paths:
        raise TruemarkError(f"{folder}: holds no run record (*{SUFFIX})")
    return paths


def _moment(started: str) -> float:
    """The time as a number to sort by; what is no time comes first."""
    try:
        moment = datetime.fromisoformat(started)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return float("-inf")
