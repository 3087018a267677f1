"""The sizes of networks; imports no library to run them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

REACH = 3
NORM_EPSILON = 1e-12
Activation = Literal["gelu", "relu"]


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a network; an `embedding` smaller than `width` adds a projection."""

    width: int
    layers: int
    heads: int
    feed_forward: int
    embedding: int
    activation: Activation = "gelu"
    vocabulary: int = 16_001
    positions: int = 256


@dataclass(frozen=True, slots=True)
class LanguageShape:
    """The size of a language model; each of its `keys` serves several heads."""

    width: int
    layers: int
    heads: int
    keys: int
    feed_forward: int
    vocabulary: int = 16_001
    positions: int = 256
    epsilon: float = 1e-5
    turn_base: float = 100_000.0


LANGUAGE = LanguageShape(width=576, layers=30, heads=9, keys=3, feed_forward=1536)
SHAPES = {
    "base": Shape(width=384, layers=6, heads=12, feed_forward=1536, embedding=384),
    "small": Shape(width=384, layers=4, heads=12, feed_forward=1024, embedding=192),
    "nano": Shape(width=192, layers=3, heads=3, feed_forward=384, embedding=64, activation="relu"),
    "world": Shape(
        width=384, layers=6, heads=12, feed_forward=1536, embedding=384, vocabulary=32_000
    ),
    "world-teacher": Shape(
        width=384, layers=12, heads=12, feed_forward=1536, embedding=384, vocabulary=32_000
    ),
    "smoke": Shape(width=32, layers=2, heads=2, feed_forward=64, embedding=32, vocabulary=512),
    "smoke-small": Shape(
        width=32, layers=1, heads=2, feed_forward=32, embedding=16, vocabulary=512
    ),
}


def known_shape(pieces: int, layers: int) -> Shape:
    """Return the shape with these numbers of pieces and layers."""
    for shape in SHAPES.values():
        if (shape.vocabulary, shape.layers) == (pieces, layers):
            return shape
    raise ValueError(f"weights must be of a known shape, got {pieces} pieces and {layers} layers")
