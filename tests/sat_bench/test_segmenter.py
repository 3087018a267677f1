from __future__ import annotations

import os
import threading
import tracemalloc
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from testing.onnx_models import (
    LOGIT,
    PUBLISHED,
    SENTENCES,
    Signature,
    write_table_model,
    write_terminator_model,
    write_transformer,
)

from sat_bench.defaults import BUNDLED_MODELS, Weighting
from sat_bench.models.protocol import FloatArray, IntArray
from sat_bench.models.segmenter import Segmenter, covered_seconds
from sat_bench.models.systems import find_model
from truemark.errors import TruemarkError

TEXT = "The ferry left at nine. Is the office open?\n\nWhat a fine day!  Nobody knew"
ENDS = [23, 43, 61, 74]
HIGH = 1 / (1 + np.exp(-LOGIT))
TROUBLE = st.sampled_from(
    [
        ". ",
        "? ",
        "!\r\n",
        "\n\n",
        "e\u0301",
        "👩‍🚀",
        "🇫🇮",
        "\u200b",
        "\ud83d",
        "\x00",
        "ﷺ",
        "½",
        "…",
    ]
)
ANY_TEXT = st.one_of(st.text(max_size=300), st.lists(TROUBLE, max_size=40).map("".join))


@pytest.fixture(scope="module")
def segmenter(model_path: Path, tokenizer_path: Path) -> Iterator[Segmenter]:
    with Segmenter(model_path, tokenizer_path) as segmenter:
        yield segmenter


