import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from junitparser import JUnitXml
from tests.truemark.runs_for_tests import made, many

from truemark.cli import main
from truemark.records import Run, load_run, write_run

OUTAGE = made("new", {f"u{n}": (9, 1, 1) if n < 5 else () for n in range(10)})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.chdir(tmp_path)
    runs = {
        "old": many("old", 2),
        "new": many("new", 0, started="2026-03-02T09:00:00+00:00"),
        "same": many("same", 2, started="2026-02-01T09:00:00Z"),
        "outage": OUTAGE,
        "elsewhere": many("elsewhere", 2, signature={"data": "d2", "rules": "r1"}),
    }
    for name, run in runs.items():
        write_run(f"{name}.run.json", run)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_a_comparison_says_verdict_interval_p_and_what_changed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "old.run.json", "new.run.json"]) == 0
    text = said(capsys)
    assert "new against old: better, f1 +0.0" in text
    assert "95% interval +0.0" in text
    assert ", 40 units in both\n" in text
    assert "40 units fixed by new" in text
    assert "20 more" in text
    assert "part: a" in text
    assert "differences from at most 10000 permutations, seed 20260220" in text
    assert "p and intervals of differences are corrected for several comparisons" in text


@pytest.mark.parametrize("names", [("old", "new", "down"), ("down", "old", "new")])
def test_a_run_without_a_scored_unit_is_named_and_the_others_are_compared(
    folder: Path, capsys: pytest.CaptureFixture[str], names: tuple[str, ...]
) -> None:
    write_run("down.run.json", made("down", {"a00": (), "b01": ()}))
    assert main(["compare", *(f"{name}.run.json" for name in names)]) == 1
    printed = capsys.readouterr()
    assert "new against old: better" in printed.out
    assert "failed: down: has no scored unit, so it is not compared" in printed.err
    assert main(["compare", "old.run.json", "down.run.json"]) == 1
    assert "down and old have no scored unit in common" in capsys.readouterr().err
    files = [f"{name}.run.json" for name in names]
    assert main(["report", *files, "-o", "page.html"]) == 1
    assert "failed: down: has no scored unit, so it is not compared" in capsys.readouterr().err
    assert "new against old" in (folder / "page.html").read_text("utf-8")


def test_the_page_of_a_run_without_a_scored_unit_shows_what_failed(folder: Path) -> None:
    write_run("down.run.json", made("down", {"a00": (), "b01": ()}))
    assert main(["report", "down.run.json", "-o", "page.html"]) == 0
    assert "b01" in (folder / "page.html").read_text("utf-8")


