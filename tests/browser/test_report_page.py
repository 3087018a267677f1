"""The pages as people use them; every test fails on any message in the console."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from testing.made_runs import HOSTILE
from testing.talk_runs import run_of_talks, talk, talks_run
from tests.browser.conftest import MEASURED, RUNS, Open

from truemark.matching import ScoredPositions
from truemark.pages.report import report_page
from truemark.places import position_marks
from truemark.records import Run, ScoringRules, System, Unit

pytestmark = pytest.mark.browser
PHONE = {"width": 390, "height": 844}


def count(page: Any) -> int:
    """How many mistakes and remarks the list says it shows."""
    said = page.locator("#count").inner_text().split(" of ")[0]
    return sum(int(number.replace(",", "")) for number in re.findall(r"[\d,]+", said))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("name", [*RUNS, *MEASURED])
def test_pages_open_without_a_complaint_and_fit_the_screen(
    opened: Open, name: str, width: int, scheme: str
) -> None:
    page = opened(name, viewport={"width": width, "height": 900}, color_scheme=scheme)
    for canvas in page.locator("canvas:visible").all():
        canvas.scroll_into_view_if_needed()
    assert page.locator("canvas").count() > 0 or name == "leaderboard"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", ground))) > 380) == (scheme == "light")


def test_tables_fit_a_phone_however_long_the_names_are(opened: Open) -> None:
    page = opened("long names", viewport=PHONE)
    wider = "tables => tables.filter(t => t.scrollWidth > t.parentElement.clientWidth).length"
    tables = page.locator("#verdict table:visible, #compared table:visible")
    assert tables.count() > 2
    assert tables.evaluate_all(wider) == 0
    fits = "h => h.scrollWidth <= h.clientWidth && h.getBoundingClientRect().right <= innerWidth"
    assert page.locator("#detail h3").evaluate(fits)


@pytest.mark.parametrize("name", ["bundled talks", "bundled conversations"])
def test_pages_of_bundled_runs_are_small_and_list_every_mistake(
    opened: Open, pages: Callable[[str], Path], name: str
) -> None:
    page = opened(name)
    assert pages(name).stat().st_size < 2_000_000
    counted = page.locator("button.bar[data-filter=kind] .number").all_inner_texts()
    assert sum(map(int, counted)) == count(page) > 0
    for _ in range(count(page) - 1):
        page.keyboard.press("j")
    assert page.locator("#next").is_disabled()


def test_the_slider_moves_the_marks_of_the_bundled_talks(opened: Open) -> None:
    page = opened("bundled talks")
    before = page.locator("#detail .running .text").last.inner_text()
    page.locator("#figure-threshold-1 input[type=range]").fill("0.999")
    assert page.locator("#detail .running .text").last.inner_text() != before


def test_a_run_without_findings_or_curves_still_opens(chromium: Any, tmp_path: Path) -> None:
    path = tmp_path / "plain.html"
    run = Run("t", "1", "", System("s"), {}, ScoringRules(0), (Unit("u", failed="lost"),))
    path.write_text(report_page([run]), encoding="utf-8")
    page = chromium.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(path.as_uri())
    assert page.locator("#detail").inner_text() == "Nothing to show."
    page.close()
    assert errors == []


def test_a_page_opens_at_its_top_and_stays_where_it_is_when_filtered(opened: Open) -> None:
    page = opened("talks", viewport=PHONE)
    assert page.evaluate("scrollY") == 0
    page.locator("button.bar").first.click()
    before = page.evaluate("scrollY")
    page.locator("button.bar").first.click()
    assert page.evaluate("scrollY") == before


def test_charts_are_drawn_when_seen(opened: Open) -> None:
    page = opened("talks")
    canvas = page.locator("#threshold-0")
    canvas.scroll_into_view_if_needed()
    page.wait_for_selector("#threshold-0[style]")  # the library sizes what it draws on
    drawn = "c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v > 0)"
    assert canvas.evaluate(drawn)


def test_hostile_texts_run_nothing_and_are_shown(opened: Open) -> None:
    page = opened("hostile")
    assert page.title() == HOSTILE[0]
    for _ in HOSTILE:
        page.keyboard.press("j")
        assert page.locator("#detail .fields").count() >= 1
    page.locator("#search").fill("onerror")
    assert count(page) == len(HOSTILE)
    for choice in page.locator("select[data-filter]").all():
        if choice.is_visible():
            choice.select_option(index=1)
    for bar in page.locator("button.bar").all()[:6]:
        bar.click()
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("({}).pwned") is None
    assert page.locator("script").count() == 7
    assert page.locator("img, base, iframe, #detail style").count() == 0


def test_the_policy_stops_a_script_that_is_not_the_page_s_own(chromium: Any, pages: Any) -> None:
    page = chromium.new_page()
    page.goto(pages("talks").as_uri())
    page.evaluate(
        "() => { const s = document.createElement('script');"
        " try { s.textContent = 'window.pwned = 1' } catch {} document.body.append(s) }"
    )
    assert page.evaluate("window.pwned") is None
    refused = "() => { try { document.body.innerHTML = '<p>' } catch (e) { return e.name } }"
    assert page.evaluate(refused) == "TypeError"
    page.close()


def test_a_bar_filters_the_list_and_a_second_click_frees_it(opened: Open) -> None:
    page = opened("talks")
    whole = count(page)
    bar = page.locator("button.bar", has_text="missed")
    expected = int(bar.locator(".number").inner_text())
    bar.click()
    assert count(page) == expected < whole
    assert bar.get_attribute("aria-pressed") == "true"
    assert set(page.locator("#list .chip").all_inner_texts()) == {"missed"}
    bar.click()
    assert count(page) == whole


def test_bars_count_what_the_other_panel_s_filter_leaves(opened: Open) -> None:
    page = opened("talks")
    page.locator("button.bar[data-name=language][data-value='en-GB']").click()
    kinds = page.locator("button.bar[data-filter=kind] .number").all_inner_texts()
    assert sum(map(int, kinds)) == count(page)


@pytest.mark.parametrize("name", ["kind", "what", "group", "unit", "confidence"])
def test_each_choice_leaves_only_what_has_it(opened: Open, name: str) -> None:
    page = opened("calendar")
    whole = count(page)
    choice = page.locator(f"select[data-filter={name}]")
    parts = 0
    options = choice.locator("option").all_inner_texts()[1:]
    assert len(options) >= 2
    for option in options:
        choice.select_option(option)
        assert 0 < count(page) < whole
        parts += count(page)
    if name != "group":  # a finding has several groups
        assert parts == whole


def test_search_finds_words_of_the_text(opened: Open) -> None:
    page = opened("talks")
    page.keyboard.press("/")
    page.keyboard.type("CEMENT lorry")
    assert 0 < count(page) < 20
    assert "cement lorry" in page.locator("#detail .text").inner_text()
    page.keyboard.press("Escape")
    assert count(page) == len(talks_run("nano", 0.9).findings)


def test_keys_walk_through_the_list(opened: Open) -> None:
    page = opened("talks")

    rows = [int(row.get_attribute("data-number")) for row in page.locator("#list a").all()]

    def current() -> int:
        return int(page.locator("#list [aria-current]").get_attribute("data-number"))

    assert current() == rows[0]
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert current() == rows[1]
    assert f"finding={rows[1]}" in page.url
    page.locator("#previous").click()
    assert current() == rows[0]
    assert page.locator("#previous").is_disabled()


def test_walking_on_turns_the_page_of_the_list(opened: Open) -> None:
    page = opened("talks")
    for _ in range(100):
        page.keyboard.press("n")
    assert page.locator("#pages").inner_text().split("\n")[1].startswith("101 to")


def test_a_link_leads_to_its_mistake_whatever_was_filtered(opened: Open) -> None:
    page = opened("talks", "#finding=7")
    run = talks_run("nano", 0.9)
    assert page.locator("#list [aria-current]").get_attribute("data-number") == "7"
    assert page.locator("#detail h3").inner_text() == run.findings[7].unit
    other = next(n for n, one in enumerate(run.findings) if one.kind != run.findings[7].kind)
    page.locator("select[data-filter=kind]").select_option(run.findings[7].kind)
    page.evaluate(f"location.hash = 'finding={other}'")
    page.wait_for_selector(f"#list [aria-current][data-number='{other}']")


def test_the_address_carries_filters_and_search(opened: Open) -> None:
    page = opened("talks")
    page.locator("select[data-filter=kind]").select_option("missed")
    page.locator("#search").fill("the")
    shown, address = count(page), page.url.partition("#")[2]
    again = opened("talks", f"#{address}")
    assert count(again) == shown
    assert again.locator("select[data-filter=kind]").input_value() == "missed"


@pytest.mark.parametrize("level", [0.05, 0.3, 0.62, 0.95])
def test_the_slider_moves_the_marks_as_the_scorer_would(opened: Open, level: float) -> None:
    page = opened("talks", viewport={"width": 1400, "height": 900})
    run = talks_run("nano", 0.9)
    slider = page.locator("#figure-threshold-0 input[type=range]")
    slider.fill(str(level))
    unit = run.units[0]
    assert unit.text is not None
    page.locator("select[data-filter=unit]").select_option(unit.id)
    number = int(page.locator("#list [aria-current]").get_attribute("data-number"))
    place = run.findings[number].offset + (run.findings[number].at or 0)
    around = range(max(0, place - 5000), place + 5001)
    expected = {"found": 0, "invented": 0, "missed": 0}
    for mark in _marks_at(unit.marks, level):
        if mark.role in expected and mark.start in around:
            expected[mark.role] += 1
    shown = {role: page.locator(f"#detail .point.{role}").count() for role in expected}
    assert shown == expected
    said = page.locator("#figure-threshold-0 output").inner_text()
    assert said.startswith(f"{level:.3f}: F1 0.")
    assert page.locator("#detail .slider output").inner_text() == said


def test_tolerance_counts_characters_not_halves_of_them(chromium: Any, tmp_path: Path) -> None:
    text = "One 🎉🎉🎉. Two 🎉, and 🎉🎉🎉🎉. Three, four 🎉🎉. Five 🎉. " * 20
    heard = talk("emoji", text, 0.7, 4)
    near = replace(heard, truth=tuple(max(0, place - 3) for place in heard.truth))
    run = run_of_talks("emoji", [near], 3)
    path = tmp_path / "emoji.html"
    path.write_text(report_page([run]), encoding="utf-8")
    page = chromium.new_page()
    page.goto(path.as_uri())
    for level in (0.1, 0.5, 0.8):
        page.locator("#figure-threshold-0 input[type=range]").fill(str(level))
        roles = [mark.role for mark in position_marks(near.group, level, 3, 0.0)]
        for role in ("found", "invented", "missed"):
            assert page.locator(f"#detail .point.{role}").count() == roles.count(role)
    page.close()


def _marks_at(marks: Any, level: float) -> Any:
    """The marks that the package itself gives at another threshold."""
    import numpy as np

    scored = {mark.start: mark.probability for mark in marks if mark.probability is not None}
    places = sorted(scored)
    truths = sorted(
        mark.start if mark.truth is None else mark.truth
        for mark in marks
        if mark.role in ("found", "missed")
    )
    predicted = ScoredPositions(np.array(places), np.array([scored[place] for place in places]))
    return position_marks((predicted, truths), level, 0, 0.0)


def test_a_preset_puts_the_slider_back(opened: Open) -> None:
    page = opened("talks")
    figure = page.locator("#figure-threshold-0")
    before = page.locator("#detail .text").inner_text()
    figure.locator("input[type=range]").fill("0.9")
    assert page.locator("#detail .text").inner_text() != before
    figure.locator("button", has_text="chosen").click()
    assert page.locator("#detail .text").inner_text() == before


def test_a_conversation_stands_beside_what_was_expected_and_got(opened: Open) -> None:
    page = opened("calendar")
    page.locator("select[data-filter=kind]").select_option("wrong day")
    assert page.locator("#detail .lines mark.quoted").count() == 1
    row = page.locator("#detail section.current tr.differs").first
    assert row.locator("th").inner_text() == "start_time"
    assert "1440 minutes" in row.inner_text()


def test_two_runs_stand_side_by_side_with_fixed_and_broken_as_filters(opened: Open) -> None:
    page = opened("talks compared", viewport={"width": 1400, "height": 900})
    assert page.locator("#detail .running").count() == 2
    whole = count(page)
    choice = page.locator("select[data-filter=change]")
    parts = {}
    for option in choice.locator("option").all_inner_texts()[1:]:
        choice.select_option(option)
        parts[option] = count(page)
    assert set(parts) == {"fixed by small", "broken by small", "in both, small"}
    assert sum(parts.values()) == whole
    choice.select_option("")
    page.locator("#compared button.quiet").first.click()
    assert count(page) in (parts["fixed by small"], parts["broken by small"])
    page.locator("#compared button.link").first.click()
    assert page.locator("select[data-filter=unit]").input_value() != ""


def test_side_by_side_texts_stand_at_the_same_place(opened: Open) -> None:
    page = opened("talks compared", viewport={"width": 1400, "height": 900})
    page.locator("select[data-filter=change]").select_option("fixed by small")
    for _ in range(8):
        page.keyboard.press("j")
    for box in page.locator("#detail .running .text").all():
        inside = box.evaluate(
            "box => { const a = box.getBoundingClientRect(), f = box.querySelector('.focus')"
            ".getBoundingClientRect(); return a.top <= f.top && f.bottom <= a.bottom }"
        )
        assert inside


def test_ten_thousand_findings_open_and_filter_within_three_seconds(opened: Open) -> None:
    page = opened("large")
    page.goto("about:blank")
    started = time.perf_counter()
    page.go_back()
    page.wait_for_selector("#list a")
    assert time.perf_counter() - started < 3
    assert count(page) == 10_000
    works: tuple[Callable[[], object], ...] = (
        lambda: page.locator("#search").fill("777"),
        lambda: page.keyboard.press("Escape"),
        lambda: page.locator("select[data-filter=kind]").select_option("doubled"),
        lambda: page.keyboard.press("j"),
    )
    for work in works:
        started = time.perf_counter()
        work()
        page.evaluate("new Promise(requestAnimationFrame)")
        assert time.perf_counter() - started < 3
    assert count(page) == 2_500


def test_every_control_is_reached_by_the_tab_key(opened: Open) -> None:
    page = opened("calendar", viewport=PHONE)
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.tagName + document.activeElement.id"))
    assert {"BUTTONtheme", "INPUTsearch", "SELECT", "BUTTONnext", "A", "BUTTON"} <= seen


def test_the_theme_can_be_switched_by_hand(opened: Open) -> None:
    page = opened("talks", color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(ground)
    page.locator("#theme").click()
    assert page.evaluate(ground) != before
    page.locator("#theme").click()
    assert page.evaluate(ground) == before


def test_on_paper_the_mistakes_are_laid_out_in_light_colours(opened: Open, tmp_path: Path) -> None:
    page = opened("calendar", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".piece").count() == count(page)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".piece").count() == 0
    paper = tmp_path / "page.pdf"
    page.pdf(path=paper)
    assert paper.read_bytes().startswith(b"%PDF")


def test_the_most_confident_mistakes_come_first(opened: Open) -> None:
    page = opened("talks")
    run = talks_run("nano", 0.9)
    numbers = [int(row.get_attribute("data-number")) for row in page.locator("#list a").all()]
    sure = [
        1 - finding.probability if finding.kind == "missed" else finding.probability
        for finding in (run.findings[number] for number in numbers)
        if finding.probability is not None and finding.mistake
    ]
    assert sure == sorted(sure, reverse=True)


def test_back_undoes_a_filter(opened: Open) -> None:
    page = opened("talks")
    whole = count(page)
    page.locator("button.bar", has_text="missed").click()
    assert count(page) < whole
    page.go_back()
    assert count(page) == whole
    assert page.locator("select[data-filter=kind]").input_value() == ""
    page.go_forward()
    assert count(page) < whole


def test_wrong_truth_is_marked_counted_kept_and_exported(opened: Open) -> None:
    page = opened("talks")
    run = talks_run("nano", 0.9)
    page.locator("select[data-filter=kind]").select_option("invented")
    number = int(page.locator("#list [aria-current]").get_attribute("data-number"))
    page.keyboard.press("w")
    page.keyboard.press("j")
    page.get_by_role("button", name="Unclear").click()
    tp = sum(unit.tp for unit in run.units) + 1
    wrong = sum(unit.fp + unit.fn for unit in run.units) - 1
    mistakes = sum(finding.mistake for finding in run.findings)
    said = f"2 of {mistakes} marked, 1 of them unclear: F1 would be {2 * tp / (2 * tp + wrong):.3f}"
    assert page.locator("#marked").inner_text() == said
    with page.expect_download() as download:
        page.locator("#export").click()
    exported = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    finding = run.findings[number]
    assert exported["format"] == "truemark.marks/1"
    assert exported["run"] == run.id
    assert {
        "unit": finding.unit,
        "kind": "invented",
        "at": finding.offset + (finding.at or 0),
        "verdict": "wrong",
    } in exported["marks"]
    page.reload()
    assert page.locator("#marked").inner_text() == said
    page.locator("select[data-filter=marked]").select_option("the truth is wrong")
    assert count(page) == 1
    page.keyboard.press("w")
    assert "1 of" in page.locator("#marked").inner_text()


def test_a_third_run_stands_behind_a_tab(opened: Open) -> None:
    page = opened("three talks", viewport={"width": 1400, "height": 900})
    assert page.locator("#detail .running").count() == 2
    tabs = page.locator("#detail .tabs button")
    assert tabs.count() == 2
    tabs.last.click()
    assert tabs.last.get_attribute("aria-pressed") == "true"
    assert page.locator("#detail .compared h4").inner_text() == tabs.last.inner_text()


def test_what_the_extractor_was_told_stands_beside_the_conversation(opened: Open) -> None:
    page = opened("bundled conversations")
    context = page.locator("#detail .context").inner_text()
    assert "owner" in context
    assert "reference time" in context
    assert page.locator("#detail .lines mark.quoted").count() > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name",
    ["two conditions", "calendar compared", "bundled conversations", "history", "leaderboard"],
)
def test_axe_finds_nothing_serious(
    chromium: Any, pages: Callable[[str], Path], name: str, scheme: str
) -> None:
    # The policy of the page would stop what is injected here.
    page = chromium.new_context(color_scheme=scheme, bypass_csp=True).new_page()
    page.goto(pages(name).as_uri())
    page.evaluate((resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8"))
    violations = page.evaluate("axe.run()")["violations"]
    page.context.close()
    assert [
        (violation["id"], violation["nodes"][0]["html"])
        for violation in violations
        if violation["impact"] in ("serious", "critical")
    ] == []


def test_a_skip_link_leads_past_the_bars(opened: Open) -> None:
    page = opened("talks")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.url.endswith("#mistakes")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "search"


def test_the_list_is_one_stop_of_the_tab_key_and_arrows_walk_in_it(opened: Open) -> None:
    page = opened("talks")
    rows = page.locator("#list a")
    assert page.locator("#list a[tabindex='0']").count() == 1
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    focused = page.evaluate("document.activeElement.dataset.number")
    assert focused == rows.nth(1).get_attribute("data-number")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#list')") is None


def test_one_condition_is_shown_at_a_time_below_the_verdicts(opened: Open) -> None:
    page = opened("two conditions", viewport={"width": 1400, "height": 900})
    assert page.locator("#verdict h3.group").all_inner_texts() == [
        "Condition written",
        "Condition bare",
    ]
    written = count(page)
    page.locator("#mistakes [data-part='1']").click()
    bare = count(page)
    assert bare > written
    assert page.locator("#curves figure:visible").count() > 0
    assert page.locator("#figure-threshold-0").is_hidden()
    assert page.locator("#figure-threshold-2").is_visible()
    page.reload()
    assert count(page) == bare
    page.go_back()
    assert count(page) == written
    page.locator("#where [data-part='1']").click()
    page.locator("select[data-filter=kind]").select_option("missed")
    page.locator("#compared [data-part='0']").click()
    assert page.locator("select[data-filter=kind]").input_value() == "missed"
