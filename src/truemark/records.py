"""The record of one run: what was measured, on what, unit by unit, and every mistake in context.

One JSON document per run (`truemark.run/1`), described in docs/records.md. Offsets count Unicode
characters, not bytes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from truemark.counts import EQUAL_WEIGHTS, Counts, Weights
from truemark.signature import data_hash

FORMAT = "truemark.run/1"
MOST = 10**9  # counts of one unit; sums of many still fit 64 bits

Extra = Mapping[str, object]


def _check_counts(*counts: int) -> None:
    if counts and not 0 <= min(counts) <= max(counts) <= MOST:
        raise ValueError(f"counts must be between 0 and {MOST}, got others")


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
        if not 0 <= self.empty <= 1:
            raise ValueError(f"empty must be between 0 and 1, got {self.empty}")
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

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"start must be between 0 and end, got {self.start}")


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
        _check_counts(self.tp, self.fp, self.fn)
        if any(len(block) != 3 for block in self.blocks):
            raise ValueError("blocks must hold tp, fp, fn each, got others")
        _check_counts(*(count for block in self.blocks for count in block))
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

    `offset` is where `text` begins in the unit's text; marks, and `at`, the place of the finding
    itself, count from the start of `text`.
    """

    kind: str
    unit: str
    repeat: int = 0
    mistake: bool = True
    text: str = ""
    offset: int = 0
    at: int | None = None
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

    def __post_init__(self) -> None:
        _check_counts(self.count)


@dataclass(frozen=True, slots=True)
class CurveColumns:
    """Counts over ascending levels (thresholds, or tolerances): one column each."""

    at: tuple[float, ...]
    tp: tuple[int, ...]
    fp: tuple[int, ...]
    fn: tuple[int, ...]
    extra: Extra = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_counts(*self.tp, *self.fp, *self.fn)
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

    def __post_init__(self) -> None:
        if not 0 <= self.correct <= self.count <= MOST:
            raise ValueError(f"correct must be between 0 and count, got {self.correct}")


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

    def __post_init__(self) -> None:
        _check_counts(self.tp, self.fp, self.fn)

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
    findings: Sequence[Finding] = ()
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
