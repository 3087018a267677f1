"""The record of one run: what was measured, on what, unit by unit, and every mistake in context.

One JSON document per run (`truemark.run/1`), described in docs/records.md. Offsets count Unicode
characters, not bytes.
"""

from __future__ import annotations

import codecs
import json
import os
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from truemark.counts import EQUAL_WEIGHTS, Counts, Weights
from truemark.errors import TruemarkError
from truemark.files import read_bytes, read_text, write_atomically
from truemark.jsontext import (
    Number,
    json_schema,
    parse_json,
    read_value,
    set_fields,
    to_json,
)
from truemark.languages import language_code
from truemark.signature import data_hash

FORMAT = "truemark.run/1"
SUFFIX = ".run.json"
WRITTEN = "written"  # the condition of a run that names none
MOST = 10**9  # counts of one unit; sums of many still fit 64 bits

# What a record keeps of a large run.
FINDINGS_PER_KIND = 500
FINDING_CHARACTERS = 2_000
UNIT_CHARACTERS = 200_000
ALL_CHARACTERS = 1_000_000
_SEED = 20260220
# Other programs may write the fields of a record in another order, or escape the slash.
_NAMES_FORMAT = re.compile(rb'"format"\s*:\s*"truemark\.run\\?/')


def _check_counts(*counts: int) -> None:
    if counts and not 0 <= min(counts) <= max(counts) <= MOST:
        raise ValueError(f"counts must be between 0 and {MOST}, got others")


