"""The weights of a network from the ONNX file that was written of it, to go on from what ships."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from training.shapes import REACH, Shape
from training.weights import Arrays

PRODUCTS = ("attention", "attended", "feed_in", "feed_out")
NORMS = ("norm_attention", "norm_feed")


def read_onnx(path: Path, shape: Shape) -> Arrays:
    """What `training.export` wrote with pieces of eight bits, as float32, rounded as in the file.

    Operators come in the order in which they were written, so their constants can be told apart.
    """
    model = onnx.load(path)
    constants = {it.name: numpy_helper.to_array(it) for it in model.graph.initializer}
    found: Arrays = {"positions.weight": constants["positions.weight"].astype(np.float32)}

    def of(op: str) -> list[list[NDArray[Any]]]:
        """The constants that each operator of this kind takes."""
        nodes = (node for node in model.graph.node if node.op_type == op)
        taken = ([constants[name] for name in node.input if name in constants] for node in nodes)
        return [values for values in taken if values]

    (pieces,), (scale,) = of("Gather")
    found["pieces.weight"] = pieces * scale
    taps = of("Conv")[0][0][:, 0].T.copy()
    taps[REACH] -= 1
    found["neighbours"] = taps
    layers = [f"layers.{i}" for i in range(shape.layers)]
    norms = ["norm", *(f"{layer}.{part}" for layer in layers for part in NORMS)]
    for name, (weight, bias) in zip(norms, of("LayerNormalization"), strict=True):
        found |= {f"{name}.weight": weight, f"{name}.bias": bias}
    names = [f"{layer}.{part}" for layer in layers for part in PRODUCTS]
    steps = [values[0] for values in of("Mul") if values[0].size > 1]
    # The last bias is that of the boundary.
    biases = [values[0] for values in of("Add")]
    products = zip(names, of("MatMulInteger"), steps, biases[:-1], strict=True)
    for name, (whole,), step, bias in products:
        unscaled = np.ones(len(bias))
        if name.endswith(".attention"):
            unscaled = np.repeat([(shape.width // shape.heads) ** 0.5, 1, 1], shape.width)
        found[f"{name}.weight"] = (whole * step * unscaled).T.astype(np.float32)
        found[f"{name}.bias"] = (bias * unscaled).astype(np.float32)
    found["boundary.weight"] = of("MatMul")[-1][0].T
    found["boundary.bias"] = biases[-1]
    return {name: np.array(values, dtype=np.float32) for name, values in found.items()}
