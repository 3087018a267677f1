"""Run records as files: written, read, what a large one leaves out, a folder of them over time."""

from __future__ import annotations

import json
import os
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import overload

from truemark.errors import TruemarkError
from truemark.files import Spool, open_regular, read_error, read_text, write_atomically
from truemark.jsontext import decoded, encoded, present_fields, to_json
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


class FindingLog:
    """The findings of a run as they come, each as JSON and out of memory."""

    def __init__(self) -> None:
        self._texts = Spool()
        self._places = array("q")
        self._lengths = array("q")
        self._kinds: dict[tuple[str, bool], int] = {}
        self._kind_of = array("q")

    def add(self, place: int, finding: Finding) -> None:
        """Notes a finding of the unit that stands at that place in the run."""
        self._texts.add(to_json(encoded(finding)).encode())
        self._places.append(place)
        self._lengths.append(len(finding.text))
        kind = finding.kind, finding.mistake
        self._kind_of.append(self._kinds.setdefault(kind, len(self._kinds)))

    def in_order(self) -> LoggedFindings:
        """The findings in the order of their units, whichever came first."""
        order = sorted(range(len(self._places)), key=self._places.__getitem__)
        return LoggedFindings(self, array("q", order))

    def heads(self, numbers: Iterable[int]) -> Iterator[tuple[int, str, bool]]:
        """Of these findings the place of the unit, the kind, and whether it is a mistake."""
        kinds = list(self._kinds)
        for number in numbers:
            yield self._places[number], *kinds[self._kind_of[number]]

    def text(self, number: int, longest: int | None) -> str:
        """A finding as JSON, the end of its text cut where that is too long."""
        if longest is None or self._lengths[number] <= longest:
            return self._texts[number].decode()
        return to_json(encoded(_short(self.finding(number), longest)))

    def finding(self, number: int) -> Finding:
        return decoded(Finding, json.loads(self._texts[number]), "finding")


@dataclass(frozen=True, slots=True)
class LoggedFindings(Sequence[Finding]):
    """Findings of a log by their numbers there; each is read when it is asked for."""

    log: FindingLog
    numbers: array[int]
    longest: int | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> Finding: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Finding]: ...
    def __getitem__(self, place: int | slice) -> Finding | Sequence[Finding]:
        if isinstance(place, slice):
            return replace(self, numbers=self.numbers[place])
        found = self.log.finding(self.numbers[place])
        return found if self.longest is None else _short(found, self.longest)

    @property
    def heads(self) -> Iterator[tuple[int, str, bool]]:
        """Of each finding the place of its unit, its kind, and whether it is a mistake."""
        return self.log.heads(self.numbers)

    @property
    def texts(self) -> Iterator[str]:
        """Each finding as JSON."""
        return (self.log.text(number, self.longest) for number in self.numbers)

    def kept(self, caps: Caps) -> LoggedFindings:
        """Those that a record has room for."""
        places = _sampled([kind for _, kind, _ in self.heads], caps)
        chosen = array("q", (self.numbers[place] for place in places))
        return LoggedFindings(self.log, chosen, caps.finding_text)


def capped(run: Run, caps: Caps = DEFAULT_CAPS) -> Run:
    """The run with at most so many findings per kind, their true numbers beside them.

    Findings are sampled by seed and keep their order; texts of units are kept while they fit,
    those with the most mistakes first. Where a finding's text is too long its end is cut.
    """
    return replace(
        run,
        findings=_kept(run.findings, caps),
        finding_counts=finding_counts(run),
        units=_with_texts_that_fit(run.units, caps),
    )


def _kept(findings: Sequence[Finding], caps: Caps) -> Sequence[Finding]:
    if findings and isinstance(findings, LoggedFindings):
        return findings.kept(caps)
    places = _sampled([one.kind for one in findings], caps)
    return tuple(_short(findings[place], caps.finding_text) for place in places)


def _sampled(kinds: Sequence[str], caps: Caps) -> list[int]:
    """The places of the findings that are kept, by the kind of each."""
    import random

    places: dict[str, list[int]] = {}
    for place, kind in enumerate(kinds):
        places.setdefault(kind, []).append(place)
    chosen: list[int] = []
    for kind, own in places.items():
        if len(own) > caps.findings_per_kind:
            own = random.Random(f"{caps.seed} {kind}").sample(own, caps.findings_per_kind)
        chosen += own
    return sorted(chosen)


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
    sizes = ((unit.fp + unit.fn, len(unit.text or "")) for unit in units)
    if not (without := texts_left_out(sizes, caps)):
        return units
    return tuple(
        replace(unit, text=None, marks=(), text_left_out=True) if place in without else unit
        for place, unit in enumerate(units)
    )


def texts_left_out(sizes: Iterable[tuple[int, int]], caps: Caps = DEFAULT_CAPS) -> set[int]:
    """The places of the texts that do not fit, of units by mistakes and characters of the text."""
    left = caps.all_texts
    without: set[int] = set()
    for place, (_, size) in sorted(enumerate(sizes), key=lambda one: -one[1][0]):
        if size > min(left, caps.unit_text):
            without.add(place)
        else:
            left -= size
    return without


def write_run(path: str | os.PathLike[str], run: Run, caps: Caps = DEFAULT_CAPS) -> None:
    """Puts the capped record at `path`, whole or not at all."""
    write_atomically(path, dumped(run, caps))


def dumped(run: Run, caps: Caps = DEFAULT_CAPS) -> Iterator[str]:
    """The capped record as JSON, item by item.

    A single string of all, four bytes a character for the sake of one emoji, would be most of the
    memory that a large run takes.
    """
    content = {"format": run.format} | present_fields(capped(run, caps))
    for number, (key, value) in enumerate(content.items()):
        yield f"{', ' if number else '{'}{to_json(key)}: "
        if isinstance(value, LoggedFindings):
            yield from _listed(value.texts)
        elif isinstance(value, list | tuple):
            yield from _listed(to_json(encoded(item)) for item in value)
        else:
            yield to_json(encoded(value))
    yield "}\n"


def _listed(items: Iterable[str]) -> Iterator[str]:
    before = "["
    for item in items:
        yield before
        yield item
        before = ", "
    yield "[]" if before == "[" else "]"


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
