"""Store the arrays of a network: in a small file, or in parts in half precision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
BLOCK = 64  # number of weights that share a scale in a four-bit table
PART_BYTES = 15_000_000
SCALE = ".scale"


def eight_bits(
    values: NDArray[np.float32], axis: int, largest: int = 127
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round to integers from -largest to largest, with a scale for each slice along `axis`."""
    other = tuple(i for i in range(values.ndim) if i != axis)
    scale = np.abs(values).max(axis=other, keepdims=True) / largest
    scale = np.where(scale == 0, 1, scale).astype(np.float32)
    return np.clip(np.round(values / scale), -largest, largest).astype(np.int8), scale


def layer_count(arrays: Arrays) -> int:
    """Count the layers of the network with these weights."""
    return len({name.split(".")[1] for name in arrays if name.startswith("layers.")})


def small(arrays: Arrays) -> Arrays:
    """Return the arrays with matrices in eight bits and a scale for each row."""
    stored: Arrays = {}
    for name, values in arrays.items():
        if values.ndim == 2:
            stored[name], stored[name + SCALE] = eight_bits(values.astype(np.float32), axis=0)
        else:
            stored[name] = values
    return stored


def _restored(stored: Arrays) -> Arrays:
    return {
        name: values * stored[name + SCALE] if name + SCALE in stored else values
        for name, values in stored.items()
        if not name.endswith(SCALE)
    }


def write_small(arrays: Arrays, path: Path) -> None:
    """Write all arrays to one compressed file, matrices in eight bits."""
    stored: dict[str, Any] = small(arrays)
    np.savez_compressed(path, **stored)


def read_small(path: Path) -> Arrays:
    """Read a file of `write_small` as float32."""
    with np.load(path) as stored:
        return _restored(dict(stored))


def write_parts(
    arrays: Arrays, folder: Path, name: str, precision: type[np.floating[Any]] = np.float16
) -> None:
    """Write the arrays to files `NAME.0.npz`, `NAME.1.npz` … of at most 15 MB.

    A larger array has a file alone; arrays that are `small` already stay as they are.
    """
    parts: list[dict[str, Any]] = [{}]
    size = 0
    for key, values in arrays.items():
        stored = values if values.dtype == np.int8 else values.astype(precision)
        if size + stored.nbytes > PART_BYTES:
            parts.append({})
            size = 0
        parts[-1][key] = stored
        size += stored.nbytes
    for i, part in enumerate(parts):
        np.savez(folder / f"{name}.{i}.npz", **part)


def has_parts(folder: Path, name: str) -> bool:
    return (folder / f"{name}.0.npz").is_file()


def read_parts(folder: Path, name: str) -> Arrays:
    """Read the files of `write_parts` as float32."""
    paths = sorted(folder.glob(f"{name}.[0-9]*.npz"))
    if not paths:
        raise FileNotFoundError(f"{folder}: no {name}.0.npz; training.train writes it")
    stored = {key: values for path in paths for key, values in np.load(path).items()}
    return {key: values.astype(np.float32) for key, values in _restored(stored).items()}


def read_network(path: Path) -> Arrays:
    """Read the network in a file `NAME.small.npz`, or in the parts of FOLDER/NAME."""
    return read_small(path) if path.suffix == ".npz" else read_parts(path.parent, path.name)
