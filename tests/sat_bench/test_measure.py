from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from testing.measuring import counted

import sat_bench
from sat_bench import Segmenter, Talk, compare, evaluate, load_corpus, sweep
from sat_bench.corpus.talks import CorpusError, find_sentences
from sat_bench.defaults import (
    BUNDLED_CORPUS,
    DEFAULT_THRESHOLD,
    DEFAULT_TOLERANCE,
    WRITTEN,
    Options,
)
from sat_bench.measure import measure
from sat_bench.models.protocol import Probabilities
from sat_bench.record import Failed, Measured
from sat_bench.running.inference import read_talks
from truemark.counts import Counts, Weights, total
from truemark.curve import grid, ranked
from truemark.matching import match_positions

THRESHOLDS = grid(0.05, 1.0, 0.05)


def talk(name: str, text: str) -> Talk:
    return Talk(name, "test", "", "", text, find_sentences(text))


@pytest.fixture(scope="session")
def segmenter(noisy_model: Path, tokenizer_path: Path) -> Iterator[Segmenter]:
    with Segmenter(noisy_model, tokenizer_path) as opened:
        yield opened


def test_the_defaults_are_fixed() -> None:
    assert (DEFAULT_THRESHOLD, DEFAULT_TOLERANCE) == (0.025, 3)
    assert Options().weights == Weights(1.0, 1.0)


def test_the_public_names_are_few() -> None:
    assert sorted(sat_bench.__all__) == [
        *("Segmenter", "Talk", "compare", "evaluate", "find_system", "load_corpus", "sweep")
    ]
    assert all(getattr(sat_bench, name) is not None for name in sat_bench.__all__)
    with pytest.raises(AttributeError, match="no attribute 'tokenise'"):
        getattr(sat_bench, "tokenise")  # noqa: B009


def test_an_evaluation_counts_what_the_segmenter_s_boundaries_match(
    segmenter: Segmenter,
) -> None:
    corpus = load_corpus(BUNDLED_CORPUS)
    evaluation = evaluate(segmenter, corpus, threshold=0.6, tolerance=2)
    with_threshold = {}
    for one in corpus:
        predicted = segmenter.scored_boundaries(one.text).above(0.6)
        matched = len(match_positions(predicted, one.boundaries, 2))
        with_threshold[one.id] = Counts.of(
            matched=matched, predicted=len(predicted), expected=len(one.boundaries)
        )
    assert dict(evaluation.talks) == with_threshold
    assert evaluation.counts == total(with_threshold.values())


@pytest.mark.parametrize("threshold", [-0.1, 1.5, float("nan")])
def test_a_threshold_that_is_no_probability_is_refused(
    segmenter: Segmenter, threshold: float
) -> None:
    talks = [talk("a", "One. Two.")]
    with pytest.raises(ValueError, match="threshold must be from 0 to 1"):
        evaluate(segmenter, talks, threshold)
    with pytest.raises(ValueError, match="threshold must be from 0 to 1"):
        sweep(segmenter, talks, [0.5, threshold])
    with pytest.raises(ValueError, match="threshold must be from 0 to 1"):
        list(compare(["cmd:cat"], talks, [threshold]))


def test_a_system_may_be_given_by_its_name() -> None:
    talks = [talk("a", "We met at noon. Then it rained.")]
    assert evaluate("nano", talks).counts == Counts(2, 0, 0)
    assert sweep("nano", talks, (0.4,))[0].counts == Counts(2, 0, 0)


def test_a_folder_in_place_of_talks_is_refused_with_what_reads_it(segmenter: Segmenter) -> None:
    said = r"got a path: load_corpus\('talks'\) reads it"
    with pytest.raises(TypeError, match=said):
        evaluate(segmenter, "talks")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=said):
        sweep(segmenter, "talks")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=said):
        list(compare(["nano"], Path("talks")))  # type: ignore[arg-type]


def test_talks_of_a_generator_are_measured_with_every_system_and_condition() -> None:
    talks = (talk(name, "One. Two.") for name in "ab")
    measured = list(compare(["cmd:cat", "cmd:cat"], talks, conditions=(WRITTEN, "lower")))
    for outcome in measured:
        assert isinstance(outcome, Measured)
        assert [one.id for one in outcome.measurement.talks] == ["a", "b"]
    assert len(measured) == 4


