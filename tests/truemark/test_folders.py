"""Folders in place of records, for `truemark compare` and `truemark check`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.truemark.runs_for_tests import many

from truemark.cli import main
from truemark.folders import find_record
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


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_comparisons_and_checks_name_the_data_and_the_condition(
    form: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for condition in ("written", "bare"):
        for number, name in enumerate(("base", "nano")):
            signature = {"data": "d1", "condition": condition}
            run = many(name, number, signature=signature, corpus="my")
            write_run(f"runs/{name}.{condition}.run.json", run)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    assert main(["compare", "runs", "--format", form]) == 0
    compared = capsys.readouterr().out
    assert main(["check", "runs", "--fail-under", "0.5", "--format", form]) == 0
    checked = capsys.readouterr().out
    if form == "json":
        groups = json.loads(compared)["comparisons"] + json.loads(checked)["checks"]
        assert [(group["tool"], group["data"]) for group in groups] == [
            ("maker", "my, written"),
            ("maker", "my, bare"),
        ] * 2
        return
    mark = "## " if form == "markdown" else ""
    for data in ("my, written", "my, bare"):
        assert f"{mark}maker: {data}\n\n" in compared
        assert f"maker nano on {data}: passed\n\n" in checked
        assert f"### maker nano on {data}: passed\n\n" in Path("summary.md").read_text("utf-8")


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


@pytest.mark.parametrize("command", ["history", "leaderboard"])
def test_a_file_in_place_of_a_folder_is_named_as_one(
    folder: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "after/newest.run.json"]) == 1
    assert capsys.readouterr().err == (
        "error: after/newest.run.json: is a file, not a folder; expected one with run records\n"
    )
    assert main([command, "nowhere"]) == 1
    assert "nowhere: no such folder; expected one" in capsys.readouterr().err


LEFT_OUT = (
    "left out 1 older run of a system that was measured again: truemark history . lists all runs,"
    " ./ID names one"
)


def test_a_lone_folder_means_the_newest_run_of_each_system(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "."]) == 0
    shown = capsys.readouterr()
    assert "after against before: better" in shown.out  # the newest is; the older one is equal
    assert LEFT_OUT in shown.err
    older = load_run("after/resumed.run.json").id
    assert main(["report", ".", "-o", "page.html"]) == 0
    assert LEFT_OUT in capsys.readouterr().err
    assert older not in Path("page.html").read_text("utf-8")
    assert main(["leaderboard", "."]) == 0
    assert LEFT_OUT in capsys.readouterr().err
    assert main(["history", "."]) == 0
    shown = capsys.readouterr()
    assert older in shown.out
    assert "left out" not in shown.err


def test_the_system_that_was_measured_first_stays_the_baseline_when_it_is_measured_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run("before/again.run.json", many("before", 2, started="2026-03-03T09:00:00+00:00"))
    assert main(["compare", "."]) == 0
    shown = capsys.readouterr()
    assert "after against before: better" in shown.out
    assert "left out 2 older runs of systems that were measured again" in shown.err


def test_the_last_two_runs_of_an_only_system_are_compared(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run("after/first.run.json", many("after", 1, started="2026-02-01T09:00:00+00:00"))
    assert main(["compare", "after"]) == 0
    shown = capsys.readouterr()
    assert load_run("after/first.run.json").id not in shown.out
    assert load_run("after/newest.run.json").id in shown.out
    assert "1 older run" in shown.err
    assert main(["compare", "before"]) == 1
    assert "before: has no two runs on the same data to compare" in capsys.readouterr().err


def test_copies_of_a_record_are_one_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run("copy/first.run.json", load_run("before/first.run.json"))
    write_run("copy/second.run.json", load_run("before/first.run.json"))
    assert main(["compare", "copy"]) == 1
    assert main(["report", "copy", "-o", "page.html"]) == 0
    assert "left out" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["base", "base.run.json"])
def test_a_name_without_a_file_means_the_newest_record_of_that_name(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    older, newer, bare = (
        many("base", 0),
        many("base", 2, started=LATER),
        many("base", 1, signature=OTHER, started="2026-03-03T09:00:00+00:00"),
    )
    for stem, run in (("base", newer), ("base", older), ("base.bare", bare)):
        write_run(f"runs/{stem}.{run.id}.run.json", run)
    newest_file = Path(f"runs/base.{newer.id}.run.json")
    damaged = Path("runs/base.0badc0de.run.json")
    damaged.write_text("{", encoding="utf-8")
    assert main(["compare", "before/first.run.json", f"runs/{name}"]) == 0
    told = capsys.readouterr()
    assert newer.id in told.out
    assert f"runs/{name}: the newest record of this name is {newest_file}\n" in told.err
    assert f"warning: {damaged}: " in told.err
    assert main(["report", f"runs/{name}", "-o", "page.html"]) == 0
    os.utime(damaged, (0, 0))  # a newer one would leave the check inconclusive
    assert main(["check", f"runs/{name}", "--against", "before", "--fail-if-worse"]) == 0
    assert main(["check", "runs/base.bare", "--fail-under", "0.99"]) == 1
    newest = many("base", 0, started="2026-03-04T09:00:00+00:00")
    write_run("runs/base.run.json", newest)
    assert find_record(f"runs/{name}").name == "base.run.json"


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "before", "after"],
        ["report", "after", "-o", "page.html"],
        ["check", "after", "--fail-under", "0.1"],
        ["check", "before", "--against", "after", "--fail-if-worse"],
    ],
)
def test_a_record_that_cannot_be_read_is_told_where_another_stands_for_the_folder(
    arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("after/torn.run.json").write_text("{", encoding="utf-8")
    main(arguments)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "torn" in line]
    assert line.startswith("warning: after/torn.run.json: not valid JSON")
    assert line.endswith("; skipped")


@pytest.mark.parametrize("path", ["torn", "torn/base", "torn/base.run.json"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "before", "PATH"],
        ["report", "PATH", "-o", "page.html"],
        ["check", "PATH", "--fail-under", "0.1"],
        ["check", "before", "--against", "PATH"],
    ],
)
def test_records_none_of_which_can_be_read_are_an_error_that_says_why(
    arguments: list[str], path: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("torn").mkdir()
    Path("torn/base.0badc0de.run.json").write_text("{", encoding="utf-8")
    assert main([path if part == "PATH" else part for part in arguments]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        f"error: {path}: has no readable run record: torn/base.0badc0de.run.json"
    )
    assert not Path("page.html").exists()


def test_a_name_of_no_record_is_no_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "after/newe", "--fail-under", "0.5"]) == 1
    assert "after/newe: no such file; check the path" in capsys.readouterr().err


@pytest.fixture
def other_data(folder: Path) -> None:
    """Two folders with runs under the same two conditions, but on different data."""
    for name, data, mistakes in (("old", "d1", 0), ("new", "d2", 3)):
        for condition in ("written", "bare"):
            signature = {"data": data, "condition": condition}
            run = many(name, mistakes, signature=signature, corpus="my")
            write_run(f"{name}/{condition}.run.json", run)


def test_folders_without_runs_on_the_same_data_are_refused_and_the_part_is_named(
    other_data: None, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "new is not comparable with old: data is d2, expected d1; --anyway compares the units"
    assert main(["compare", "old", "new"]) == 1
    assert said in capsys.readouterr().err
    assert main(["check", "new", "--against", "old", "--fail-if-worse"]) == 4
    assert said in capsys.readouterr().err


def test_anyway_compares_the_closest_runs_of_folders(
    other_data: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "old", "new", "--anyway", "--format", "json"]) == 0
    groups = json.loads(capsys.readouterr().out)["comparisons"]
    assert [group["differing"] for group in groups] == [["data"], ["data"]]
    conditions = [group["data"].partition(" (")[0] for group in groups]
    assert conditions == ["my, written", "my, bare"]
    assert main(["check", "new", "--against", "old", "--fail-if-worse", "--anyway"]) == 1
    assert "worse" in capsys.readouterr().out


def test_no_folder_of_several_is_silently_left_out(
    other_data: None, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run("third/one.run.json", many("third", 1, signature={"data": "d3"}))
    assert main(["compare", "old", "old", "third"]) == 1
    assert "third is not comparable with old" in capsys.readouterr().err


@pytest.mark.parametrize("unread", ['{"format": "truemark.ru', '{"format": "truemark.run/2"}'])
@pytest.mark.parametrize("arguments", [["after"], ["after/run"], ["before", "--against", "after"]])
def test_a_check_is_inconclusive_if_the_newest_record_cannot_be_read(
    folder: Path, capsys: pytest.CaptureFixture[str], unread: str, arguments: list[str]
) -> None:
    write_run("after/run.1a2b3c4d.run.json", many("after", 0, started=LATER))
    damaged = folder / "after/run.2a2b3c4d.run.json"
    damaged.write_text(unread)
    check = ["check", *arguments, "--fail-under", "0.1"]
    assert main(check) == 3
    assert "run.2a2b3c4d.run.json cannot be read and is not older than" in capsys.readouterr().out
    assert main([*check[:-1], "0.99"]) == 1
    os.utime(damaged, (0, 0))
    assert main(check) == 0