def test_dashes_of_small_groups_are_explained(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    why = "f1 differences are left out for groups with fewer than 5 expected items"
    assert main(["compare", "old.run.json", "new.run.json"]) == 0
    assert why not in said(capsys)
    for name in ("before", "after"):
        units = {f"a{n}": (9, 1, 1) for n in range(8)} | {"b0": (2, 1, 0)}
        write_run(f"{name}.run.json", made(name, units))
    assert main(["compare", "before.run.json", "after.run.json"]) == 0
    assert why in said(capsys)


def test_what_could_have_been_seen_is_said_where_nothing_was(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run("noise.run.json", noise())
    assert main(["compare", "same.run.json", "noise.run.json"]) == 0
    text = said(capsys)
    assert "noise against same: not distinguishable" in text
    assert "smallest difference that could have been seen (80% power): 0.0" in text
    assert "a difference of 0.02 would need about" in text


def few(name: str, units: int, mistakes: int = 1) -> Run:
    words = {"unit": "talk", "units": "talks"}
    return made(name, {f"u{n}": (9, mistakes, n % 2) for n in range(units)}, words=words)


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_five_talks_are_too_few_for_a_verdict_in_every_form(
    folder: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    for name, mistakes in (("five", 1), ("fewer", 0)):
        write_run(f"{name}.run.json", few(name, 5, mistakes))
    assert main(["compare", "five.run.json", "fewer.run.json", "--format", form]) == 0
    text = said(capsys)
    assert "too few talks to tell (at least 6)" in text
    assert ", p " not in text
    if form == "json":
        (versus,) = json.loads(text)["against_the_first"]
        assert versus["verdict"] == "too few talks to tell (at least 6)"
        f1 = versus["differences"]["f1"]
        assert (f1["low"], f1["high"]) == (None, None)
        assert f1["value"] > 0
        assert versus["clusters_are"] == "talks"
    else:
        assert "intervals are rough: 5 talks, and it takes 10 or more" in text
        assert "(rough 0." in text


def test_below_five_talks_no_interval_is_shown_but_why(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run("four.run.json", few("four", 4))
    assert main(["check", "four.run.json", "--fail-under", "0.5"]) == 0
    text = said(capsys)
    assert "no intervals: 4 talks, and fewer than 5 are too few" in text
    assert " to " not in text
    assert main(["check", "four.run.json", "--fail-under", "0.5", "--format", "json"]) == 0
    f1 = json.loads(said(capsys))["run"]["intervals"]["f1"]
    assert (f1["low"], f1["high"], f1["clusters"]) == (None, None, 4)


def test_a_large_cluster_is_warned_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    units = {f"u{n}": (50 if n == 0 else 9, 1, n % 2) for n in range(12)}
    write_run("lopsided.run.json", made("lopsided", units))
    assert main(["check", "lopsided.run.json", "--fail-under", "0.5"]) == 0
    assert "one unit holds 32% of the items, so intervals are too narrow" in said(capsys)


def test_groups_that_expect_next_to_nothing_have_a_dash_for_f1(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def mixed(name: str, invented: int) -> Run:
        units = {f"a{n}": (0, n % 2 * invented, 0) for n in range(10)}
        return made(name, units | {f"b{n}": (9, invented, n % 2) for n in range(10)})

    for name, invented in (("first", 1), ("second", 2)):
        write_run(f"{name}.run.json", mixed(name, invented))
    assert main(["compare", "first.run.json", "second.run.json", "--format", "markdown"]) == 0
    rows = [line for line in said(capsys).splitlines() if line.startswith("| part: ")]
    assert rows[0] == "| part: a | 10 | - | - | - | +0.000 (-0.384 to +0.384) |"
    assert "| part: b | 10 | -0." in rows[1]
    assert main(["history", ".", "--format", "markdown"]) == 0
    assert "| clean | units |" in said(capsys)


def noise() -> Run:
    units = {
        f"{'ab'[n % 2]}{n:02}": (10 + n % 7, n % 3 + 2 + (n * n) % 5 - 2, n % 4) for n in range(40)
    }
    return made("noise", units)


def test_a_comparison_in_json_has_every_unit(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "--format", "json", "old.run.json", "new.run.json"]) == 0
    content = json.loads(said(capsys))
    (versus,) = content["against_the_first"]
    assert versus["verdict"] == "better"
    assert len(versus["fixed"]) == 40
    assert versus["fixed"][0]["mistakes"] == -2
    assert content["runs"][0]["intervals"]["f1"]["clusters"] == 40


def test_a_comparison_in_markdown_has_tables(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "--format", "markdown", "old.run.json", "new.run.json"]) == 0
    assert "| measure | difference | 95% interval |\n| --- | ---: | --- |" in said(capsys)


def test_runs_that_are_not_comparable_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "old.run.json", "elsewhere.run.json"]) == 1
    error = capsys.readouterr().err
    assert error == (
        "error: elsewhere is not comparable with old: data is d2, expected d1;"
        " --anyway compares the units in common\n"
    )


def test_anyway_says_on_every_line_that_only_units_in_common_count(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "--anyway", "old.run.json", "elsewhere.run.json"]) == 0
    lines = [line for line in said(capsys).splitlines() if line]
    headings = [line for line in lines if line.endswith("  basis")]
    assert len(headings) >= 3
    for line in lines:
        assert "units in common only; data differ" in line or line in headings