@dataclass(frozen=True, slots=True)
class System:
    """What was measured; `identity` holds everything that changes its answers."""

    name: str
    kind: str = ""
    identity: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScoringRules:
    """How counts become scores, and the thresholds that were in force."""

    empty: Number
    weights: Weights = EQUAL_WEIGHTS
    threshold: Number | None = None
    own_threshold: Number | None = None  # the system's default
    tolerance: Number | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.empty <= 1:
            raise ValueError(f"empty must be between 0 and 1, got {self.empty}")


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of text and what it is: found, invented, missed, candidate, quoted.

    `truth` is the place of the expected item that a found one was paired with, if it differs.
    """

    start: int
    end: int
    role: str
    probability: Number | None = None
    truth: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"start must be between 0 and end, got {self.start}")


@dataclass(frozen=True, slots=True)
class Unit:
    """One measurement of one text, page or the like: its counts, or the reason why it failed.

    Units of one cluster are resampled together; a unit without one, together with its repeats.
    `context` is what the system was given besides the text, by name: texts, or lists of texts.
    """

    id: str
    tp: int = 0
    fp: int = 0
    fn: int = 0
    repeat: int = 0
    group: Mapping[str, str] = field(default_factory=dict)
    cluster: str | None = None
    failed: str | None = None
    seconds: Number | None = None
    cost: Number | None = None
    tokens: Mapping[str, int] = field(default_factory=dict)
    replayed: bool = False
    text: str | None = None
    marks: tuple[Mark, ...] = ()
    text_left_out: bool = False
    context: Mapping[str, object] = field(default_factory=dict)
    expected: int | None = None  # of a failed unit: how many items there were to find

    def __post_init__(self) -> None:
        _check_counts(self.tp, self.fp, self.fn, self.expected or 0)

    @property
    def counts(self) -> Counts:
        return Counts(self.tp, self.fp, self.fn)

    @property
    def key(self) -> tuple[str, int]:
        """The key that pairs a unit with the same unit of another run."""
        return self.id, self.repeat


@dataclass(frozen=True, slots=True)
class Difference:
    """A field in which expected and got differ, and by how much where that is a number."""

    name: str
    expected: object = None
    got: object = None
    by: Number | None = None
    by_unit: str = ""


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
    probability: Number | None = None
    confidence: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class FindingCount:
    """How many findings of a kind the units of a group had, including those the record left out."""

    kind: str
    count: int
    group: Mapping[str, str] = field(default_factory=dict)
    mistake: bool = True

    def __post_init__(self) -> None:
        _check_counts(self.count)


@dataclass(frozen=True, slots=True)
class CurveColumns:
    """Counts over ascending levels (thresholds, or tolerances): one column each."""

    at: tuple[Number, ...]
    tp: tuple[int, ...]
    fp: tuple[int, ...]
    fn: tuple[int, ...]

    def __post_init__(self) -> None:
        _check_counts(*self.tp, *self.fp, *self.fn)
        if len({len(self.at), len(self.tp), len(self.fp), len(self.fn)}) > 1:
            raise ValueError("curve columns must be of equal length, got others")

    def __len__(self) -> int:
        return len(self.at)

    def counts(self, number: int) -> Counts:
        """Return the counts at a place of the curve."""
        return Counts(self.tp[number], self.fp[number], self.fn[number])


@dataclass(frozen=True, slots=True)
class ReliabilityRow:
    """Predictions of one stated confidence, or of a range of probabilities, and the right ones.

    `low` and `high` are the 95% interval of the share that was right, where clusters were taken
    into account; without them the predictions count as independent.
    """

    label: str
    count: int
    correct: int
    lower: Number | None = None
    upper: Number | None = None
    mean: Number | None = None  # of the stated probabilities
    low: Number | None = None
    high: Number | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.correct <= self.count <= MOST:
            raise ValueError(f"correct must be between 0 and count, got {self.correct}")


@dataclass(frozen=True, slots=True)
class Reliability:
    """How often predictions were right by stated confidence, Brier score and calibration error.

    Both numbers are over `predictions` predictions, or over all where that is None;
    `calibrated_error` is about the calibration error that chance would cause if every stated
    probability were true.
    """

    rows: tuple[ReliabilityRow, ...]
    brier: Number | None = None
    calibration_error: Number | None = None
    calibrated_error: Number | None = None
    predictions: int | None = None


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The counts when each unit is scored at a threshold chosen without it."""

    tp: int
    fp: int
    fn: int
    method: str = ""

    def __post_init__(self) -> None:
        _check_counts(self.tp, self.fp, self.fn)

    @property
    def counts(self) -> Counts:
        return Counts(self.tp, self.fp, self.fn)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one system on one set under one condition.

    `signature` holds what comparable runs have in common (data, rules, tolerance, condition) and
    nothing about the system. `words` are the nouns of the tool, such as {"unit": "page"}. `corpus`
    is the name of the data.
    """

    tool: str
    version: str
    started: str
    system: System
    signature: Mapping[str, str]
    scoring: ScoringRules
    units: tuple[Unit, ...]
    seconds: Number | None = None
    findings: tuple[Finding, ...] = ()
    finding_counts: tuple[FindingCount, ...] = ()
    curve: CurveColumns | None = None
    tolerances: CurveColumns | None = None
    held_out: HeldOut | None = None
    reliability: Reliability | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    corpus: str = ""
    measures: Mapping[str, Number] = field(default_factory=dict)  # other measures, by name
    inner_measures: Mapping[str, Number] = field(default_factory=dict)  # without ends of texts

    def __post_init__(self) -> None:
        times = Counter(unit.key for unit in self.units)
        repeated = [key for key, count in times.items() if count > 1]
        if repeated:
            name, repeat = repeated[0]
            raise ValueError(f"units must differ in id or repeat, got two of {name!r}, {repeat}")

    @property
    def condition(self) -> str:
        return self.signature.get("condition", WRITTEN)

    @property
    def comparison_key(self) -> dict[str, str]:
        """The values that must be equal in two runs for their scores to be comparable."""
        rules = self.scoring
        condition = {} if self.condition == WRITTEN else {"condition": self.condition}
        signature = {name: value for name, value in self.signature.items() if name != "condition"}
        return {
            "tool": self.tool,
            **condition,  # first: rules may differ because conditions do
            **signature,
            "empty": f"{rules.empty:g}",
            "weights": f"{rules.weights.precision:g},{rules.weights.recall:g}",
        }

    @property
    def data_id(self) -> str:
        """Twelve hex digits that comparable runs share."""
        return data_hash(*self._key_parts())

    @property
    def system_id(self) -> str:
        """Twelve hex digits that identify the system and everything that affects its answers."""
        parts = (self.system.name, self.system.kind, self.system.identity)
        return data_hash(json.dumps(parts, sort_keys=True, default=str))

    @property
    def id(self) -> str:
        """Eight hex digits that identify this run wherever it is shown."""
        # Runs that begin in the same second differ in how long they took.
        seconds = "" if self.seconds is None else repr(float(self.seconds))
        return data_hash(self.started, seconds, self.system_id, *self._key_parts())[:8]

    def _key_parts(self) -> list[str]:
        return [f"{name}:{value}" for name, value in sorted(self.comparison_key.items())]


def load_run(path: str | os.PathLike[str]) -> Run:
    """Read the record at `path`; unknown fields are ignored."""
    runs = load_runs(path)
    if len(runs) > 1:
        conditions = ", ".join(run.condition for run in runs)
        raise TruemarkError(
            f"{path}: holds runs under {len(runs)} conditions ({conditions}), expected one;"
            " truemark report and truemark history show each of them, and measuring again"
            " writes a record for each"
        )
    return runs[0]


def load_runs(path: str | os.PathLike[str]) -> tuple[Run, ...]:
    """Read the record at `path`, as a run for each condition that is in it.

    Earlier versions of sat-bench wrote all conditions of a system to one record.
    """
    content = parse_json(read_text(path), str(path))
    named = content.get("format") if isinstance(content, dict) else None
    if not isinstance(named, str) or not named.startswith("truemark.run/"):
        raise TruemarkError(f"{path}: not a run record; expected format {FORMAT!r}")
    if named != FORMAT and not named.startswith(FORMAT + "."):
        raise TruemarkError(f"{path}: format {named!r} is newer than {FORMAT!r}; update truemark")
    run = _with_language_codes(read_value(Run, content, str(path)))
    if "conditions" not in run.signature:
        return (run,)
    conditions = dict.fromkeys(unit.group.get("condition", WRITTEN) for unit in run.units)
    try:
        return tuple(_one_condition(run, condition) for condition in conditions) or (run,)
    except ValueError as error:  # units that only the name of a condition told apart
        raise TruemarkError(f"{path}: {error}") from None


def _with_language_codes(run: Run) -> Run:
    """Group talks by the code of their language: earlier versions wrote what the header says.

    Other tools may tell languages apart that share a code.
    """
    if run.tool != "sat-bench":
        return run
    groups = [*(unit.group for unit in run.units), *(part.group for part in run.finding_counts)]
    stated = {group["language"] for group in groups if "language" in group}
    codes = {language: language_code(language) or language for language in stated}
    if all(language == code for language, code in codes.items()):
        return run

    def coded(group: Mapping[str, str]) -> dict[str, str]:
        return {
            name: codes.get(value, value) if name == "language" else value
            for name, value in group.items()
        }

    counts = Counter[tuple[str, bool, tuple[tuple[str, str], ...]]]()
    for part in run.finding_counts:
        counts[part.kind, part.mistake, tuple(coded(part.group).items())] += part.count
    return replace(
        run,
        units=tuple(replace(unit, group=coded(unit.group)) for unit in run.units),
        finding_counts=_as_finding_counts(counts),
    )


def _one_condition(run: Run, condition: str) -> Run:
    """Take one condition out of a run that was measured under several.

    Curves and held-out counts are of all conditions together, so they are left out.
    """
    # A unit was called "talk (bare)", and its cluster "talk".
    names = {
        unit.id: "".join(unit.id.rsplit(f" ({condition})", 1))
        for unit in run.units
        if unit.group.get("condition", WRITTEN) == condition
    }
    signature = {name: value for name, value in run.signature.items() if name != "conditions"}
    return replace(
        run,
        signature=signature if condition == WRITTEN else signature | {"condition": condition},
        units=tuple(
            replace(
                unit,
                id=names[unit.id],
                group=_without_condition(unit.group),
                cluster=None if unit.cluster == names[unit.id] else unit.cluster,
            )
            for unit in run.units
            if unit.id in names
        ),
        findings=tuple(
            replace(finding, unit=names[finding.unit])
            for finding in run.findings
            if finding.unit in names
        ),
        finding_counts=tuple(
            replace(count, group=_without_condition(count.group))
            for count in run.finding_counts
            if count.group.get("condition", WRITTEN) == condition
        ),
        seconds=None,
        curve=None,
        tolerances=None,
        held_out=None,
        reliability=None,
    )


def _without_condition(group: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in group.items() if name != "condition"}


def write_run(path: str | os.PathLike[str], run: Run) -> None:
    """Write the record to `path`, whole or not at all; a large run is cut to what fits."""
    write_atomically(path, run_json(capped(run)))


def run_json(run: Run) -> str:
    """Write the record as JSON, without fields at their default."""
    return to_json({"format": FORMAT} | set_fields(run)) + "\n"


def is_record(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a JSON object that names the format of run records, wherever it does."""
    try:
        data = read_bytes(path).removeprefix(codecs.BOM_UTF8)
    except TruemarkError:
        return False
    return data.lstrip()[:1] == b"{" and _NAMES_FORMAT.search(data) is not None


