from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from testing.onnx_models import SENTENCES, write_transformer

from sat_bench.corpus.talks import Talk, find_sentences
from sat_bench.evaluation import ScoredTalk, measure_model
from sat_bench.models.finding import ModelFiles, find_model
from sat_bench.models.network import quantized
from sat_bench.running.cache import ProbabilityCache
from sat_bench.running.inference import Inference
from truemark.sweep import grid


def talk(text: str) -> Talk:
    return Talk("a", "test", "", "", text, find_sentences(text))


def test_the_counts_of_a_talk_do_not_depend_on_its_company(
    tmp_path: Path, tokenizer_path: Path
) -> None:
    model = write_transformer(tmp_path / "m.onnx", layers=2, width=64, heads=4, vocabulary=250)
    files = ModelFiles("m", quantized(model, tmp_path), tokenizer_path)
    talks = [talk(" ".join(SENTENCES[:count])) for count in range(1, 12)]
    thresholds = grid(0.3, 0.7, 0.0005)
    together = measure_model(files, talks, thresholds).talks
    alone = [measure_model(files, [one], thresholds).talks[0] for one in talks]
    assert list(together) == alone


def test_the_overlap_reaches_the_windows(tmp_path: Path, tokenizer_path: Path) -> None:
    model = write_transformer(tmp_path / "m.onnx", layers=1, width=32, heads=4, vocabulary=250)
    files = find_model(str(model), tokenizer_path)
    long = [talk(" ".join(SENTENCES * 4))]
    thresholds = grid(0.4, 0.6, 0.0005)
    default, same, wider = (
        measure_model(files, long, thresholds, inference=inference)
        for inference in (Inference(), Inference(overlap=64), Inference(overlap=300))
    )
    assert default == same != wider


SHORT, LONG = " ".join(SENTENCES[:2]), " ".join(SENTENCES * 60)


@pytest.fixture
def transformer(tmp_path: Path, tokenizer_path: Path) -> ModelFiles:
    model = write_transformer(tmp_path / "m.onnx", layers=2, width=64, heads=4, vocabulary=250)
    return find_model(str(model), tokenizer_path)


def scored(
    files: ModelFiles, *texts: str, inference: Inference | None = None
) -> tuple[ScoredTalk, ...]:
    talks = map(talk, texts)
    return measure_model(files, talks, (0.5,), inference=inference or Inference(), keep=True).scored


def test_each_talk_has_its_own_seconds_though_talks_are_read_ahead(transformer: ModelFiles) -> None:
    first, long, last = (one.seconds or 0 for one in scored(transformer, SHORT, LONG, SHORT))
    assert long > 3 * first > 0
    assert long > 3 * last > 0


def test_a_talk_from_the_cache_has_the_seconds_that_it_took_to_read(
    transformer: ModelFiles, tmp_path: Path
) -> None:
    inference = Inference(cache=ProbabilityCache(tmp_path / "cache"))
    read = scored(transformer, SHORT, LONG, inference=inference)
    kept = scored(transformer, SHORT, LONG, inference=inference)
    assert [one.replayed for one in (*read, *kept)] == [False, False, True, True]
    assert [one.seconds for one in kept] == [one.seconds for one in read]
    assert all(one.seconds for one in read)


def test_time_under_a_condition_is_its_share_of_the_whole(transformer: ModelFiles) -> None:
    talks = [replace(talk(text), condition=name) for name, text in (("a", SHORT), ("b", LONG))]
    found = measure_model(transformer, talks, (0.5,))
    short, long = (found.under(condition).effort for condition in "ab")
    assert found.effort
    assert short
    assert long
    assert long.seconds > 3 * short.seconds > 0
    assert short.seconds + long.seconds == pytest.approx(found.effort.seconds)
    assert (short.characters, long.characters) == (len(SHORT), len(LONG))


def test_a_model_is_loaded_by_the_measurement_that_needs_it(noisy_model: Path) -> None:
    files = find_model(str(noisy_model))
    notes: list[str] = []
    with Inference(note=notes.append).opened(files) as model:
        [found] = model.probabilities_many(["One. Two."])
    assert len(found.ends) > 2
    assert notes == []
