"""The record of one run: what was measured, on what, unit by unit, and every mistake in context.

One JSON document (`truemark.run/1`, described in docs/records.md and by the schema that
`schema` returns). Offsets count Unicode characters, not bytes.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from truemark.calibration import Bin, LevelAccuracy
from truemark.counts import EQUAL_WEIGHTS, Counts, Weights
from truemark.dataclass_json import decoded, encoded
from truemark.errors import TruemarkError
from truemark.files import read_text, write_atomically
from truemark.jsontext import to_json
from truemark.signature import data_hash

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from truemark.sweep import Curve

FORMAT = "truemark.run/1"
SUFFIX = ".run.json"
CURVE_POINTS = 2_000

Extra = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class System:
    """What was measured; `identity` holds everything that changes its answers."""

    name: str
    kind: str = ""
    identity: Mapping[str, object] = field(default_factory=dict)
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScoringRules:
    """How counts become scores, and the thresholds that were in force."""

    empty: float
    measure: str = "f1"
    weights: Weights = EQUAL_WEIGHTS
    threshold: float | None = None
    own_threshold: float | None = None  # the one the system comes with
    tolerance: float | None = None
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.measure not in ("precision", "recall", "f1", "weighted"):
            raise ValueError(
                f"measure must be precision, recall, f1 or weighted, got {self.measure!r}"
            )


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of text and what it is: found, invented, missed, candidate, quoted.

    `truth` is where the expected item lies that a found one was paired with, if elsewhere.
    """

    start: int
    end: int
    role: str
    probability: float | None = None
    truth: int | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing that was measured, once: its counts, or the reason why it failed.

    Units of one cluster are resampled together; without one, a unit stands with its own
    repeats. `blocks` are the counts of the unit's parts (tp, fp, fn each), for runs of so few
    units that the parts are resampled instead.
    """

    id: str
    tp: int = 0
    fp: int = 0
    fn: int = 0
    repeat: int = 0
    group: Mapping[str, str] = field(default_factory=dict)
    cluster: str | None = None
    failed: str | None = None
    seconds: float | None = None
    cost: float | None = None
    tokens: Mapping[str, int] = field(default_factory=dict)
    replayed: bool = False
    blocks: tuple[tuple[int, ...], ...] = ()
    text: str | None = None
    marks: tuple[Mark, ...] = ()
    text_left_out: bool = False
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        Counts(self.tp, self.fp, self.fn)
        if any(len(block) != 3 for block in self.blocks):
            raise ValueError("blocks must hold tp, fp, fn each, got others")
        own = (self.tp, self.fp, self.fn)
        if self.blocks and tuple(map(sum, zip(*self.blocks, strict=True))) != own:
            raise ValueError(f"blocks must add up to the counts {own}, got others")

    @property
    def counts(self) -> Counts:
        return Counts(self.tp, self.fp, self.fn)

    @property
    def key(self) -> tuple[str, int]:
        """What the unit is paired by with the same unit of another run."""
        return self.id, self.repeat


@dataclass(frozen=True, slots=True)
class Difference:
    """A field in which expected and got differ, and by how much where that is a number."""

    name: str
    expected: object = None
    got: object = None
    by: float | None = None
    by_unit: str = ""
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake, or with `mistake` false a match worth a remark, with the text around it.

    `offset` is where `text` begins in the unit's text; marks count from the start of `text`.
    """

    kind: str
    unit: str
    repeat: int = 0
    mistake: bool = True
    text: str = ""
    offset: int = 0
    marks: tuple[Mark, ...] = ()
    expected: object = None
    got: object = None
    differences: tuple[Difference, ...] = ()
    probability: float | None = None
    confidence: str | None = None
    note: str = ""
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FindingCount:
    """How many findings of a kind the units of a group really had, kept in the record or not."""

    kind: str
    count: int
    group: Mapping[str, str] = field(default_factory=dict)
    mistake: bool = True
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CurveColumns:
    """Counts over ascending levels (thresholds, or tolerances): one column each."""

    at: tuple[float, ...]
    tp: tuple[int, ...]
    fp: tuple[int, ...]
    fn: tuple[int, ...]
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len({len(self.at), len(self.tp), len(self.fp), len(self.fn)}) > 1:
            raise ValueError("curve columns must be of equal length, got others")

    def __len__(self) -> int:
        return len(self.at)

    def counts(self, number: int) -> Counts:
        """The counts at that place of the curve."""
        return Counts(self.tp[number], self.fp[number], self.fn[number])


