"""Let the layers of a finished ONNX file multiply in whole numbers.

python -m training.whole_numbers OLD.onnx NEW.onnx

For files whose weights are stored in eight bits and unfolded to float32 when they are loaded, as
`nano` was written: where a product takes such weights, they are rounded to seven bits and used as
they are.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from training.export import Graph, whole_product


def in_whole_numbers(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with every product of unfolded weights replaced; the others stay."""
    made_by = {node.output[0]: node for node in model.graph.node}
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    graph = Graph(prefix="whole_")
    for node in model.graph.node:
        weights = _unfolded(node.input[1], made_by, constants) if node.op_type == "MatMul" else None
        if weights is None:
            graph.nodes.append(node)
        else:
            whole_product(graph, node.input[0], weights, out=node.output[0])
    outputs = {output.name for output in model.graph.output}
    kept = _needed(graph.nodes, outputs)
    found = onnx.ModelProto()
    found.CopyFrom(model)
    del found.graph.node[:], found.graph.initializer[:]
    found.graph.node.extend(kept)
    used = {name for node in kept for name in node.input}
    tensors = [*model.graph.initializer, *graph.weights]
    found.graph.initializer.extend(tensor for tensor in tensors if tensor.name in used)
    onnx.checker.check_model(found)
    return found


def _unfolded(
    name: str, made_by: dict[str, onnx.NodeProto], constants: dict[str, onnx.TensorProto]
) -> NDArray[np.float32] | None:
    """The float32 weights that a Mul of a Cast of whole numbers makes, if it is one."""
    scaled = made_by.get(name)
    if scaled is None or scaled.op_type != "Mul" or scaled.input[1] not in constants:
        return None
    cast = made_by.get(scaled.input[0])
    if cast is None or cast.op_type != "Cast" or cast.input[0] not in constants:
        return None
    whole, scale = (
        numpy_helper.to_array(constants[tensor]) for tensor in (cast.input[0], scaled.input[1])
    )
    return np.asarray(whole * scale, dtype=np.float32)


def _needed(nodes: list[onnx.NodeProto], wanted: set[str]) -> list[onnx.NodeProto]:
    """The nodes that the wanted outputs are computed from, in order."""
    wanted, kept = set(wanted), []
    for node in reversed(nodes):
        if wanted.intersection(node.output):
            kept.append(node)
            wanted.update(node.input)
    return kept[::-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    options = parser.parse_args()
    options.new.write_bytes(in_whole_numbers(onnx.load(options.old)).SerializeToString())
    print(f"{options.new}: {options.new.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
