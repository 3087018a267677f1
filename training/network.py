"""The network: a post-norm transformer encoder with one logit per token."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

from training.corruption import PUNCTUATION_CLASSES
from training.shapes import NORM_EPSILON, REACH, Shape
from training.weights import BLOCK, Arrays

KINDS = 4  # of pieces, see `training.pretrained`
# Used in training only; `kinds` is folded into the table of pieces.
ONLY_TRAINING = ("marks.", "hint.", "kinds.")


class Layer(nn.Module):  # type: ignore[misc, unused-ignore]
    """Attention, then a feed-forward block, each with a residual and a norm after it."""

    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        self.shape = shape
        self.dropout = dropout
        self.attention = nn.Linear(shape.width, 3 * shape.width)
        self.attended = nn.Linear(shape.width, shape.width)
        self.norm_attention = nn.LayerNorm(shape.width, eps=NORM_EPSILON)
        self.feed_in = nn.Linear(shape.width, shape.feed_forward)
        self.feed_out = nn.Linear(shape.feed_forward, shape.width)
        self.norm_feed = nn.LayerNorm(shape.width, eps=NORM_EPSILON)

    def forward(self, x: Tensor, bias: Tensor | None) -> Tensor:
        batch, length, width = x.shape
        split = self.attention(x).view(
            batch, length, 3, self.shape.heads, width // self.shape.heads
        )
        query, key, value = split.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, bias)
        mixed = self.attended(mixed.transpose(1, 2).reshape(batch, length, width))
        x = self.norm_attention(x + F.dropout(mixed, self.dropout, self.training))
        hidden = self.feed_in(x)
        hidden = F.gelu(hidden) if self.shape.activation == "gelu" else F.relu(hidden)
        fed = F.dropout(self.feed_out(hidden), self.dropout, self.training)
        return self.norm_feed(x + fed)  # type: ignore[no-any-return, unused-ignore]


class Network(nn.Module):  # type: ignore[misc, unused-ignore]
    """Computes logits of sentence ends; in training also removed marks and a guess at a teacher."""

    def __init__(self, shape: Shape, dropout: float = 0.0, hint_width: int = 0) -> None:
        super().__init__()
        self.shape = shape
        self.dropout = dropout
        self.rounds_pieces = False  # as a table in four bits does
        self.has_kinds = False  # without kinds, a single row would get the gradients of all tokens
        self.pieces = nn.Embedding(shape.vocabulary, shape.embedding)
        self.kinds = nn.Embedding(KINDS, shape.embedding)
        self.register_buffer("kind_of", torch.zeros(shape.vocabulary).long(), persistent=False)
        self.widen = (
            nn.Linear(shape.embedding, shape.width, bias=False)
            if shape.embedding != shape.width
            else nn.Identity()
        )
        self.positions = nn.Embedding(shape.positions, shape.width)
        self.neighbours = nn.Parameter(torch.zeros(2 * REACH + 1, shape.width))
        self.norm = nn.LayerNorm(shape.width, eps=NORM_EPSILON)
        self.layers = nn.ModuleList(Layer(shape, dropout) for _ in range(shape.layers))
        self.boundary = nn.Linear(shape.width, 1)
        self.marks = nn.Linear(shape.width, len(PUNCTUATION_CLASSES) + 1)
        self.hint = nn.Linear(shape.width, hint_width or shape.width)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=min(0.05, (2 * shape.width) ** -0.5))
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)
        nn.init.zeros_(self.kinds.weight)
        nn.init.constant_(self.boundary.bias, -3.0)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the hidden states of the last layer; the mask is 1 for tokens, 0 for padding."""
        x = self.embed(ids, mask)
        bias = None if mask is None else (1 - mask[:, None, None, :]) * -1e4
        for layer in self.layers:
            x = layer(x, bias)
        return x

    def embed(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the input of the first layer."""
        x = self.pieces(ids)
        if self.has_kinds:
            x = x + self.kinds(self.kind_of[ids])
        x = self.widen(rounded(x) if self.rounds_pieces else x)
        if mask is not None:
            x = x * mask[..., None]  # so that padding does not count as a neighbour
        x = self.norm(self._with_neighbours(x) + self.positions.weight[: ids.shape[1]])
        return F.dropout(x, self.dropout, self.training)

    def _with_neighbours(self, x: Tensor) -> Tensor:
        """Add a weighted sum of its neighbours to each token: word order from the first step on."""
        length = x.shape[1]
        padded = F.pad(x, (0, 0, REACH, REACH))
        for i in range(2 * REACH + 1):
            x = x + padded[:, i : i + length] * self.neighbours[i]
        return x

    def logits(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.boundary(self(ids, mask))[..., 0]  # type: ignore[no-any-return, unused-ignore]

    def take(self, arrays: Arrays) -> None:
        """Load these weights; parameters that are not among them keep their initial values."""
        state: dict[str, Any] = self.state_dict()
        for name, values in arrays.items():
            if name == "kinds":
                self.kind_of.copy_(torch.from_numpy(values.astype(np.int64)))
                self.has_kinds = True
            elif name in state:
                state[name].copy_(torch.from_numpy(values[: len(state[name])]))
            else:
                raise ValueError(f"weights must be of a {self.shape}, got {name}")

    def finished(self) -> Arrays:
        """Return the weights that a finished network needs, with kinds folded into the pieces."""
        arrays: dict[str, NDArray[Any]] = {
            name: values.detach().float().cpu().numpy()
            for name, values in self.state_dict().items()
            if not name.startswith(ONLY_TRAINING)
        }
        kinds = self.kinds.weight[self.kind_of].detach().float().cpu().numpy()
        return {**arrays, "pieces.weight": arrays["pieces.weight"] + kinds}


def rounded(x: Tensor) -> Tensor:
    """Round the values to sixteen levels per block; the gradient passes unchanged."""
    blocks = x.detach().float().unflatten(-1, (-1, BLOCK))
    scale = blocks.abs().amax(-1, keepdim=True).clamp(min=1e-8) / 7.5
    levels = (blocks / scale + 7.5).round().clamp(0, 15)
    return x + (((levels - 7.5) * scale).flatten(-2) - x.detach())


def load(shape: Shape, arrays: Arrays) -> Network:
    """Make a finished network, in evaluation mode."""
    network = Network(shape)
    network.take(arrays)
    network.eval()
    network.requires_grad_(False)
    return network
