"""Make a page as one file: template, style, scripts, data, and a policy that allows nothing else.

The scripts get every text once, and offsets in UTF-16 units, as JavaScript counts.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING

from truemark.counts import total
from truemark.imports import require
from truemark.jsontext import to_json
from truemark.pages.figures import Figure, Shown
from truemark.records import Finding, Mark, Run, Unit, finding_counts
from truemark.summary import scored_units

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_SCRIPTS = ("text.js", "mistake.js", "truth.js", "charts.js", "page.js")
# Characters that could end a script element early, or start a comment in it, as JSON escapes.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
_NAME_PARTS = re.compile(r"[^_/.-]*[_/.-]+|[^_/.-]+")
Key = tuple[str, int, str, str]
_DIGITS = 6
_COLUMNS = (
    *("run", "kind", "unit", "repeat", "mistake", "from", "to", "place", "at", "character"),
    *("probability", "changes", "confidence", "note", "text", "marks"),
    *("differences", "expected", "got"),
)  # of findings; the rarest last, so that rows stay short


def document(template: str, data: object, **content: object) -> str:
    """Make the page from `template`; its script finds `data` as JSON in the element `data`."""
    require("report", "drawing a page", "jinja2")
    style = _asset("page.css")
    scripts = [_asset("chart.umd.min.js", "vendor"), *map(_asset, _SCRIPTS)]
    page = _environment().get_template(template)
    return _encodable(
        page.render(
            policy=_policy(style, scripts),
            style=style,
            scripts=scripts,
            data=_data(data),
            **content,
        )
    )


def _data(value: object) -> str:
    text = to_json(value)
    if "\\ud" in text:  # escaped halves of surrogate pairs, which `_encodable` replaces
        text = json.dumps(json.loads(text), ensure_ascii=False)
    return text.translate(_ESCAPES)


def _encodable(text: str) -> str:
    """Replace each half of a surrogate pair, which cannot be written to a file."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def signed(value: float) -> str:
    """Show a difference to three digits, with its sign unless it is zero."""
    shown = f"{value:+.3f}"
    return "0.000" if float(shown) == 0 else shown.replace("-", "−")


def duration(seconds: float | None) -> str:
    """Show a time in the unit that fits it: `4.4 s`, `31 ms`, `0.7 ms`; a dash if it is unknown."""
    if seconds is None:
        return "–"
    if seconds >= 1:
        return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:,.0f} s"
    return f"{1000 * seconds:.0f} ms" if seconds >= 0.01 else f"{1000 * seconds:.1f} ms"


def _cost(amount: float | None) -> str:
    """Show a cost to three significant digits, or to two places from 100 on."""
    if amount is None:
        return "–"
    return f"{amount:,.2f}" if amount >= 100 else f"{amount:.3g}"


