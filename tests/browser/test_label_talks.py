"""Whole walks over the label page of talks, in Chromium, against the real command."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from testing.label_server import label_server
from testing.made_runs import HOSTILE
from tests.browser.label_pages import Label, label, wait_saved, write

from truemark.labelling.storage import Annotation, Workspace

pytestmark = pytest.mark.browser
__all__ = ["label"]
PHONE = {"width": 390, "height": 844}
NANO = ("-models", "nano")
TEXT = """# Source: made up

we sat there. nobody spoke
i counted the chairs "why?" he said. then he left

so did i
"""


def ends(page: Any) -> list[str]:
    """The words after which a sentence ends."""
    words: list[str] = page.locator(".word.end").all_inner_texts()
    return words


def test_a_talk_labelled_by_keyboard_twice_is_decided_and_scores(
    label: Label, tmp_path: Path
) -> None:
    folder = write(tmp_path / "talks", chairs=TEXT)
    marked = {}
    for name, more in (("anna", "spoke"), ("ben", "chairs")):
        page = label("sat_bench", folder, *NANO, "-annotator", name)
        assert page.locator("#what").inner_text().endswith(f"· {name}")
        while page.locator("#left").inner_text() != "done":
            page.keyboard.press("n")
        page.keyboard.press("Home")
        while page.locator(".word.caret").inner_text() != more:
            page.keyboard.press("ArrowRight")
        before = ends(page)
        page.keyboard.press("Space")
        assert set(ends(page)) ^ set(before) == {more}
        page.keyboard.press("u")
        assert ends(page) == before
        page.keyboard.press("Enter")
        wait_saved(page)
        marked[name] = ends(page)
        page.reload()
        page.wait_for_selector("#panel:not([hidden])")
        assert ends(page) == marked[name]
        assert page.locator(".word.caret").inner_text() == more
    assert not (folder / "gold").exists()
    page = label("sat_bench", folder, "-adjudicate", "anna,ben")
    differing = set(marked["anna"]) ^ set(marked["ben"])
    assert differing == {"spoke", "chairs"}
    assert page.locator("#left").inner_text() == "1 to look at"  # the first is looked at already
    for _ in differing:
        page.keyboard.press("y")
    wait_saved(page)
    page.wait_for_selector("#progress:text('1 of 1 talks')")
    gold = (folder / "gold" / "chairs.txt").read_text(encoding="utf-8")
    lines = [line for line in gold.partition("\n\n")[2].split("\n") if line]
    assert len(lines) == len(set(marked["anna"]) | set(marked["ben"]))
    command = [sys.executable, "-m", "sat_bench", "-model", "nano", "-format", "json"]
    done = subprocess.run(
        [*command, "-corpus", str(folder / "gold")],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    found = json.loads(done.stdout)
    assert f"{len(lines)}" in re.findall(r"\d+", json.dumps(found))
    agreed = subprocess.run(
        [
            sys.executable,
            "-m",
            "sat_bench",
            "agree",
            *(str(folder / ".annotations" / name) for name in marked),
        ],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert agreed.stdout.startswith("anna and ben agree with F1 0.")


def test_what_leaves_nothing_to_decide_becomes_gold_when_it_is_opened(
    label: Label, tmp_path: Path
) -> None:
    folder = write(tmp_path, one="so he left. we stayed", two="nobody spoke")
    for name in ("anna", "ben"):
        reader = Workspace(folder, name)
        reader.write("one", Annotation("so he left. we stayed", {"ends": [9, 17]}))
        reader.write("two", Annotation("nobody spoke", {"ends": [11]}))
    page = label("sat_bench", folder, "-adjudicate", "anna,ben")
    page.wait_for_selector("#progress:text('1 of 2 talks')")
    page.keyboard.press("n")
    page.wait_for_selector("#progress:text('2 of 2 talks')")
    gold = (folder / "gold" / "one.txt").read_text(encoding="utf-8")
    assert gold.endswith("\nso he left.\nwe stayed\n")
    assert (folder / "gold" / "two.txt").exists()


def test_gold_that_was_there_is_offered_when_annotators_are_decided(
    label: Label, tmp_path: Path
) -> None:
    text = "so he left we stayed nobody knew"
    folder = write(tmp_path / "talks", one=text)
    gold = folder / "gold" / "one.txt"
    write(gold.parent, one="# Source: x\n# Truth: lines\n\nso he\nleft we stayed nobody knew\n")
    Workspace(folder, "anna").write("one", Annotation(text, {"ends": [8, 16, 26]}))
    Workspace(folder, "ben").write("one", Annotation(text, {"ends": [8, 26]}))
    page = label("sat_bench", folder, "-adjudicate", "anna,ben")
    assert page.locator("#conflict").is_visible()
    page.keyboard.press("1")
    assert page.locator(".word.caret").inner_text() == "stayed"
    page.keyboard.press("y")
    wait_saved(page)
    assert gold.read_text(encoding="utf-8").endswith("\nso he left\nwe stayed\nnobody knew\n")


def test_clicks_set_the_nearer_end(label: Label, tmp_path: Path) -> None:
    page = label("sat_bench", write(tmp_path, talk="one two three four"), "-models", "none")
    word = page.locator(".word", has_text="three")
    box = word.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.click(box["x"] + box["width"] - 3, middle)
    assert ends(page) == ["three", "four"]
    page.mouse.click(box["x"] + 3, middle)
    assert ends(page) == ["two", "three", "four"]
    box = word.bounding_box()
    page.mouse.click(box["x"] + box["width"] + 2, middle)  # in the space after it
    assert ends(page) == ["two", "four"]
    page.locator("#undo").click()
    assert ends(page) == ["two", "three", "four"]


def test_the_last_word_always_ends_a_sentence(label: Label, tmp_path: Path) -> None:
    page = label("sat_bench", write(tmp_path, talk="one two"), "-models", "none")
    page.keyboard.press("End")
    page.keyboard.press("Space")
    assert ends(page) == ["two"]


def test_undo_survives_a_reload_and_another_talk(label: Label, tmp_path: Path) -> None:
    page = label(
        "sat_bench", write(tmp_path, a="one two three four five", b="six"), "-models", "none"
    )
    for _ in range(2):
        page.keyboard.press("Space")
        page.keyboard.press("ArrowRight")
    wait_saved(page)
    assert ends(page) == ["one", "two", "five"]
    page.reload()
    page.wait_for_selector("#panel:not([hidden])")
    page.keyboard.press("u")
    assert ends(page) == ["one", "five"]
    wait_saved(page)
    page.keyboard.press("]")
    page.wait_for_selector("#title:text-is('b')")
    page.keyboard.press("[")
    page.wait_for_selector("#title:text-is('a')")
    page.keyboard.press("u")
    assert ends(page) == ["five"]
    assert page.locator("#undo").is_disabled()


def test_marks_of_a_report_page_become_gold(label: Label, chromium: Any, tmp_path: Path) -> None:
    folder = write(tmp_path / "talks", one=TEXT)
    record, page_file = tmp_path / "nano.run.json", tmp_path / "page.html"
    for command in (
        ["sat_bench", "-model", "nano", "-corpus", str(folder), "-record", str(record)],
        ["truemark", "report", str(record), "-o", str(page_file)],
    ):
        subprocess.run(
            [sys.executable, "-m", *command], check=True, capture_output=True, timeout=120
        )
    mistakes = json.loads(record.read_text(encoding="utf-8"))["findings"]
    report = chromium.new_context().new_page()
    report.goto(page_file.as_uri())
    report.keyboard.press("w")
    with report.expect_download() as download:
        report.locator("#export").click()
    marks = tmp_path / "marks.json"
    download.value.save_as(marks)
    report.context.close()
    [marked] = json.loads(marks.read_text(encoding="utf-8"))["marks"]
    assert any(mistake.get("offset", 0) + mistake["at"] == marked["at"] for mistake in mistakes)
    page = label("sat_bench", folder, "-from", marks)
    assert page.locator("#left").inner_text() == "done · 0 in all"  # opened at the one place
    before = ends(page)
    page.keyboard.press("Space")
    changed = set(ends(page)) ^ set(before)
    assert len(changed) == 1
    page.keyboard.press("n")
    wait_saved(page)
    gold = (folder / "gold" / "one.txt").read_text(encoding="utf-8")
    lines = gold.partition("\n\n")[2].split("\n")
    assert changed.pop() in {line.split()[-1] for line in lines if line}
    scored = subprocess.run(
        [sys.executable, "-m", "sat_bench", "-model", "nano", "-corpus", str(folder / "gold")],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert scored.stdout.startswith("Loaded 1 talk ")


def test_two_tabs_do_not_overwrite_each_other(label: Label, tmp_path: Path) -> None:
    page = label("sat_bench", write(tmp_path, talk="one two three four"), "-models", "none")
    other = page.context.new_page()
    other.goto(page.address)
    other.wait_for_selector("#panel:not([hidden])")
    page.keyboard.press("Space")
    wait_saved(page)
    other.keyboard.press("ArrowRight")
    other.wait_for_selector("#conflict:not([hidden])")
    other.keyboard.press("Space")  # nothing is edited before it is decided
    assert ends(other) == ["four"]
    other.keyboard.press("2")
    assert ends(other) == ["one", "four"]
    other.keyboard.press("ArrowRight")
    other.keyboard.press("Space")
    wait_saved(other)
    page.keyboard.press("Space")
    page.wait_for_selector("#conflict:not([hidden])")
    page.keyboard.press("1")
    wait_saved(page)
    stored = json.loads((tmp_path / ".annotations/.gold/talk.json").read_text(encoding="utf-8"))
    assert stored["content"]["ends"] == [15]


def test_a_closed_tab_and_a_killed_server_lose_nothing(label: Label, tmp_path: Path) -> None:
    folder = write(tmp_path, talk=" ".join(f"w{n}" for n in range(100)))
    page = label("sat_bench", folder, "-models", "none")
    for _ in range(30):
        page.keyboard.press("Space")
        page.keyboard.press("ArrowRight")
    page.close()  # at once: what was not sent yet outlives the tab
    stored = folder / ".annotations" / ".gold" / "talk.json"
    deadline = time.monotonic() + 10
    while len(json.loads(stored.read_text(encoding="utf-8"))["content"]["ends"]) < 31:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    page = label("sat_bench", folder, "-models", "none")
    assert len(ends(page)) == 31
    page.process.kill()
    page.process.wait(timeout=60)
    with label_server("sat_bench", str(folder), "-models", "none", "-no-browser"):
        assert len(json.loads(stored.read_text(encoding="utf-8"))["content"]["ends"]) == 31


def test_a_server_that_is_gone_is_said(chromium: Any, tmp_path: Path) -> None:
    folder = write(tmp_path, talk="one two three")
    with label_server("sat_bench", str(folder), "-models", "none", "-no-browser") as (
        address,
        process,
    ):
        page = chromium.new_page()
        page.goto(address)
        page.wait_for_selector("#panel:not([hidden])")
        process.kill()
        process.wait(timeout=60)
        page.keyboard.press("Space")
        page.wait_for_selector("#saved.failed")
        assert "not saved" in page.locator("#saved").inner_text()
        page.close()


def test_a_long_talk_opens_within_a_second_and_a_thousand_gaps_pass_in_a_minute(
    label: Label, tmp_path: Path
) -> None:
    sentence = "so we went on and on about the chairs until somebody laughed and we stopped "
    folder = write(tmp_path, long=sentence * 660, short="one two")
    page = label("sat_bench", folder, *NANO)
    assert len(sentence * 660) > 50_000
    opening = """async () => {
      const begun = performance.now();
      document.getElementById('previous').click();
      const frame = () => new Promise(requestAnimationFrame);
      while (document.querySelectorAll('.word').length < 9000) await frame();
      await frame();
      return performance.now() - begun;
    }"""
    opened_ms = []
    for _ in range(5):  # the best of them, since other programs run too
        page.keyboard.press("]")
        page.wait_for_selector("#title:text-is('short')")
        opened_ms.append(page.evaluate(opening))
        page.wait_for_selector("#title:text-is('long')")
    assert min(opened_ms) < 1000
    page.wait_for_selector("#panel:not([hidden])")
    page.keyboard.press("Home")
    page.wait_for_selector(".word.caret")
    passing = """() => {
      const begun = performance.now();
      for (let n = 0; n < 1000; n++)
        document.body.dispatchEvent(new KeyboardEvent('keydown',
          { key: 'ArrowRight', bubbles: true }));
      document.body.getBoundingClientRect();
      return performance.now() - begun;
    }"""
    assert page.evaluate(passing) < 30_000
    assert (
        page.evaluate("[...document.querySelectorAll('.word')].findIndex(w => w.matches('.caret'))")
        == 1000
    )


def test_hostile_texts_are_shown_and_run_nothing(label: Label, tmp_path: Path) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in HOSTILE if text.strip()]
    named = {f"talk{number}": f"{text} and more" for number, text in enumerate(texts)}
    folder = write(tmp_path, **named)
    page = label("sat_bench", folder, *NANO, "-annotator", "anna")
    for number, name in enumerate(sorted(named)):
        page.keyboard.press("Space")
        page.keyboard.press("ArrowRight")
        page.locator("#texts").select_option(str(number))
        page.wait_for_selector(f"#title:text-is('{name}')")
        page.wait_for_selector("#panel:not([hidden])")
    assert page.evaluate("window.pwned") is None
    assert page.locator("script").count() == 3
    assert page.locator("img, base, iframe, #work style, #work a").count() == 0


def test_another_origin_cannot_read_or_write(chromium: Any, tmp_path: Path) -> None:
    folder = write(tmp_path, talk="one two three")
    attempt = """async (address) => {
      const tried = [];
      for (const options of [{}, { mode: 'no-cors' }, { method: 'PUT', body: '{}' }])
        tried.push(await fetch(address + 'texts/0', options)
          .then((answer) => answer.type + answer.status, () => 'refused'));
      return tried;
    }"""
    command = ("sat_bench", str(folder), "-models", "none", "-no-browser")
    with label_server(*command) as (address, _):
        page = chromium.new_page()  # its origin is nobody's
        assert set(page.evaluate(attempt, address)) <= {"refused", "opaque0"}
        page.close()
    assert not (folder / ".annotations" / ".gold").exists()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_the_page_fits_the_screen(label: Label, tmp_path: Path, width: int, scheme: str) -> None:
    folder = write(tmp_path, talk=TEXT + " " + "x" * 400)
    page = label(
        "sat_bench", folder, *NANO, viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", ground))) > 380) == (scheme == "light")


def test_the_mistakes_of_a_run_are_walked_through(label: Label, tmp_path: Path) -> None:
    folder = write(tmp_path / "talks", one=TEXT, two=TEXT.replace("chairs", "tables"))
    run = tmp_path / "nano.run.json"
    measured = [sys.executable, "-m", "sat_bench", "-model", "nano", "-corpus", str(folder)]
    subprocess.run([*measured, "-record", str(run)], check=True, capture_output=True, timeout=120)
    count = len(json.loads(run.read_text(encoding="utf-8"))["findings"])
    page = label("sat_bench", folder, "-from", run)
    assert "Is the truth wrong?" in page.locator("#panel").inner_text()
    for _ in range(count):
        page.keyboard.press("n")
        page.wait_for_timeout(150)
    assert "Every mistake of the run has been reviewed." in page.locator("#notice").inner_text()
    assert page.locator("#left").inner_text() == "done · 0 in all"
