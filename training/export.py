"""Write a trained network as an ONNX file in the form of SaT, with weights in eight and four bits.

python -m training.export WEIGHTS_DIR small src/sat_bench/bundled/small.onnx
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from training.shapes import NORM_EPSILON, REACH, SHAPES, Shape
from training.weights import BLOCK, Arrays, eight_bits, read_parts

OPSET = 20
# Products of seven-bit weights and eight-bit inputs fit the sixteen-bit sums of CPUs without a
# special instruction, so that the file computes the same everywhere.
SEVEN_BITS = 63
Arithmetic = Literal["float32", "int8"]


@dataclass(frozen=True, slots=True)
class Form:
    """How a network is written: bits per weight of the piece table, arithmetic of the layers."""

    piece_bits: Literal[4, 8, 32] = 8
    arithmetic: Arithmetic = "int8"


FLOAT32 = Form(32, "float32")
# Four bits if the table of pieces would be too large otherwise.
FORMS = {"base": Form(8), "small": Form(4), "nano": Form(4), "world": Form(4)}


class Graph:
    """The nodes and weights of an ONNX graph that is being built."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self.count = 0

    def add(self, op: str, *inputs: str, out: str | None = None, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        return self.add_many(op, *inputs, outs=1, name=out, **attributes)[0]

    def add_many(
        self, op: str, *inputs: str, outs: int, name: str | None = None, **attributes: Any
    ) -> list[str]:
        """Add a node and return the names of its outputs."""
        self.count += 1
        first = name or f"{op.lower()}_{self.count}"
        names = [first, *(f"{first}.{i}" for i in range(1, outs))]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return names

    def constant(self, values: NDArray[Any], name: str = "") -> str:
        self.count += 1
        name = name or f"constant_{self.count}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def number(self, value: float) -> str:
        return self.constant(np.array(value, np.float32))

    def whole(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))


def rows(graph: Graph, table: NDArray[np.float32], bits: int, ids: str) -> str:
    """Look up the rows of a table by id; only these are converted to float32."""
    if bits == 32:
        return graph.add("Gather", graph.constant(table), ids)
    if bits == 4:
        return _rows_of_four_bits(graph, table, ids)
    whole, scale = eight_bits(table, axis=0)
    looked_up = graph.add("Gather", graph.constant(whole), ids)
    factor = graph.add("Gather", graph.constant(scale), ids)
    return graph.add("Mul", graph.add("Cast", looked_up, to=TensorProto.FLOAT), factor)


def _rows_of_four_bits(graph: Graph, table: NDArray[np.float32], ids: str) -> str:
    """Look up rows with two weights in a byte, the first half of a row in the high bits.

    Each block of a row has a scale.
    """
    levels, scale = four_bit_levels(table)
    half = table.shape[1] // 2
    packed = (levels[:, :half] * 16 + levels[:, half:]).astype(np.uint8)
    looked_up = graph.add("Gather", graph.constant(packed), ids)
    number = graph.add("Cast", looked_up, to=TensorProto.FLOAT)
    high = graph.add("Floor", graph.add("Mul", number, graph.number(1 / 16)))
    low = graph.add("Sub", number, graph.add("Mul", high, graph.number(16)))
    level = graph.add("Concat", high, low, axis=2)
    centred = graph.add("Sub", level, graph.number(7.5))
    blocks = graph.add("Reshape", centred, graph.whole(0, 0, -1, BLOCK))
    factor = graph.add("Gather", graph.constant(scale.astype(np.float16)), ids)
    scaled = graph.add("Mul", blocks, graph.add("Cast", factor, to=TensorProto.FLOAT))
    return graph.add("Reshape", scaled, graph.whole(0, 0, table.shape[1]))


