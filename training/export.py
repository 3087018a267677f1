"""Write trained networks as an ONNX file in the SaT form, with weights of eight and four bits.

python -m training.export WEIGHTS_DIR small src/sat_bench/bundled/small.onnx
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from training.network import REACH, SHAPES, Shape

OPSET = 20
BLOCK = 64
# What ships under a name: networks whose logits are averaged, each with its share.
MEMBERS = {"small": (("small", 0.6), ("nano", 0.4)), "nano": (("nano", 1.0),)}
# Beside others there is no room for eight bits per weight in the largest table of pieces.
FOUR_BIT_PIECES = 1_500_000


class Graph:
    """Nodes and weights of an ONNX graph in the making."""

    def __init__(self, *, quantize: bool) -> None:
        self.quantize = quantize
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self.count = 0

    def add(self, op: str, *inputs: str, out: str | None = None, **attributes: Any) -> str:
        """The name of the output of a new node."""
        self.count += 1
        name = out or f"{op.lower()}_{self.count}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def constant(self, values: NDArray[Any]) -> str:
        self.count += 1
        name = f"constant_{self.count}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def matrix(self, values: NDArray[np.float32], axis: int) -> str:
        """A weight stored as int8 with one scale for each slice along `axis`.

        Cast and Mul of constants are folded when the file is loaded, so it runs at float32 speed.
        """
        if not self.quantize:
            return self.constant(values)
        other = tuple(i for i in range(values.ndim) if i != axis)
        scale = np.abs(values).max(axis=other, keepdims=True) / 127
        scale = np.where(scale == 0, 1, scale).astype(np.float32)
        whole = np.clip(np.round(values / scale), -127, 127).astype(np.int8)
        cast = self.add("Cast", self.constant(whole), to=TensorProto.FLOAT)
        return self.add("Mul", cast, self.constant(scale))

    def pieces(self, values: NDArray[np.float32], *, crowded: bool) -> str:
        """A table of pieces, in four bits if it is large and shares its file."""
        if self.quantize and crowded and values.size > FOUR_BIT_PIECES:
            return self._four_bits(values)
        return self.matrix(values, axis=0)

    def _four_bits(self, values: NDArray[np.float32]) -> str:
        """Two weights in a byte, the first half of each row above the second; a scale per block."""
        levels, scale = four_bit_levels(values)
        half = values.shape[1] // 2
        packed = (levels[:, :half] * 16 + levels[:, half:]).astype(np.uint8)
        number = self.add("Cast", self.constant(packed), to=TensorProto.FLOAT)
        sixteen = self.constant(np.array(16, np.float32))
        high = self.add("Floor", self.add("Div", number, sixteen))
        low = self.add("Sub", number, self.add("Mul", high, sixteen))
        level = self.add("Concat", high, low, axis=1)
        centred = self.add("Sub", level, self.constant(np.array(7.5, np.float32)))
        blocks = self.constant(np.array([0, -1, BLOCK], np.int64))
        factor = self.add("Cast", self.constant(scale.astype(np.float16)), to=TensorProto.FLOAT)
        scaled = self.add("Mul", self.add("Reshape", centred, blocks), factor)
        return self.add("Reshape", scaled, self.constant(np.array(values.shape, np.int64)))


def four_bit_levels(values: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Levels 0 to 15 and a scale per block of a row, so that (level - 7.5) x scale is close."""
    blocks = values.reshape(len(values), -1, BLOCK)
    largest = np.abs(blocks).max(-1, keepdims=True) / 7.5
    candidates = [np.float16(largest * clip).astype(np.float32) for clip in (1.0, 0.9, 0.8, 0.7)]
    levels = [np.clip(np.round(blocks / scale + 7.5), 0, 15) for scale in candidates]
    errors = [
        (((level - 7.5) * scale - blocks) ** 2).sum(-1, keepdims=True)
        for level, scale in zip(levels, candidates, strict=True)
    ]
    best = np.argmin(errors, axis=0)
    chosen = np.choose(best, levels).reshape(values.shape)
    return chosen.astype(np.int64), np.choose(best, candidates).astype(np.float32)