@pytest.fixture(scope="module")
def encoder_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose answers depend on all tokens of a window."""
    path = tmp_path_factory.mktemp("encoder") / "model.onnx"
    signature = Signature(logits="float32")
    return write_transformer(path, layers=2, width=32, heads=2, vocabulary=250, signature=signature)


SIGNATURES = [
    pytest.param(PUBLISHED, id="as published"),
    pytest.param(replace(PUBLISHED, mask="float32", logits="float32"), id="float32"),
    pytest.param(replace(PUBLISHED, mask="int64", logits="float32"), id="int64 mask"),
    pytest.param(replace(PUBLISHED, mask="int64"), id="int64 mask, float16 logits"),
    pytest.param(replace(PUBLISHED, logits="float32"), id="float16 mask, float32 logits"),
    pytest.param(replace(PUBLISHED, labels=111), id="111 labels"),
    pytest.param(replace(PUBLISHED, mask_first=True), id="mask first"),
]


@pytest.mark.parametrize("signature", SIGNATURES)
def test_every_published_signature_runs(
    tmp_path: Path, tokenizer_path: Path, signature: Signature
) -> None:
    model = write_terminator_model(tmp_path / "model.onnx", tokenizer_path, signature)
    with Segmenter(model, tokenizer_path) as segmenter:
        assert segmenter.boundaries(TEXT) == ENDS
        found = segmenter.probabilities(TEXT)
        assert found.values.dtype == np.float32
        assert found.values.max() == pytest.approx(HIGH, abs=1e-5)
        assert found.values.min() == pytest.approx(1 - HIGH, abs=1e-5)


def test_sentences_keep_the_white_space_after_them(segmenter: Segmenter) -> None:
    assert segmenter.segment(TEXT) == [
        "The ferry left at nine. ",
        "Is the office open?\n\n",
        "What a fine day!  ",
        "Nobody knew",
    ]


@given(ANY_TEXT)
@settings(derandomize=True, deadline=None, max_examples=300)
def test_sentences_joined_are_any_text(segmenter: Segmenter, text: str) -> None:
    assert "".join(segmenter.segment(text)) == text


@given(ANY_TEXT, st.sampled_from([0.0, 0.025, 0.5, 0.999, 1.0]))
@settings(derandomize=True, deadline=None)
def test_boundaries_are_the_scored_ones_above_the_threshold(
    segmenter: Segmenter, text: str, threshold: float
) -> None:
    scored = segmenter.scored_boundaries(text)
    content = text.rstrip()
    assert all(0 < end <= len(content) for end in scored.positions)
    assert not any(text[end - 1].isspace() for end in scored.positions)
    assert scored.above(threshold)[-1:] == ([len(content)] if content else [])
    if threshold == segmenter.threshold:
        assert segmenter.boundaries(text) == scored.above(threshold)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("The ferry left.", (True, HIGH), id="full stop"),
        pytest.param("The ferry left.  \n", (True, HIGH), id="trailing white space"),
        pytest.param("The ferry left", (False, 1 - HIGH), id="no full stop"),
        pytest.param("", (False, 0.0), id="empty"),
        pytest.param(" \n", (False, 0.0), id="white space"),
    ],
)
def test_a_text_is_complete_when_its_last_sentence_ends(
    segmenter: Segmenter, text: str, expected: tuple[bool, float]
) -> None:
    complete, probability = segmenter.is_complete(text)
    assert complete is expected[0]
    assert probability == pytest.approx(expected[1], abs=1e-5)


def test_many_texts_give_what_each_gives_alone(segmenter: Segmenter) -> None:
    texts = ["", *SENTENCES, " \n", " ".join(SENTENCES * 30), TEXT, ""]
    assert segmenter.segment_many(texts) == [segmenter.segment(text) for text in texts]
    assert segmenter.segment_many([]) == []


def test_a_long_text_gives_the_sentences_of_its_parts(segmenter: Segmenter) -> None:
    one = " ".join(SENTENCES) + " "
    count = len(segmenter.boundaries(one))
    long = one * 200
    expected = [end + len(one) * part for part in range(200) for end in segmenter.boundaries(one)]
    assert segmenter.boundaries(long) == expected
    assert len(expected) == 200 * count


def test_probabilities_do_not_depend_on_company_or_threads(
    encoder_path: Path, tokenizer_path: Path
) -> None:
    texts = [" ".join(SENTENCES[: number % 16 + 1] * (number % 7 + 1)) for number in range(60)]
    with (
        Segmenter(encoder_path, tokenizer_path, threads=1) as one,
        Segmenter(encoder_path, tokenizer_path, threads=3) as three,
    ):
        alone = [one.probabilities(text) for text in texts]
        together = list(three.probabilities_many(texts))
        again = list(one.probabilities_many(texts))
    for a, b, c in zip(alone, together, again, strict=True):
        np.testing.assert_array_equal(a.ends, b.ends)
        np.testing.assert_allclose(a.values, b.values, atol=1e-5)
        np.testing.assert_array_equal(b.values, c.values)


@pytest.mark.parametrize("weighting", ["hat", "uniform"])
def test_a_short_text_has_the_probabilities_that_it_has_in_a_list(
    encoder_path: Path, tokenizer_path: Path, weighting: Weighting
) -> None:
    with Segmenter(encoder_path, tokenizer_path, window=40, weighting=weighting) as segmenter:

        @given(st.one_of(ANY_TEXT, st.sampled_from(SENTENCES), st.just(" ".join(SENTENCES))))
        @settings(derandomize=True, deadline=None)
        def both_are_the_same(text: str) -> None:
            (listed,) = segmenter.probabilities_many([text])
            found = segmenter.probabilities(text)
            np.testing.assert_array_equal(found.ends, listed.ends)
            np.testing.assert_array_equal(found.values, listed.values)
            assert found.seconds is not None

        both_are_the_same()


def test_threads_can_share_a_segmenter(encoder_path: Path, tokenizer_path: Path) -> None:
    texts = [" ".join(SENTENCES[number:] * 5) for number in range(12)]
    with Segmenter(encoder_path, tokenizer_path) as segmenter, ThreadPoolExecutor(4) as pool:
        expected = [segmenter.boundaries(text) for text in texts]
        assert list(pool.map(segmenter.boundaries, texts)) == expected


def test_windows_of_the_finest_overlap_give_their_plain_average(
    encoder_path: Path, tokenizer_path: Path
) -> None:
    text = " ".join(SENTENCES * 2)
    with Segmenter(
        encoder_path, tokenizer_path, window=100, overlap=80, weighting="uniform"
    ) as fine:
        found = fine.probabilities(text)
        # Half precision is that of wtpsplit, which adds up just so.
        sums, counts = np.zeros((2, len(found.ends)), np.float16)
        tokens = fine.tokenizer.encode(text).ids
        starts = [*range(0, len(tokens) - 100, 20), len(tokens) - 100]
        for start in starts:
            sums[start : start + 100] += fine.network.logits([tokens[start : start + 100]])[0]
            counts[start : start + 100] += 1
    expected = 1 / (1 + np.exp(-(sums / counts).astype(np.float32)))
    np.testing.assert_allclose(found.values, expected, atol=1e-5)


def test_texts_are_read_as_results_are_taken(segmenter: Segmenter) -> None:
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            yield " ".join(SENTENCES)

    results = segmenter.probabilities_many(endless())
    for _ in range(3):
        next(results)
    assert read < 500


def test_the_model_runs_while_a_list_of_short_texts_is_read(
    segmenter: Segmenter, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, logits = threading.Event(), segmenter.network.logits

    def watched(*windows: Any, **options: Any) -> Any:
        begun.set()
        return logits(*windows, **options)

    def texts() -> Iterator[str]:
        yield from ["A short text, one of many in a list."] * 1_000
        assert begun.wait(10)
        yield "The last one."

    monkeypatch.setattr(segmenter.network, "logits", watched)
    assert segmenter.segment_many(texts())[-1] == ["The last one."]


def test_blank_texts_do_not_pile_up(segmenter: Segmenter) -> None:
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            yield " "

    next(segmenter.probabilities_many(endless()))
    assert read < 100_000


def test_memory_is_bounded_by_the_text_and_its_probabilities(segmenter: Segmenter) -> None:
    text = " ".join(SENTENCES * 600)
    segmenter.probabilities(text[:1000])
    tracemalloc.start()
    found = segmenter.probabilities(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    result = found.ends.nbytes + found.values.nbytes
    assert peak < 2 * result + 1_000_000


def test_each_text_runs_once(
    model_path: Path, tokenizer_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Segmenter(model_path, tokenizer_path) as segmenter:
        run, rows = segmenter.network.logits, 0

        def counted(windows: Sequence[IntArray], *, spread: bool = False) -> list[FloatArray]:
            nonlocal rows
            rows += len(windows)
            return run(windows, spread=spread)

        monkeypatch.setattr(segmenter.network, "logits", counted)
        list(segmenter.probabilities_many([TEXT, TEXT]))
        segmenter.boundaries(TEXT)
        assert rows == 3


def test_a_closed_segmenter_says_so(model_path: Path, tokenizer_path: Path) -> None:
    segmenter = Segmenter(model_path, tokenizer_path)
    segmenter.close()
    segmenter.close()
    with pytest.raises(ValueError, match="segmenter is closed"):
        segmenter.segment(TEXT)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"window": 0}, "window must be from 1 to 510", id="no window"),
        pytest.param({"window": 511}, "window must be from 1 to 510", id="window too long"),
        pytest.param({"overlap": 510}, "overlap must be from 0 to 509", id="overlap too long"),
        pytest.param({"overlap": -1}, "overlap must be from 0 to 509", id="negative overlap"),
        pytest.param({"threads": 0}, "threads must be 1 or more", id="no threads"),
        pytest.param({"threshold": float("nan")}, "threshold must be from 0 to 1", id="NaN"),
        pytest.param({"threshold": 1.5}, "threshold must be from 0 to 1", id="above one"),
    ],
)
def test_options_out_of_range_are_refused(
    model_path: Path, tokenizer_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Segmenter(model_path, tokenizer_path, **options)


def test_a_tokenizer_of_another_model_is_refused_at_once(
    tmp_path: Path, tokenizer_path: Path
) -> None:
    model = write_table_model(tmp_path / "model.onnx", np.zeros((50, 1), np.float32))
    with pytest.raises(TruemarkError, match=r"model\.onnx: the model fails on .*tokenizer"):
        Segmenter(model, tokenizer_path)


def test_a_window_that_the_model_has_no_positions_for_is_an_error(
    tmp_path: Path, tokenizer_path: Path
) -> None:
    model = tmp_path / "model.onnx"
    write_transformer(
        model, layers=1, width=8, heads=2, vocabulary=250, positions=100, positions_name="unnamed"
    )
    text = " ".join(SENTENCES)
    with Segmenter(model, tokenizer_path) as segmenter:
        with pytest.raises(TruemarkError, match=r"fails on .* tokens .* window"):
            segmenter.segment(text)
        # A failure leaves the segmenter in order.
        assert segmenter.segment("The ferry left.")
    with Segmenter(model, tokenizer_path, window=90) as segmenter:
        assert "".join(segmenter.segment(text)) == text


def test_windows_are_as_long_as_the_file_has_positions_for(
    tmp_path: Path, tokenizer_path: Path
) -> None:
    model = tmp_path / "model.onnx"
    write_transformer(model, layers=1, width=8, heads=2, vocabulary=250, positions=100)
    text = " ".join(SENTENCES)
    with (
        Segmenter(model, tokenizer_path) as own,
        Segmenter(model, tokenizer_path, window=94, overlap=12) as given_window,
    ):
        assert (own.probabilities(text).values == given_window.probabilities(text).values).all()
    with pytest.raises(ValueError, match="window must be from 1 to 94 tokens, got 95"):
        Segmenter(model, tokenizer_path, window=95)


@pytest.mark.parametrize("logit", [np.nan, np.inf])
def test_logits_that_are_not_finite_are_an_error(
    tmp_path: Path, tokenizer_path: Path, logit: float
) -> None:
    table = np.full((250, 1), logit, np.float32)
    model = write_table_model(tmp_path / "model.onnx", table)
    with (
        Segmenter(model, tokenizer_path) as segmenter,
        pytest.raises(TruemarkError, match="not finite"),
    ):
        segmenter.segment(TEXT)


def test_a_real_sat_model_ends_plain_sentences() -> None:
    model, tokenizer = os.environ.get("SAT_MODEL_PATH"), os.environ.get("SAT_TOKENIZER_PATH")
    if not model or not tokenizer:
        pytest.skip("SAT_MODEL_PATH and SAT_TOKENIZER_PATH are not set")
    with Segmenter(model, tokenizer, 0.25) as segmenter:
        assert segmenter.segment("The ferry left at nine. Nobody knew why.") == [
            "The ferry left at nine. ",
            "Nobody knew why.",
        ]


@pytest.mark.parametrize("name", BUNDLED_MODELS)
def test_the_bundled_models_keep_any_text_whole(name: str) -> None:
    files = find_model(name)
    with Segmenter(files.model, files.tokenizer) as segmenter:

        @given(ANY_TEXT)
        @settings(derandomize=True, deadline=None, max_examples=100)
        def joined_is_the_text(text: str) -> None:
            assert "".join(segmenter.segment(text)) == text

        joined_is_the_text()


SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted), max_size=12)


@given(SPANS)
def test_work_is_the_time_in_which_anything_was_done(spans: list[list[int]]) -> None:
    seconds = covered_seconds((begun, ended) for begun, ended in spans)
    assert seconds == len({moment for begun, ended in spans for moment in range(begun, ended)})
