from __future__ import annotations

from pathlib import Path

from testing.onnx_models import SENTENCES, write_transformer

from sat_bench.corpus.talks import Talk, find_sentences
from sat_bench.evaluation import measure_model
from sat_bench.models.finding import ModelFiles, find_model
from sat_bench.models.network import quantized
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


def test_a_model_is_loaded_by_the_measurement_that_needs_it(noisy_model: Path) -> None:
    files = find_model(str(noisy_model))
    notes: list[str] = []
    with Inference(note=notes.append).opened(files) as model:
        [found] = model.probabilities_many(["One. Two."])
    assert len(found.ends) > 2
    assert notes == []
