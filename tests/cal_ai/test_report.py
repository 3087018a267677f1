"""The report and the console figures of one run that has everything, as golden files.

To accept a change: UPDATE_GOLDEN=1 python -m pytest tests/cal_ai/test_report.py
"""

from __future__ import annotations

import json
import os
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.cal_ai.made_runs import finished_run

from cal_ai.benchmark.narrative import narrative_sections, no_narrative
from cal_ai.benchmark.page import markdown_report
from cal_ai.benchmark.report import Finished, json_facts, progress_line, text_summary
from cal_ai.benchmark.samples import Sample
from cal_ai.benchmark.scoring import Failed, Result, Spent, score
from cal_ai.benchmark.sidecar import ExpectedEvent, Sidecar
from cal_ai.events import ContextEvent, Event
from cal_ai.transcripts.conversation import Transcript
from truemark.jsontext import to_json
from truemark.sections import Section
from truemark.services.calls import Usage

GOLDEN = Path(__file__).parent / "golden"
NOON = datetime(2026, 2, 23, 12, 0)
HOUR = timedelta(hours=1)
REPORT = Path("reports/benchmark.md")
NASTY = 'x | y</td><script>alert("1")</script> [a](javascript:b) `c`\n\n# d ![](http://e.f)'


def sample(category: str, name: str, sidecar: Sidecar | None) -> Sample:
    return Sample(category, name, Transcript(()), sidecar, f"{category}/{name}")


def results() -> tuple[Result, ...]:
    lunch = ExpectedEvent("create", "Lunch", NOON, NOON + HOUR, attendees_contain=("Bob",))
    gym = ExpectedEvent("delete", "Gym", NOON + 4 * HOUR)
    planned = (ContextEvent(1, "Gym", NOON + 4 * HOUR),)
    matched = Event("create", "Lunch", NOON, NOON + HOUR, confidence="high")
    return (
        score(
            sample("adversarial", "no_plans", Sidecar(())), [], Spent(0.5, 1, Usage(100, 5, 0, 105))
        ),
        score(
            sample("adversarial", "nasty", Sidecar(())),
            [Event("create", NASTY, NOON, location=NASTY, reasoning=NASTY, confidence="low")],
            Spent(0.75, 3, Usage(100, 50, 20, 170)),
        ),
        score(
            sample("crud", "fine", Sidecar((lunch, gym), calendar_context=planned)),
            [Event("delete", "gym", existing_event_id=1, confidence="high"), matched],
            Spent(1.0, 1, Usage(200, 40, 10, 250)),
        ),
        score(
            sample("crud", "nearly", Sidecar((lunch, gym), "strict")),
            [
                Event("create", "Gym", NOON + timedelta(days=3), reasoning="It was agreed."),
                matched,
            ],
            Spent(2.0, 2, Usage(200, 40, 10, 250)),
        ),
        Failed(
            sample("crud", "refused", Sidecar((lunch,))),
            f"Gemini gave no answer: {NASTY}",
            Spent(3.0, 5, None),
        ),
        score(sample("new", "unlabelled", None), [matched], Spent(1.5, 1, Usage(90, 10, 0, 100))),
    )


@pytest.fixture
def finished() -> Finished:
    return finished_run(*results(), cost_usd=0.001)


def page_of(finished: Finished, ai_summary: list[Section]) -> str:
    return "".join(markdown_report(finished, ai_summary))


def compare_with_golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_the_report_is_as_in_the_golden_file(finished: Finished) -> None:
    points = ((f"Well: {NASTY}",), (), ("High is right.",), ("Do this.",))
    compare_with_golden("report.md", page_of(finished, narrative_sections(points)))


def test_the_figures_are_as_in_the_golden_file(finished: Finished) -> None:
    compare_with_golden("figures.txt", text_summary(finished, REPORT))


def test_nothing_that_a_model_wrote_can_script_or_break_the_page(finished: Finished) -> None:
    page = page_of(finished, no_narrative(NASTY))
    assert not re.search(r"</?(script|td)|\]\((?!#[a-z0-9-]+\))|`|javascript:b\)\s*<|!\[", page)
    assert set(re.findall(r"<[^>]*>", page)) <= {f'<a id="sample-{n}">' for n in range(9)} | {
        "</a>"
    }
    assert "http://" not in page
    for row in (line for line in page.splitlines() if "alert" in line and line.startswith("|")):
        assert row.count(" | ") in (1, 3, 5)


def test_the_worst_samples_come_first_and_mistakes_first_within_one(finished: Finished) -> None:
    page = page_of(finished, no_narrative("none"))
    order = re.findall(r"^### (\S+)", page, re.MULTILINE)
    assert order == [
        "adversarial/nasty",
        "crud/nearly",
        "crud/refused",
        "new/unlabelled",
        "adversarial/no_plans",
        "crud/fine",
    ]
    nearly = page.partition("### crud/nearly")[2].partition("###")[0]
    assert re.findall(r"^\| (wrong action|match|missed)", nearly, re.MULTILINE) == [
        "wrong action",
        "match",
    ]


def test_every_link_of_the_contents_leads_somewhere(finished: Finished) -> None:
    page = page_of(finished, no_narrative("none"))
    headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
    anchors = set(re.findall(r'<a id="([^"]+)">', page))
    anchors |= {heading.lower().replace(" ", "-") for heading in headings}
    links = re.findall(r"\]\(#([^)]+)\)", page)
    assert set(links) == anchors
    assert len(links) == len(headings) + len(finished.results)


def test_json_has_every_number_in_full(finished: Finished) -> None:
    found = json.loads(to_json(json_facts(finished, REPORT)))
    assert found["overall"] == {
        "precision": 0.6,
        "recall": 0.75,
        "f1": 2 / 3,
        "tp": 3,
        "fp": 2,
        "fn": 1,
    }
    assert (found["samples"], found["scored"], found["failed"], found["unscored"]) == (6, 4, 1, 1)
    high = found["calibration"]["high"]
    assert (high["events"], high["right"], high["share"]) == (3, 3, 1.0)
    # Three events of two samples, which may be alike, say little.
    assert high["interval"]["low"] == pytest.approx(0.0168, abs=1e-4)
    assert found["latency"] == {"total_s": 5.75, "mean_s": 1.15, "p50_s": 1.0, "p95_s": 1.9}
    assert found["tokens"] == {"prompt": 690, "output": 145, "thinking": 40, "total": 875}
    assert found["cost_usd"] == pytest.approx(0.005)
    assert {name: it["clusters"] for name, it in found["intervals"].items()} == {
        "f1": 4,
        "precision": 4,
        "recall": 4,
        "clean": 4,
    }
    assert found["mistakes"] == {"wrong action": 1, "invented": 1}
    assert found["results"][3]["sample"] == "crud/nearly"
    assert found["results"][4]["status"] == "failed"


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (2, "[7/9] crud/fine... P=1.00 R=1.00 (1.0s)"),
        (3, "[7/9] crud/nearly... P=0.50 R=0.50 (2.0s)"),
        (5, "[7/9] new/unlabelled... no sidecar (1.5s)"),
    ],
)
def test_the_line_of_a_sample(index: int, expected: str) -> None:
    assert progress_line(7, 9, results()[index]) == expected


def test_the_line_of_a_failed_sample_is_one_line() -> None:
    line = progress_line(7, 9, results()[4])
    assert line.startswith("[7/9] crud/refused... FAILED (Gemini gave no answer: x | y")
    assert line.endswith(") (3.0s)")
    assert "\n" not in line
