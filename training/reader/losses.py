"""How far a reader is from what is right, and from what other readers say."""

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
    """All parts of a loss together."""
    return torch.stack(list(losses.values())).sum()


def label_losses(answers: Batch, target: Batch) -> dict[str, Tensor]:
    """How far the answers are from what is right, summed over talks, by part."""
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
        own = torch.where(counts[:, place], -chosen[:, place], torch.zeros_like(chosen[:, place]))
        losses[WORDS[place]] = weight * own.sum()
    return losses


def _naming(scores: Tensor, right: Tensor) -> Tensor:
    """The cost of missing all right titles, over all that stay within a line."""
    first, last = right[..., 0], right[..., 1]
    places = ((last - first) * scores.shape[-1] + first).clamp(min=0)
    flat = scores.flatten(1)
    chosen = flat.gather(1, places).masked_fill(first < 0, -1e9).logsumexp(-1)
    cost = flat.logsumexp(-1) - chosen
    return torch.where((first >= 0).any(1), cost, torch.zeros_like(cost))


def _settling(scores: Tensor, target: Batch) -> Tensor:
    """The cost of missing the lines that settle something, over the beginnings of lines."""
    right = target["words"][:, SETTLES]
    cost = F.binary_cross_entropy_with_logits(scores, right.float(), reduction="none")
    at_lines = target["begins"]
    return (cost * at_lines).sum(-1) * target["counts"][:, SETTLES]


def teacher_losses(answers: Batch, told: Sequence[Batch], target: Batch) -> dict[str, Tensor]:
    """How far the answers are from the mean of the teachers', summed over talks, by part."""
    is_pair = target["is_pair"]
    new = _soft_bit(answers["verdict"][:, 0], [it["verdict"][:, 0] for it in told])
    late = _soft_bit(answers["verdict"][:, 1], [it["verdict"][:, 1] for it in told])
    changed = _soft(answers["verdict"][:, 2:], [it["verdict"][:, 2:] for it in told])
    losses = {
        "create": (
            _soft_bit(answers["create"], [it["create"] for it in told]) * (target["create"] >= 0)
        ).sum(),
        "action": (
            _soft(answers["action"], [it["action"] for it in told]) * (target["action"] >= 0)
        ).sum(),
        "new": (new * is_pair).sum(),
        "changed": (changed * ~is_pair).sum(),
        "late": 0.3 * (late * (target["late"] >= 0)).sum(),
    }
    named = (target["titles"][:, 0, 0] >= 0).float()
    titles = _soft(answers["titles"].flatten(1), [it["titles"].flatten(1) for it in told])
    losses["title"] = _TITLE * (titles * named).sum()
    for place, weight in enumerate(_LINKS):
        soft = _soft(answers["words"][:, place], [it["words"][:, place] for it in told])
        losses[WORDS[place]] = weight * (soft * target["counts"][:, place]).sum()
    return losses


def _soft_bit(scores: Tensor, told: Sequence[Tensor]) -> Tensor:
    mean = torch.stack([torch.sigmoid(it) for it in told]).mean(0)
    return F.binary_cross_entropy_with_logits(scores, mean, reduction="none")


def _soft(scores: Tensor, told: Sequence[Tensor]) -> Tensor:
    mean = torch.stack([it.softmax(-1) for it in told]).mean(0)
    return -(mean * scores.log_softmax(-1)).sum(-1)