def test_the_history_is_newest_last_with_a_trend_per_system(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for day, mistakes in enumerate((5, 3, 1), start=1):
        run = many("grown", mistakes, started=f"2026-04-0{day}T09:00:00+02:00")
        write_run(f"below/{day}.run.json", run)
    (folder / "broken.run.json").write_text("{")
    assert main(["history", "."]) == 0
    printed = capsys.readouterr()
    systems = [line.split()[2] for line in printed.out.splitlines()[1:9]]
    assert systems[0] == "same"
    assert systems[-4:] == ["new", "grown", "grown", "grown"]
    assert "grown (maker)" in printed.out
    assert "▁▄█" in printed.out or "▁▅█" in printed.out
    assert "broken.run.json: not valid JSON" in printed.err


def test_the_history_in_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "--format", "json", "."]) == 0
    content = json.loads(said(capsys))
    assert [run["system"] for run in content["runs"]][-1] == "new"
    assert len(content["runs"]) == 5


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["new.run.json", "--against", "old.run.json", "--fail-if-worse"], 0),
        (["old.run.json", "--against", "new.run.json", "--fail-if-worse"], 1),
        (["new.run.json", "--fail-under", "0.8"], 0),
        (["new.run.json", "--fail-under", "0.99"], 1),
        (["new.run.json", "--fail-under-lower", "0.99"], 1),
        (["outage.run.json", "--fail-under", "0.99"], 3),
        (["outage.run.json", "--fail-under", "0.5", "--max-failed", "0.6"], 0),
        (["missing.run.json", "--fail-under", "0.5"], 1),
        (["new.run.json", "--against", "elsewhere.run.json", "--fail-if-worse"], 4),
        (["new.run.json", "--against", "old.run.json", "--margin", "0.02"], 0),
        (["old.run.json", "--against", "new.run.json", "--margin", "0.02"], 1),
        (["new.run.json", "--fail-under", "0.8", "--measure", "f1,precision"], 0),
        (["new.run.json", "--fail-under", "0.5", "--measure", "f1", "--measure", "clean"], 1),
        (["new.run.json", "--fail-under", "0.8", "--measure", "speed"], 2),
        (["new.run.json", "--margin", "0.02"], 2),
        (["new.run.json", "--margin", "0"], 2),
        (["outage.run.json", "--fail-under", "0.5", "--failed-as-missed"], 3),
        (["new.run.json"], 2),
        (["new.run.json", "--fail-if-worse"], 2),
        (["new.run.json", "--fail-under", "2"], 2),
        (["new.run.json", "--fail-under", "much"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_the_exit_status_of_a_check(folder: Path, arguments: list[str], status: int) -> None:
    assert main(["check", *arguments]) == status


def test_a_check_of_other_data_says_which_part_differs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gate = ["--against", "old.run.json", "--fail-if-worse"]
    assert main(["check", "elsewhere.run.json", *gate]) == 4
    assert "data is d2, expected d1" in capsys.readouterr().err


def test_a_check_writes_junit_and_adds_to_the_summary_of_the_build(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "summary.md").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    gate = ["--against", "new.run.json", "--fail-if-worse", "--junit", "out/junit.xml"]
    assert main(["check", "old.run.json", *gate]) == 1
    assert JUnitXml.fromfile("out/junit.xml").tests == 41
    summary = (folder / "summary.md").read_text(encoding="utf-8")
    data = load_run("old.run.json").data_id[:6]
    assert summary.startswith(f"before\n### maker old on {data}: fell short\n")
    assert "| f1 not worse than the baseline | worse (-0.0" in summary
    assert main(["check", "old.run.json", "--fail-under", "0.1", "--format", "json"]) == 0
    assert '"outcome": "passed"' in said(capsys)


def test_names_from_records_cannot_steer_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run("evil.run.json", made("\x1b[2Jevil\u202e", {"a\x1b[1m": (1, 1, 1), "b": (1, 0, 1)}))
    write_run("worse.run.json", made("worse", {"a\x1b[1m": (1, 3, 1), "b": (1, 2, 1)}))
    assert main(["compare", "evil.run.json", "worse.run.json"]) == 0
    assert main(["check", "evil.run.json", "--fail-under", "0"]) == 0
    assert main(["history", "."]) == 0
    text = said(capsys)
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "", "--fail-under", "0.1"],
        ["check", "new.run.json", "--against", ""],
        ["compare", "new.run.json", ""],
        ["report", "", "-o", "page.html"],
        ["history", ""],
    ],
    ids=" ".join,
)
def test_an_empty_path_of_an_unset_variable_is_wrong_use(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main(arguments) == 2
    assert "must not be empty" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["compare", "--help"]])
