"""A run with only hostile texts; `python -m testing.made_runs FOLDER` writes all made-up runs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from testing.calendar_runs import calendar_run
from testing.talk_runs import large_run, talks_run
from truemark.files import write_atomically
from truemark.records import Difference, Finding, Mark, Run, System, Unit, run_json, write_run

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
    """Make up a run in which every text tries to be markup, script or a template."""
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
    """Write one run of each kind."""
    runs = {
        "nano": talks_run("nano", 0.9),
        "small": talks_run("small", 0.97),
        "cautious": calendar_run("cautious", 0.8),
        "brisk": calendar_run("brisk", 0.7, seed=6, repeats=1),
        "hostile": hostile_run(),
    }
    for name, run in runs.items():
        write_run(folder / f"{name}.run.json", run)
    write_atomically(folder / "large.run.json", run_json(large_run()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