def schema() -> dict[str, Any]:
    """Make the JSON Schema of a run record, which ships as run.schema.json."""
    content = json_schema(Run, "Truemark run record")
    named = {"format": {"type": "string", "pattern": r"^truemark\.run/1(\..*)?$"}}
    return content | {
        "$id": FORMAT,
        "properties": named | content["properties"],
        "required": ["format", *content["required"]],
    }


def capped(run: Run) -> Run:
    """Cut a large run to what a record keeps.

    Findings are sampled per kind, with their true numbers beside them, and their texts cut. Texts
    of units are kept while they fit, those with the most mistakes first.
    """
    return replace(
        run,
        findings=tuple(_shortened(finding) for finding in _sampled(run.findings)),
        finding_counts=finding_counts(run),
        units=_with_texts_that_fit(run.units),
    )


def _sampled(findings: Sequence[Finding]) -> list[Finding]:
    """Keep at most `FINDINGS_PER_KIND` findings of each kind, in their order."""
    places: dict[str, list[int]] = {}
    for place, finding in enumerate(findings):
        places.setdefault(finding.kind, []).append(place)
    chosen: list[int] = []
    for kind, of_kind in places.items():
        if len(of_kind) > FINDINGS_PER_KIND:
            of_kind = random.Random(f"{_SEED} {kind}").sample(of_kind, FINDINGS_PER_KIND)
        chosen += of_kind
    return [findings[place] for place in sorted(chosen)]


