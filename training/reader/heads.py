"""Train the heads of a finished reader on what its rounded body says, which is quick without a GPU.

    python -m training.reader.heads CONVERSATIONS reader.onnx PIECES OUT --seconds 1200

The layers, the input and the marks stay as they are in the file; the new weights are written as
`reader` into OUT, for `training.reader.export`.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Callable
from pathlib import Path

import onnxruntime
import torch
from torch import Tensor

from cal_ai.extractors.reader import marks
from training.reader.conversations import is_dev, read_conversations
from training.reader.export import export_rounded, loaded
from training.reader.network import Batch, Body, Reader
from training.reader.shipped import read_shipped
from training.reader.train import Course, batches, dev_losses, train
from training.weights import Arrays, write_parts

_BODY = ("layers.", "pieces", "positions", "neighbours", "norm.", "channels.", "distances")


def rounded_body(arrays: Arrays) -> Callable[[Batch], Tensor]:
    """Return the function that describes the tokens of a batch as the shipped file does."""
    ids = torch.full((2, 12), 5, dtype=torch.long)
    channels = {name: ids if name == "ids" else torch.zeros_like(ids) for name in marks.CHANNELS}
    dynamic = {name: {0: "windows", 1: "length"} for name in marks.CHANNELS}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "body.onnx"
        export_rounded(Body(loaded(arrays)), channels, ["states"], dynamic, path)
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])

    def encode(batch: Batch) -> Tensor:
        given = {name: batch[name].numpy() for name in marks.CHANNELS}
        return torch.from_numpy(session.run(None, given)[0])

    return encode


def with_fixed_body(arrays: Arrays, dropout: float = 0.1) -> Reader:
    """Make a reader whose heads can learn, on the states of its rounded body."""
    finished = loaded(arrays)
    reader = Reader(finished.shape, dropout)
    reader.load_state_dict(finished.state_dict())
    for name, parameter in reader.named_parameters():
        parameter.requires_grad = not name.startswith(_BODY)
    reader.encode = rounded_body(arrays)  # type: ignore[method-assign]
    return reader


def main() -> None:
    """Train the heads and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("conversations", "model", "pieces", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--tokens", type=int, default=18_000, help="in a batch, about")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    talks = list(read_conversations(options.conversations.glob("*.jsonl")))
    reader = with_fixed_body(read_shipped(options.model))
    stream = batches(
        [talk for talk in talks if not is_dev(talk)],
        options.pieces,
        options.seed,
        options.tokens,
        workers=1,
    )
    course = Course(options.steps, [0.0], [0.0], options.rate, options.seconds)
    train([reader], stream, course)
    options.out.mkdir(parents=True, exist_ok=True)
    write_parts({k: v.numpy() for k, v in reader.state_dict().items()}, options.out, "reader")
    parts = dev_losses(reader, [talk for talk in talks if is_dev(talk)], options.pieces)
    print(" ".join(f"{part} {value:.3f}" for part, value in parts.items()))


if __name__ == "__main__":
    main()