def _breakable(name: str) -> Markup:
    """Let a long name break after each underscore, slash, hyphen or full stop."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(part) for part in _NAME_PARTS.findall(name))


def _policy(style: str, scripts: list[str]) -> str:
    """Allow only this style and these scripts, by their digests; no script makes markup."""
    allowed = " ".join(map(_digest, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_digest(style)}; base-uri 'none';"
        " form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def _asset(name: str, folder: str = "assets") -> str:
    text = (resources.files("truemark.pages") / folder / name).read_text(encoding="utf-8")
    assert "</script" not in text, f"{name} would end its own element"
    return text


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("truemark.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "score": lambda value: f"{value:.3f}",
        "signed": signed,
        "count": lambda value: f"{value:,}",
        "duration": duration,
        "cost": _cost,
        "breakable": _breakable,
        "shown": lambda value: value if isinstance(value, str) else to_json(value),
    }
    return environment


Texts = dict[str, int]
"""Numbers of texts; equal texts share one."""


def _number(text: str, texts: Texts) -> int:
    return texts.setdefault(text, len(texts))


def utf16(text: str) -> Callable[[int], int]:
    """Return a function from offsets in characters to offsets in UTF-16 units."""
    beyond = [place for place, sign in enumerate(text) if sign > "\uffff"]

    def place(offset: int) -> int:
        inside = min(max(offset, 0), len(text))
        return inside + bisect_left(beyond, inside)

    return place


def payload_of(groups: Sequence[tuple[str, Sequence[Shown]]], figures: Sequence[Figure]) -> object:
    """Gather the data of a report; each group is a heading and the runs that are compared."""
    texts: Texts = {}
    roles: Texts = {}
    runs: list[object] = []
    findings: list[list[object]] = []
    for place, (heading, group) in enumerate(groups):
        tags = change_tags([shown.run for shown in group], [shown.name for shown in group])
        for order, shown in enumerate(group):
            label = f"{shown.name} ({heading})" if heading else shown.name
            named = {"group": place, "name": shown.name, "label": label, "color": shown.color}
            runs.append(named | _run(shown.run, texts, roles))
            for number, finding in enumerate(_findings(shown.run, texts, roles)):
                changes = list(tags.get((order, number), ()))
                findings.append(_row(finding | {"run": shown.number, "changes": changes}))
    return {
        "runs": runs,
        "columns": _COLUMNS,
        "findings": findings,
        "figures": [figure.drawn for figure in figures],
        "texts": list(texts),
        "roles": list(roles),
    }


def _run(run: Run, texts: Texts, roles: Texts) -> dict[str, object]:
    units = []
    for unit in run.units:
        text = unit.text
        units.append(
            {
                "id": unit.id,
                "repeat": unit.repeat,
                "group": list(unit.group.items()),
                "text": None if text is None else _number(text, texts),
                "marks": [] if text is None else _marks(unit.marks, text, roles),
                "context": list(unit.context.items()),
            }
        )
    counts = total(unit.counts for unit in scored_units(run))
    return {
        "id": run.id,
        "signature": dict(run.signature),
        "total": [counts.tp, counts.fp, counts.fn],
        "empty": run.scoring.empty,
        "threshold": run.scoring.threshold,
        "tolerance": run.scoring.tolerance or 0,
        "units": units,
        "counts": [
            [count.kind, count.mistake, count.count, list(count.group.items())]
            for count in finding_counts(run)
        ],
    }


def _row(values: Mapping[str, object]) -> list[object]:
    """Put values in the order of the columns, without missing ones at the end."""
    row = [values.get(name) for name in _COLUMNS]
    while row[-1] is None:
        row.pop()
    return row


def _marks(marks: Sequence[Mark], text: str, roles: Texts) -> list[list[object]]:
    """Make rows of start, role, probability, end, truth, without missing values at the end."""
    place = utf16(text)
    rows = []
    for mark in marks:
        row: list[object] = [
            place(mark.start),
            _number(mark.role, roles),
            _rounded(mark.probability),
            place(mark.end) if mark.end > mark.start else None,
            None if mark.truth is None else place(mark.truth),
        ]
        while row[-1] is None:
            row.pop()
        rows.append(row)
    return rows


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, _DIGITS)


def _findings(run: Run, texts: Texts, roles: Texts) -> Iterator[dict[str, object]]:
    units = {unit.key: unit for unit in run.units}
    for finding in run.findings:
        unit, at = units.get((finding.unit, finding.repeat)), _at(finding)
        whole = (unit.text if unit else None) or ""
        place = utf16(whole)
        start, end = finding.offset, finding.offset + len(finding.text)
        # An excerpt that is part of the unit's text is not sent again, nor are its marks.
        is_part = bool(finding.text) and whole[start:end] == finding.text
        is_same = is_part and unit and _marks_between(unit, start, end) == list(finding.marks)
        content = {
            "kind": finding.kind,
            "unit": finding.unit,
            "repeat": finding.repeat,
            "mistake": finding.mistake,
            "text": _number(finding.text, texts) if finding.text and not is_part else None,
            "at": None if at is None else utf16(finding.text)(at),
            "place": None if at is None or not whole else place(start + at),
            "from": place(start) if whole and finding.text else None,
            "to": place(end) if is_part else None,
            "character": None if finding.at is None else start + finding.at,
            "marks": None if is_same else _marks(finding.marks, finding.text, roles),
            "expected": finding.expected,
            "got": finding.got,
            "differences": [
                [d.name, d.expected, d.got, d.by, d.by_unit] for d in finding.differences
            ]
            or None,
            "probability": _rounded(finding.probability),
            "confidence": finding.confidence,
            "note": finding.note or None,
        }
        yield content


def _marks_between(unit: Unit, start: int, end: int) -> list[Mark]:
    """Return the unit's marks from `start` to `end` as an excerpt has them: candidates left out."""
    return [
        replace(mark, start=mark.start - start, end=mark.end - start, truth=None)
        for mark in unit.marks
        if mark.role != "candidate" and start <= mark.start and mark.end <= end
    ]


def _at(finding: Finding) -> int | None:
    """Return the place of a finding in its text: as recorded, else at the mark that fits best."""
    if finding.at is not None or not finding.marks:
        return finding.at
    middle = len(finding.text) / 2
    nearest = min(
        finding.marks, key=lambda mark: (mark.role != finding.kind, abs(mark.start - middle))
    )
    return nearest.start


def change_tags(
    runs: Sequence[Run], names: Sequence[str]
) -> Mapping[tuple[int, int], tuple[str, ...]]:
    """Tag each finding, by run and place, as fixed, broken or in both."""
    if len(runs) < 2:
        return {}
    keys = [[_key(finding) for finding in run.findings] for run in runs]
    tags: dict[tuple[int, int], tuple[str, ...]] = {}
    baseline = set(keys[0])
    others = [set(run_keys) for run_keys in keys[1:]]
    for place, key in enumerate(keys[0]):
        tags[0, place] = tuple(
            f"in both, {name}" if key in run_keys else f"fixed by {name}"
            for name, run_keys in zip(names[1:], others, strict=True)
        )
    for number, run_keys in enumerate(keys[1:], start=1):
        for place, key in enumerate(run_keys):
            word = "in both, " if key in baseline else "broken by "
            tags[number, place] = (f"{word}{names[number]}",)
    return tags


def _key(finding: Finding) -> Key:
    """Identify a mistake across runs by where it is, or what it is about."""
    if finding.at is not None:
        what = str(finding.offset + finding.at)
    else:
        what = to_json(finding.expected if finding.expected is not None else finding.got)
    return finding.unit, finding.repeat, finding.kind, what