def test_a_sweep_equals_an_evaluation_at_each_of_its_thresholds(segmenter: Segmenter) -> None:
    corpus = load_corpus(BUNDLED_CORPUS)
    points = {point.threshold: point.counts for point in sweep(segmenter, corpus, THRESHOLDS)}
    assert len(set(points.values())) > 10
    for threshold in THRESHOLDS:
        assert points[threshold] == evaluate(segmenter, corpus, threshold).counts


def test_a_sweep_runs_the_model_once_per_talk() -> None:
    corpus, model = load_corpus(BUNDLED_CORPUS), CountingModel()
    sweep(model, corpus, THRESHOLDS)
    assert model.answered == len(corpus)


def test_a_sweep_is_best_first(segmenter: Segmenter) -> None:
    weights = Weights(2.0, 1.0)
    points = sweep(segmenter, load_corpus(BUNDLED_CORPUS), THRESHOLDS, weights=weights)
    assert points == ranked(points)
    assert [point.threshold for point in points] != sorted(THRESHOLDS)


def test_the_default_sweep_has_nineteen_points(segmenter: Segmenter) -> None:
    points = sweep(segmenter, [talk("a", "One. Two.")])
    assert sorted(point.threshold for point in points) == [n / 100 for n in range(1, 20)]


def test_a_perfect_model_scores_one_and_a_silent_one_finds_the_end_of_the_text(
    model_path: Path, tokenizer_path: Path
) -> None:
    talks = [talk("a", "We met at noon. It rained! Why? Nobody knows."), talk("b", "Yes. No.")]
    with Segmenter(model_path, tokenizer_path) as perfect:
        evaluation = evaluate(perfect, talks, threshold=0.5)
        assert evaluation.counts == Counts(6, 0, 0)
        assert evaluation.scores().f1 == 1.0
        assert evaluate(perfect, talks, threshold=1.0).counts == Counts(2, 0, 4)


def test_no_talks_give_scores_of_zero(segmenter: Segmenter) -> None:
    assert evaluate(segmenter, []).scores().f1 == 0.0


class CountingModel:
    """Marks the end of each text, and counts the texts that were asked for and not yet answered."""

    def __init__(self) -> None:
        self.answered = 0

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        for text in texts:
            yield Probabilities(np.array([len(text)], np.int32), np.array([0.9], np.float32))
            self.answered += 1


def test_talks_are_let_go_as_they_are_measured() -> None:
    model = CountingModel()

    def talks() -> Iterator[Talk]:
        for number in range(100):
            assert model.answered >= number - 1
            yield talk(str(number), f"Sentence {number}. " * 1_000)

    tracemalloc.start()
    measurement = measure(partial(read_talks, model), talks())
    gc.collect()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(measurement.talks) == 100
    assert peak < 1_000_000  # the texts together are more, their sentences much more


def test_a_comparison_measures_each_model_at_its_own_default(
    noisy_model: Path, model_path: Path
) -> None:
    names = [str(noisy_model), str(model_path), str(noisy_model)]
    results = list(compare(names, load_corpus(BUNDLED_CORPUS)))
    assert [result.system.name for result in results if isinstance(result, Measured)] == names
    for result in results:
        assert isinstance(result, Measured)
        assert result.thresholds == (DEFAULT_THRESHOLD,)
    first, _, again = (
        counted(result.measurement, THRESHOLDS)
        for result in results
        if isinstance(result, Measured)
    )
    assert first == again


def test_a_model_that_fails_does_not_stop_the_others(noisy_model: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"not a model")
    (tmp_path / "sentencepiece.bpe.model").write_bytes(
        (noisy_model.parent / "sentencepiece.bpe.model").read_bytes()
    )
    results = list(
        compare([str(broken), "no-such-model", str(noisy_model)], [talk("a", "One. Two.")])
    )
    assert [type(result) for result in results] == [Failed, Failed, Measured]
    assert isinstance(results[1], Failed)
    assert results[1].name == "no-such-model"
    assert results[1].reason.startswith("no such model")


def test_a_corpus_that_fails_stops_the_comparison(noisy_model: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("# Source: x\n\nOne.", encoding="utf-8")
    corpus = load_corpus(tmp_path)
    file.unlink()
    with pytest.raises(CorpusError, match="no such file"):
        list(compare([str(noisy_model)], corpus))
