"""Make run records from measurements: units, curves, and every mistake with its context."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sat_bench.corpus.conditions import rules_of, under_condition
from sat_bench.corpus.talks import Talk
from sat_bench.defaults import (
    CONDITION_MARK,
    DEFAULT_RUNTIME,
    DEFAULT_THRESHOLD,
    DEFAULT_WEIGHTING,
    MODEL_MARK,
    WRITTEN,
    Condition,
    Options,
    TruthSource,
)
from sat_bench.models.protocol import NO_LOSS, Loss
from sat_bench.models.systems import ModelFiles, System
from truemark import __version__
from truemark.calibration import reliability_of
from truemark.counts import Counts, Weights, scores, total
from truemark.curve import (
    Curve,
    SweepPoint,
    leave_one_out,
    sum_curves,
    sweep,
    thinned,
)
from truemark.errors import TruemarkError, os_reason
from truemark.languages import language_code
from truemark.matching import ScoredPositions, match_positions
from truemark.measures import (
    boundary_edits,
    boundary_similarity,
    mean_f1,
    pk,
    segment_f1,
    su_error_rate,
    whole_segments,
    window_diff,
    window_errors,
)
from truemark.places import Group, over_tolerances, position_marks
from truemark.records import (
    SUFFIX,
    Difference,
    Finding,
    HeldOut,
    Mark,
    Reliability,
    Run,
    ScoringRules,
    Unit,
    is_record,
)
from truemark.records import System as RunSystem
from truemark.services.keys import without_keys
from truemark.signature import signature_line

TOOL = "sat-bench"
EMPTY_RATIO = 0.0
WORDS = {"unit": "talk", "units": "talks", "item": "sentence end", "items": "sentence ends"}

BUNDLED = "bundled talks"
TOLERANCES = (0, 1, 2, 3, 5, 10, 20)
LEAST_CANDIDATE = 0.01  # places less probable than this are not shown as candidates
NEAR = 20  # characters within which a missed and an invented end may be the same mistake
AROUND = 80  # characters of text on either side of a finding

# In scripts without white space between words, every character counts as a word.
_WORD = re.compile(
    r"[\u3001-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\s\u3001-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+"
)
IntColumn = NDArray[np.int64]

_NOT_IN_NAMES = re.compile(r"[^\w.+-]+")
_MOST_NAME_BYTES = 150  # of the name of a model in the name of its record


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTalk:
    """The answer of a system to one talk; `group` has the predicted and the true places."""

    id: str
    language: str
    curve: Curve
    seconds: float | None = None
    replayed: bool = False
    group: Group | None = None
    truth: TruthSource = "gold"
    words: IntColumn | None = None  # where the words of the text begin


@dataclass(frozen=True, eq=False)
class Measurement:
    """The answers of one system to all talks.

    `loss` counts what the system changed in the texts; `seconds` is how long it worked on them,
    without its start, or None if that was not measured.
    """

    talks: tuple[MeasuredTalk, ...]
    loss: Loss = NO_LOSS
    seconds: float | None = None
    characters: int = 0

    @property
    def characters_per_s(self) -> float | None:
        if self.seconds is None:
            return None
        return self.characters / self.seconds if self.seconds > 0 else 0.0

    @property
    def curves(self) -> tuple[Curve, ...]:
        return tuple(talk.curve for talk in self.talks)

    @property
    def graded(self) -> bool:
        """Whether thresholds make a difference; without probabilities they do not."""
        return any(curve.graded for curve in self.curves)

    @cached_property
    def summed(self) -> Curve:
        """All talks together at every threshold."""
        return sum_curves(self.curves)

    def sweep(self, thresholds: Sequence[float], weights: Weights) -> tuple[SweepPoint, ...]:
        """Sum the counts of all talks at each threshold, or once if thresholds do not matter."""
        used = thresholds if self.graded or not self.talks else thresholds[:1]
        return sweep(self.curves, used, weights, empty=EMPTY_RATIO)


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurement of a system under one condition, and the requested thresholds.

    `seconds` is the total time from `started` on.
    """

    system: System
    condition: Condition
    thresholds: tuple[float, ...]
    measurement: Measurement
    started: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Failed:
    """A system that could not be loaded or run."""

    name: str
    reason: str


def default_threshold(system: System) -> float:
    """Return the threshold that the card of a model recommends, else the general default."""
    recommended = system.threshold if isinstance(system, ModelFiles) else None
    return DEFAULT_THRESHOLD if recommended is None else recommended


