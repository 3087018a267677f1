"""Records with one value replaced by another: read or refused in one line, never a traceback."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from tests.truemark.test_records import FULL

from truemark.comparison import compare
from truemark.errors import TruemarkError
from truemark.gate import Criteria, check
from truemark.junit import junit
from truemark.records import Run, load_run, run_json
from truemark.sections import as_json, as_text, comparison_sections, gate_sections

ODD: tuple[object, ...] = (
    None, True, -1, 0, 1e308, -1e308, 10**18, 10**30, "", "\x1b[2J\u202e", "\ud800",
    [], [[]], {}, {"a": {"b": []}}, [1, 2, 3], "NaN", float("nan"), float("inf"),
)  # fmt: skip
Path_ = tuple[str | int, ...]


def paths(value: object, at: Path_ = ()) -> Iterator[Path_]:
    """Every place of a JSON document."""
    if at:
        yield at
    items: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    for key, item in items:
        yield from paths(item, (*at, key))


def changed(content: object, at: Path_, odd: object) -> object:
    whole = copy.deepcopy(content)
    inner = whole
    for key in at[:-1]:
        inner = inner[key]  # type: ignore[index]
    inner[at[-1]] = odd  # type: ignore[index]
    return whole


CONTENT = json.loads(run_json(FULL))
PLACES = list(paths(CONTENT))
COUNTED = {"units", "scoring", "system", "signature", "held_out", "tool"}


def shown(run: Run) -> str:
    """All that the commands print of a run."""
    comparison = compare([run, run])
    gate = check(run, run, Criteria(fail_under=0.5, fail_if_worse=True))
    Xml.fromstring(junit(gate, "data"))
    compared, checked = comparison_sections(comparison), gate_sections(gate, "data")
    assert json.loads(as_json(compared))
    assert json.loads(as_json(checked))
    return as_text(compared) + as_text(checked)


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: ascii(odd)[:20])
def test_a_record_with_an_odd_value_is_read_or_refused(odd: object, tmp_path: Path) -> None:
    path = tmp_path / "odd.run.json"
    read = 0
    for place in PLACES:
        path.write_text(json.dumps(changed(CONTENT, place, odd)))
        try:
            run = load_run(path)
            text = shown(run) if place[0] in COUNTED else ""
        except TruemarkError as error:
            text = str(error)
            assert "\n" not in text
        else:
            read += 1
            run_json(run)
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert read
