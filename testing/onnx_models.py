"""Small real files in the format of SaT: ONNX models of every signature, and a tokenizer.

As a script, `python onnx_models.py FOLDER` writes a tokenizer, a model that ends sentences at full
stops, question and exclamation marks, and one of the shape of SaT-3l with random weights.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
ID_SHIFT = 1  # XLM-RoBERTa's ids are SentencePiece's + 1
TERMINATORS = (".", "?", "!")
LOGIT = 6.0

MASK_TYPES = {
    "float16": TensorProto.FLOAT16,
    "float32": TensorProto.FLOAT,
    "int64": TensorProto.INT64,
}
LOGIT_TYPES = {"float16": TensorProto.FLOAT16, "float32": TensorProto.FLOAT}

SENTENCES = (
    "The ferry left at nine and the harbour went quiet.",
    "Nobody had told the baker about the second oven.",
    "Is the office still open, or did Dr. Lind lock it already?",
    "We counted 12 boxes, then 3.5 boxes, and then we gave up!",
    'She said, "Bring the map," and walked out into the rain.',
    "What a fine day for a long walk along the river!",
    "The committee meets on Tuesdays (never before ten).",
    "My neighbour keeps bees; the honey tastes of lime trees.",
    "Why would anyone paint a boat in such a dull colour?",
    "The train from the north was late again, as it always is.",
    "First we sort the letters by date, then by name.",
    "He waited - patiently - until the last lamp went out.",
    "A small engine can pull a heavy cart if the road is flat.",
    "Don't forget the keys, the lamp, and the old radio.",
    "It rained all night and the garden is full of snails.",
    "Are these your gloves, or did someone leave them here?",
)


@dataclass(frozen=True, slots=True)
class Signature:
    """The declarations of a model file; the defaults are those of the published files."""

    mask: str = "float16"
    logits: str = "float16"
    labels: int = 1
    mask_first: bool = False


PUBLISHED = Signature()


def write_tokenizer(path: Path, *, vocabulary: int = 200, symbols: Sequence[str] = ()) -> Path:
    """Write a unigram SentencePiece model with the normalisation of XLM-RoBERTa."""
    import sentencepiece

    buffer = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 4),
        model_writer=buffer,
        model_type="unigram",
        vocab_size=vocabulary,
        hard_vocab_limit=False,
        normalization_rule_name="nmt_nfkc",
        user_defined_symbols=list(symbols),
        num_threads=1,
        minloglevel=2,
    )
    path.write_bytes(buffer.getvalue())
    return path


def write_terminator_model(
    path: Path, tokenizer: Path, signature: Signature = PUBLISHED, *, logit: float = LOGIT
) -> Path:
    """Write a model with `logit` at pieces that end in `.`, `?` or `!` and `-logit` elsewhere."""
    import sentencepiece

    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer))
    table = np.full((pieces.get_piece_size() + ID_SHIFT, signature.labels), -logit, np.float32)
    # If a label other than the first were read, every boundary would be missed.
    for index in range(pieces.get_piece_size()):
        if pieces.id_to_piece(index).endswith(TERMINATORS):
            table[index + ID_SHIFT, 0] = logit
    return write_table_model(path, table, signature)


def write_table_model(
    path: Path, table: npt.NDArray[np.float32], signature: Signature = PUBLISHED
) -> Path:
    """Write a model that looks up the logits of each id in a table of [ids, labels]."""
    logit_type = LOGIT_TYPES[signature.logits]
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=logit_type),
        helper.make_node("Unsqueeze", ["mask", "last_axis"], ["mask_column"]),
        helper.make_node("Mul", ["rows", "mask_column"], ["logits"]),
    ]
    weights = {
        "table": table.astype(helper.tensor_dtype_to_np_dtype(logit_type)),
        "last_axis": np.array([-1]),
    }
    return _write(path, nodes, weights, signature)


def write_transformer(
    path: Path,
    *,
    layers: int = 3,
    width: int = 768,
    heads: int = 12,
    vocabulary: int = 8_000,
    positions: int = 514,
    positions_name: str = "roberta.embeddings.position_embeddings.weight",
    signature: Signature = PUBLISHED,
    seed: int = 0,
) -> Path:
    """Write an encoder with random weights and the architecture of XLM-RoBERTa.

    Weights have the type of the logits, so the default is a half-precision file of SaT-3l's shape.
    """
    graph = _Encoder(LOGIT_TYPES[signature.logits], width, heads, np.random.default_rng(seed))
    hidden = graph.embed(vocabulary, positions, positions_name)
    bias = graph.attention_bias()
    for layer in range(layers):
        hidden = graph.layer(f"layer{layer}", hidden, bias)
    graph.linear("classifier", hidden, width, signature.labels, output="logits")
    return _write(path, graph.nodes, graph.weights, signature)


class _Encoder:
    """The nodes and weights of an encoder that is being built."""

    def __init__(self, element_type: int, width: int, heads: int, rng: np.random.Generator) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, npt.NDArray[np.generic]] = {}
        self._type = element_type
        self._dtype = helper.tensor_dtype_to_np_dtype(element_type)
        self._width, self._heads, self._rng = width, heads, rng

    def embed(self, vocabulary: int, positions: int, positions_name: str) -> str:
        words = self._random("words", vocabulary, self._width)
        places = self._random(positions_name, positions, self._width)
        word = self._node("Gather", [words, "input_ids"], "word")
        # As in XLM-RoBERTa, padding has position 1 and the first token 2.
        kept = self._node("Cast", ["attention_mask"], "kept", to=TensorProto.INT64)
        count = self._node("CumSum", [kept, self._weight("axis1", np.array(1))], "count")
        kept_count = self._node("Mul", [count, kept], "kept_count")
        place_id = self._node("Add", [kept_count, self._weight("one", np.array(1))], "place_id")
        place = self._node("Gather", [places, place_id], "place")
        return self._norm("embedding", self._node("Add", [word, place], "embedding"))

    def attention_bias(self) -> str:
        mask = self._node("Cast", ["attention_mask"], "mask", to=self._type)
        wide = self._node("Unsqueeze", [mask, self._weight("axes12", np.array([1, 2]))], "wide")
        absent = self._node("Sub", [self._scalar("unit", 1.0), wide], "absent")
        return self._node("Mul", [absent, self._scalar("lowest", -60_000.0)], "bias")

    def layer(self, name: str, hidden: str, bias: str) -> str:
        attended = self._attention(name, hidden, bias)
        hidden = self._norm(f"{name}.a", self._node("Add", [hidden, attended], f"{name}.a.sum"))
        inner = self.linear(f"{name}.up", hidden, self._width, 4 * self._width)
        inner = self.linear(f"{name}.down", self._gelu(name, inner), 4 * self._width, self._width)
        return self._norm(f"{name}.b", self._node("Add", [hidden, inner], f"{name}.b.sum"))

    def linear(self, name: str, source: str, rows: int, columns: int, output: str = "") -> str:
        product = self._node(
            "MatMul", [source, self._random(f"{name}.weight", rows, columns)], f"{name}.product"
        )
        bias = self._random(f"{name}.bias", columns)
        return self._node("Add", [product, bias], output or f"{name}.out")

    def _attention(self, name: str, hidden: str, bias: str) -> str:
        size = self._width // self._heads
        split = self._weight("split", np.array([0, 0, self._heads, size]))
        join = self._weight("join", np.array([0, 0, self._width]))
        parts = {}
        for part, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
            full = self.linear(f"{name}.{part}", hidden, self._width, self._width)
            shaped = self._node("Reshape", [full, split], f"{name}.{part}.heads")
            parts[part] = self._node("Transpose", [shaped], f"{name}.{part}.t", perm=order)
        scores = self._node("MatMul", [parts["q"], parts["k"]], f"{name}.scores")
        root = self._scalar("root", float(np.sqrt(size)))
        scaled = self._node("Div", [scores, root], f"{name}.scaled")
        masked = self._node("Add", [scaled, bias], f"{name}.masked")
        shares = self._node("Softmax", [masked], f"{name}.shares", axis=-1)
        mixed = self._node("MatMul", [shares, parts["v"]], f"{name}.mixed")
        turned = self._node("Transpose", [mixed], f"{name}.turned", perm=[0, 2, 1, 3])
        joined = self._node("Reshape", [turned, join], f"{name}.joined")
        return self.linear(f"{name}.o", joined, self._width, self._width)

    def _gelu(self, name: str, source: str) -> str:
        scaled = self._node("Div", [source, self._scalar("sqrt2", 2**0.5)], f"{name}.erf.in")
        erf = self._node("Erf", [scaled], f"{name}.erf")
        raised = self._node("Add", [erf, self._scalar("unit", 1.0)], f"{name}.erf.raised")
        product = self._node("Mul", [source, raised], f"{name}.gelu2")
        return self._node("Mul", [product, self._scalar("half", 0.5)], f"{name}.gelu")

    def _norm(self, name: str, source: str) -> str:
        scale = self._weight(f"{name}.scale", np.ones(self._width, self._dtype))
        shift = self._weight(f"{name}.shift", np.zeros(self._width, self._dtype))
        return self._node("LayerNormalization", [source, scale, shift], f"{name}.norm", axis=-1)

    def _node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def _random(self, name: str, *shape: int) -> str:
        values = self._rng.standard_normal(shape, np.float32) * np.float32(0.05)
        return self._weight(name, values.astype(self._dtype))

    def _scalar(self, name: str, value: float) -> str:
        return self._weight(name, np.array(value, self._dtype))

    def _weight(self, name: str, value: npt.NDArray[np.generic]) -> str:
        self.weights[name] = value
        return name


def _write(
    path: Path,
    nodes: Sequence[onnx.NodeProto],
    weights: dict[str, npt.NDArray[np.generic]],
    signature: Signature,
) -> Path:
    sides = ["batch", "sequence"]
    inputs = [
        helper.make_tensor_value_info("input_ids", TensorProto.INT64, sides),
        helper.make_tensor_value_info("attention_mask", MASK_TYPES[signature.mask], sides),
    ]
    logits = helper.make_tensor_value_info(
        "logits", LOGIT_TYPES[signature.logits], [*sides, signature.labels]
    )
    graph = helper.make_graph(
        nodes,
        "sat",
        inputs[::-1] if signature.mask_first else inputs,
        [logits],
        initializer=[numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    return write_graph(path, graph)


def write_graph(path: Path, graph: onnx.GraphProto) -> Path:
    """Write the graph as a model file, with an operator set of every supported onnxruntime."""
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = write_tokenizer(folder / "sentencepiece.bpe.model")
    write_terminator_model(folder / "model.onnx", tokenizer)
    write_transformer(folder / "sat-3l-shaped.onnx")


if __name__ == "__main__":
    main()
