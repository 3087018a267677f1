"""Make up records of the calendar extraction benchmark, by seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from testing.talk_runs import SOURCE, STARTED
from truemark.records import (
    Difference,
    Finding,
    Mark,
    Reliability,
    ReliabilityRow,
    Run,
    ScoringRules,
    System,
    Unit,
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
    """Make up a run over the bundled conversations."""
    chance = random.Random(seed)
    units: list[Unit] = []
    findings: list[Finding] = []
    folder = SOURCE / "cal_ai" / "samples"
    for path in sorted(folder.rglob("*.txt")):
        for repeat in range(repeats):
            unit, mistakes = _conversation(path, chance, skill, repeat)
            units.append(unit)
            findings += mistakes
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
        reliability=Reliability(tuple(_levels(chance, skill))),
        words={"unit": "sample", "units": "samples", "item": "event", "items": "events"},
        notes=("Costs are list prices of the day of the run.",),
    )


def _levels(chance: random.Random, skill: float) -> Iterator[ReliabilityRow]:
    for level, lift in (("low", -0.3), ("medium", -0.1), ("high", 0.05)):
        right = [chance.random() < skill + lift for _ in range(chance.randint(12, 40))]
        yield ReliabilityRow(level, len(right), sum(right))


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
