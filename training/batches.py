"""Read windows from their files as batches on the device."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from sat_bench.models.tokenizer import BOS_ID, EOS_ID, UNK_ID
from training.prepare import CUT_SHORT, END, MARK_SHIFT, MARKS_KNOWN, WINDOW

# Windows of 508 tokens are cut into halves or quarters, so that the network learns short texts too;
# with the two marks, lengths are multiples of eight, which run faster.
PARTS = (2, 4)
FRAME, MULTIPLE = 2, 8


class Batch(NamedTuple):  # torch.compile can handle it, unlike a dataclass
    ids: Tensor
    ends: Tensor
    marks: Tensor
    unpunctuated: Tensor
    trust: Tensor
    certain: Tensor  # ends whose label counts, whatever a teacher says


def batches(
    folder: Path, size: int, shares: Sequence[float], device: str, seed: int, repeats: int = 1
) -> Iterator[Batch]:
    """Yield batches of cut windows, pass after pass; wait for passes still being written.

    Each pass is repeated `repeats` times, in a different order, before the next.
    """
    rng = random.Random(seed)
    shuffle = torch.Generator().manual_seed(seed)
    number = 0
    while True:
        path = folder / f"pass_{number:02d}.npz"
        if not path.exists():
            if number and not list(folder.glob(".*.npz")):
                number = 0
                continue
            time.sleep(0.2)
            continue
        shard = np.load(path)
        ids, labels, trust = (
            torch.from_numpy(shard[k]).to(device) for k in ("ids", "labels", "trust")
        )
        for _ in range(repeats):
            order = torch.randperm(len(ids), generator=shuffle).to(device)
            for start in range(0, len(ids) - size + 1, size):
                rows = order[start : start + size]
                parts = rng.choices(PARTS[: len(shares)], shares)[0]
                yield as_batch(ids[rows], labels[rows], trust[rows], parts)
        number += 1


def with_gaps(batch: Batch, share: float) -> Batch:
    """Replace this share of the pieces, chosen at random, by the unknown piece."""
    if not share:
        return batch
    gone = torch.rand(batch.ids.shape, device=batch.ids.device) < share
    return batch._replace(ids=torch.where(gone & (batch.ids > UNK_ID), UNK_ID, batch.ids))


def made_up_batch(size: int, device: str) -> Batch:
    """Make a batch that repeats one piece, to compile with before the first windows exist."""
    shape = (size, WINDOW)
    ids = torch.full(shape, UNK_ID, dtype=torch.int16, device=device)
    return as_batch(ids, torch.zeros_like(ids), torch.ones(shape, device=device), PARTS[0])


def as_batch(ids: Tensor, labels: Tensor, trust: Tensor, parts: int) -> Batch:
    """Cut windows into parts, and put each between start and end marks."""
    shape = (ids.shape[0] * parts, ids.shape[1] // parts)
    length = (shape[1] + FRAME) // MULTIPLE * MULTIPLE - FRAME

    def framed(values: Tensor, first: int, last: int) -> Tensor:
        cut = values[:, : shape[1] * parts].reshape(shape)[:, :length]
        return F.pad(F.pad(cut, (1, 0), value=first), (0, 1), value=last)

    flags = framed(labels.long(), 0, 0)
    known = (flags & MARKS_KNOWN) > 0
    return Batch(
        ids=framed(ids.long(), BOS_ID, EOS_ID),
        ends=(flags & END).float(),
        marks=torch.where(known, (flags >> MARK_SHIFT) & 7, -100),
        unpunctuated=known,
        trust=framed(trust.float(), 0, 0),
        certain=(flags & CUT_SHORT) > 0,
    )
