"""Your own benchmark in forty lines: keyword extraction, measured, recorded, compared.

`python examples/keywords.py OUT` scores two extractors and writes a record for each. Then:

    truemark compare OUT/frequent OUT/long
    truemark check OUT/long --against OUT/frequent --fail-if-worse
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from truemark import Finding, Run, ScoringRules, System, Unit, write_run

TEXTS = {
    "bridge": ("The bridge closes for repair; the repair takes a month.", "bridge repair"),
    "choir": ("The choir sings on Sunday. New voices are welcome in the choir.", "choir voices"),
    "harvest": ("Rain delayed the harvest. Farmers fear a small harvest.", "harvest farmers"),
    "library": ("The library lends tools: borrow a drill from the library.", "library tools"),
    "railway": ("A new railway timetable: the railway runs hourly at night.", "railway timetable"),
}  # fmt: skip
EXTRACTORS: dict[str, Callable[[list[str]], set[str]]] = {
    "frequent": lambda words: {word for word, count in Counter(words).items() if count > 1},
    "long": lambda words: {word for word in words if len(word) > 6},
}


def measured(name: str) -> Run:
    units, findings = [], []
    for title, (text, keywords) in TEXTS.items():
        got = EXTRACTORS[name](re.findall(r"[a-z]{4,}", text.lower()))
        expected = set(keywords.split())
        units.append(Unit(title, len(got & expected), len(got - expected), len(expected - got)))
        for kind, words in (("invented", got - expected), ("missed", expected - got)):
            findings += [Finding(kind, title, text=text, note=word) for word in sorted(words)]
    return Run(
        tool="keywords",
        version="1",
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        system=System(name, "rules"),
        signature={"data": "five notices", "rules": "exact words"},
        scoring=ScoringRules(empty=0),
        units=tuple(units),
        findings=tuple(findings),
    )


if __name__ == "__main__":
    for extractor in EXTRACTORS:
        write_run(Path(sys.argv[1]) / f"{extractor}.run.json", measured(extractor))
