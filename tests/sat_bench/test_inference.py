from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest
from testing.measuring import measured_at
from testing.onnx_models import SENTENCES, write_transformer

from sat_bench.corpus.conditions import under_condition
from sat_bench.corpus.talks import Talk, find_sentences
from sat_bench.defaults import Condition
from sat_bench.measure import measure_system
from sat_bench.models.protocol import Read
from sat_bench.models.quantising import quantized
from sat_bench.models.systems import ModelFiles, System, find_model
from sat_bench.record import MeasuredTalk
from sat_bench.running.inference import Inference
from truemark.curve import grid


def talk(text: str) -> Talk:
    return Talk("a", "test", "", "", text, find_sentences(text))


def test_the_counts_of_a_talk_do_not_depend_on_its_company(
    tmp_path: Path, tokenizer_path: Path
) -> None:
    model = write_transformer(tmp_path / "m.onnx", layers=2, width=64, heads=4, vocabulary=250)
    files = ModelFiles("m", quantized(model, tmp_path), tokenizer_path)
    talks = [talk(" ".join(SENTENCES[:count])) for count in range(1, 12)]
    thresholds = grid(0.3, 0.7, 0.0005)
    together = measured_at(files, talks, thresholds).talks
    alone = [measured_at(files, [one], thresholds).talks[0] for one in talks]
    assert list(together) == alone


def test_the_overlap_reaches_the_windows(tmp_path: Path, tokenizer_path: Path) -> None:
    model = write_transformer(tmp_path / "m.onnx", layers=1, width=32, heads=4, vocabulary=250)
    files = find_model(str(model), tokenizer_path)
    long = [talk(" ".join(SENTENCES * 4))]
    thresholds = grid(0.4, 0.6, 0.0005)
    default, same, wider = (
        measured_at(files, long, thresholds, inference=inference)
        for inference in (Inference(), Inference(overlap=64), Inference(overlap=300))
    )
    assert default == same != wider


SHORT, LONG = " ".join(SENTENCES[:2]), " ".join(SENTENCES * 60)


@pytest.fixture
def transformer(tmp_path: Path, tokenizer_path: Path) -> ModelFiles:
    model = write_transformer(tmp_path / "m.onnx", layers=2, width=64, heads=4, vocabulary=250)
    return find_model(str(model), tokenizer_path)


def answered(
    files: ModelFiles, *texts: str, inference: Inference | None = None
) -> tuple[MeasuredTalk, ...]:
    talks = list(map(talk, texts))
    return measured_at(files, talks, (0.5,), inference=inference).measurement.talks


def test_each_talk_has_its_own_seconds_though_talks_are_read_ahead(transformer: ModelFiles) -> None:
    first, long, last = (talk.seconds or 0 for talk in answered(transformer, SHORT, LONG, SHORT))
    assert long > 3 * first > 0
    assert long > 3 * last > 0


def test_a_talk_from_the_cache_has_the_seconds_that_it_took_to_read(
    transformer: ModelFiles, tmp_path: Path
) -> None:
    inference = Inference(cache=tmp_path / "cache")
    read = answered(transformer, SHORT, LONG, inference=inference)
    kept = answered(transformer, SHORT, LONG, inference=inference)
    assert [one.replayed for one in (*read, *kept)] == [False, False, True, True]
    assert [one.seconds for one in kept] == [one.seconds for one in read]
    assert all(one.seconds for one in read)


class Opened(Inference):
    """Counts how often a system is opened."""

    times: ClassVar[int] = 0

    @contextmanager
    def opened(self, system: System) -> Iterator[Read]:
        Opened.times += 1
        with Inference.opened(self, system) as read:
            yield read


def test_a_system_is_opened_once_for_all_conditions(transformer: ModelFiles) -> None:
    talks = [talk(SHORT)]
    conditions: tuple[Condition, ...] = ("written", "bare", "upper")
    measured = measure_system(transformer, talks, inference=Opened(), conditions=conditions)
    assert Opened.times == 1
    assert tuple(part.condition for part in measured) == conditions
    for part in measured:
        changed = under_condition(talks[0], part.condition)
        assert part.measurement.seconds
        assert part.measurement.characters == len(changed.text)


def test_a_model_is_loaded_by_the_measurement_that_needs_it(noisy_model: Path) -> None:
    files = find_model(str(noisy_model))
    notes: list[str] = []
    with Inference(note=notes.append).opened(files) as read:
        [(_, found)] = read([talk("One. Two.")])
    assert len(found.ends) > 2
    assert notes == []
