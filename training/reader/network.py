"""The network: an encoder of marked tokens, heads that propose events, heads for second looks."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from cal_ai.extractors.reader import marks
from training.network import Layer
from training.shapes import NORM_EPSILON, REACH, Shape
from training.weights import Arrays

MIX = 192  # width of the vectors that describe candidates
BUCKETS, FARTHEST = 32, 128  # of token distances, for an encoder with relative positions
ENCODER = Shape(
    width=384,
    layers=6,
    heads=12,
    feed_forward=1536,
    embedding=384,
    positions=marks.WINDOW,
)
TEACHER = Shape(
    width=768,
    layers=12,
    heads=12,
    feed_forward=3072,
    embedding=768,
    positions=marks.WINDOW,
)
JOINT = Shape(width=MIX, layers=1, heads=4, feed_forward=384, embedding=MIX)
VERDICTS = 5  # new event; after noon; kept, deleted, changed
WORDS = ("when", "day", "settles")
WHEN, DAY, SETTLES = range(len(WORDS))
LONGEST_TITLE = 12  # tokens
ENDS = 48  # width of the vectors that match the first and last word of a title
_FAR = -1e4

Batch = dict[str, Tensor]


class Reader(nn.Module):  # type: ignore[misc, unused-ignore]
    """Computes logits of new events and of changes to calendar events, and those of second looks.

    The arrays are those of `cal_ai.extractors.reader.marks`, with a leading dimension for talks,
    except for the channels, whose windows are concatenated; the padding is -1.
    """

    def __init__(
        self, shape: Shape = ENCODER, dropout: float = 0.1, *, sees_distance: bool = False
    ) -> None:
        super().__init__()
        self.distances = nn.Embedding(BUCKETS, shape.heads) if sees_distance else None
        self.shape = shape
        self.dropout = dropout
        self.in_half = False  # whether training computes with bfloat16
        self.pieces = nn.Embedding(shape.vocabulary, shape.width)
        sizes = {"roles": 4, "kinds": marks.NOUN + 1, "days": 24, "hours": 25, "shared": 9}
        self.channels = nn.ModuleDict(
            {name: nn.Embedding(size, shape.width) for name, size in (sizes | {"focus": 6}).items()}
        )
        self.positions = nn.Embedding(shape.positions, shape.width)
        self.neighbours = nn.Parameter(torch.zeros(2 * REACH + 1, shape.width))
        self.norm = nn.LayerNorm(shape.width, eps=NORM_EPSILON)
        self.layers = nn.ModuleList(Layer(shape, dropout) for _ in range(shape.layers))
        self._make_heads(shape.width, dropout)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)
        nn.init.constant_(self.create.bias, -1.0)

    def _make_heads(self, width: int, dropout: float) -> None:
        self.mention = nn.Linear(2 * width, MIX)
        self.mention_kind = nn.Embedding(len(marks.MENTION_KINDS), MIX)
        self.node = nn.Linear(3 * MIX, MIX)
        self.event = nn.Linear(2 * width, MIX)
        self.sort = nn.Embedding(2, MIX)  # nodes and calendar events
        self.joint = nn.ModuleList(Layer(JOINT, dropout) for _ in range(JOINT.layers))
        self.nothing = nn.Parameter(torch.randn(4, MIX) * 0.02)
        self.apart = nn.Embedding(marks.APART + 1, 32)
        self.pair = _two_layers(4 * MIX + 32, MIX, MIX, 2 * dropout)
        self.create = nn.Linear(MIX, 1)
        self.action = nn.Linear(MIX, 3)
        self.verdict = _two_layers(3 * width, MIX, VERDICTS, 2 * dropout)
        # For each token: how well a title begins and ends with it, then WORDS.
        self.words = _two_layers(width, MIX, 2 + len(WORDS), dropout)
        self.begins = nn.Linear(MIX, ENDS)
        self.ends = nn.Linear(MIX, ENDS)

    def take(self, arrays: Arrays) -> None:
        """Load the weights of an encoder with the same layers."""
        state = self.state_dict()
        for name, values in arrays.items():
            if name in state and state[name].shape[1:] == values.shape[1:]:
                state[name][: len(values)].copy_(torch.from_numpy(values[: len(state[name])]))

    def encode(self, batch: Batch) -> Tensor:
        """Return the hidden states of all windows."""
        ids = batch["ids"]
        mask = (ids != marks.PAD).float()
        x = (
            self.pieces(_spread(torch.where(ids == marks.PAD, -1, ids), self.shape.vocabulary))
            * mask[..., None]
        )
        length = ids.shape[1]
        padded = F.pad(x, (0, 0, REACH, REACH))
        for i in range(2 * REACH + 1):
            x = x + padded[:, i : i + length] * self.neighbours[i]
        for name, table in self.channels.items():
            x = x + _looked_up(table, batch[name])
        x = self.norm(x + self.positions(torch.arange(length, device=ids.device)))
        x = F.dropout(x, self.dropout, self.training)
        bias = (1 - mask[:, None, None, :]) * _FAR
        if self.distances is not None:
            # Not trained: its gradient would need the attention of every head in memory.
            with torch.no_grad():
                apart = _looked_up(self.distances, _buckets(length, ids.device))
            bias = bias + apart.permute(2, 0, 1)
        for layer in self.layers:
            x = layer(x, bias.to(x.dtype))
        return x

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the logits of the first look and those of the second look for all windows."""
        states = self.encode(batch)
        return {**self.proposed(batch, states), **self.looked(states, batch["focus"])}

    def proposed(self, batch: Batch, states: Tensor) -> dict[str, Tensor]:
        """Return the logits of new events, and of the changes to calendar events."""
        hidden = states.flatten(0, 1)
        at = _spread(batch["mention_at"], len(hidden))
        mentions = F.gelu(
            self.mention(torch.cat([hidden[at[..., 0]], hidden[at[..., 1]]], -1))
            + _looked_up(self.mention_kind, batch["mention_kind"])
        )
        nodes, events = self._joined(batch, mentions, self._events(batch, hidden))
        pairs = self._pairs(batch, mentions, nodes)
        return {"create": self.create(F.gelu(pairs))[..., 0], "action": self.action(events)}

    def looked(self, hidden: Tensor, focus: Tensor) -> dict[str, Tensor]:
        """Return verdicts on the focus, logits of tokens for each of WORDS, and of titles."""
        there = ((focus >= marks.WHEN) & (focus <= marks.EVENT)).to(hidden.dtype)[..., None]
        mean = (hidden * there).sum(1) / there.sum(1).clamp(min=1)
        highest = (hidden + (1 - there) * _FAR).amax(1).clamp(min=-50.0)
        verdict = self.verdict(torch.cat([hidden[:, 0], mean, highest], -1))
        described = self.words[:-1](hidden)
        words = self.words[-1](described).transpose(1, 2)
        titles = self._titles(described, words[:, 0], words[:, 1])
        return {"verdict": verdict, "words": words[:, 2:], "titles": titles}

    def _titles(self, described: Tensor, first: Tensor, last: Tensor) -> Tensor:
        """Return the logits of titles by length and first token.

        They are the sum of the logits of both ends and of how well the ends match.
        """
        length = described.shape[1]
        begins = self.begins(described) * ENDS**-0.5
        ends = F.pad(self.ends(described), (0, 0, 0, LONGEST_TITLE))
        last = F.pad(last, (0, LONGEST_TITLE))
        scores = [
            first
            + last[:, longer : longer + length]
            + (begins * ends[:, longer : longer + length]).sum(-1)
            for longer in range(LONGEST_TITLE)
        ]
        return torch.stack(scores, 1)

    def _events(self, batch: Batch, hidden: Tensor) -> Tensor:
        """Describe each calendar event by its tokens in all windows."""
        at = batch["event_at"]
        present = (at >= 0)[..., None]
        states = hidden[_spread(at, len(hidden))]
        mean = (states * present).sum(2) / present.sum(2).clamp(min=1)
        highest = states.masked_fill(~present, _FAR).amax(2).clamp(min=-50.0)
        return F.gelu(self.event(torch.cat([mean, highest], -1)))

    def _joined(self, batch: Batch, mentions: Tensor, events: Tensor) -> tuple[Tensor, Tensor]:
        members = batch["node_mentions"]
        present = (members >= 0)[..., None]
        states = _chosen(mentions, _spread(members, mentions.shape[1]))
        mean = (states * present).sum(2) / present.sum(2).clamp(min=1)
        highest = states.masked_fill(~present, _FAR).amax(2).clamp(min=-50.0)
        last = (present.sum(2) - 1).clamp(min=0)[..., None]
        latest = (
            states * (torch.arange(states.shape[2], device=states.device)[:, None] == last)
        ).sum(2)
        nodes = F.gelu(self.node(torch.cat([mean, highest, latest], -1)))
        x = torch.cat([nodes + self.sort.weight[0], events + self.sort.weight[1]], 1)
        real = torch.cat([members[..., 0] >= 0, batch["event_at"][..., 0] >= 0], 1)
        bias = (1 - real.float()[:, None, None, :]) * _FAR
        for layer in self.joint:
            x = layer(x, bias.to(x.dtype))
        count = nodes.shape[1]
        return x[:, :count], x[:, count:]

    def _pairs(self, batch: Batch, mentions: Tensor, nodes: Tensor) -> Tensor:
        pairs = batch["pairs"].clamp(min=0)
        parts = []
        for place, source in enumerate((nodes, nodes, mentions, mentions)):
            nothing = self.nothing[place].to(source.dtype).expand(source.shape[0], 1, MIX)
            parts.append(_chosen(torch.cat([nothing, source], 1), pairs[..., place]))
        described: Tensor = self.pair(
            torch.cat([*parts, _looked_up(self.apart, pairs[..., 4])], -1)
        )
        return described


