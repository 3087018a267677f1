"""A language model as a teacher: a pre-norm transformer like SmolLM2, with attention both ways."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from training.corruption import PUNCTUATION_CLASSES
from training.shapes import LanguageShape
from training.weights import Arrays

ONLY_TRAINING = "marks."


class LanguageLayer(nn.Module):  # type: ignore[misc, unused-ignore]
    """Attention, then a gated feed-forward block, each with a norm before and a residual."""

    def __init__(self, shape: LanguageShape, dropout: float) -> None:
        super().__init__()
        self.shape, self.dropout = shape, dropout
        size = shape.width // shape.heads
        self.norm_attention = nn.RMSNorm(shape.width, eps=shape.epsilon)
        self.attention = nn.Linear(shape.width, (shape.heads + 2 * shape.keys) * size, bias=False)
        self.attended = nn.Linear(shape.width, shape.width, bias=False)
        self.norm_feed = nn.RMSNorm(shape.width, eps=shape.epsilon)
        self.feed_in = nn.Linear(shape.width, 2 * shape.feed_forward, bias=False)
        self.feed_out = nn.Linear(shape.feed_forward, shape.width, bias=False)

    def forward(self, x: Tensor, turn: Tensor) -> Tensor:
        batch, length, width = x.shape
        heads, keys = self.shape.heads, self.shape.keys
        split = self.attention(self.norm_attention(x)).view(batch, length, heads + 2 * keys, -1)
        query, key, value = split.transpose(1, 2).split([heads, keys, keys], dim=1)
        key, value = (part.repeat_interleave(heads // keys, dim=1) for part in (key, value))
        mixed = F.scaled_dot_product_attention(turned(query, turn), turned(key, turn), value)
        mixed = self.attended(mixed.transpose(1, 2).reshape(batch, length, width))
        x = x + F.dropout(mixed, self.dropout, self.training)
        gate, fed = self.feed_in(self.norm_feed(x)).chunk(2, dim=-1)
        fed = self.feed_out(F.silu(gate) * fed)
        return x + F.dropout(fed, self.dropout, self.training)


def turned(x: Tensor, turn: Tensor) -> Tensor:
    """Rotate each pair of values by the angle of its position."""
    even, odd = x[..., ::2], x[..., 1::2]
    cosine, sine = turn.to(x.dtype)
    return torch.stack([even * cosine - odd * sine, even * sine + odd * cosine], -1).flatten(-2)


class LanguageModel(nn.Module):  # type: ignore[misc, unused-ignore]
    """Computes logits of sentence ends and, for training, of removed marks."""

    def __init__(self, shape: LanguageShape, dropout: float = 0.0) -> None:
        super().__init__()
        self.pieces = nn.Embedding(shape.vocabulary, shape.width)
        self.layers = nn.ModuleList(LanguageLayer(shape, dropout) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width, eps=shape.epsilon)
        self.boundary = nn.Linear(shape.width, 1)
        self.marks = nn.Linear(shape.width, len(PUNCTUATION_CLASSES) + 1)
        size = shape.width // shape.heads
        slowness = shape.turn_base ** -(torch.arange(0, size, 2) / size)
        angles = torch.arange(shape.positions)[:, None] * slowness
        self.register_buffer("turn", torch.stack([angles.cos(), angles.sin()]), persistent=False)
        nn.init.constant_(self.boundary.bias, -3.0)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the hidden states of the last layer."""
        x, turn = self.pieces(ids), self.turn[:, : ids.shape[1]]
        for layer in self.layers:
            x = layer(x, turn)
        return self.norm(x)  # type: ignore[no-any-return, unused-ignore]

    def compile_layers(self) -> None:
        """Compile layer by layer: they share their code, and all thirty at once take minutes."""
        for layer in self.layers:
            layer.compile(dynamic=False)

    def take(self, arrays: Arrays) -> None:
        """Load these weights; parameters that are not among them keep their initial values."""
        state: dict[str, Any] = self.state_dict()
        for name, values in arrays.items():
            state[name].copy_(torch.from_numpy(values))

    def finished(self) -> Arrays:
        """Return the weights that a finished network needs."""
        return {
            name: values.detach().float().cpu().numpy()
            for name, values in self.state_dict().items()
            if not name.startswith(ONLY_TRAINING)
        }
