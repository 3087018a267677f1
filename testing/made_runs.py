"""Run records as the two tools write them, made up by seed, for pages, tests and pictures.

`python -m testing.made_runs FOLDER` writes all of them.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from truemark.calibration import LevelAccuracy, per_level
from truemark.counts import Counts
from truemark.curves import exact_curve
from truemark.record_files import Caps, write_run
from truemark.record_parts import (
    curve_columns,
    held_out_of,
    over_tolerances,
    position_blocks,
    position_marks,
    reliability_of,
    reliability_of_levels,
)
from truemark.records import Difference, Finding, Mark, Run, ScoringRules, System, Unit
from truemark.sweep import Group, ScoredPositions, grid, sweep_groups

STARTED = "2026-03-01T09:00:00+01:00"
SOURCE = Path(__file__).parents[1] / "src"
_AROUND = 240
_END = re.compile(r"[.?!][\"')]*(?=\s|$)")
_PAUSE = re.compile(r"[,;:](?=\s)")


@dataclass(frozen=True, slots=True)
class Talk:
    """A talk with its true sentence ends and the probability at each place that could be one."""

    name: str
    text: str
    truth: tuple[int, ...]
    scored: ScoredPositions
    language: str

    @property
    def group(self) -> Group:
        return self.scored, self.truth


def talk(name: str, text: str, skill: float, seed: int, language: str = "en") -> Talk:
    """A talk as a segmenter of that skill (0 to 1) sees it."""
    import numpy as np

    chance = random.Random(seed)
    truth = tuple(found.end() for found in _END.finditer(text))
    scores: dict[int, float] = {}
    for place in truth:
        high = chance.random() < skill
        scores[place] = chance.betavariate(9, 1) if high else chance.betavariate(1, 4)
    for found in _PAUSE.finditer(text):
        low = chance.random() < skill
        scores[found.end()] = chance.betavariate(1, 12) if low else chance.betavariate(4, 3)
    places = sorted(scores)
    scored = ScoredPositions(np.array(places), np.array([scores[place] for place in places]))
    return Talk(name, text, truth, scored, language)


def talks_run(name: str, skill: float, *, seed: int = 1, tolerance: int = 0) -> Run:
    """A run over the bundled talks."""
    folder = SOURCE / "sat_bench" / "bundled" / "talks"
    texts = {path.stem: _body(path) for path in sorted(folder.glob("*.txt"))}
    heard = [
        talk(title, text, skill, seed + number, "en" if number % 3 else "en-GB")
        for number, (title, text) in enumerate(texts.items())
    ]
    return run_of_talks(name, heard, tolerance)


def _body(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n\n")[2].strip()


def run_of_talks(name: str, talks: Sequence[Talk], tolerance: int) -> Run:
    """The record that measuring these talks gives."""
    rules = ScoringRules(empty=0, threshold=0.3, own_threshold=0.5, tolerance=tolerance)
    measured = [_measured(one, rules) for one in talks]
    groups = [one.group for one in talks]
    claims = [
        (score, position in one.truth)
        for one in talks
        for position, score in zip(one.scored.positions, one.scored.scores, strict=True)
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
        findings=tuple(finding for _, own in measured for finding in own),
        curve=curve_columns(exact_curve(groups, tolerance), rules),
        tolerances=over_tolerances(groups, 0.3, (0, 1, 2, 3, 5, 8, 13)),
        held_out=held_out_of(sweep_groups(groups, grid(0.05, 1, 0.05), tolerance), rules),
        reliability=reliability_of([p for p, _ in claims], [right for _, right in claims]),
        words={"unit": "talk", "units": "talks", "item": "sentence end", "items": "sentence ends"},
    )


def _measured(one: Talk, rules: ScoringRules) -> tuple[Unit, list[Finding]]:
    tolerance = int(rules.tolerance or 0)
    threshold = rules.threshold or 0.0
    marks = position_marks(one.group, threshold, tolerance, 0.01)
    roles = [mark.role for mark in marks]
    counts = Counts(*(roles.count(role) for role in ("found", "invented", "missed")))
    findings = [_in_context(one, mark, marks) for mark in marks if _is_mistake(mark)]
    unit = Unit(
        one.name,
        counts.tp,
        counts.fp,
        counts.fn,
        group={"language": one.language, "length": "short" if len(one.text) < 6_000 else "long"},
        blocks=position_blocks(one.scored.above(threshold), one.truth, tolerance),
        seconds=0.1 + len(one.text) / 40_000,
        text=one.text,
        marks=marks,
    )
    return unit, findings


def _is_mistake(mark: Mark) -> bool:
    return mark.role in ("invented", "missed")


def _in_context(one: Talk, mark: Mark, marks: Sequence[Mark]) -> Finding:
    start, end = max(0, mark.start - _AROUND), min(len(one.text), mark.start + _AROUND)
    inside = [own for own in marks if start <= own.start <= end]
    near = {own.start: own.probability for own in marks if own.probability is not None}
    return Finding(
        kind=mark.role,
        unit=one.name,
        text=one.text[start:end],
        offset=start,
        at=mark.start - start,
        marks=tuple(
            replace(own, start=own.start - start, end=own.end - start)
            for own in inside
            if own.role != "candidate"
        ),
        probability=near.get(mark.start),
    )


_KINDS = (
    ("wrong day", "start_time", 1440.0, "minutes"),
    ("wrong time", "start_time", 300.0, "minutes"),
    ("wrong length", "end_time", 30.0, "minutes"),
    ("wrong title", "title", None, ""),
    ("missed", "", None, ""),
    ("invented", "", None, ""),
)


def calendar_run(name: str, skill: float, *, seed: int = 5, repeats: int = 1) -> Run:
    """A run over the bundled conversations."""
    chance = random.Random(seed)
    units: list[Unit] = []
    findings: list[Finding] = []
    folder = SOURCE / "cal_ai" / "samples"
    for path in sorted(folder.rglob("*.txt")):
        for repeat in range(repeats):
            unit, own = _conversation(path, chance, skill, repeat)
            units.append(unit)
            findings += own
    levels = _levels(chance, skill)
    return Run(
        tool="cal_ai",
        version="0.1.0",
        started=STARTED,
        seconds=81.2,
        system=System(
            name, "language model", {"model": name, "prompt": "9a31c0", "temperature": 0}
        ),
        signature={"data": "41aa09f2c3d7", "rules": "events", "tolerance": "moderate"},
        scoring=ScoringRules(empty=1),
        units=tuple(units),
        findings=tuple(findings),
        reliability=reliability_of_levels(levels),
        words={"unit": "sample", "units": "samples", "item": "event", "items": "events"},
        notes=("Costs are list prices of the day of the run.",),
    )


def _levels(chance: random.Random, skill: float) -> tuple[LevelAccuracy, ...]:
    claims = []
    for level, lift in (("low", -0.3), ("medium", -0.1), ("high", 0.05)):
        claims += [(level, chance.random() < skill + lift) for _ in range(chance.randint(12, 40))]
    return per_level(claims, ("low", "medium", "high"))


def _conversation(
    path: Path, chance: random.Random, skill: float, repeat: int
) -> tuple[Unit, list[Finding]]:
    text = path.read_text(encoding="utf-8")
    name = f"{path.parent.name}/{path.stem}"
    group = {"category": path.parent.name, "language": "en" if len(path.stem) % 3 else "de"}
    if chance.random() < 0.015:
        return Unit(name, repeat=repeat, group=group, failed="the model timed out"), []
    findings = []
    tp, fp, fn = chance.randint(0, 2), 0, 0
    for _ in range(chance.randint(1, 2)):
        if chance.random() < skill:
            tp += 1
            continue
        finding, extra, lost = _wrong_event(name, text, chance, repeat)
        findings.append(finding)
        fp, fn = fp + extra, fn + lost
    if tp and chance.random() < 0.2:
        event = _event(chance)
        findings.append(
            Finding(
                "title in other words",
                name,
                repeat,
                mistake=False,
                text=text,
                expected=event,
                got=event | {"title": f"{event['title']} (yearly)"},
                differences=(Difference("title", event["title"], f"{event['title']} (yearly)"),),
                confidence="high",
            )
        )
    return (
        Unit(
            name,
            tp,
            fp,
            fn,
            repeat,
            group,
            seconds=chance.lognormvariate(0.1, 0.5),
            cost=chance.uniform(0.0004, 0.003),
            tokens={"input": chance.randint(900, 2400), "output": chance.randint(80, 400)},
            text=text,
        ),
        findings,
    )


def _event(chance: random.Random) -> dict[str, object]:
    day, hour = chance.randint(1, 28), chance.randint(8, 17)
    return {
        "action": chance.choice(("create", "update")),
        "title": chance.choice(("Boiler check", "Budget review", "Dentist", "Choir practice")),
        "start_time": f"2026-03-{day:02}T{hour:02}:00:00",
        "end_time": f"2026-03-{day:02}T{hour + 1:02}:00:00",
        "location": None,
    }


def _wrong_event(
    name: str, text: str, chance: random.Random, repeat: int
) -> tuple[Finding, int, int]:
    kind, field, by, by_unit = chance.choice(_KINDS)
    event = _event(chance)
    lines = text.splitlines(keepends=True)
    line = chance.randrange(len(lines))
    start = sum(map(len, lines[:line]))
    marks = (Mark(start, start + len(lines[line].rstrip()), "quoted"),)
    confidence = chance.choice(("low", "medium", "high"))
    if kind == "missed":
        return Finding(kind, name, repeat, text=text, expected=event), 0, 1
    if kind == "invented":
        finding = Finding(
            kind, name, repeat, text=text, marks=marks, got=event, confidence=confidence
        )
        return finding, 1, 0
    wrong = {"title": "Check-up"}.get(field, "2026-03-29T11:30:00")
    got = event | {field: wrong}
    finding = Finding(
        kind,
        name,
        repeat,
        text=text,
        marks=marks,
        expected=event,
        got=got,
        differences=(Difference(field, event[field], wrong, by, by_unit),),
        confidence=confidence,
        note="The refused slot was taken for the agreed one.",
    )
    return finding, 1, 1


def large_run(findings: int = 10_000) -> Run:
    """A run with so many findings, in a hundred groups' worth of talks."""
    sentences = ("We crossed the river at dawn", "nobody spoke", "the ferry was late, as ever")
    chance = random.Random(3)
    text = ". ".join(chance.choice(sentences) for _ in range(5)) + "."
    units = [
        Unit(f"talk {n:03}", 100, 20, 20, group={"language": f"l{n % 12}"}, seconds=0.2 + n / 100)
        for n in range(250)
    ]
    place = text.find(".") + 1
    made = tuple(
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
        findings=made,
        system=System("large", "made up"),
    )


