"""What a network is to say of a batch, and how far it is from that."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from training.batches import Batch
from training.finished import AnyNetwork
from training.network import Network

MARKS_LOSS = 0.8
HINT_LOSS = 0.2
# F1 on text without punctuation is best below even odds; leaning there lets one threshold serve.
UNPUNCTUATED_TILT = 1.3
# With a teacher, whom they learn most from, doubtful sources count as much as those cut by rule.
TAUGHT_TRUST, DOUBTFUL_SHARE = 0.5, 0.95


def target(batch: Batch, said: Tensor | None, shares: tuple[float, float]) -> tuple[Tensor, Tensor]:
    """The labels, mixed with the probabilities that a teacher said, and the weight of each token.

    `shares` are those of the teacher beside gold labels, and beside labels set by rule.
    """
    if said is None:
        return batch.ends, batch.trust
    # A teacher is tilted already where punctuation was removed: undo it, the loss tilts again.
    odds = said / UNPUNCTUATED_TILT
    taught = torch.where(batch.unpunctuated, odds / (odds + 1 - said), said)
    gold, rule = shares
    share = torch.where(batch.trust > 0.99, gold, rule)
    share = torch.where(batch.trust < TAUGHT_TRUST - 0.1, DOUBTFUL_SHARE, share)
    share = torch.where(batch.certain, 0.0, share)
    weight = torch.where(batch.trust > 0, batch.trust.clamp(min=TAUGHT_TRUST), 0.0)
    return share * taught + (1 - share) * batch.ends, weight


def boundary_loss(logits: Tensor, batch: Batch, wanted: Tensor, weight: Tensor) -> Tensor:
    """Binary cross-entropy, weighted by trust and tilted where punctuation was removed."""
    tilt = torch.where(batch.unpunctuated, UNPUNCTUATED_TILT, 1.0)
    each = -(tilt * wanted * F.logsigmoid(logits) + (1 - wanted) * F.logsigmoid(-logits))
    return (each * weight).sum() / weight.sum()


def marks_loss(network: AnyNetwork, hidden: Tensor, batch: Batch) -> Tensor:
    """Loss on the marks that were removed, where some were."""
    guesses = network.marks(hidden).float().flatten(0, 1)
    return F.cross_entropy(guesses, batch.marks.flatten(), reduction="sum") / batch.marks.numel()


def hint_loss(network: Network, hidden: Tensor, hint: Tensor) -> Tensor:
    """How far a guess from the hidden states is from a teacher's."""
    size = hint.shape[-1:]
    guess = F.layer_norm(network.hint(hidden).float(), size)
    return F.mse_loss(guess, F.layer_norm(hint.float(), size))
