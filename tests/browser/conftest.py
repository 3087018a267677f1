"""Chromium, the pages it opens, and a watch over everything it complains of."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from testing.calendar_runs import calendar_run
from testing.made_runs import hostile_run
from testing.talk_runs import large_run, talks_run

from truemark.folders import find_record
from truemark.leaderboard import leaderboards
from truemark.pages.history import history_page
from truemark.pages.leaderboard import leaderboard_page
from truemark.pages.report import report_page
from truemark.records import Run, load_run, write_run
from truemark.timeline import read_timeline

Open = Callable[..., Any]
LONG = "a_folder_with_a_long_name/recordings-of-the-municipal-water-board/"

RUNS: dict[str, Callable[[], Sequence[Run]]] = {
    "talks": lambda: [talks_run("nano", 0.9)],
    "talks compared": lambda: [talks_run("nano", 0.9), talks_run("small", 0.97)],
    "three talks": lambda: [
        talks_run("nano", 0.9),
        talks_run("small", 0.97),
        talks_run("base", 0.98, seed=9),
    ],
    "two conditions": lambda: [
        replace(run, signature={**run.signature, "condition": condition})
        for condition, skill in (("written", 0.97), ("bare", 0.8))
        for run in (talks_run("nano", skill - 0.05), talks_run("small", skill))
    ],
    "long names": lambda: [
        replace(
            run,
            units=tuple(replace(unit, id=LONG + unit.id) for unit in run.units),
            findings=tuple(replace(found, unit=LONG + found.unit) for found in run.findings),
        )
        for run in (talks_run("nano" + 8 * "-quantised", 0.9), talks_run("small", 0.97))
    ],
    "calendar": lambda: [calendar_run("cautious", 0.8, repeats=2)],
    "calendar compared": lambda: [
        calendar_run("cautious", 0.8),
        calendar_run("brisk", 0.7, seed=6),
    ],
    "hostile": lambda: [hostile_run()],
    "hostile compared": lambda: [hostile_run(), hostile_run("<b>other</b>")],
    "large": lambda: [large_run()],
}


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The file of the page with that name, made when first asked for."""
    folder = tmp_path_factory.mktemp("pages")

    def made(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            page = MEASURED[name](folder) if name in MEASURED else report_page(RUNS[name]())
            path.write_text(page, encoding="utf-8")
        return path

    return made


def _history(folder: Path) -> str:
    """The page of two made runs."""
    for name, skill in (("nano", 0.9), ("small", 0.97)):
        write_run(folder / "runs" / f"{name}.run.json", talks_run(name, skill))
    return history_page(read_timeline(folder / "runs"), "runs")


def _leaderboard(folder: Path) -> str:
    """The leaderboard of the same two runs."""
    _history(folder)
    return leaderboard_page(leaderboards(read_timeline(folder / "runs")), "runs", "pages")


def _bundled_talks(folder: Path) -> str:
    """The page of what sat-bench measures of its own talks."""
    _run("sat_bench", "-models", "nano,small", "-sweep", "-record", str(folder / "bundled"))
    return report_page([load_run(find_record(folder / "bundled" / n)) for n in ("nano", "small")])


def _bundled_conversations(folder: Path) -> str:
    """The page of what cal_ai measures of its own samples."""
    output = folder / "conversations"
    _run("cal_ai", "benchmark", "--extractor", "reader", "--output", str(output))
    (record,) = output.glob("*.run.json")
    return report_page([load_run(record)])


def _run(module: str, *arguments: str) -> None:
    """A command on its own: this thread is taken by the loop that drives the browser."""
    subprocess.run([sys.executable, "-m", module, *arguments], check=True, capture_output=True)


MEASURED: dict[str, Callable[[Path], str]] = {
    "history": _history,
    "leaderboard": _leaderboard,
    "bundled talks": _bundled_talks,
    "bundled conversations": _bundled_conversations,
}


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    assert path, "chromium is not installed: make test-browser installs it as root"
    # Root, as which builds run, may not use the browser's own sandbox.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium: Any, pages: Callable[[str], Path]) -> Iterator[Open]:
    """Opens pages by name; fails the test if any of them logs or asks for anything outside."""
    complaints: list[str] = []
    contexts = []

    def open_page(name: str, address: str = "", **settings: Any) -> Any:
        context = chromium.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: _note(complaints, request.url))
        page.goto(pages(name).as_uri() + address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def _note(complaints: list[str], address: str) -> None:
    if not address.startswith("file:"):
        complaints.append(f"asked for {address}")
