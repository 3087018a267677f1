"""Every bundled sample, its recorded answer replayed through parsing, validation and tolerance.

`pytest --live` asks the configured language model instead. To accept changed counts:
UPDATE_GOLDEN=1 python -m pytest tests/cal_ai/test_regression.py
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from pathlib import Path

import pytest
from testing.answers import recorded_answer

from cal_ai.benchmark.samples import Sample, bundled_folder, load_samples
from cal_ai.benchmark.scoring import Scored, Spent, event_scores, score
from cal_ai.extractors.answers import parse_answer
from cal_ai.extractors.choosing import choose_extractor
from cal_ai.extractors.language_model import LanguageModelExtractor
from cal_ai.extractors.protocol import Extraction
from cal_ai.settings import load_settings
from truemark import Counts
from truemark.counts import total

GOLDEN = Path(__file__).parent / "golden" / "replayed_counts.json"
LEAST = {"crud": 15, "multi_speaker": 8, "adversarial": 8, "realistic": 8, "long": 6}
SAMPLES = {sample.id: sample for sample in load_samples(bundled_folder())}


def replay(sample: Sample) -> Scored:
    raw = recorded_answer(bundled_folder() / f"{sample.id}.txt")
    assert raw is not None, "the sidecar has no mock_llm_response"
    result = score(sample, parse_answer(raw), Spent(0.0, 1, None))
    assert isinstance(result, Scored)
    return result


def as_list(counts: Counts) -> list[int]:
    return [counts.tp, counts.fp, counts.fn]


@pytest.fixture(scope="module")
def golden() -> dict[str, list[int]]:
    if os.environ.get("UPDATE_GOLDEN"):
        counts = {name: as_list(replay(sample).counts) for name, sample in SAMPLES.items()}
        lines = ",\n".join(f"  {json.dumps(name)}: {found}" for name, found in counts.items())
        GOLDEN.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    found: dict[str, list[int]] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", SAMPLES)
def test_a_recorded_answer_has_its_known_counts(name: str, golden: dict[str, list[int]]) -> None:
    assert as_list(replay(SAMPLES[name]).counts) == golden[name]


def test_the_known_counts_are_those_of_the_samples_there_are(golden: dict[str, list[int]]) -> None:
    assert list(golden) == list(SAMPLES)


def test_there_are_enough_samples_of_every_kind() -> None:
    found = Counter(sample.category for sample in SAMPLES.values())
    assert sum(found.values()) >= 45
    assert {name: found[name] >= least for name, least in LEAST.items()} == dict.fromkeys(
        LEAST, True
    )


def test_samples_load_without_a_warning() -> None:
    warnings: list[str] = []
    load_samples(bundled_folder(), warnings=warnings)
    assert warnings == []


def test_recorded_answers_are_good_but_not_perfect() -> None:
    results = [replay(sample) for sample in SAMPLES.values()]
    perfect = sum(not (result.counts.fp or result.counts.fn) for result in results)
    assert 0.5 < perfect / len(results) < 0.9
    assert 0.6 < event_scores(total(result.counts for result in results)).f1 < 0.95


@pytest.mark.live
@pytest.mark.parametrize("name", SAMPLES)
def test_the_configured_model_gives_a_usable_answer(name: str) -> None:
    extractor = choose_extractor(None, load_settings(os.environ))
    if not isinstance(extractor, LanguageModelExtractor):
        pytest.skip("no language model is configured: set GEMINI_API_KEY")

    async def extract() -> Extraction:
        try:
            return await extractor.extract_events(SAMPLES[name].request)
        finally:
            await extractor.close()

    extraction = asyncio.run(extract())
    result = score(SAMPLES[name], extraction.events, Spent(0.0, 1, extraction.usage))
    assert isinstance(result, Scored)
    print(f"{name}: {result.counts}")