@dataclass(frozen=True, slots=True)
class ReliabilityRow:
    """Predictions of one stated confidence, or of a range of probabilities, and the right ones."""

    label: str
    count: int
    correct: int
    lower: float | None = None
    upper: float | None = None
    mean: float | None = None  # of the stated probabilities
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reliability:
    """Whether stated confidence can be trusted, and two numbers that sum it up."""

    rows: tuple[ReliabilityRow, ...]
    brier: float | None = None
    calibration_error: float | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The counts when each unit is scored at a threshold chosen without it."""

    tp: int
    fp: int
    fn: int
    method: str = ""
    extra: Extra = field(default_factory=dict)

    @property
    def counts(self) -> Counts:
        return Counts(self.tp, self.fp, self.fn)


@dataclass(frozen=True, slots=True)
class Run:
    """Everything about one run of one system.

    `signature` is what makes two runs comparable (data, rules, tolerance) and nothing of the
    system. `words` are what the tool calls things, such as {"unit": "page", "units": "pages"}.
    """

    tool: str
    version: str
    started: str
    system: System
    signature: Mapping[str, str]
    scoring: ScoringRules
    units: tuple[Unit, ...]
    seconds: float | None = None
    findings: tuple[Finding, ...] = ()
    finding_counts: tuple[FindingCount, ...] = ()
    curve: CurveColumns | None = None
    tolerances: CurveColumns | None = None
    held_out: HeldOut | None = None
    reliability: Reliability | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    format: str = FORMAT
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        repeated = [
            key for key, count in Counter(one.key for one in self.units).items() if count > 1
        ]
        if repeated:
            name, repeat = repeated[0]
            raise ValueError(f"units must differ in id or repeat, got two of {name!r}, {repeat}")

    @property
    def comparison_key(self) -> dict[str, str]:
        """What must be equal in two runs for their numbers to mean the same."""
        rules = self.scoring
        return {
            "tool": self.tool,
            **self.signature,
            "empty": f"{rules.empty:g}",
            "weights": f"{rules.weights.precision:g},{rules.weights.recall:g}",
        }

    @property
    def system_id(self) -> str:
        """Twelve hex digits that stand for the system and all that changes its answers."""
        parts = (self.system.name, self.system.kind, self.system.identity)
        return data_hash(json.dumps(parts, sort_keys=True, default=str))


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
        finding_counts=run.finding_counts or _finding_counts(run),
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


def _finding_counts(run: Run) -> tuple[FindingCount, ...]:
    groups = {unit.key: tuple(unit.group.items()) for unit in run.units}
    counts = Counter(
        (one.kind, one.mistake, groups.get((one.unit, one.repeat), ())) for one in run.findings
    )
    return tuple(
        FindingCount(kind, count, dict(group), mistake)
        for (kind, mistake, group), count in counts.items()
    )


def _with_texts_that_fit(units: tuple[Unit, ...], caps: Caps) -> tuple[Unit, ...]:
    left = caps.all_texts
    without: set[tuple[str, int]] = set()
    for unit in sorted(units, key=lambda one: -(one.fp + one.fn)):
        size = len(unit.text or "")
        if size > min(left, caps.unit_text):
            without.add(unit.key)
        else:
            left -= size
    if not without:
        return units
    return tuple(
        replace(unit, text=None, marks=(), text_left_out=True) if unit.key in without else unit
        for unit in units
    )


def write_run(path: str | os.PathLike[str], run: Run, caps: Caps = DEFAULT_CAPS) -> None:
    """Puts the capped record at `path`, whole or not at all."""
    write_atomically(path, dumped(run, caps))


def dumped(run: Run, caps: Caps = DEFAULT_CAPS) -> str:
    """The capped record as JSON text."""
    content = encoded(capped(run, caps))
    assert isinstance(content, dict)
    return to_json({"format": run.format} | content) + "\n"


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


def schema() -> dict[str, object]:
    """The JSON Schema of a run record."""
    from importlib import resources

    text = (resources.files("truemark") / "run.schema.json").read_text(encoding="utf-8")
    content: dict[str, object] = json.loads(text)
    return content


def curve_columns(curve: Curve, rules: ScoringRules, points: int = CURVE_POINTS) -> CurveColumns:
    """The curve with at most `points` points; its best ones and the thresholds in force stay."""
    import numpy as np

    columns = (curve.matched, curve.predicted - curve.matched, curve.expected - curve.matched)
    kept = {0, len(curve) - 1}
    for weights in (rules.weights, EQUAL_WEIGHTS):
        kept.add(curve.best(weights, empty=rules.empty))
    for level in (rules.threshold, rules.own_threshold):
        if level is not None:
            kept.add(max(0, int(np.searchsorted(curve.thresholds, level, side="right")) - 1))
    places = sorted(kept)
    if points > len(kept):
        room = min(points - len(kept), len(curve))
        spread = np.linspace(0, len(curve) - 1, room).round().astype(np.int64)
        places = np.union1d(places, spread).tolist()
    tp, fp, fn = (tuple(column[places].tolist()) for column in columns)
    return CurveColumns(tuple(curve.thresholds[places].tolist()), tp, fp, fn)


def reliability_of(probabilities: ArrayLike, outcomes: ArrayLike, bins: int = 15) -> Reliability:
    """Reliability by stated probability, with the Brier score and the calibration error."""
    from truemark.calibration import binned, brier_score, expected_calibration_error

    rows = binned(probabilities, outcomes, bins)
    if not any(row.count for row in rows):
        return Reliability(tuple(map(_row_of_bin, rows)))
    return Reliability(
        tuple(map(_row_of_bin, rows)),
        brier_score(probabilities, outcomes),
        expected_calibration_error(probabilities, outcomes, bins),
    )


def _row_of_bin(one: Bin) -> ReliabilityRow:
    label = f"{one.lower:.2f} to {one.upper:.2f}"
    return ReliabilityRow(label, one.count, one.correct, one.lower, one.upper, one.mean_probability)


def reliability_of_levels(levels: Sequence[LevelAccuracy]) -> Reliability:
    """Reliability by stated level of confidence."""
    return Reliability(tuple(ReliabilityRow(one.level, one.count, one.correct) for one in levels))
