"""The network: an encoder of marked tokens, and heads that decide over all candidates together."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from cal_ai.extractors.reader import marks
from training.network import Layer
from training.shapes import NORM_EPSILON, REACH, Shape
from training.weights import Arrays

MIX = 192  # width of what candidates are described with
ENCODER = Shape(
    width=384,
    layers=6,
    heads=12,
    feed_forward=1536,
    embedding=384,
    positions=marks.WINDOW,
)
JOINT = Shape(width=MIX, layers=1, heads=4, feed_forward=384, embedding=MIX)
_FAR = -1e4

Batch = dict[str, Tensor]


class Reader(nn.Module):  # type: ignore[misc, unused-ignore]
    """Logits of new events, of what becomes of the calendar's, of links, and of title words.

    Arrays are those of `cal_ai.extractors.reader.marks`, with a dimension for talks in front of all
    but the six channels, whose windows follow each other; -1 fills up.
    """

    def __init__(self, shape: Shape = ENCODER, dropout: float = 0.1) -> None:
        super().__init__()
        self.shape = shape
        self.dropout = dropout
        self.pieces = nn.Embedding(shape.vocabulary, shape.width)
        sizes = {"roles": 4, "kinds": marks.NOUN + 1, "days": 24, "hours": 25, "shared": 9}
        self.channels = nn.ModuleDict(
            {name: nn.Embedding(size, shape.width) for name, size in sizes.items()}
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
        kinds = len(marks.MENTION_KINDS)
        self.mention = nn.Linear(2 * width, MIX)
        self.mention_kind = nn.Embedding(kinds, MIX)
        self.node = nn.Linear(3 * MIX, MIX)
        self.event = nn.Linear(2 * width, MIX)
        self.sort = nn.Embedding(2, MIX)  # nodes and events of the calendar
        self.joint = nn.ModuleList(Layer(JOINT, dropout) for _ in range(JOINT.layers))
        self.nothing = nn.Parameter(torch.randn(4, MIX) * 0.02)
        self.apart = nn.Embedding(marks.APART + 1, 32)
        self.pair = nn.Sequential(
            nn.Linear(4 * MIX + 32, 2 * MIX),
            nn.GELU(),
            nn.Dropout(2 * dropout),
            nn.Linear(2 * MIX, MIX),
            nn.GELU(),
        )
        self.create = nn.Linear(MIX, 2)  # is it a new event; is it after noon
        self.action = nn.Linear(MIX, 3)
        self.link_query = nn.Linear(MIX, 2 * MIX)  # for the clock, for the day
        self.link_key = nn.Linear(MIX, 2 * MIX)
        self.link_none = nn.Linear(MIX, 2)
        self.title_query = nn.Linear(MIX, 2 * width)  # for its first token, for its last
        self.title_token = nn.Linear(width, 2)
        self.title_apart = nn.Embedding(2 * marks.APART + 1, 2)

    def take(self, arrays: Arrays) -> None:
        """Start from the weights of an encoder that has the same layers."""
        own = self.state_dict()
        for name, values in arrays.items():
            if name in own and own[name].shape[1:] == values.shape[1:]:
                own[name][: len(values)].copy_(torch.from_numpy(values[: len(own[name])]))

    def encode(self, batch: Batch) -> Tensor:
        """The hidden states of all tokens, one after the other."""
        ids = batch["ids"]
        mask = (ids != marks.PAD).float()
        x = self.pieces(ids) * mask[..., None]
        length = ids.shape[1]
        padded = F.pad(x, (0, 0, REACH, REACH))
        for i in range(2 * REACH + 1):
            x = x + padded[:, i : i + length] * self.neighbours[i]
        for name, table in self.channels.items():
            x = x + table(batch[name])
        x = self.norm(x + self.positions(torch.arange(length, device=ids.device)))
        x = F.dropout(x, self.dropout, self.training)
        bias = (1 - mask[:, None, None, :]) * _FAR
        for layer in self.layers:
            x = layer(x, bias.to(x.dtype))
        return x.flatten(0, 1)

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """All scores but those of titles, which are asked for by `titles`."""
        hidden = self.encode(batch)
        at = _spread(batch["mention_at"], len(hidden))
        mentions = F.gelu(
            self.mention(torch.cat([hidden[at[..., 0]], hidden[at[..., 1]]], -1))
            + self.mention_kind(batch["mention_kind"].clamp(min=0))
        )
        nodes, events = self._joined(batch, mentions, self._events(batch, hidden))
        pairs = self._pairs(batch, mentions, nodes)
        scores = self.create(pairs)
        links = self._links(nodes, events)
        return {
            "create": scores[..., 0],
            "late": scores[..., 1],
            "action": self.action(events),
            "when": links[..., 0],
            "day": links[..., 1],
            "pairs": pairs,
            "tokens": hidden[_spread(batch["token_at"], len(hidden))],
        }

    def _events(self, batch: Batch, hidden: Tensor) -> Tensor:
        """Each event of the calendar as all windows see it."""
        at = batch["event_at"]
        there = (at >= 0)[..., None]
        found = hidden[_spread(at, len(hidden))]
        mean = (found * there).sum(2) / there.sum(2).clamp(min=1)
        highest = found.masked_fill(~there, _FAR).amax(2).clamp(min=-50.0)
        return F.gelu(self.event(torch.cat([mean, highest], -1)))

    def _joined(self, batch: Batch, mentions: Tensor, events: Tensor) -> tuple[Tensor, Tensor]:
        members = batch["node_mentions"]
        there = (members >= 0)[..., None]
        found = _chosen(mentions, _spread(members, mentions.shape[1]))
        mean = (found * there).sum(2) / there.sum(2).clamp(min=1)
        highest = found.masked_fill(~there, _FAR).amax(2).clamp(min=-50.0)
        last = (there.sum(2) - 1).clamp(min=0)[..., None]
        latest = found.gather(2, last.expand(-1, -1, 1, MIX))[:, :, 0]
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
            nothing = self.nothing[place].expand(len(source), 1, MIX).to(source.dtype)
            parts.append(_chosen(torch.cat([nothing, source], 1), pairs[..., place]))
        described: Tensor = self.pair(torch.cat([*parts, self.apart(pairs[..., 4])], -1))
        return described

    def _links(self, nodes: Tensor, events: Tensor) -> Tensor:
        """Logits of events by nodes, with "none of them" first, for the clock and for the day."""
        query = self.link_query(events).unflatten(-1, (2, MIX))
        key = self.link_key(nodes).unflatten(-1, (2, MIX))
        scores = torch.einsum("bekd,bnkd->benk", query, key) / MIX**0.5
        none = self.link_none(events)[:, :, None]
        return torch.cat([none, scores], 2)

    def titles(self, pairs: Tensor, tokens: Tensor, lines_apart: Tensor) -> Tensor:
        """Logits of pairs by tokens to be the first and the last of the title."""
        query = self.title_query(pairs).unflatten(-1, (2, self.shape.width))
        scores = torch.einsum("bpkd,btd->bptk", query, tokens) / self.shape.width**0.5
        near = self.title_apart(lines_apart.clamp(-marks.APART, marks.APART) + marks.APART)
        result: Tensor = scores + self.title_token(tokens)[:, None] + near
        return result


class Exported(nn.Module):  # type: ignore[misc, unused-ignore]
    """The reader of one talk with all that it can tell, for a file."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader

    def forward(self, *arrays: Tensor) -> tuple[Tensor, ...]:
        batch = {
            name: array if name in marks.CHANNELS else array[None]
            for name, array in zip(INPUTS, arrays, strict=True)
        }
        found = self.reader(batch)
        apart = batch["token_line"][:, None, :] - batch["pair_line"][:, :, None]
        titles = self.reader.titles(found["pairs"], found["tokens"], apart)
        scores = [found[name][0] for name in ("create", "late", "action", "when", "day")]
        return (*scores, titles[0, ..., 0], titles[0, ..., 1])


INPUTS = (
    *marks.CHANNELS,
    "event_at",
    "token_at",
    "token_line",
    "mention_at",
    "mention_kind",
    "node_mentions",
    "node_kind",
    "pairs",
    "pair_line",
)
OUTPUTS = ("create", "late", "action", "when", "day", "title_first", "title_last")


def _spread(places: Tensor, count: int) -> Tensor:
    """The places, with any others in place of -1: thousands of gradients at one place are slow."""
    anywhere = torch.arange(places.numel(), device=places.device).view(places.shape) % count
    return torch.where(places >= 0, places, anywhere)


def _chosen(rows: Tensor, places: Tensor) -> Tensor:
    """The rows of each talk at the places, whatever their shape."""
    flat = places.flatten(1)
    found = rows.gather(1, flat[..., None].expand(-1, -1, rows.shape[-1]))
    return found.view(*places.shape, rows.shape[-1])