def run_of(measured: Measured, threshold: float, options: Options, data: str) -> Run:
    """Make the run of one system under one condition at a threshold.

    `data` is the checksum of the corpus.
    """
    system, measurement = measured.system, measured.measurement
    names = _numbered((talk.id for talk in measurement.talks), " #")
    return Run(
        tool=TOOL,
        version=__version__,
        started=measured.started,
        seconds=measured.seconds,
        system=RunSystem(system.name, kind_of(system), identity_of(system, options)),
        signature={
            "data": data[:12],
            "truth": "+".join(sorted({talk.truth for talk in measurement.talks})) or "gold",
            "tolerance": str(options.tolerance),
            "condition": measured.condition,
            **(rules_of(measured.condition) if measured.condition != WRITTEN else {}),
        },
        scoring=ScoringRules(
            empty=EMPTY_RATIO,
            weights=options.weights,
            threshold=threshold if measurement.graded else None,
            own_threshold=default_threshold(system) if measurement.graded else None,
            tolerance=options.tolerance,
        ),
        units=tuple(
            _unit(name, talk, threshold)
            for name, talk in zip(names, measurement.talks, strict=True)
        ),
        held_out=_held_out(measured, options) if options.sweeps else None,
        words=WORDS,
        corpus=options.corpus.resolve().name if options.corpus else BUNDLED,
        measures=measures_of(measurement.talks, threshold, options.tolerance, inner=False),
        inner_measures=measures_of(measurement.talks, threshold, options.tolerance, inner=True),
    )


def word_starts(text: str) -> IntColumn:
    """Return the offsets at which the words of a text begin."""
    return np.fromiter((match.start() for match in _WORD.finditer(text)), dtype=np.int64)


def measures_of(
    talks: Sequence[MeasuredTalk], threshold: float, tolerance: int, *, inner: bool
) -> Mapping[str, float]:
    """Compute the additional measures at a threshold; leave out those without a value.

    `inner` leaves out the end of each text, which every system gets for free.
    """
    counts: list[Counts] = []
    whole = Counts.zero
    components: Counter[str] = Counter()
    for talk in talks:
        if talk.group is None or talk.words is None:
            return {}
        scored, truths = talk.group
        end = max(truths[-1] if truths else 0, int(scored.positions[-1]) if len(scored) else 0)
        predicted = [place for place in scored.above(threshold) if not inner or place < end]
        expected = [place for place in truths if not inner or place < end]
        pairs = match_positions(predicted, expected, tolerance)
        counts.append(
            Counts.of(matched=len(pairs), predicted=len(predicted), expected=len(expected))
        )
        whole += whole_segments(pairs, len(predicted), len(expected))
        length = max(0, len(talk.words) - inner)
        cuts, true_cuts = (
            [cut for cut in _words_before(talk.words, places) if cut <= length]
            for places in (predicted, expected)
        )
        components.update(window_errors(cuts, true_cuts, length))
        components.update(boundary_edits(cuts, true_cuts))
    ratios = scores(total(counts), empty=EMPTY_RATIO)
    values = {
        "precision": ratios.precision,
        "recall": ratios.recall,
        "f1": ratios.f1,
        "macro_f1": mean_f1(counts),
        "sentence_f1": segment_f1(whole),
        "su_error_rate": su_error_rate(total(counts)),
        "pk": pk(components),
        "window_diff": window_diff(components),
        "boundary_similarity": boundary_similarity(components),
    }
    return {name: value for name, value in values.items() if value is not None}


def _words_before(words: IntColumn, places: Sequence[int]) -> list[int]:
    """Return the number of words before each place, without 0 and without repeats."""
    numbers = np.unique(np.searchsorted(words, np.asarray(places, dtype=np.int64), side="left"))
    return [number for number in numbers.tolist() if number]


def signature_of(run: Run) -> str:
    """Write the signature of a run, with version and weights, in one line."""
    weights = run.scoring.weights
    rules = {"wp": weights.precision, "wr": weights.recall}
    return signature_line({run.tool: run.version, **run.signature, **rules})


def identity_of(system: System, options: Options) -> dict[str, str]:
    """Return everything that the answers of the system depend on; SaT models add their windows."""
    parts = dict(system.identity)
    if isinstance(system, ModelFiles):
        windowing = system.windowing.with_overlap(options.overlap, options.weighting)
        parts |= {"window": str(windowing.window), "overlap": str(windowing.overlap)}
        if options.weighting != DEFAULT_WEIGHTING:
            parts["weighting"] = options.weighting
        if options.runtime != DEFAULT_RUNTIME:
            parts["runtime"] = options.runtime
    return parts


