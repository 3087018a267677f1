from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from tests.cal_ai.made_runs import finished_run

from cal_ai.benchmark.narrative import (
    SECTIONS,
    TOKEN_LIMIT,
    estimated_tokens,
    narrative_prompt,
    parse_sections,
    worst_samples,
)
from cal_ai.benchmark.samples import Sample
from cal_ai.benchmark.scoring import Result, Spent, score
from cal_ai.benchmark.sidecar import ExpectedEvent, Sidecar
from cal_ai.events import Event
from cal_ai.transcripts.conversation import Transcript

NOON = datetime(2026, 2, 23, 12, 0)


def result(name: str, expected: int, matched: int, wrong: int = 0, title: str = "Lunch") -> Result:
    truth = Sidecar(tuple(ExpectedEvent("create", title, NOON) for _ in range(expected)))
    sample = Sample(name.partition("/")[0], name.partition("/")[2], Transcript(()), truth, name)
    events = [Event("create", title, NOON, reasoning="x")] * matched
    events += [Event("create", title, NOON + timedelta(days=40), confidence="low")] * wrong
    return score(sample, events, Spent(1.0, 1, None))


def test_the_prompt_shows_scores_categories_calibration_and_the_worst_samples() -> None:
    prompt = narrative_prompt(
        finished_run(result("a/fine", 2, 2), result("b/bad", 2, 1, wrong=2), result("b/none", 1, 0))
    )
    assert "3 samples: 3 scored, 0 failed, 0 without sidecar." in prompt
    assert "Overall: 3 right, 2 wrong, 2 missed, precision 0.600, recall 0.600" in prompt
    assert "b: 1 right, 2 wrong, 2 missed, F1 0.333\na: 2 right" in prompt
    assert "low              2      0  0.000" in prompt
    worst = prompt.partition("Worst samples:\n")[2]
    assert worst.startswith("b/none: 0 right, 0 wrong, 1 missed\n- missed: create Lunch\nb/bad:")
    assert "start expected 2026-02-23 12:00, got 2026-04-04 12:00 (40 d later)" in worst
    assert "a/fine" not in worst
    assert all(heading in prompt for heading in SECTIONS)


def test_the_worst_samples_are_five_by_f1_then_by_mistakes() -> None:
    results = [result(f"a/s{n}", 10, n, wrong=10 - n) for n in range(8)]
    results += [result("a/worst", 30, 0), result("a/fine", 1, 1)]
    assert [it.sample.id for it in worst_samples(results)] == [
        "a/worst",
        "a/s0",
        "a/s1",
        "a/s2",
        "a/s3",
    ]


@pytest.mark.parametrize("title", ["Lunch " * 500, "昼食" * 800, "🍜" * 900], ids=["a", "b", "c"])
def test_the_prompt_stays_below_its_limit_whatever_the_samples_are_called(title: str) -> None:
    results = [
        result(f"{'category' * 20}{n}/{title[:200]}{n}", 9, 1, wrong=4, title=title)
        for n in range(40)
    ]
    prompt = narrative_prompt(finished_run(*results))
    assert estimated_tokens(prompt) < TOKEN_LIMIT
    assert len(prompt) < 4 * TOKEN_LIMIT


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(
            "Preface\nWhat went well\nA.\nFailure patterns\nB.\nCalibration\nC.\n"
            "What to change in prompt or pipeline\nD.",
            (("A.",), ("B.",), ("C.",), ("D.",)),
            id="plain",
        ),
        pytest.param(
            "# What Went Well:\n\n- A\n* B\n1. C\n\n**Failure Patterns**\n\n**Calibration**\nD\n"
            "### 4. What to change\n- 3 of 4 were late",
            (("A", "B", "C"), (), ("D",), ("3 of 4 were late",)),
            id="decorated",
        ),
        pytest.param("Nice.", ((), (), (), ()), id="none"),
        pytest.param("", ((), (), (), ()), id="empty"),
        pytest.param(
            "Calibration\n" + "x\n" * 100, ((), (), ("x",) * 12, ()), id="no-end-of-points"
        ),
    ],
)
def test_an_answer_is_read_by_its_headings(
    answer: str, expected: tuple[tuple[str, ...], ...]
) -> None:
    assert parse_sections(answer) == expected
