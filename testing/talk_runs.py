"""Make up records of the sentence segmentation benchmark, by seed."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from truemark.calibration import reliability_of
from truemark.counts import Counts, total
from truemark.curve import curve_of, grid, leave_one_out, sum_curves, thinned
from truemark.matching import ScoredPositions
from truemark.places import Group, over_tolerances, position_marks
from truemark.records import Finding, HeldOut, Mark, Run, ScoringRules, System, Unit

STARTED = "2026-03-01T09:00:00+01:00"
SOURCE = Path(__file__).parents[1] / "src"
_AROUND = 240
_END = re.compile(r"[.?!][\"')]*(?=\s|$)")
_PAUSE = re.compile(r"[,;:](?=\s)")


@dataclass(frozen=True, slots=True)
class Talk:
    """A talk with its true sentence ends, and the probability at each possible end."""

    name: str
    text: str
    truth: tuple[int, ...]
    scored: ScoredPositions
    language: str

    @property
    def group(self) -> Group:
        return self.scored, self.truth


def talk(name: str, text: str, skill: float, seed: int, language: str = "en") -> Talk:
    """Make up the answer of a segmenter of this skill (0 to 1) to a talk."""
    import numpy as np

    chance = random.Random(seed)
    truth = tuple(match.end() for match in _END.finditer(text))
    scores: dict[int, float] = {}
    for place in truth:
        high = chance.random() < skill
        scores[place] = chance.betavariate(9, 1) if high else chance.betavariate(1, 4)
    for match in _PAUSE.finditer(text):
        low = chance.random() < skill
        scores[match.end()] = chance.betavariate(1, 12) if low else chance.betavariate(4, 3)
    places = sorted(scores)
    scored = ScoredPositions(np.array(places), np.array([scores[place] for place in places]))
    return Talk(name, text, truth, scored, language)


def talks_run(name: str, skill: float, *, seed: int = 1, tolerance: int = 0) -> Run:
    """Make up a run over the bundled talks."""
    folder = SOURCE / "sat_bench" / "bundled" / "talks"
    texts = {path.stem: _body(path) for path in sorted(folder.glob("*.txt"))}
    talks = [
        talk(title, text, skill, seed + number, "en" if number % 3 else "en-GB")
        for number, (title, text) in enumerate(texts.items())
    ]
    return run_of_talks(name, talks, tolerance)


def _body(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n\n")[2].strip()


def run_of_talks(name: str, talks: Sequence[Talk], tolerance: int) -> Run:
    """Make the record of these talks."""
    rules = ScoringRules(empty=0, threshold=0.3, own_threshold=0.5, tolerance=tolerance)
    measured = [_measured(talk, rules) for talk in talks]
    groups = [talk.group for talk in talks]
    curves = [curve_of(scored, truth, tolerance) for scored, truth in groups]
    held_out = None
    if len(curves) > 1:
        points = leave_one_out(curves, grid(0.05, 1, 0.05), empty=rules.empty)
        counts = total(point.counts for point in points)
        held_out = HeldOut(counts.tp, counts.fp, counts.fn, "leave one out")
    claims = [
        (score, position in talk.truth)
        for talk in talks
        for position, score in zip(talk.scored.positions, talk.scored.scores, strict=True)
    ]
    return Run(
        tool="sat-bench",
        version="0.1.0",
        started=STARTED,
        seconds=2.4,
        system=System(name, "SaT", {"model": f"{name}.onnx", "sha256": "5f0c" * 4}),
        signature={"data": "8c1f0e6a9b42", "rules": "sentence ends", "tolerance": str(tolerance)},
        scoring=rules,
        units=tuple(unit for unit, _ in measured),
        findings=tuple(finding for _, mistakes in measured for finding in mistakes),
        curve=thinned(sum_curves(curves), rules),
        tolerances=over_tolerances(groups, 0.3, (0, 1, 2, 3, 5, 8, 13)),
        held_out=held_out,
        reliability=reliability_of([p for p, _ in claims], [right for _, right in claims]),
        words={"unit": "talk", "units": "talks", "item": "sentence end", "items": "sentence ends"},
    )


def _measured(talk: Talk, rules: ScoringRules) -> tuple[Unit, list[Finding]]:
    tolerance = int(rules.tolerance or 0)
    threshold = rules.threshold or 0.0
    marks = position_marks(talk.group, threshold, tolerance, 0.01)
    roles = [mark.role for mark in marks]
    counts = Counts(*(roles.count(role) for role in ("found", "invented", "missed")))
    findings = [_in_context(talk, mark, marks) for mark in marks if _is_mistake(mark)]
    unit = Unit(
        talk.name,
        counts.tp,
        counts.fp,
        counts.fn,
        group={"language": talk.language, "length": "short" if len(talk.text) < 6_000 else "long"},
        seconds=0.1 + len(talk.text) / 40_000,
        text=talk.text,
        marks=marks,
    )
    return unit, findings


def _is_mistake(mark: Mark) -> bool:
    return mark.role in ("invented", "missed")


def _in_context(talk: Talk, mark: Mark, marks: Sequence[Mark]) -> Finding:
    start, end = max(0, mark.start - _AROUND), min(len(talk.text), mark.start + _AROUND)
    inside = [other for other in marks if start <= other.start <= end]
    near = {other.start: other.probability for other in marks if other.probability is not None}
    return Finding(
        kind=mark.role,
        unit=talk.name,
        text=talk.text[start:end],
        offset=start,
        at=mark.start - start,
        marks=tuple(
            replace(other, start=other.start - start, end=other.end - start)
            for other in inside
            if other.role != "candidate"
        ),
        probability=near.get(mark.start),
    )


def large_run(findings: int = 10_000) -> Run:
    """Make up a run with this many findings, in 250 talks."""
    sentences = ("We crossed the river at dawn", "nobody spoke", "the ferry was late, as ever")
    chance = random.Random(3)
    text = ". ".join(chance.choice(sentences) for _ in range(5)) + "."
    units = [
        Unit(f"talk {n:03}", 100, 20, 20, group={"language": f"l{n % 12}"}, seconds=0.2 + n / 100)
        for n in range(250)
    ]
    place = text.find(".") + 1
    mistakes = tuple(
        Finding(
            ("invented", "missed", "doubled", "split number")[number % 4],
            f"talk {number % 250:03}",
            text=f"{number} {text}",
            marks=(Mark(place, place, "invented", number % 100 / 100),),
            probability=number % 100 / 100,
        )
        for number in range(findings)
    )
    return replace(
        talks_run("large", 0.9),
        units=tuple(units),
        findings=mistakes,
        system=System("large", "made up"),
    )
