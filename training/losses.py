"""Targets and losses of a batch."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from training.batches import Batch
from training.finished import AnyNetwork
from training.network import Network

MARKS_LOSS = 0.8
HINT_LOSS = 0.2
# Without punctuation, F1 is best at a threshold below 0.5; tilting the loss there lets one
# threshold serve all texts.
UNPUNCTUATED_TILT = 1.3
# With a teacher, doubtful sources count as much as those split by rule.
TAUGHT_TRUST, DOUBTFUL_SHARE = 0.5, 0.95


def target(
    batch: Batch, teacher: Tensor | None, shares: tuple[float, float]
) -> tuple[Tensor, Tensor]:
    """Return the labels, mixed with the teacher's probabilities, and the weight of each token.

    `shares` are the shares of the teacher where labels are gold, and where they are set by rule.
    """
    if teacher is None:
        return batch.ends, batch.trust
    # The teacher is already tilted where punctuation was removed; undo that, as the loss tilts too.
    odds = teacher / UNPUNCTUATED_TILT
    taught = torch.where(batch.unpunctuated, odds / (odds + 1 - teacher), teacher)
    gold, rule = shares
    share = torch.where(batch.trust > 0.99, gold, rule)
    share = torch.where(batch.trust < TAUGHT_TRUST - 0.1, DOUBTFUL_SHARE, share)
    share = torch.where(batch.certain, 0.0, share)
    weight = torch.where(batch.trust > 0, batch.trust.clamp(min=TAUGHT_TRUST), 0.0)
    return share * taught + (1 - share) * batch.ends, weight


def boundary_loss(logits: Tensor, batch: Batch, targets: Tensor, weight: Tensor) -> Tensor:
    """Binary cross-entropy, weighted by trust and tilted where punctuation was removed."""
    tilt = torch.where(batch.unpunctuated, UNPUNCTUATED_TILT, 1.0)
    loss = -(tilt * targets * F.logsigmoid(logits) + (1 - targets) * F.logsigmoid(-logits))
    return (loss * weight).sum() / weight.sum()


def marks_loss(network: AnyNetwork, hidden: Tensor, batch: Batch) -> Tensor:
    """Cross-entropy of the removed marks, in texts whose marks were removed."""
    guesses = network.marks(hidden).float().flatten(0, 1)
    return F.cross_entropy(guesses, batch.marks.flatten(), reduction="sum") / batch.marks.numel()


def hint_loss(network: Network, hidden: Tensor, hint: Tensor) -> Tensor:
    """Distance of the student's guess at the teacher's hidden states from these."""
    size = hint.shape[-1:]
    guess = F.layer_norm(network.hint(hidden).float(), size)
    return F.mse_loss(guess, F.layer_norm(hint.float(), size))