HOSTILE = (
    "</script><script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 1'>",
    "<!-- <script>",
    "]]>{{ 7 * 7 }}{% raw %}",
    "javascript:window.pwned=1",
    "\u202egnp.exe\u202c \u2028\u2029 \x00 \ud83d \U0001f600 & &lt; \"' `${1}`",
    "__proto__",
    "constructor",
    "<style>* { display: none }</style><base href='//example.invalid/'>",
)


def hostile_run(name: str = HOSTILE[0]) -> Run:
    """A run in which every text tries to be markup, script or a template."""
    whole = "\n".join(HOSTILE)
    attack: Mapping[str, object] = {text: text for text in HOSTILE} | {"__proto__": {"pwned": 1}}
    units = []
    findings = []
    for number, text in enumerate(HOSTILE):
        group = {text: HOSTILE[-1 - number], "__proto__": text}
        failed = text if number == 1 else None
        counts = (0, 0, 0) if failed else (3, 1, 1)
        marks = (Mark(2, 2, "found", 0.9), Mark(5, 9, text, 0.4), Mark(len(whole), 10**6, "missed"))
        units.append(
            Unit(text, *counts, group=group, failed=failed, text=whole, marks=marks, seconds=0.5)
        )
        findings.append(
            Finding(
                kind=text,
                unit=text,
                text=whole,
                marks=marks,
                expected=attack,
                got=text,
                differences=(Difference(text, text, attack, 1e300, text),),
                confidence=text,
                note=text,
            )
        )
    return replace(
        talks_run("hostile", 0.9),
        tool=HOSTILE[1],
        version=HOSTILE[0],
        started=HOSTILE[0],
        system=System(name, HOSTILE[1], attack),
        signature=dict(zip(HOSTILE, HOSTILE, strict=True)),
        units=tuple(units),
        findings=tuple(findings),
        words={"unit": HOSTILE[0], "units": HOSTILE[1], "item": HOSTILE[0], "items": HOSTILE[1]},
        notes=HOSTILE,
    )


def main(folder: Path) -> None:
    """Writes one of each."""
    runs = {
        "nano": talks_run("nano", 0.9),
        "small": talks_run("small", 0.97),
        "cautious": calendar_run("cautious", 0.8),
        "brisk": calendar_run("brisk", 0.7, seed=6, repeats=1),
        "hostile": hostile_run(),
    }
    for name, run in runs.items():
        write_run(folder / f"{name}.run.json", run)
    write_run(folder / "large.run.json", large_run(), Caps(findings_per_kind=10_000))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
