"""Initialise smaller networks from a larger one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.shapes import Shape
from training.weights import Arrays, layer_count

PER_LAYER = ("attention", "attended", "norm_attention", "feed_out", "norm_feed")


def beginning(arrays: Arrays, shape: Shape) -> Arrays:
    """Make the first weights of a network of this shape from those of a finished larger one.

    The pieces keep the directions in which they differ most. A network of the same width also
    gets layers, including the first and the last, with their most active feed-forward units.
    """
    pieces, directions = _main_directions(arrays["pieces.weight"], shape.embedding)
    first: Arrays = {"pieces.weight": pieces}
    if shape.width != arrays["pieces.weight"].shape[1]:
        return first
    if shape.embedding != shape.width:
        first["widen.weight"] = directions
    for name in ("positions.weight", "neighbours", "boundary.weight", "boundary.bias"):
        first[name] = arrays[name]
    for x in ("weight", "bias"):
        first[f"norm.{x}"] = arrays[f"norm.{x}"]
    for i, source in enumerate(_chosen_layers(arrays, shape.layers)):
        first |= _layer(arrays, f"layers.{source}", f"layers.{i}", shape.feed_forward)
    return first


def _main_directions(
    table: NDArray[np.float32], size: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Project the table on its `size` main directions; return it, and these as columns."""
    if size == table.shape[1]:
        return table, np.eye(size, dtype=np.float32)
    _, _, directions = np.linalg.svd(table, full_matrices=False)
    kept = directions[:size].T.astype(np.float32)
    return table @ kept, kept


def _chosen_layers(arrays: Arrays, count: int) -> list[int]:
    return [round(i) for i in np.linspace(0, layer_count(arrays) - 1, count)]


def _layer(arrays: Arrays, source: str, name: str, units: int) -> Arrays:
    found: dict[str, NDArray[Any]] = {
        f"{name}.{part}.{x}": arrays[f"{source}.{part}.{x}"]
        for part in PER_LAYER
        for x in ("weight", "bias")
    }
    into, out = arrays[f"{source}.feed_in.weight"], arrays[f"{source}.feed_out.weight"]
    strength = np.linalg.norm(into, axis=1) * np.linalg.norm(out, axis=0)
    kept = np.sort(np.argsort(-strength)[:units])
    found[f"{name}.feed_in.weight"] = into[kept]
    found[f"{name}.feed_in.bias"] = arrays[f"{source}.feed_in.bias"][kept]
    found[f"{name}.feed_out.weight"] = out[:, kept]
    return found
