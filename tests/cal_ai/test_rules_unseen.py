from __future__ import annotations

from pathlib import Path

import pytest

from cal_ai.benchmark.samples import bundled_folder, load_samples
from cal_ai.benchmark.scoring import Scored, Spent, overall_counts, score
from cal_ai.extractors.rules.extractor import find_events

UNSEEN = Path(__file__).parents[2] / "testdata" / "unseen"


@pytest.fixture(scope="module")
def scored() -> list[Scored]:
    spent = Spent(0.0, 1, None)
    results = (score(it, find_events(it.request), spent) for it in load_samples(UNSEEN).samples)
    return [result for result in results if isinstance(result, Scored)]


def test_conversations_nobody_wrote_rules_for_are_read_about_half_right(
    scored: list[Scored],
) -> None:
    counts = overall_counts(scored)
    assert counts.tp > counts.fp
    assert counts.tp > 0.4 * counts.expected


def test_talk_that_only_sounds_like_plans_mostly_gives_no_false_event(scored: list[Scored]) -> None:
    adversarial = [result for result in scored if result.sample.category == "adversarial"]
    clean = [result for result in adversarial if result.counts.fp == 0]
    assert len(clean) > 0.7 * len(adversarial)


def test_high_medium_and_low_confidence_differ_in_what_is_right(scored: list[Scored]) -> None:
    right: dict[str, list[bool]] = {"high": [], "medium": [], "low": []}
    for result in scored:
        matched = {pair.extracted for pair in result.pairs if pair.is_match}
        for index, event in enumerate(result.extracted):
            right[event.confidence].append(index in matched)
    high, medium, low = (sum(it) / len(it) for it in right.values())
    assert high > 0.65
    assert high > medium + 0.1
    assert medium > low + 0.1


def test_no_unseen_conversation_is_among_those_that_rules_were_written_for() -> None:
    def transcripts(folder: Path) -> set[str]:
        return {path.read_text(encoding="utf-8") for path in folder.rglob("*.txt")}

    seen = transcripts(bundled_folder()) | transcripts(Path(__file__).parent / "dialogues")
    assert not transcripts(UNSEEN) & seen
