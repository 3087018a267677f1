"""The example of a third benchmark gets intervals, comparison and gate by writing records."""

import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from truemark.cli import main
from truemark.records import load_run, write_run
from truemark.summary import summarise

ROOT = Path(__file__).parents[1]


def test_a_benchmark_of_ones_own_is_compared_and_gated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    subprocess.run([sys.executable, ROOT / "examples" / "keywords.py", tmp_path], check=True)
    frequent, long = (str(tmp_path / f"{name}.run.json") for name in ("frequent", "long"))
    assert len(load_run(long).findings) > 5
    assert main(["compare", frequent, long]) == 0
    assert "long against frequent: too few units to tell (at least 6)" in capsys.readouterr().out
    assert main(["check", long, "--against", frequent, "--fail-if-worse"]) == 3
    assert main(["check", long, "--fail-under", "0.9"]) == 1


def test_the_page_of_a_benchmark_with_marks_shows_mistakes_in_their_text(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "examples" / "names.py", tmp_path], check=True)
    run = load_run(tmp_path / "capitals.run.json")
    assert {finding.kind for finding in run.findings} == {"invented", "missed"}
    for finding in run.findings:
        [mark] = [mark for mark in finding.marks if mark.start == finding.at]
        assert mark.role == finding.kind
    words = {
        finding.text[mark.start : mark.end] for finding in run.findings for mark in finding.marks
    }
    assert {"Monday", "City Council", "Mina Roy"} <= words
    page = tmp_path / "page.html"
    record = str(tmp_path / "capitals.run.json")
    assert main(["report", record, "-o", str(page)]) == 0
    assert "City Council" in page.read_text(encoding="utf-8")


def test_the_demo_ends_with_a_verdict_per_tool(tmp_path: Path) -> None:
    demo, names = (
        runpy.run_path(str(ROOT / "examples" / f"{name}.py")) for name in ("demo", "names")
    )
    for model, extractor in zip(demo["MODELS"], ("titled", "titled", "capitals"), strict=True):
        write_run(tmp_path / f"{model}.bare.run.json", names["measure"](extractor))
    assert demo["verdict_on_models"](tmp_path, "bare") == (
        "capitals scores highest and finds 89 of 100 items, but 12 units cannot tell it from"
        " titled #1 or titled #2."
    )
    for model, extractor in zip(demo["READERS"], ("titled", "capitals"), strict=True):
        run = names["measure"](extractor)
        units = [
            replace(unit, group={"language": ("fr", "hi")[number % 2]})
            for number, unit in enumerate(run.units)
        ]
        write_run(tmp_path / f"{model}.run.json", replace(run, units=tuple(units)))
    assert demo["verdict_on_languages"](tmp_path).startswith(
        "the mean F1 over eight languages is 0."
    )
    assert demo["verdict_on_extractor"](summarise(names["measure"]("titled"))) == (
        "the embedded reader finds 10 of 18 events, and 10 of the 10 it reports are right."
    )