def _shortened(finding: Finding) -> Finding:
    longest = FINDING_CHARACTERS
    if len(finding.text) <= longest:
        return finding
    marks = tuple(
        replace(mark, end=min(mark.end, longest)) for mark in finding.marks if mark.start < longest
    )
    return replace(finding, text=finding.text[:longest], marks=marks)


def finding_counts(run: Run) -> tuple[FindingCount, ...]:
    """Return the recorded counts of findings per kind and group; if there are none, count them."""
    if run.finding_counts:
        return run.finding_counts
    groups = {unit.key: tuple(unit.group.items()) for unit in run.units}
    counts = Counter(
        (finding.kind, finding.mistake, groups.get((finding.unit, finding.repeat), ()))
        for finding in run.findings
    )
    return _as_finding_counts(counts)


def _as_finding_counts(
    counts: Mapping[tuple[str, bool, tuple[tuple[str, str], ...]], int],
) -> tuple[FindingCount, ...]:
    return tuple(
        FindingCount(kind, count, dict(group), mistake)
        for (kind, mistake, group), count in counts.items()
    )


def without_texts(run: Run) -> Run:
    """Leave out everything that quotes a text or an answer; counts and kinds of mistakes stay."""
    units = (
        replace(
            unit,
            text=None,
            marks=(),
            context={},
            text_left_out=True,
            failed=unit.failed and "the reason is left out",
        )
        for unit in run.units
    )
    return replace(run, units=tuple(units), findings=())


def _with_texts_that_fit(units: tuple[Unit, ...]) -> tuple[Unit, ...]:
    left = ALL_CHARACTERS
    fitting = list(units)
    for place in sorted(range(len(units)), key=lambda place: -units[place].counts.mistakes):
        size = len(units[place].text or "")
        if size <= min(left, UNIT_CHARACTERS):
            left -= size
        else:
            fitting[place] = replace(units[place], text=None, marks=(), text_left_out=True)
    return tuple(fitting)


def data_names(runs: Iterable[Run]) -> dict[str, str]:
    """Name each set of comparable runs by its corpus and condition; else by its digest."""
    names: dict[str, str] = {}
    for run in runs:
        condition = [run.condition] if "condition" in run.signature else []
        corpus = run.corpus or run.data_id[:6]
        names.setdefault(run.data_id, ", ".join([corpus, *condition]))
    shared = Counter(names.values())
    return {
        data: f"{name} ({data[:6]})" if shared[name] > 1 else name for data, name in names.items()
    }
