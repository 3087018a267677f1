"""Whole walks over the label page of conversations, in Chromium, against the real command."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from testing.label_server import copy_conversation
from testing.made_runs import HOSTILE
from tests.browser.label_pages import Label, label, wait_saved, write

from cal_ai.benchmark.samples import bundled_folder

pytestmark = pytest.mark.browser
__all__ = ["label"]
READER = ("--extractor", "reader")


def bundled(folder: Path, *names: str) -> Path:
    for name in names:
        copy_conversation(name, folder)
    return folder


def fill(page: Any, name: str, value: str) -> None:
    page.locator(".card.current").get_by_label(name, exact=True).fill(value)


def test_a_sidecar_made_of_a_draft_is_taken_by_the_benchmark(label: Label, tmp_path: Path) -> None:
    folder = bundled(tmp_path, "boiler_check")
    page = label("cal_ai", folder, *READER)
    assert page.locator(".card.current h3").inner_text() == "Boiler check"
    page.keyboard.press("s")
    page.get_by_label("Owner").select_option("Tomasz")
    page.get_by_label("Now").fill("2025-10-06T18:40")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Draft again").click()
    page.wait_for_selector(".card.current [value='2025-10-09T08:00:00']")
    fill(page, "Start", "2025-10-09T08:30")
    page.keyboard.press("Escape")
    for _ in range(8):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    page.keyboard.press("y")
    assert "Is every event" in page.locator("#panel").inner_text()
    page.keyboard.press("y")
    wait_saved(page)
    assert page.locator("#left").inner_text() == "done"
    sidecar = json.loads((folder / "boiler_check.expected.json").read_text(encoding="utf-8"))
    [event] = sidecar["expected_events"]
    assert (event["start_time"], event["lines"]) == ("2025-10-09T08:30:00", [8])
    assert (sidecar["owner"], sidecar["reference_datetime"]) == ("Tomasz", "2025-10-06T18:40:00")
    command = [sys.executable, "-m", "cal_ai", "benchmark", str(folder), *READER]
    done = subprocess.run(
        [*command, "--format", "json", "--output", str(tmp_path / "out")],
        check=True,
        capture_output=True,
        text=True,
    )
    assert re.search(r'"f1": 1(\.0)?\b', done.stdout)


def test_events_are_added_removed_undone_and_survive_a_reload(label: Label, tmp_path: Path) -> None:
    page = label("cal_ai", bundled(tmp_path, "boiler_check"), *READER)
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    fill(page, "Title", "Tap")
    fill(page, "People, separated by commas", "Tomasz, Mrs Okafor")
    page.keyboard.press("Escape")
    wait_saved(page)
    page.reload()
    page.wait_for_selector("#panel:not([hidden])")
    titles = page.locator(".card:not(.settings) h3")
    assert titles.all_inner_texts() == ["Boiler check", "Tap"]
    page.locator(".card", has_text="Boiler check").get_by_role("button", name="Remove").click()
    assert titles.all_inner_texts() == ["Tap"]
    page.keyboard.press("u")
    assert titles.all_inner_texts() == ["Boiler check", "Tap"]
    wait_saved(page)


def test_a_conversation_without_its_sidecar_is_not_called_done(
    label: Label, tmp_path: Path
) -> None:
    page = label("cal_ai", bundled(tmp_path, "boiler_check"), *READER)
    fill(page, "Title", "")
    page.keyboard.press("Escape")
    page.keyboard.press("y")
    page.keyboard.press("y")
    page.wait_for_selector("#saved:has-text('no gold yet')")
    assert page.locator("#texts").inner_text() == "… boiler_check"
    assert not page.locator("#notice").is_visible()
    page.keyboard.press("p")
    fill(page, "Title", "Boiler check")
    wait_saved(page)
    page.wait_for_selector("#progress:has-text('1 of 1 conversations')")


def test_two_annotators_and_a_third_who_decides(label: Label, tmp_path: Path) -> None:
    folder = bundled(tmp_path, "boiler_check")
    for name, title in (("anna", "Boiler check"), ("ben", "Boiler service")):
        page = label("cal_ai", folder, *READER, "--annotator", name)
        fill(page, "Title", title)
        page.keyboard.press("Escape")
        page.keyboard.press("y")
        page.keyboard.press("y")
        wait_saved(page)
        assert page.locator("#left").inner_text() == "done"
    page = label("cal_ai", folder, "--adjudicate", "anna,ben")
    assert page.locator("#left").inner_text() == "2 to look at"
    page.keyboard.press("y")
    page.keyboard.press("x")
    wait_saved(page)
    sidecar = json.loads((folder / "boiler_check.expected.json").read_text(encoding="utf-8"))
    assert [event["title"] for event in sidecar["expected_events"]] == ["Boiler check"]


def test_the_truth_is_mended_where_a_run_was_right(label: Label, tmp_path: Path) -> None:
    (tmp_path / "samples").mkdir()
    folder = bundled(tmp_path / "samples", "boiler_check")
    gold = folder / "boiler_check.expected.json"
    shutil.copy(bundled_folder() / "crud" / gold.name, gold)
    sidecar = json.loads(gold.read_text(encoding="utf-8")) | {"calendar_context": []}
    sidecar["expected_events"][0] |= {"start_time": "2025-10-12T08:00:00", "end_time": None}
    gold.write_text(json.dumps(sidecar), encoding="utf-8")
    command = [sys.executable, "-m", "cal_ai", "benchmark", str(folder), *READER]
    subprocess.run([*command, "--output", str(tmp_path / "out")], check=True, capture_output=True)
    [record] = (tmp_path / "out").glob("*.run.json")
    page = label("cal_ai", folder, "--from", record)
    assert "Is the truth wrong here?" in page.locator("#panel").inner_text()
    page.keyboard.press("t")
    wait_saved(page)
    mended = json.loads(gold.read_text(encoding="utf-8"))
    assert mended["expected_events"][0]["start_time"] == "2025-10-09T08:00:00"
    assert mended["mock_llm_response"] == sidecar["mock_llm_response"]


def test_hostile_conversations_are_shown_and_run_nothing(label: Label, tmp_path: Path) -> None:
    texts = [" ".join(text.encode("utf-8", "replace").decode().split()) for text in HOSTILE]
    said = "\n".join(
        f"[{text[:30].replace('[', '(').replace(']', ')') or 'A'}]: {text}"
        for text in texts
        if text
    )
    page = label("cal_ai", write(tmp_path, hostile=said), *READER)
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    for text in texts:
        fill(page, "Title", text)
        fill(page, "Place", text)
    assert page.evaluate("() => window.pwned") is None
    assert page.locator("script").count() == 3
    assert page.locator("img, base, iframe, #work style, #work a").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_the_page_fits_the_screen(label: Label, tmp_path: Path, width: int, scheme: str) -> None:
    folder = bundled(tmp_path, "boiler_check", "conference_and_dinner")
    page = label(
        "cal_ai", folder, *READER, viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    page.keyboard.press("s")
    page.get_by_role("button", name="Add a calendar event").click()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    for card in page.locator(".card").all():
        inner = card.evaluate("card => card.scrollWidth <= card.clientWidth")
        assert inner