def test_help_and_version_answer(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    assert "truemark" in said(capsys)


def started(*arguments: str, **settings: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "truemark", *arguments]
    options: dict[str, object] = {"stderr": subprocess.PIPE, "text": True, "check": False}
    done: subprocess.CompletedProcess[str] = subprocess.run(command, **options | settings)  # type: ignore[call-overload]
    return done


@pytest.mark.parametrize("buffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("arguments", [["--help"], ["history", "."]], ids=["help", "history"])
def test_a_full_disk_is_told_in_one_line(folder: Path, arguments: list[str], buffered: str) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": buffered}
    with Path("/dev/full").open("w") as full:
        done = started(*arguments, stdout=full, env=environment)
    message = "error: output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, message)


@pytest.mark.parametrize("buffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_a_reader_that_has_gone_ends_the_command_in_silence(folder: Path, buffered: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, "PYTHONUNBUFFERED": buffered}
    done = started("history", ".", stdout=writing, env=environment)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_closed_standard_error_costs_the_message_not_the_status(folder: Path) -> None:
    command = f"exec {sys.executable} -m truemark compare missing.run.json old.run.json 2>&-"
    assert subprocess.run(["sh", "-c", command], check=False).returncode == 1


def test_an_interrupt_is_130_while_imports_run(folder: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from truemark.cli import main\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'truemark.records': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "sys.exit(main(['history', '.']))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (128 + signal.SIGINT, "interrupted\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "old.run.json", "-o", "old.run.json"],
        ["report", "old.run.json", "-o", "link.html"],
        ["report", "old.run.json", "-o", "sorted.run.json"],
        ["history", ".", "-o", "old.run.json"],
        ["check", "new.run.json", "--fail-under", "0", "--junit", "old.run.json"],
        ["report", "old.run.json", "-o", "notes.txt"],
        ["leaderboard", ".", "-o", "notes.txt"],
    ],
    ids=lambda words: " ".join(words[:1] + words[-1:]),
)
def test_only_a_page_is_written_over_by_a_page(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    (folder / "link.html").symlink_to("old.run.json")
    record = json.loads((folder / "old.run.json").read_text("utf-8"))
    record["application"] = "x" * 100
    (folder / "sorted.run.json").write_text(json.dumps(record, sort_keys=True, indent=2), "utf-8")
    (folder / "notes.txt").write_text("mine", "utf-8")
    before = {file: file.read_bytes() for file in folder.iterdir()}
    assert main(arguments) == 1
    streams = capsys.readouterr()
    kind = "XML" if "--junit" in arguments else "a page"
    assert streams.err == (
        f"error: {arguments[-1]}: is not {kind} and would be overwritten; name another file\n"
    )
    assert {file: file.read_bytes() for file in folder.iterdir()} == before


def test_a_page_is_written_over_by_the_next_one(folder: Path) -> None:
    for _ in range(2):
        assert main(["report", "old.run.json", "-o", "page.html"]) == 0
        assert main(["check", "new.run.json", "--fail-under", "0", "--junit", "gate.xml"]) == 0


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="Linux has such a file")
def test_a_file_that_cannot_be_read_is_not_written_over(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unreadable = "/proc/self/clear_refs"  # not even root can read it
    assert main(["report", "old.run.json", "-o", unreadable]) == 1
    assert capsys.readouterr().err.startswith(
        f"error: {unreadable}: cannot be read to see whether it is a page: "
    )


def test_a_hyphen_is_no_file_to_write(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "old.run.json", "-o", "-"]) == 1
    assert capsys.readouterr().err == (
        "error: -: expected the name of a file to write, or /dev/stdout\n"
    )
    assert not (folder / "-").exists()


def test_a_page_can_be_written_to_a_pipe(folder: Path) -> None:
    command = [sys.executable, "-m", "truemark", "report", "old.run.json", "-o", "/dev/stdout"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stdout.rstrip()[-7:]) == (0, b"</html>")


def test_tables_use_the_nouns_of_the_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = {"unit": "page", "units": "pages", "items": "names"}
    for name, mistakes in (("first", 1), ("second", 2)):
        write_run(f"{name}.run.json", replace(many(name, mistakes), words=words))
    assert main(["compare", "first.run.json", "second.run.json"]) == 0
    text = said(capsys)
    assert text.splitlines()[0].split()[-2:] == ["pages", "run"]
    assert "group    pages  f1 difference" in text
    assert "\npage " in text
    assert "unit" not in text.replace("units in common", "")
    assert "cluster" not in text
    assert main(["leaderboard", "."]) == 0
    assert "  recall                  clean  " in said(capsys)


def test_a_noun_that_is_a_column_already_is_not_used_twice(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = {"unit": "reason", "units": "failed"}
    write_run("odd.run.json", replace(many("odd", 1), words=words))
    assert main(["compare", "odd.run.json", "odd.run.json"]) == 0
    assert "clusters" in said(capsys).splitlines()[0]
    assert main(["history", "."]) == 0
    assert main(["check", "odd.run.json", "--fail-under", "0.1"]) == 0


def test_commands_name_a_run_by_the_same_id(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = load_run("old.run.json")
    for command in (["compare", "old.run.json", "new.run.json"], ["history", "."]):
        assert main(command) == 0
        assert run.id in said(capsys)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("comapre", "a"), "choose from 'compare', 'report', 'history', 'leaderboard', 'check')"),
        (("comapre", "a"), "; did you mean compare?; see truemark --help"),
        (("compare", "a", "b", "--foramt", "json"), "; did you mean --format?"),
        (("check", "a", "--fail", "0.5"), "unrecognized arguments: --fail 0.5; did you mean"),
        (("check", "a", "--fail-under", "abc"), "must be a number from 0 to 1, got 'abc'"),
        (("check", "a", "--margin", "0"), "must be a number above 0, at most 1, got '0'"),
        (("check", "a", "--measure", "f2"), "must be one of f1, precision, recall, clean"),
        (("check", "a"), "check needs --against, --fail-under or --fail-under-lower"),
        (("check", "a", "--margin", "0.1"), "--margin needs --against BASELINE"),
        (("compare", "a"), "needs two records or more, or a folder of them; see truemark compare"),
    ],
)
def test_wrong_usage_is_one_line_that_says_what_is_wrong(
    arguments: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(list(arguments)) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert line.endswith(" --help")
    assert reason in line


def test_a_baseline_alone_asks_whether_the_run_is_worse(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "old.run.json", "--against", "new.run.json"]) == 1
    assert main(["check", "new.run.json", "--against", "old.run.json"]) == 0


def test_a_page_takes_a_folder_for_its_runs(folder: Path) -> None:
    Path("outage.run.json").unlink()
    assert main(["report", ".", "-o", "page.html"]) == 0
    page = Path("page.html").read_text()
    assert all(name in page for name in ("old", "new", "elsewhere"))
