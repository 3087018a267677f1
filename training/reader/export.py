"""Write the trained reader as an ONNX file: weights in eight bits, those of pieces in four.

python -m training.reader.export OUT NAME PIECES reader.onnx
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import Tensor, nn

from cal_ai.extractors.reader import marks
from training.reader.network import ENCODER, INPUTS, OUTPUTS, Exported, Reader
from training.weights import Arrays, eight_bits, read_parts

_DYNAMIC = {
    **{name: {0: "windows", 1: "length"} for name in marks.CHANNELS},
    "event_at": {0: "events", 1: "windows"},
    "mention_at": {0: "mentions"},
    "mention_kind": {0: "mentions"},
    "node_mentions": {0: "nodes"},
    "pairs": {0: "pairs"},
}


class EightBits(nn.Module):  # type: ignore[misc, unused-ignore]
    """An embedding in eight bits, with a scale for each row."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        values, scale = eight_bits(table.detach().numpy().astype(np.float32), axis=0)
        self.register_buffer("values", torch.from_numpy(values))
        self.register_buffer("scale", torch.from_numpy(scale))

    def forward(self, ids: Tensor) -> Tensor:
        found: Tensor = self.values[ids].float() * self.scale[ids]
        return found


class FourBits(nn.Module):  # type: ignore[misc, unused-ignore]
    """An embedding in four bits, with a scale for each row; a byte has one value of each half."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        values, scale = eight_bits(table.detach().numpy().astype(np.float32), axis=0, largest=7)
        low, high = np.split(values.astype(np.int64) + 8, 2, axis=1)
        self.register_buffer("values", torch.from_numpy((low + 16 * high).astype(np.uint8)))
        self.register_buffer("scale", torch.from_numpy(scale))

    def forward(self, ids: Tensor) -> Tensor:
        packed = self.values[ids].float()
        high = (packed / 16).floor()
        rows: Tensor = (torch.cat([packed - 16 * high, high], -1) - 8) * self.scale[ids]
        return rows


def loaded(arrays: Arrays) -> Reader:
    """Make a reader with these weights."""
    reader = Reader(replace(ENCODER, vocabulary=len(arrays["pieces.weight"])))
    reader.load_state_dict({name: torch.from_numpy(values) for name, values in arrays.items()})
    reader.eval().requires_grad_(False)
    return reader


def export(reader: Reader, path: Path) -> None:
    """Write the file; its layers compute with integers."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    reader.pieces = FourBits(reader.pieces.weight)
    reader.positions = EightBits(reader.positions.weight)
    with tempfile.TemporaryDirectory() as folder:
        full = Path(folder) / "reader.onnx"
        torch.onnx.export(
            Exported(reader),
            tuple(_sample().values()),
            str(full),
            input_names=list(INPUTS),
            output_names=list(OUTPUTS),
            dynamic_axes=_DYNAMIC,
            opset_version=17,
            dynamo=False,
        )
        quantize_dynamic(
            full,
            path,
            weight_type=QuantType.QInt8,
            per_channel=True,
            op_types_to_quantize=["MatMul", "Gemm"],
        )
    model = onnx.load(path)
    del model.graph.value_info[:]  # shapes that the runtime works out itself
    onnx.save(model, path)


def _sample() -> dict[str, Tensor]:
    """Return the arrays of the smallest talk with more than one of everything."""
    ids = torch.full((2, 12), 5, dtype=torch.long)
    shapes = {
        "event_at": (3, 2),
        "mention_at": (4, 2),
        "mention_kind": (4,),
        "node_mentions": (3, marks.MENTIONS_OF_A_NODE),
        "pairs": (5, 5),
    }
    channels = {name: ids if name == "ids" else torch.zeros_like(ids) for name in marks.CHANNELS}
    others = {name: torch.ones(shape, dtype=torch.long) for name, shape in shapes.items()}
    return {**channels, **others}


def main() -> None:
    """Export one reader."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=Path)
    parser.add_argument("name")
    parser.add_argument("path", type=Path)
    options = parser.parse_args()
    export(loaded(read_parts(options.weights, options.name)), options.path)
    print(f"{options.path}: {options.path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
