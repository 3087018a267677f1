"""Load the mistakes for a review of the truth: those of a run, or those marked on its page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from truemark.errors import TruemarkError
from truemark.files import read_text
from truemark.jsontext import parse_json, read_value
from truemark.records import Finding, Run, ScoringRules, System, load_run

MARKS_FORMAT = "truemark.marks/1"


@dataclass(frozen=True, slots=True)
class Marks:
    """The export of a report page: mistakes, with places counted in the text of their unit."""

    marks: tuple[Finding, ...]
    signature: Mapping[str, str] = field(default_factory=dict)


def load_review(path: Path) -> Run:
    """Load a run record, or make a run that has the marked mistakes of a report page."""
    text = read_text(path)
    if text.lstrip()[:9].lower() in ("<!doctype", "<html"):
        raise TruemarkError(
            f"{path}: is a page; press its button Export marks, and name the file that it saves"
        )
    content = parse_json(text, str(path))
    if not isinstance(content, dict) or content.get("format") != MARKS_FORMAT:
        return load_run(path)
    marks = read_value(Marks, content, str(path))
    return Run(
        tool="",
        version="",
        started="",
        system=System("marked"),
        signature=marks.signature,
        scoring=ScoringRules(0),
        units=(),
        findings=marks.marks,
    )
