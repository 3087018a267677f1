"""Losses of a reader against the labels and against other readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from training.reader.network import SETTLES, WORDS, Batch

_TITLE = 1.2
_LINKS = (0.7, 0.7)  # the clock time and the day that an event is moved to
_SETTLES = 0.15


def total(losses: Mapping[str, Tensor]) -> Tensor:
    """Sum the parts of a loss."""
    return torch.stack(list(losses.values())).sum()


def label_losses(answers: Batch, target: Batch) -> dict[str, Tensor]:
    """Compute the loss of the answers against the labels, summed over talks, by part."""
    counted = target["create"] >= 0
    truth = target["create"].clamp(min=0).float() * 0.96 + 0.02
    create = F.binary_cross_entropy_with_logits(answers["create"], truth, reduction="none")
    action = F.cross_entropy(
        answers["action"].flatten(0, 1),
        target["action"].flatten(),
        ignore_index=-1,
        reduction="sum",
        label_smoothing=0.02,
    )
    is_pair, right, verdict = target["is_pair"], target["right"], answers["verdict"]
    new = F.binary_cross_entropy_with_logits(
        verdict[:, 0], right.clamp(max=1).float() * 0.96 + 0.02, reduction="none"
    )
    changed = F.cross_entropy(verdict[:, 2:], right, reduction="none", label_smoothing=0.02)
    late = F.binary_cross_entropy_with_logits(
        verdict[:, 1], target["late"].clamp(min=0).float(), reduction="none"
    )
    words = answers["words"]
    chosen = words.masked_fill(~target["words"], -1e9).logsumexp(-1) - words.logsumexp(-1)
    counts = target["counts"]
    losses = {
        "create": (create * counted).sum(),
        "action": action,
        "new": (new * is_pair).sum(),
        "changed": (changed * ~is_pair).sum(),
        "late": 0.3 * (late * (target["late"] >= 0)).sum(),
        "settles": _SETTLES * _settling(words[:, SETTLES], target).sum(),
        "title": _TITLE * _naming(answers["titles"], target["titles"]).sum(),
    }
    for place, weight in enumerate(_LINKS):
        cost = torch.where(counts[:, place], -chosen[:, place], torch.zeros_like(chosen[:, place]))
        losses[WORDS[place]] = weight * cost.sum()
    return losses


def _naming(scores: Tensor, right: Tensor) -> Tensor:
    """Compute the loss of titles: the right ones against all that stay within a line."""
    first, last = right[..., 0], right[..., 1]
    places = ((last - first) * scores.shape[-1] + first).clamp(min=0)
    flat = scores.flatten(1)
    chosen = flat.gather(1, places).masked_fill(first < 0, -1e9).logsumexp(-1)
    cost = flat.logsumexp(-1) - chosen
    return torch.where((first >= 0).any(1), cost, torch.zeros_like(cost))


def _settling(scores: Tensor, target: Batch) -> Tensor:
    """Compute the loss of the lines that settle something, at the beginnings of lines."""
    right = target["words"][:, SETTLES]
    cost = F.binary_cross_entropy_with_logits(scores, right.float(), reduction="none")
    at_lines = target["begins"]
    return (cost * at_lines).sum(-1) * target["counts"][:, SETTLES]


def teacher_losses(answers: Batch, taught: Sequence[Batch], target: Batch) -> dict[str, Tensor]:
    """Compute the loss against the mean of the teachers, summed over talks, by part."""
    is_pair = target["is_pair"]
    new = _soft_bit(answers["verdict"][:, 0], [teacher["verdict"][:, 0] for teacher in taught])
    late = _soft_bit(answers["verdict"][:, 1], [teacher["verdict"][:, 1] for teacher in taught])
    changed = _soft(answers["verdict"][:, 2:], [teacher["verdict"][:, 2:] for teacher in taught])
    losses = {
        "create": (
            _soft_bit(answers["create"], [teacher["create"] for teacher in taught])
            * (target["create"] >= 0)
        ).sum(),
        "action": (
            _soft(answers["action"], [teacher["action"] for teacher in taught])
            * (target["action"] >= 0)
        ).sum(),
        "new": (new * is_pair).sum(),
        "changed": (changed * ~is_pair).sum(),
        "late": 0.3 * (late * (target["late"] >= 0)).sum(),
    }
    named = (target["titles"][:, 0, 0] >= 0).float()
    titles = _soft(
        answers["titles"].flatten(1), [teacher["titles"].flatten(1) for teacher in taught]
    )
    losses["title"] = _TITLE * (titles * named).sum()
    for place, weight in enumerate(_LINKS):
        soft = _soft(answers["words"][:, place], [teacher["words"][:, place] for teacher in taught])
        losses[WORDS[place]] = weight * (soft * target["counts"][:, place]).sum()
    return losses


def _soft_bit(scores: Tensor, taught: Sequence[Tensor]) -> Tensor:
    mean = torch.stack([torch.sigmoid(logits) for logits in taught]).mean(0)
    return F.binary_cross_entropy_with_logits(scores, mean, reduction="none")


def _soft(scores: Tensor, taught: Sequence[Tensor]) -> Tensor:
    mean = torch.stack([logits.softmax(-1) for logits in taught]).mean(0)
    return -(mean * scores.log_softmax(-1)).sum(-1)
