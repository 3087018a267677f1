"""Names from elsewhere in everything that becomes Markdown: nothing of them is markup there."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.truemark.runs_for_tests import many

from truemark.cli import main as truemark
from truemark.records import write_run

NASTY = "![x](http://evil.example/p.png) <img src=y> | @all `c` **b** [d]: e"
ACTS = re.compile(r"!\\?\[|\]\(|\]:|<img|://|@all|\*\*b|`c`")


@pytest.mark.parametrize(
    "arguments",
    [
        (
            "check",
            "b.run.json",
            "--against",
            "a.run.json",
            "--fail-if-worse",
            "--format",
            "markdown",
        ),
        ("compare", "a.run.json", "b.run.json", "--format", "markdown"),
        ("history", ".", "--format", "markdown"),
        ("leaderboard", ".", "--format", "markdown"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_name_is_markup(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    for name, mistakes in (("a", 1), ("b", 9)):
        run = many(name, mistakes)
        units = tuple(replace(unit, id=f"{unit.id} {NASTY}") for unit in run.units)
        system = replace(run.system, name=f"{name} {NASTY}")
        write_run(Path(f"{name}.run.json"), replace(run, system=system, units=units, findings=()))
    truemark(arguments)
    summary = tmp_path / "summary.md"
    written = summary.read_text(encoding="utf-8") if summary.exists() else ""
    assert (arguments[0] == "check") == bool(written)
    for text in (capsys.readouterr().out, written):
        assert ACTS.findall(text) == []
        assert not text or "evil.example" in text