def four_bit_levels(values: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return levels 0 to 15 and a scale per block, so that (level - 7.5) x scale is close."""
    blocks = values.reshape(len(values), -1, BLOCK)
    largest = np.abs(blocks).max(-1, keepdims=True) / 7.5
    candidates = [np.float16(largest * clip).astype(np.float32) for clip in (1.0, 0.9, 0.8, 0.7)]
    levels = [np.clip(np.round(blocks / np.maximum(s, 1e-8) + 7.5), 0, 15) for s in candidates]
    errors = [
        (((level - 7.5) * scale - blocks) ** 2).sum(-1, keepdims=True)
        for level, scale in zip(levels, candidates, strict=True)
    ]
    best = np.argmin(errors, axis=0)
    chosen = np.choose(best, levels).reshape(values.shape)
    return chosen.astype(np.int64), np.choose(best, candidates).astype(np.float32)


def whole_product(graph: Graph, x: str, weight: NDArray[np.float32]) -> str:
    """Multiply `x` by the weights, both rounded to integers; `x` by its range at run time."""
    whole, steps = eight_bits(weight, axis=1, largest=SEVEN_BITS)
    rounded, step, zero = graph.add_many("DynamicQuantizeLinear", x, outs=3)
    product = graph.add("MatMulInteger", rounded, graph.constant(whole), zero)
    factor = graph.add("Mul", step, graph.constant(steps[0]))
    return graph.add("Mul", graph.add("Cast", product, to=TensorProto.FLOAT), factor)


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes a network into a graph."""

    graph: Graph
    arrays: Arrays
    shape: Shape
    arithmetic: Arithmetic

    def linear(self, name: str, x: str, scale: NDArray[Any] | float = 1.0) -> str:
        """Multiply `x` by the named weights, and scale the outputs."""
        graph, weight = self.graph, (self.arrays[f"{name}.weight"].T * scale).astype(np.float32)
        if self.arithmetic == "float32":
            out = graph.add("MatMul", x, graph.constant(weight))
        else:
            out = whole_product(graph, x, weight)
        if f"{name}.bias" not in self.arrays:
            return out
        bias = (self.arrays[f"{name}.bias"] * scale).astype(np.float32)
        return graph.add("Add", out, graph.constant(bias))

    def norm(self, name: str, x: str) -> str:
        scale, bias = (self.graph.constant(self.arrays[f"{name}.{k}"]) for k in ("weight", "bias"))
        return self.graph.add("LayerNormalization", x, scale, bias, axis=-1, epsilon=NORM_EPSILON)

    def embedded(self, bits: int, mask: str) -> str:
        """Add the nodes that compute the input of the first layer."""
        graph = self.graph
        x = rows(graph, self.arrays["pieces.weight"], bits, "input_ids")
        if self.shape.embedding != self.shape.width:
            wider = graph.constant(self.arrays["widen.weight"].T.astype(np.float16))
            x = graph.add("MatMul", x, graph.add("Cast", wider, to=TensorProto.FLOAT))
        x = self._with_neighbours(x, mask)
        length = graph.add("Shape", "input_ids", start=1, end=2)
        # The loader recognises the table of positions by its name.
        table = self.arrays["positions.weight"].astype(np.float16)
        positions = graph.constant(table, "positions.weight")
        used = graph.add("Slice", positions, graph.whole(0), length)
        x = graph.add("Add", x, graph.add("Cast", used, to=TensorProto.FLOAT))
        return self.norm("norm", x)

    def _with_neighbours(self, x: str, mask: str) -> str:
        """Add a weighted sum of its neighbours to each token, without padding."""
        graph = self.graph
        x = graph.add("Mul", x, graph.add("Unsqueeze", mask, graph.whole(2)))
        taps = self.arrays["neighbours"].copy()
        taps[REACH] += 1  # the token itself
        by_channel = graph.add("Transpose", x, perm=[0, 2, 1])
        mixed = graph.add(
            "Conv",
            by_channel,
            graph.constant(taps.T[:, None]),
            group=taps.shape[1],
            pads=[REACH, REACH],
        )
        return graph.add("Transpose", mixed, perm=[0, 2, 1])

    def layer(self, name: str, x: str, bias: str) -> str:
        graph, shape = self.graph, self.shape
        depth = shape.width // shape.heads
        # Scale the queries here, so that attention need not.
        scale = np.repeat([depth**-0.5, 1, 1], shape.width)
        mixed = self.linear(f"{name}.attention", x, scale)
        folded = graph.add("Reshape", mixed, graph.whole(0, 0, 3 * shape.heads, depth))
        heads = graph.add("Transpose", folded, perm=[0, 2, 1, 3])
        query, key, value = graph.add_many("Split", heads, outs=3, axis=1, num_outputs=3)
        scores = graph.add("MatMul", query, graph.add("Transpose", key, perm=[0, 1, 3, 2]))
        share = graph.add("Softmax", graph.add("Add", scores, bias), axis=-1)
        together = graph.add("Transpose", graph.add("MatMul", share, value), perm=[0, 2, 1, 3])
        flat = graph.add("Reshape", together, graph.whole(0, 0, shape.width))
        attended = self.linear(f"{name}.attended", flat)
        x = self.norm(f"{name}.norm_attention", graph.add("Add", x, attended))
        hidden = self.linear(f"{name}.feed_in", x)
        hidden = graph.add("Gelu" if shape.activation == "gelu" else "Relu", hidden)
        fed = self.linear(f"{name}.feed_out", hidden)
        return self.norm(f"{name}.norm_feed", graph.add("Add", x, fed))


def build(arrays: Arrays, shape: Shape, form: Form) -> onnx.ModelProto:
    """Build an ONNX model that takes ids and a float16 mask and returns a logit per token."""
    graph = Graph()
    writer = Writer(graph, arrays, shape, form.arithmetic)
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    x = writer.embedded(form.piece_bits, mask)
    # 0 where the mask is 1 and -10000 where it is 0, in the shape that attention adds.
    hidden = graph.add("Sub", graph.number(1), mask)
    bias = graph.add("Unsqueeze", graph.add("Mul", hidden, graph.number(-1e4)), graph.whole(1, 2))
    for i in range(shape.layers):
        x = writer.layer(f"layers.{i}", x, bias)
    logits = graph.add("MatMul", x, graph.constant(arrays["boundary.weight"].T))
    graph.add("Add", logits, graph.constant(arrays["boundary.bias"]), out="logits")
    return _model(graph)


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
    parser.add_argument("name", choices=[*sorted(FORMS), *(f"{name}-mean" for name in FORMS)])
    parser.add_argument("out", type=Path)
    parser.add_argument("--float32", action="store_true", help="keep the weights as they are")
    options = parser.parse_args()
    shape = options.name.removesuffix(
        "-mean"
    )  # the mean of a course has the shape of its last step
    form = FLOAT32 if options.float32 else FORMS[shape]
    arrays = read_parts(options.weights, options.name)
    model = build(arrays, SHAPES[shape], form)
    options.out.write_bytes(model.SerializeToString())
    print(f"{options.out}: {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
