"""The network: a pre-norm transformer encoder with one logit per token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from training.corruption import PUNCTUATION_CLASSES

REACH = 3
Activation = Literal["gelu", "relu"]


@dataclass(frozen=True, slots=True)
class Shape:
    """Everything that fixes the size of a network; `embedding` below `width` adds a projection."""

    width: int
    layers: int
    heads: int
    feed_forward: int
    embedding: int
    activation: Activation = "gelu"
    vocabulary: int = 8001
    positions: int = 512


SHAPES = {
    "small": Shape(width=256, layers=6, heads=4, feed_forward=1024, embedding=256),
    "nano": Shape(width=128, layers=3, heads=4, feed_forward=384, embedding=128, activation="relu"),
    "teacher": Shape(width=512, layers=8, heads=8, feed_forward=2048, embedding=512),
    "smoke": Shape(
        width=32,
        layers=1,
        heads=2,
        feed_forward=64,
        embedding=16,
        vocabulary=512,
        activation="relu",
    ),
}


class Layer(nn.Module):  # type: ignore[misc, unused-ignore]
    """Attention, then a feed-forward block, each behind its norm and beside a residual path."""

    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        self.shape = shape
        self.dropout = dropout
        self.norm_attention = nn.LayerNorm(shape.width)
        self.attention = nn.Linear(shape.width, 3 * shape.width)
        self.attended = nn.Linear(shape.width, shape.width)
        self.norm_feed = nn.LayerNorm(shape.width)
        self.feed_in = nn.Linear(shape.width, shape.feed_forward)
        self.feed_out = nn.Linear(shape.feed_forward, shape.width)

    def forward(self, x: Tensor, bias: Tensor | None) -> Tensor:
        batch, length, width = x.shape
        split = self.attention(self.norm_attention(x)).view(
            batch, length, 3, self.shape.heads, width // self.shape.heads
        )
        query, key, value = split.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(
            query, key, value, bias, self.dropout if self.training else 0.0
        )
        mixed = self.attended(mixed.transpose(1, 2).reshape(batch, length, width))
        x = x + F.dropout(mixed, self.dropout, self.training)
        hidden = self.feed_in(self.norm_feed(x))
        hidden = F.gelu(hidden) if self.shape.activation == "gelu" else F.relu(hidden)
        return x + F.dropout(self.feed_out(hidden), self.dropout, self.training)


class Network(nn.Module):  # type: ignore[misc, unused-ignore]
    """Logits of sentence ends, and, for training only, of removed marks and of masked pieces."""

    def __init__(self, shape: Shape, dropout: float = 0.0) -> None:
        super().__init__()
        self.shape = shape
        self.dropout = dropout
        # One row more than the vocabulary: the mask of the auxiliary task, dropped on export.
        self.pieces = nn.Embedding(shape.vocabulary + 1, shape.embedding)
        self.widen = (
            nn.Linear(shape.embedding, shape.width, bias=False)
            if shape.embedding != shape.width
            else nn.Identity()
        )
        self.positions = nn.Embedding(shape.positions, shape.width)
        self.neighbours = nn.Parameter(torch.zeros(2 * REACH + 1, shape.width))
        self.layers = nn.ModuleList(Layer(shape, dropout) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(shape.width)
        self.boundary = nn.Linear(shape.width, 1)
        self.marks = nn.Linear(shape.width, len(PUNCTUATION_CLASSES) + 1)
        self.masked = nn.Linear(shape.width, shape.embedding)
        nn.init.normal_(self.pieces.weight, std=0.02)
        nn.init.normal_(self.positions.weight, std=0.02)
        nn.init.normal_(self.neighbours, std=0.3)
        nn.init.constant_(self.boundary.bias, -3.0)
        for name, weight in self.named_parameters():
            if name.endswith(("attended.weight", "feed_out.weight")):
                nn.init.normal_(weight, std=0.02 / (2 * shape.layers) ** 0.5)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Hidden states after the last norm; the mask is 1 for tokens and 0 for padding."""
        x = self.embed(ids, mask)
        bias = None if mask is None else (1 - mask[:, None, None, :]) * -1e4
        for layer in self.layers:
            x = layer(x, bias)
        return self.norm(x)  # type: ignore[no-any-return, unused-ignore]

    def embed(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """What the first layer reads."""
        x = self.widen(self.pieces(ids))
        if mask is not None:
            x = x * mask[..., None]  # so that padding is no neighbour
        x = self._with_neighbours(x) + self.positions.weight[: ids.shape[1]]
        return F.dropout(x, self.dropout, self.training)

    def _with_neighbours(self, x: Tensor) -> Tensor:
        """Each token with a weighted sum of those around it: word order from the first step on."""
        length = x.shape[1]
        padded = F.pad(x, (0, 0, REACH, REACH))
        shifted = [padded[:, i : i + length] * self.neighbours[i] for i in range(2 * REACH + 1)]
        return x + torch.stack(shifted).sum(0)

    def logits(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.boundary(self(ids, mask))[..., 0]  # type: ignore[no-any-return, unused-ignore]