def kind_of(system: System) -> str:
    kind, colon, _ = system.name.partition(":")
    return kind if colon and not isinstance(system, ModelFiles) else "sat"


def _unit(name: str, talk: MeasuredTalk, threshold: float) -> Unit:
    counts = talk.curve.counts(threshold)
    return Unit(
        name,
        counts.tp,
        counts.fp,
        counts.fn,
        group={"language": language_code(talk.language) or talk.language} if talk.language else {},
        seconds=talk.seconds,
        replayed=talk.replayed,
    )


def _numbered(names: Iterable[str], mark: str) -> list[str]:
    """Append the mark and a number to every repeated name."""
    seen: Counter[str] = Counter()
    distinct = []
    for name in names:
        seen[name] += 1
        distinct.append(f"{name}{mark}{seen[name]}" if seen[name] > 1 else name)
    return distinct


def _held_out(measured: Measured, options: Options) -> HeldOut | None:
    """Count the matches with the threshold of each talk chosen on the other talks."""
    measurement, thresholds = measured.measurement, measured.thresholds
    if len(thresholds) < 2 or len(measurement.talks) < 2 or not measurement.graded:
        return None
    points = leave_one_out(measurement.curves, thresholds, options.weights, empty=EMPTY_RATIO)
    counts = total(point.counts for point in points)
    return HeldOut(counts.tp, counts.fp, counts.fn, "leave one talk out")


def with_findings(run: Run, measured: Measured, talks: Iterable[Talk]) -> Run:
    """Add texts, marks, findings, curves and reliability to the run.

    The talks must be those of the measurement, in the same order, measured with `keep_places`.
    """
    measurement, tolerance = measured.measurement, int(run.scoring.tolerance or 0)
    threshold = run.scoring.threshold
    units: list[Unit] = []
    findings: list[Finding] = []
    groups: list[Group] = []
    for talk, unit, answer in zip(talks, run.units, measurement.talks, strict=True):
        if answer.group is None:
            raise ValueError(f"talks must be measured with their places, got {talk.id} without")
        groups.append(answer.group)
        text = under_condition(talk, measured.condition).text
        # Without probabilities every prediction is above any threshold.
        above = 0.0 if threshold is None else threshold
        least = min(LEAST_CANDIDATE, above / 2)
        marks = position_marks(answer.group, above, tolerance, least)
        units.append(replace(unit, text=text, marks=marks))
        findings += _findings(unit.id, text, marks, answer.group[0], above, tolerance)
    run = replace(run, units=tuple(units), findings=tuple(findings))
    if threshold is None:
        return run
    return replace(
        run,
        tolerances=over_tolerances(groups, threshold, {*TOLERANCES, tolerance}),
        curve=thinned(measurement.summed, run.scoring),
        reliability=reliability(groups, tolerance, threshold),
    )


def _findings(
    unit: str,
    text: str,
    marks: Sequence[Mark],
    scored: ScoredPositions,
    threshold: float,
    tolerance: int,
) -> Iterator[Finding]:
    """Yield every mistake, and every match that is not exact."""
    shown = [mark for mark in marks if mark.role != "candidate"]
    starts = [mark.start for mark in shown]
    # A predicted place near a missed end matches another end, so only the others are its chances.
    below = scored.scores <= threshold
    others, chances = scored.positions[below], scored.scores[below]
    for mark in shown:
        if mark.role == "found" and mark.truth is None:
            continue
        first = bisect_left(starts, mark.start - AROUND)
        around = shown[first : bisect_right(starts, mark.start + AROUND)]
        got: int | None = mark.start
        expected, probability = mark.truth, mark.probability
        if mark.role == "missed":
            got, expected = _nearest(mark, around, "invented"), mark.start
            low, high = others.searchsorted((mark.start - tolerance, mark.start + tolerance + 1))
            probability = max(chances[low:high].tolist(), default=None)
        elif mark.role == "invented":
            expected = _nearest(mark, around, "missed")
        kind = "near" if mark.role == "found" else mark.role
        off = got - expected if got is not None and expected is not None else None
        start, end = _window(text, mark.start)
        yield Finding(
            kind=kind,
            unit=unit,
            mistake=kind != "near",
            text=text[start:end],
            offset=start,
            at=mark.start - start,
            marks=tuple(
                replace(near, start=near.start - start, end=near.end - start, truth=None)
                for near in around
                if start <= near.start <= end
            ),
            differences=(
                () if off is None else (Difference("end", expected, got, off, "characters"),)
            ),
            probability=probability,
            note=_note(kind, off),
        )


