"""A benchmark with marks: names found in notices, each mistake shown where it stands in the text.

`python examples/names.py OUT` scores two extractors and writes a record for each. Then:

    truemark compare OUT/titled OUT/capitals
    truemark report OUT/titled OUT/capitals -o OUT/page.html
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from truemark import Finding, Mark, Run, ScoringRules, System, Unit, write_run

# The true names are in brackets, which are removed before an extractor sees the text.
NOTICES = {
    "bridge": "Mr [Okafor] says that the bridge closes on Monday. Ask [Lena Prinz] for a pass.",
    "choir": "Dr [Anna Weil] leads the choir now. Bring your voice, says [Tom Hale].",
    "dentist": "The practice of Dr [Ruiz] moves to Harbour Street in May.",
    "garden": "Seeds are with [Ines Costa]; spades, as ever, with Mr [Bell].",
    "harvest": "Rain delayed the harvest, and Mrs [Adeyemi] fears for the apples.",
    "library": "On Tuesday [Piet Maas] reads from his diary. The library is open until ten.",
    "market": "Mrs [Lind] sells honey again, and [Jon Aker] bread from Norway.",
    "museum": "Dr [Sato] found the coin. It lies beside the Roman lamp.",
    "pool": "The pool is closed. Mr [Grant] apologises, and so does the City Council.",
    "railway": "[Mina Roy] has found a scarf on the night train to Leeds.",
    "school": "Mrs [Okafor] looks for helpers; call her or [Dan Weller] before Friday.",
    "theatre": "Tonight [Eva Brandt] plays the queen, Mr [Hale] the fool.",
}
EXTRACTORS = {
    "titled": r"(?<=Mr |Dr )[A-Z]\w+(?: [A-Z]\w+)?|(?<=Mrs )[A-Z]\w+",
    "capitals": r"(?<!^)(?<!\. )(?!Mrs?\b|Dr\b)\b[A-Z]\w+(?: [A-Z]\w+)*",
}


def measure_notice(name: str, notice: str, pattern: str) -> tuple[Unit, list[Finding]]:
    """Score one notice: a name counts as found when both its ends are right."""
    text, expected = re.sub(r"[\[\]]", "", notice), set()
    for number, marked in enumerate(re.finditer(r"\[(.+?)\]", notice)):
        start = marked.start() - 2 * number
        expected.add((start, start + len(marked[1])))
    got = {match.span() for match in re.finditer(pattern, text)}
    marks = [
        Mark(start, end, role)
        for role, spans in (
            ("found", got & expected),
            ("invented", got - expected),
            ("missed", expected - got),
        )
        for start, end in sorted(spans)
    ]
    findings = [
        Finding(mark.role, name, text=text, at=mark.start, marks=tuple(marks))
        for mark in marks
        if mark.role != "found"
    ]
    counts = len(got & expected), len(got - expected), len(expected - got)
    return Unit(name, *counts, text=text, marks=tuple(marks)), findings


def measure(extractor: str) -> Run:
    measured = [
        measure_notice(name, notice, EXTRACTORS[extractor]) for name, notice in NOTICES.items()
    ]
    return Run(
        tool="names",
        version="1",
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        system=System(extractor, "rules", {"pattern": EXTRACTORS[extractor]}),
        signature={"data": "twelve notices", "rules": "both ends"},
        scoring=ScoringRules(empty=0),
        units=tuple(unit for unit, _ in measured),
        findings=tuple(finding for _, findings in measured for finding in findings),
    )


if __name__ == "__main__":
    for extractor in EXTRACTORS:
        write_run(Path(sys.argv[1]) / f"{extractor}.run.json", measure(extractor))
