"""Folders in place of records, for `truemark compare` and `truemark check`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.truemark.runs_for_tests import many

from truemark.cli import main
from truemark.records import load_run, write_run

OTHER = {"data": "d2", "rules": "r1"}
LATER = "2026-03-02T09:00:00+00:00"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.chdir(tmp_path)
    write_run("before/first.run.json", many("before", 2))
    write_run("after/resumed.run.json", many("after", 2))
    write_run("after/newest.run.json", many("after", 0, started=LATER))
    return tmp_path


def test_a_folder_stands_for_its_newest_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "before", "after"]) == 0
    assert "after against before: better" in capsys.readouterr().out
    assert main(["check", "after", "--against", "before", "--fail-if-worse"]) == 0
    assert main(["check", "before", "--against", "after", "--fail-if-worse"]) == 1


def test_runs_on_the_same_data_are_compared_with_each_other(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run("before/other.run.json", many("before", 0, signature=OTHER))
    write_run("after/other.run.json", many("after", 2, signature=OTHER))
    assert main(["compare", "before", "after", "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["comparisons"]) == 2
    assert main(["check", "after", "--against", "before", "--fail-if-worse"]) == 1
    assert "worse" in capsys.readouterr().out
    flags = ["--fail-if-worse", "--junit", "cases.xml"]
    assert main(["check", "after", "--against", "before", *flags]) == 2


def test_a_run_is_named_by_the_id_that_history_shows(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    older = load_run("after/resumed.run.json").id
    assert older != load_run("after/newest.run.json").id
    assert main(["history", "after"]) == 0
    assert older in capsys.readouterr().out
    first = load_run("before/first.run.json").id
    assert main(["compare", f"before/{first}", f"after/{older}"]) == 0
    shown = capsys.readouterr().out
    assert older in shown
    assert "after against before: better" not in shown  # which the newest is
    assert main(["check", f"after/{older}", "--against", f"./{first}", "--fail-if-worse"]) == 0
    assert main(["report", f"after/{older}", "-o", "page.html"]) == 0
    assert older in Path("page.html").read_text("utf-8")
    capsys.readouterr()
    assert main(["report", "after/0badc0de", "-o", "page.html"]) == 1
    assert "no run below after has this id: truemark history after" in capsys.readouterr().err
    assert main(["report", "nowhere/0badc0de", "-o", "page.html"]) == 1
    assert "nowhere/0badc0de: no such file; check the path" in capsys.readouterr().err


def test_a_lone_folder_means_all_of_its_runs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "."]) == 0
    shown = capsys.readouterr().out
    assert "before" in shown
    assert "after" in shown
    assert main(["compare", "before"]) == 1
    assert "before: has no two runs on the same data to compare" in capsys.readouterr().err


def test_a_folder_without_a_run_on_the_same_data_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run("other/one.run.json", many("one", 0, signature=OTHER))
    write_run("other/two.run.json", many("two", 0, signature={"data": "d3", "rules": "r1"}))
    assert main(["compare", "before", "other"]) == 1
    assert "before: has no run on the same data as one in other" in capsys.readouterr().err