class Exported(nn.Module):  # type: ignore[misc, unused-ignore]
    """The reader for a single talk with all its outputs, for export."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader

    def forward(self, *arrays: Tensor) -> tuple[Tensor, ...]:
        batch = {
            name: array if name in marks.CHANNELS else array[None]
            for name, array in zip(INPUTS, arrays, strict=True)
        }
        answers = self.reader(batch)
        looked = (answers[name] for name in ("verdict", "words", "titles"))
        return answers["create"][0], answers["action"][0], *looked


INPUTS = (*marks.CHANNELS, "event_at", "mention_at", "mention_kind", "node_mentions", "pairs")
OUTPUTS = ("create", "action", "verdict", "words", "titles")


def _two_layers(inputs: int, between: int, outputs: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, between), nn.GELU(), nn.Dropout(dropout), nn.Linear(between, outputs)
    )


def _buckets(length: int, device: torch.device) -> Tensor:
    """Return the bucket of the distance between each two tokens: exact near, coarse far."""
    places = torch.arange(length, device=device)
    way = places[None, :] - places[:, None]
    half = BUCKETS // 2
    near, far = half // 2, way.abs().clamp(min=1)
    coarse = near + (far / near).log() / math.log(FARTHEST / near) * (half - near)
    buckets: Tensor = torch.where(way.abs() < near, way.abs(), coarse.long().clamp(max=half - 1))
    return buckets + half * (way > 0)


def _spread(places: Tensor, count: int) -> Tensor:
    """Replace -1 by arbitrary places: thousands of gradients at one place are slow."""
    anywhere = torch.arange(places.numel(), device=places.device).view(places.shape) % count
    return torch.where(places >= 0, places, anywhere)


def _chosen(rows: Tensor, places: Tensor) -> Tensor:
    """Return the rows of each talk at the places, which may have any shape.

    A matrix product is used because summing many gradients at one place is slow.
    """
    flat = places.flatten(1)[..., None] == torch.arange(rows.shape[1], device=rows.device)
    return (flat.to(rows.dtype) @ rows).view(*places.shape, rows.shape[-1])


def _looked_up(table: nn.Embedding, ids: Tensor) -> Tensor:
    """Return the rows of a small table, by a matrix product for the same reason."""
    rows = torch.arange(table.num_embeddings, device=ids.device)
    looked_up: Tensor = (ids[..., None] == rows).to(table.weight.dtype) @ table.weight
    return looked_up