class Weights:
    """The arrays of a trained network by their name."""

    def __init__(self, arrays: dict[str, NDArray[np.float32]]) -> None:
        self.arrays = arrays

    def linear(self, graph: Graph, name: str, x: str, *, bias: bool = True) -> str:
        out = graph.add("MatMul", x, graph.matrix(self.arrays[f"{name}.weight"].T, axis=1))
        return graph.add("Add", out, graph.constant(self.arrays[f"{name}.bias"])) if bias else out

    def norm(self, graph: Graph, name: str, x: str) -> str:
        scale, bias = (graph.constant(self.arrays[f"{name}.{k}"]) for k in ("weight", "bias"))
        return graph.add("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-5)


@dataclass(frozen=True, slots=True)
class Member:
    """A network of an exported file, and its share in the mean."""

    weights: Weights
    shape: Shape
    share: float = 1.0


def read_member(folder: Path, name: str, share: float = 1.0) -> Member:
    """The network that `training.train` wrote under the name."""
    paths = sorted(folder.glob(f"{name}.*.npz"))
    arrays = {key: array for path in paths for key, array in np.load(path).items()}
    return Member(Weights(arrays), SHAPES[name], share)


def build(members: Sequence[Member], *, quantize: bool) -> onnx.ModelProto:
    """An ONNX model: ids and float16 mask in, the networks' mean logit of each token out."""
    graph = Graph(quantize=quantize)
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    parts = []
    for number, member in enumerate(members):
        logits = _network(graph, member, mask, f"network{number}", crowded=len(members) > 1)
        parts.append(graph.add("Mul", logits, graph.constant(np.array(member.share, np.float32))))
    graph.add("Sum", *parts, out="logits")
    return _model(graph)


def _network(graph: Graph, member: Member, mask: str, name: str, *, crowded: bool) -> str:
    """The logits of one network."""
    weights, shape = member.weights, member.shape
    table = graph.pieces(weights.arrays["pieces.weight"][: shape.vocabulary], crowded=crowded)
    x = graph.add("Gather", table, "input_ids")
    if shape.embedding != shape.width:
        x = weights.linear(graph, "widen", x, bias=False)
    x = _with_neighbours(graph, weights.arrays["neighbours"], x, mask)
    length = graph.add("Shape", "input_ids", start=1, end=2)
    zero = graph.constant(np.array([0], np.int64))
    positions = graph.matrix(weights.arrays["positions.weight"], axis=0)
    x = graph.add("Add", x, graph.add("Slice", positions, zero, length))
    bias = _mask_bias(graph, mask)
    for i in range(shape.layers):
        x = _layer(graph, member, f"layers.{i}", x, bias, name)
    x = weights.norm(graph, "norm", x)
    logits = graph.add("MatMul", x, graph.constant(weights.arrays["boundary.weight"].T))
    return graph.add("Add", logits, graph.constant(weights.arrays["boundary.bias"]))


def _with_neighbours(graph: Graph, taps: NDArray[np.float32], x: str, mask: str) -> str:
    """Each token with a weighted sum of those around it, padding left out."""
    present = graph.add("Unsqueeze", mask, graph.constant(np.array([2], np.int64)))
    by_channel = graph.add("Transpose", graph.add("Mul", x, present), perm=[0, 2, 1])
    taps = taps.copy()
    taps[REACH] += 1  # the token itself
    mixed = graph.add(
        "Conv",
        by_channel,
        graph.constant(taps.T[:, None]),
        group=taps.shape[1],
        pads=[REACH, REACH],
    )
    return graph.add("Transpose", mixed, perm=[0, 2, 1])


def _mask_bias(graph: Graph, mask: str) -> str:
    """0 where the mask is 1 and -10000 where it is 0, in the form attention adds."""
    hidden = graph.add("Sub", graph.constant(np.array(1, np.float32)), mask)
    scaled = graph.add("Mul", hidden, graph.constant(np.array(-1e4, np.float32)))
    return graph.add("Unsqueeze", scaled, graph.constant(np.array([1, 2], np.int64)))


def _layer(graph: Graph, member: Member, name: str, x: str, bias: str, network: str) -> str:
    weights, shape = member.weights, member.shape
    depth = shape.width // shape.heads
    mixed = weights.linear(
        graph, f"{name}.attention", weights.norm(graph, f"{name}.norm_attention", x)
    )
    folded = graph.add(
        "Reshape", mixed, graph.constant(np.array([0, 0, 3 * shape.heads, depth], np.int64))
    )
    heads = graph.add("Transpose", folded, perm=[0, 2, 1, 3])
    parts = [f"{network}.{name}.{part}" for part in ("query", "key", "value")]
    graph.nodes.append(helper.make_node("Split", [heads], parts, axis=1, num_outputs=3))
    turned = graph.add("Transpose", parts[1], perm=[0, 1, 3, 2])
    scores = graph.add("MatMul", parts[0], turned)
    scores = graph.add("Mul", scores, graph.constant(np.array(depth**-0.5, np.float32)))
    share = graph.add("Softmax", graph.add("Add", scores, bias), axis=-1)
    together = graph.add("Transpose", graph.add("MatMul", share, parts[2]), perm=[0, 2, 1, 3])
    flat = graph.add("Reshape", together, graph.constant(np.array([0, 0, shape.width], np.int64)))
    x = graph.add("Add", x, weights.linear(graph, f"{name}.attended", flat))
    hidden = weights.linear(graph, f"{name}.feed_in", weights.norm(graph, f"{name}.norm_feed", x))
    hidden = graph.add("Gelu" if shape.activation == "gelu" else "Relu", hidden)
    return graph.add("Add", x, weights.linear(graph, f"{name}.feed_out", hidden))


def _model(graph: Graph) -> onnx.ModelProto:
    size = ["batch", "sequence"]
    inputs = [
        helper.make_tensor_value_info("input_ids", TensorProto.INT64, size),
        helper.make_tensor_value_info("attention_mask", TensorProto.FLOAT16, size),
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [*size, 1])
    proto = helper.make_graph(graph.nodes, "truemark", inputs, [output], graph.weights)
    model = helper.make_model(
        proto,
        opset_imports=[helper.make_opsetid("", OPSET)],
        producer_name="truemark",
        ir_version=10,
    )
    onnx.checker.check_model(model)
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=Path)
    parser.add_argument("name", choices=sorted(MEMBERS))
    parser.add_argument("out", type=Path)
    parser.add_argument("--float32", action="store_true", help="keep the weights as they are")
    options = parser.parse_args()
    members = [read_member(options.weights, name, share) for name, share in MEMBERS[options.name]]
    model = build(members, quantize=not options.float32)
    options.out.write_bytes(model.SerializeToString())
    print(f"{options.out}: {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