def _window(text: str, place: int) -> tuple[int, int]:
    """Return the start and end of the context around a place, between words if possible."""
    start, end = max(0, place - AROUND), min(len(text), place + AROUND)
    if start:
        space = text.find(" ", start, place)
        start = space + 1 if space >= 0 else start
    if end < len(text):
        space = text.rfind(" ", place, end)
        end = space if space > place else end
    return start, end


def _nearest(mark: Mark, around: Sequence[Mark], role: str) -> int | None:
    """Return the place of the nearest mark with this role, if one is near enough."""
    places = [near.start for near in around if near.role == role]
    nearest = min(places, key=lambda place: abs(place - mark.start), default=None)
    return nearest if nearest is not None and abs(nearest - mark.start) <= NEAR else None


def _note(kind: str, off: int | None) -> str:
    if off is None:
        return ""
    where = f"{abs(off)} character{'s' * (abs(off) != 1)} {'after' if off > 0 else 'before'}"
    if kind == "missed":
        return f"an end was predicted {where} it"
    return f"{where} the true end"


def reliability(groups: Sequence[Group], tolerance: int, threshold: float) -> Reliability:
    """Compare the probabilities with how often a sentence really ends there.

    Each true end is credited to the most probable position within the tolerance. The summary
    figures cover the predicted ends. Talks are clusters.
    """
    probabilities, outcomes, talks = [], [], []
    for number, (scored, truths) in enumerate(groups):
        right = np.zeros(len(scored), dtype=np.bool_)
        ends = np.asarray(truths)
        first = scored.positions.searchsorted(ends - tolerance, side="left")
        last = scored.positions.searchsorted(ends + tolerance, side="right")
        for low, high in zip(first.tolist(), last.tolist(), strict=True):
            if low < high:
                right[low + int(scored.scores[low:high].argmax())] = True
        stated = np.isfinite(scored.scores)
        probabilities.append(scored.scores[stated])
        outcomes.append(right[stated])
        talks.append(np.full(np.count_nonzero(stated), number))
    return reliability_of(
        np.concatenate(probabilities),
        np.concatenate(outcomes),
        clusters=np.concatenate(talks),
        above=threshold,
    )


def record_paths(
    path: Path, models: Sequence[str], conditions: Sequence[Condition] = (WRITTEN,)
) -> tuple[Path, ...]:
    """Return the file of each run, model by model, and create the folders.

    A path that contains `{model}` or `{condition}` is a pattern, one that ends in .json a file, any
    other a folder; `with_run_id` completes the names of files in a folder.
    """
    names = _numbered(map(_file_name, map(without_keys, models)), "-")
    paths = tuple(_path(path, name, condition) for name in names for condition in conditions)
    for file, runs in Counter(paths).items():
        if runs > 1:
            raise TruemarkError(f"{file}: would contain {runs} runs; name a folder or a pattern")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TruemarkError(
                f"{file.parent}: a folder for run records cannot be created here:"
                f" {os_reason(error)}"
            ) from error
        if is_folder(path):
            continue  # no run replaces another there
        if file.is_dir():
            raise TruemarkError(f"{file}: is a folder; expected a place for a run record")
        if file.is_file() and file.stat().st_size and not is_record(file):
            raise TruemarkError(
                f"{file}: is not a run record and would be overwritten; name another file"
            )
    return paths


def _file_name(model: str) -> str:
    """Return a model's part of the names of its records."""
    name = _NOT_IN_NAMES.sub("-", model)
    # A name of more than 255 bytes, condition and run id included, could not be written.
    return name.encode()[:_MOST_NAME_BYTES].decode(errors="ignore").strip("-.") or "model"


def _path(path: Path, name: str, condition: Condition) -> Path:
    if is_folder(path):
        return path / (f"{name}{SUFFIX}" if condition == WRITTEN else f"{name}.{condition}{SUFFIX}")
    return Path(str(path).replace(MODEL_MARK, name).replace(CONDITION_MARK, condition))


def is_folder(path: Path) -> bool:
    """Whether records go to a folder, where their names are chosen here."""
    if MODEL_MARK in str(path) or CONDITION_MARK in str(path):
        return False
    return path.suffix != ".json" or path.is_dir()


def with_run_id(path: Path, run: Run) -> Path:
    """Return the name of a record in a folder, where every run has a file of its own.

    with_run_id(Path("runs/base.run.json"), run)  # runs/base.1a2b3c4d.run.json
    """
    return path.with_name(f"{path.name.removesuffix(SUFFIX)}.{run.id}{SUFFIX}")
