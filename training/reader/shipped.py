"""Read the weights of the shipped reader from its ONNX file, to continue its training.

python -m training.reader.shipped reader.onnx OUT
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from training.weights import Arrays, write_parts

_OWN = "reader."
_QUANTIZED, _SCALE = "_quantized", "_scale"
_SCALES = ("_scale", ".scale")


def read_shipped(path: Path) -> Arrays:
    """Read the file of `training.reader.export`, with the names of the network.

    Weights are rounded as in the file. Those that lost their names are identified by the operators
    that take them, which are in order.
    """
    graph = onnx.load(path).graph
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    arrays: Arrays = {}
    for name, values in constants.items():
        if name.startswith(_OWN) and values.dtype == np.float32 and not name.endswith(_SCALES):
            arrays[name.removeprefix(_OWN)] = values
        elif name.startswith(_OWN) and name.endswith(_QUANTIZED):
            plain = name.removesuffix(_QUANTIZED)
            weights = values * constants[plain + _SCALE]
            # Tables are multiplied as they are, the weights of layers are transposed.
            is_table = any(part in plain for part in ("channels.", "mention_kind", "apart"))
            arrays[plain.removeprefix(_OWN)] = weights if is_table else weights.T
    unnamed: dict[str, list[str]] = {}
    for node in graph.node:
        for name in node.input:
            if name not in constants or not name.startswith("onnx::") or name.endswith(_SCALE):
                continue
            if name.endswith(_QUANTIZED):
                scale = constants[name.removesuffix(_QUANTIZED) + _SCALE]
                arrays[f"{_layer_of(node.name)}.weight"] = (constants[name] * scale).T
            elif constants[name].size > 1:
                unnamed.setdefault(node.op_type, []).append(name)
    for name, operator in (("neighbours", "Mul"), ("sort.weight", "Add"), ("nothing", "Expand")):
        arrays[name] = np.stack(
            [constants[constant].ravel() for constant in sorted(unnamed[operator])]
        )
    low, high = constants["reader.pieces.values"] % 16, constants["reader.pieces.values"] // 16
    nibbles = np.concatenate([low, high], 1).astype(np.float32) - 8
    arrays["pieces.weight"] = nibbles * constants["reader.pieces.scale"]
    arrays["positions.weight"] = (
        constants["reader.positions.values"] * constants["reader.positions.scale"]
    )
    return {name: np.asarray(values, np.float32) for name, values in arrays.items()}


def _layer_of(node: str) -> str:
    """Return `layers.0.attention` of /reader/layers.0/attention/…, `pair.0` of …/pair/pair.0/…."""
    *path, _ = node.removeprefix("/reader/").split("/")
    return path[-1] if path[-1].startswith(f"{path[0]}.") else ".".join(path)


def main() -> None:
    """Write the weights as `shipped` into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    write_parts(read_shipped(options.model), options.out, "shipped")


if __name__ == "__main__":
    main()
