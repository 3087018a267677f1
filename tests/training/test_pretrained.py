"""Pieces of ours find their WordPieces; weights survive their files; cards take new facts."""

from pathlib import Path

import numpy as np
import pytest
from training.cards import refreshed
from training.documents import KEPT, read_mix, write_thinned
from training.export import Graph, whole_product
from training.mean import mean
from training.pretrained import CAPITAL, CAPITALS, MARK, PLAIN, kind_of, read_wheel, word_pieces
from training.weights import eight_bits, read_parts, read_small, write_parts, write_small

from sat_bench.models.systems import find_model
from truemark.files import checksum

VOCABULARY = {
    piece: i for i, piece in enumerate(("[UNK]", "the", "##the", "##ing", "'", "t", "u", ".", "s"))
}


@pytest.mark.parametrize(
    ("text", "begins_word", "expected"),
    [
        ("The", True, ["the"]),
        ("the", False, ["##the"]),
        ("théing", True, ["the", "##ing"]),
        ("'t", False, ["'", "t"]),
        ("U.S", True, ["u", ".", "s"]),
        ("xyz", True, ["[UNK]"]),
    ],
)
def test_a_piece_is_spelt_as_wordpiece_spells_it(
    text: str, begins_word: bool, expected: list[str]
) -> None:
    found = word_pieces(text, VOCABULARY, begins_word=begins_word)
    assert found == [VOCABULARY[piece] for piece in expected]


@pytest.mark.parametrize(
    ("text", "kind"),
    [("the", PLAIN), ("7", PLAIN), ("The", CAPITAL), ("I", CAPITAL), ("US", CAPITALS), (",", MARK)],
)
def test_capitals_and_marks_are_told_apart(text: str, kind: int) -> None:
    assert kind_of(text) == kind


def test_another_wheel_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.whl"
    path.write_bytes(b"not the one")
    with pytest.raises(ValueError, match="sha256 must be b9a0018d"):
        read_wheel(path)


def test_weights_come_back_from_their_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    arrays = {
        "a.weight": rng.normal(size=(3, 50)).astype(np.float32),
        "a.bias": np.arange(3, dtype=np.float32),
    }
    write_parts(arrays, tmp_path, "n")
    write_small(arrays, tmp_path / "n.small.npz")
    for found, tolerance in (
        (read_parts(tmp_path, "n"), 2e-3),
        (read_small(tmp_path / "n.small.npz"), 0.02),
    ):
        assert found.keys() == arrays.keys()
        for name, values in arrays.items():
            assert found[name] == pytest.approx(values, abs=tolerance)
    with pytest.raises(FileNotFoundError, match=r"no other\.0\.npz"):
        read_parts(tmp_path, "other")


def test_seven_bits_never_go_beyond_their_largest() -> None:
    values = np.random.default_rng(2).normal(size=(40, 8)).astype(np.float32)
    whole, scale = eight_bits(values, axis=1, largest=63)
    assert np.abs(whole).max() == 63
    assert whole * scale == pytest.approx(values, abs=float(scale.max()) / 2)


def test_products_in_whole_numbers_are_nearly_those_of_the_weights() -> None:
    import onnxruntime
    from onnx import TensorProto, helper

    rng = np.random.default_rng(3)
    weight = rng.normal(size=(16, 8)).astype(np.float32)
    x = rng.normal(size=(1, 5, 16)).astype(np.float32)
    graph = Graph()
    graph.add("Identity", whole_product(graph, "x", weight), out="y")
    sides = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 5, size])
        for name, size in (("x", 16), ("y", 8))
    ]
    proto = helper.make_graph(graph.nodes, "g", sides[:1], sides[1:], graph.weights)
    model = helper.make_model(proto, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    (found,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    assert found == pytest.approx(x @ weight, abs=0.15)
    assert np.abs(found - x @ weight).max() > 0


def test_a_mean_takes_its_shares_of_both_networks() -> None:
    first = {"pieces.weight": np.zeros(2), "layers.0.feed_in.bias": np.zeros(3)}
    second = {name: values + 1 for name, values in first.items()}
    found = mean(first, second, share=0.7, pieces=0.3)
    assert found["pieces.weight"] == pytest.approx(np.full(2, 0.3))
    assert found["layers.0.feed_in.bias"] == pytest.approx(np.full(3, 0.7))
    with pytest.raises(ValueError, match="must be of one shape"):
        mean(first, {}, share=0.5, pieces=0.5)


def test_thinning_keeps_its_share_of_a_large_source_and_all_of_the_others(tmp_path: Path) -> None:
    import lzma

    large = next(iter(KEPT))
    lines = [f"### {name}|L|s\nOne.\nTwo {i}.\n" for i in range(20) for name in (large, "Small")]
    mix, out = tmp_path / "mix.txt.xz", tmp_path / "thin.txt.xz"
    with lzma.open(mix, "wt", encoding="utf-8") as file:
        file.writelines(lines)
    write_thinned(mix, out)
    sources = [document.source for document in read_mix(out)]
    assert sources.count("Small") == 20
    assert sources.count(large) == round(20 * KEPT[large])
    write_thinned(mix, out, share_by_rule=0.25)
    assert [document.source for document in read_mix(out)].count("Small") == 5


def test_a_card_takes_the_facts_of_its_files_and_new_figures() -> None:
    files = find_model("nano")
    card = files.model.with_suffix(".md").read_text(encoding="utf-8")
    stale = card.replace(checksum(files.model), "stale")
    figures = "| model | F1 |\n| --- | ---: |\n| nano | 0.5 |\n"
    found = refreshed(stale, files, figures)
    assert checksum(files.model) in found
    assert found.count("| model |") == 1
    assert figures + "\n" in found
    with pytest.raises(ValueError, match="must have a table of figures"):
        refreshed(card.replace("| model |", "| other |"), files, figures)
