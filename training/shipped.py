"""Read the weights of a shipped network from its ONNX file, to continue its training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from training.shapes import REACH, known_shape
from training.weights import BLOCK, Arrays

PRODUCTS = ("attention", "attended", "feed_in", "feed_out")
NORMS = ("norm_attention", "norm_feed")


def read_onnx(path: Path) -> Arrays:
    """Read a file of `training.export` whose pieces are as wide as its layers.

    Weights stay rounded. Operators are in the order in which they were written, which identifies
    their constants.
    """
    model = onnx.load(path)
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    arrays: Arrays = {"positions.weight": constants["positions.weight"].astype(np.float32)}

    def of(op: str) -> list[list[NDArray[Any]]]:
        """Return the constants that each operator of this kind takes."""
        nodes = (node for node in model.graph.node if node.op_type == op)
        taken = ([constants[name] for name in node.input if name in constants] for node in nodes)
        return [values for values in taken if values]

    (pieces,), (scale,) = of("Gather")
    arrays["pieces.weight"] = _table(pieces, scale)
    normed = of("LayerNormalization")
    shape = known_shape(len(pieces), (len(normed) - 1) // len(NORMS))
    taps = of("Conv")[0][0][:, 0].T.copy()
    taps[REACH] -= 1
    arrays["neighbours"] = taps
    layers = [f"layers.{i}" for i in range(shape.layers)]
    norms = ["norm", *(f"{layer}.{part}" for layer in layers for part in NORMS)]
    for name, (weight, bias) in zip(norms, normed, strict=True):
        arrays |= {f"{name}.weight": weight, f"{name}.bias": bias}
    names = [f"{layer}.{part}" for layer in layers for part in PRODUCTS]
    steps = [values[0] for values in of("Mul") if values[0].size > 1]
    # The last bias is that of the boundary.
    biases = [values[0] for values in of("Add")]
    products = zip(names, of("MatMulInteger"), steps, biases[:-1], strict=True)
    for name, (whole,), step, bias in products:
        unscaled = np.ones(len(bias))
        if name.endswith(".attention"):
            unscaled = np.repeat([(shape.width // shape.heads) ** 0.5, 1, 1], shape.width)
        arrays[f"{name}.weight"] = (whole * step * unscaled).T.astype(np.float32)
        arrays[f"{name}.bias"] = (bias * unscaled).astype(np.float32)
    arrays["boundary.weight"] = of("MatMul")[-1][0].T
    arrays["boundary.bias"] = biases[-1]
    return {name: np.array(values, dtype=np.float32) for name, values in arrays.items()}


def _table(pieces: NDArray[Any], scale: NDArray[Any]) -> NDArray[Any]:
    """Scale the rows of a table in eight bits, or the blocks of one in four bits."""
    if pieces.dtype == np.int8:
        rows: NDArray[Any] = pieces * scale
        return rows
    levels = np.concatenate([pieces // 16, pieces % 16], axis=1).astype(np.float32) - 7.5
    blocks: NDArray[Any] = levels.reshape(len(pieces), -1, BLOCK) * scale
    return blocks.reshape(len(pieces), -1)
