"""A second stage for a trained network, short enough for a CPU: its last layers learn to commit.

Cross-entropy is content to spread a doubtful end over two neighbouring words, and then neither
passes a threshold. On text without punctuation the last layers are trained for F1 itself as well;
everywhere they are held to what the trained networks say together.

python -m training.polish MIX.txt.xz TOKENIZER.model WEIGHTS_DIR OUT_DIR --name small
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training.documents import Document
from training.network import Network
from training.prepare import SEED, load_tokenizer, read_documents, windows
from training.train import Batch, as_batch, boundary_loss, load, save

SPOKEN = (
    "thechangelog",
    "bitcoin",
    "UD_English-GUM",
    "UD_English-EWT",
    "MASC",
    "US presidents",
    "Schema",
)
UNPUNCTUATED_SHARE = 0.65
F1_LOSS = 0.5


@dataclass(frozen=True, slots=True)
class Cached:
    """Windows with their hidden states before the last layers and the probability taught."""

    batch: Batch
    hidden: Tensor
    taught: Tensor


def choose(documents: Sequence[Document], count: int, rng: random.Random) -> list[Document]:
    """Documents of spoken and gold sources, enough for about `count` windows."""
    spoken = [d for d in documents if d.source.startswith(SPOKEN)]
    rng.shuffle(spoken)
    chosen: list[Document] = []
    size = 0.0
    for document in spoken:
        chosen.append(document)
        size += document.draws * sum(map(len, document.sentences)) / 4 / 510
        if size > count * 2:
            break
    return chosen


def sample(documents: Sequence[Document], tokenizer: Path, count: int) -> Batch:
    """Windows of which most have lost their punctuation."""
    ids, labels, trust = windows(documents, load_tokenizer(tokenizer), SEED)
    tensors = [torch.from_numpy(array.copy()) for array in (ids, labels, trust)]
    every = as_batch(tensors[0], tensors[1], tensors[2], parts=1)
    bare = every.unpunctuated.float().mean(1) > 0.5
    order = torch.from_numpy(np.random.default_rng(SEED).permutation(len(ids)))
    wanted = int(count * UNPUNCTUATED_SHARE)
    rows = torch.cat([order[bare[order]][:wanted], order[~bare[order]][: count - wanted]])
    return take(every, rows)


def take(batch: Batch, rows: Tensor) -> Batch:
    return Batch(
        batch.ids[rows],
        batch.ends[rows],
        batch.marks[rows],
        batch.unpunctuated[rows],
        batch.trust[rows],
    )


def cache(network: Network, friends: Sequence[Network], batch: Batch, depth: int) -> Cached:
    """Hidden states before layer `depth`, and the probability by the mean logit of all networks."""
    hidden, taught = [], []
    for start in range(0, len(batch.ids), 16):
        ids = batch.ids[start : start + 16]
        with torch.no_grad():
            x = network.embed(ids)
            for layer in network.layers[:depth]:
                x = layer(x, None)
            hidden.append(x.half())
            logits = [tail(network, x, depth), *(friend.logits(ids) for friend in friends)]
            taught.append(torch.sigmoid(torch.stack(logits).mean(0)))
    return Cached(batch, torch.cat(hidden), torch.cat(taught))


def tail(network: Network, x: Tensor, depth: int) -> Tensor:
    """Logits from the hidden states before layer `depth`."""
    for layer in network.layers[depth:]:
        x = layer(x, None)
    logits: Tensor = network.boundary(network.norm(x))[..., 0]
    return logits


def soft_f1(p: Tensor, ends: Tensor) -> Tensor:
    """F1 of probabilities taken as fractions of a boundary."""
    return 2 * (p * ends).sum() / (p.sum() + ends.sum() + 1e-6)


def polish(network: Network, cached: Cached, depth: int, epochs: int, rate: float) -> Iterator[str]:
    """Train the layers from `depth` on; yields a line of progress every twenty steps."""
    learning = [*network.layers[depth:], network.norm, network.boundary]
    parameters = [p for module in learning for p in module.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=rate, weight_decay=0.01)
    size = 12
    steps = epochs * (len(cached.hidden) // size)
    generator = torch.Generator().manual_seed(SEED)
    step, started = 0, time.monotonic()
    for _ in range(epochs):
        order = torch.randperm(len(cached.hidden), generator=generator)
        for start in range(0, len(order) - size + 1, size):
            rows = order[start : start + size]
            batch, x = take(cached.batch, rows), cached.hidden[rows].float()
            logits = tail(network, x, depth)
            # What is taught is tilted already where punctuation was removed.
            target = 0.7 * cached.taught[rows] + 0.3 * batch.ends
            even = Batch(
                batch.ids,
                batch.ends,
                batch.marks,
                torch.zeros_like(batch.unpunctuated),
                batch.trust,
            )
            bare = batch.unpunctuated & (batch.trust >= 0.5)
            loss = boundary_loss(logits, target, even) + F1_LOSS * (
                1 - soft_f1(torch.sigmoid(logits[bare]), batch.ends[bare])
            )
            for group in optimizer.param_groups:
                rise = min(1.0, (step + 1) / 20)
                group["lr"] = rate * rise * 0.5 * (1 + math.cos(math.pi * step / steps))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            if step % 20 == 0:
                elapsed = time.monotonic() - started
                yield f"step {step}/{steps}: loss {float(loss.detach()):.4f}  {elapsed:.0f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mix", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--name", default="small")
    parser.add_argument("--friends", default="nano", help="networks that teach along")
    parser.add_argument("--windows", type=int, default=1800)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--layers", type=int, default=3, help="how many of the last layers learn")
    parser.add_argument("--rate", type=float, default=5e-4)
    options = parser.parse_args()
    documents = choose(read_documents(options.mix), options.windows, random.Random(SEED))
    batch = sample(documents, options.tokenizer, options.windows)
    network = load(options.weights, options.name)
    depth = network.shape.layers - options.layers
    friends = [load(options.weights, name).eval() for name in options.friends.split(",")]
    cached = cache(network, friends, batch, depth)
    print(f"{len(batch.ids)} windows cached", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    for line in polish(network, cached, depth, options.epochs, options.rate):
        print(line, flush=True)
    save(network, options.out, options.name)


if __name__ == "__main__":
    main()
