from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import pytest
from testing.onnx_models import (
    PUBLISHED,
    SENTENCES,
    Signature,
    write_terminator_model,
    write_transformer,
)

from sat_bench.models.network import Network
from sat_bench.models.quantising import quantized
from sat_bench.models.segmenter import Segmenter
from truemark.errors import TruemarkError

PRECISIONS = [
    pytest.param(PUBLISHED, id="float16"),
    pytest.param(Signature(mask="int64", logits="float32", labels=3), id="float32"),
]


def write_encoder(path: Path, signature: Signature = PUBLISHED, seed: int = 0) -> Path:
    return write_transformer(
        path, layers=2, width=64, heads=4, vocabulary=250, signature=signature, seed=seed
    )


@pytest.mark.parametrize("signature", PRECISIONS)
def test_an_int8_copy_answers_nearly_as_its_model(tmp_path: Path, signature: Signature) -> None:
    model = write_encoder(tmp_path / "model.onnx", signature)
    copy = quantized(model, tmp_path / "cache")
    ids = np.random.default_rng(3).integers(4, 250, 100).astype(np.int32)
    exact, near = Network(model).logits([ids])[0], Network(copy).logits([ids])[0]
    assert np.abs(exact - near).max() < 0.25 * exact.std()
    assert np.abs(exact - near).max() > 0
    assert copy.stat().st_size < model.stat().st_size


def test_an_int8_copy_segments(tmp_path: Path, tokenizer_path: Path) -> None:
    model = write_terminator_model(tmp_path / "model.onnx", tokenizer_path)
    copy = quantized(model, tmp_path / "cache")
    text = " ".join(SENTENCES)
    with Segmenter(model, tokenizer_path) as exact, Segmenter(copy, tokenizer_path) as near:
        assert near.boundaries(text) == exact.boundaries(text)


def test_a_copy_is_made_once(tmp_path: Path) -> None:
    model = write_encoder(tmp_path / "model.onnx")
    cache = tmp_path / "cache"
    first = quantized(model, cache)
    made = first.stat().st_mtime_ns
    elsewhere = tmp_path / "same.onnx"
    elsewhere.write_bytes(model.read_bytes())
    assert quantized(elsewhere, cache) == first
    assert first.stat().st_mtime_ns == made
    assert list(cache.iterdir()) == [first]


def test_another_model_has_another_copy(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    one = quantized(write_encoder(tmp_path / "model.onnx", seed=1), cache)
    two = quantized(write_encoder(tmp_path / "model.onnx", seed=2), cache)
    assert one != two
    assert sorted(cache.iterdir()) == sorted([one, two])


def test_runs_at_the_same_time_share_one_whole_copy(tmp_path: Path) -> None:
    model = write_encoder(tmp_path / "model.onnx")
    cache = tmp_path / "cache"
    with ThreadPoolExecutor(4) as pool:
        copies = set(pool.map(lambda _: quantized(model, cache), range(4)))
    assert list(cache.iterdir()) == list(copies)
    Network(copies.pop())


def test_a_model_that_is_int8_stands_for_itself(tmp_path: Path) -> None:
    copy = quantized(write_encoder(tmp_path / "model.onnx"), tmp_path / "cache")
    assert quantized(copy, tmp_path / "other") == copy
    assert not (tmp_path / "other").exists()


def test_the_copy_lies_in_the_cache_folder_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    copy = quantized(write_encoder(tmp_path / "model.onnx"))
    assert copy.is_relative_to(tmp_path / "xdg" / "truemark")


def test_quantising_prints_nothing(tmp_path: Path) -> None:
    write_encoder(tmp_path / "model.onnx")
    code = "import sys; from sat_bench.models.quantising import quantized\n"
    code += "from pathlib import Path; quantized('model.onnx', Path('cache'))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_a_missing_onnx_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = write_encoder(tmp_path / "model.onnx")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(TruemarkError, match=r"pip install '.+\[quantize\]'"):
        quantized(model, tmp_path / "cache")


def test_weights_in_another_file_are_refused(tmp_path: Path) -> None:
    model = onnx.load(write_encoder(tmp_path / "whole.onnx"))
    path = tmp_path / "model.onnx"
    onnx.save_model(model, path, save_as_external_data=True, location="weights.bin")
    with pytest.raises(TruemarkError, match=r"model\.onnx: keeps its weights in another file"):
        quantized(path, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("content", [b"", b"not a model"], ids=["empty", "text"])
def test_a_file_that_is_no_model_leaves_nothing_behind(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(content)
    with pytest.raises(TruemarkError, match=r"broken\.onnx: not an ONNX model"):
        quantized(path, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(TruemarkError, match=r"none\.onnx: no such file"):
        quantized(tmp_path / "none.onnx", tmp_path / "cache")
    with pytest.raises(TruemarkError, match="is a folder"):
        quantized(tmp_path, tmp_path / "cache")
