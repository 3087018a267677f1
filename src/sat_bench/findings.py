"""What a run record shows besides counts: every mistake in its text, curves, reliability."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from sat_bench.corpus.talks import Talk
from sat_bench.evaluation import Measured
from sat_bench.recording import Setup, chosen_thresholds
from truemark.calibration import reliability_of
from truemark.record_parts import curve_columns, over_tolerances, position_marks
from truemark.records import Difference, Finding, Mark, Reliability, Run, Unit
from truemark.sweep import Group, ScoredPositions, exact_curve

TOLERANCES = (0, 1, 2, 3, 5, 10, 20)
LEAST_CANDIDATE = 0.01  # what is less probable than this is not shown as a candidate
NEAR = 20  # characters within which a missed and an invented end may be the same mistake
AROUND = 80  # characters of text on either side of a finding


def with_findings(run: Run, measured: Measured, talks: Iterable[Talk], setup: Setup) -> Run:
    """The run with texts, marks, findings, curves and reliability.

    The talks are those that were measured, in the same order, and their predictions were kept.
    """
    measurement = measured.measurement
    chosen = chosen_thresholds(measurement, setup.weights)
    units: list[Unit] = []
    findings: list[Finding] = []
    for talk, unit, scored in zip(talks, run.units, measurement.scored, strict=True):
        view = View.of(talk, unit.id, scored.group, chosen[talk.condition], setup.tolerance)
        units.append(replace(unit, text=talk.text, marks=view.marks))
        findings += view.findings()
    run = replace(run, units=tuple(units), findings=tuple(findings))
    if not measurement.graded:
        return run
    groups = [one.group for one in measurement.scored]
    if run.scoring.threshold is not None:
        levels = sorted({*TOLERANCES, setup.tolerance})
        run = replace(run, tolerances=over_tolerances(groups, run.scoring.threshold, levels))
    return replace(
        run,
        curve=curve_columns(exact_curve(groups, setup.tolerance), run.scoring),
        reliability=reliability(groups, setup.tolerance),
    )


@dataclass(frozen=True, slots=True)
class View:
    """A talk with all that lies in its text, in order."""

    unit: str
    text: str
    marks: tuple[Mark, ...]
    scored: ScoredPositions
    tolerance: int

    @classmethod
    def of(cls, talk: Talk, unit: str, group: Group, threshold: float, tolerance: int) -> View:
        """The view of a talk at a threshold."""
        least = min(LEAST_CANDIDATE, threshold / 2)
        marks = position_marks(group, threshold, tolerance, least)
        return cls(unit, talk.text, marks, group[0], tolerance)

    def findings(self) -> Iterator[Finding]:
        """Every mistake, and every match that is a little off."""
        shown = [mark for mark in self.marks if mark.role != "candidate"]
        starts = [mark.start for mark in shown]
        for mark in shown:
            if mark.role == "found" and mark.truth is None:
                continue
            first = bisect_left(starts, mark.start - AROUND)
            around = shown[first : bisect_right(starts, mark.start + AROUND)]
            yield self._finding(mark, around)

    def _finding(self, mark: Mark, around: Sequence[Mark]) -> Finding:
        start, end = self._window(mark.start)
        got: int | None
        expected: int | None
        match mark.role:
            case "found":
                kind, got, expected = "near", mark.start, mark.truth
            case "missed":
                kind, got, expected = "missed", _nearest(mark, around, "invented"), mark.start
            case _:
                kind, got, expected = "invented", mark.start, _nearest(mark, around, "missed")
        off = got - expected if got is not None and expected is not None else None
        return Finding(
            kind=kind,
            unit=self.unit,
            mistake=kind != "near",
            text=self.text[start:end],
            offset=start,
            at=mark.start - start,
            marks=tuple(
                replace(one, start=one.start - start, end=one.end - start, truth=None)
                for one in around
                if start <= one.start <= end
            ),
            differences=()
            if off is None
            else (Difference("end", expected, got, off, "characters"),),
            probability=self._probability(mark),
            note=_note(kind, off),
        )

    def _probability(self, mark: Mark) -> float | None:
        """The model's own; of a missed end the highest that would have found it."""
        if mark.role != "missed":
            return mark.probability
        positions = self.scored.positions
        first = int(positions.searchsorted(mark.start - self.tolerance, side="left"))
        last = int(positions.searchsorted(mark.start + self.tolerance, side="right"))
        near = [score for score in self.scored.scores[first:last].tolist() if isfinite(score)]
        return max(near, default=None)

    def _window(self, place: int) -> tuple[int, int]:
        """Where the text around a place begins and ends, between words where there are some."""
        start, end = max(0, place - AROUND), min(len(self.text), place + AROUND)
        if start:
            space = self.text.find(" ", start, place)
            start = space + 1 if space >= 0 else start
        if end < len(self.text):
            space = self.text.rfind(" ", place, end)
            end = space if space > place else end
        return start, end


def _nearest(mark: Mark, around: Sequence[Mark], role: str) -> int | None:
    """Where the nearest mark of that role is, if that is near."""
    places = [one.start for one in around if one.role == role]
    nearest = min(places, key=lambda place: abs(place - mark.start), default=None)
    return nearest if nearest is not None and abs(nearest - mark.start) <= NEAR else None


def _note(kind: str, off: int | None) -> str:
    if off is None:
        return ""
    where = f"{abs(off)} character{'s' * (abs(off) != 1)} {'after' if off > 0 else 'before'}"
    if kind == "missed":
        return f"an end was predicted {where} it"
    return f"{where} the true end"


def reliability(groups: Sequence[Group], tolerance: int) -> Reliability:
    """How often a sentence ends where a model says so with a probability of so much.

    Each true end is credited to the most probable position within the tolerance of it.
    """
    import numpy as np

    probabilities, outcomes = [], []
    for scored, truths in groups:
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
    return reliability_of(np.concatenate(probabilities), np.concatenate(outcomes))
