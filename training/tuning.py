"""Boundary F1 of networks on gold documents while they are trained; `evaluate` scores files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from sat_bench.models.tokenizer import BOS_ID, EOS_ID, PAD_ID
from training.corruption import bare, join
from training.documents import read_gold_folder
from training.network import Network
from training.prepare import END, WINDOW, labelled, load_tokenizer

OVERLAP = 128


@dataclass(frozen=True, slots=True)
class Gold:
    """Windows over a set of gold documents; `owners` says which document token each place holds."""

    name: str
    ids: NDArray[np.int64]
    owners: NDArray[np.int64]
    ends: NDArray[np.bool_]
    lasts: NDArray[np.int64]


def read_gold_sets(folder: Path, tokenizer_path: Path) -> list[Gold]:
    """Every `.jsonl.gz` of the folder, as written and bare."""
    tokenizer = load_tokenizer(tokenizer_path)
    sets = []
    for name, documents in read_gold_folder(folder).items():
        for kind, text in (("as written", join), ("bare", bare)):
            tokens = [labelled(tokenizer, text(d.sentences)) for d in documents]
            sets.append(_windowed(f"{name} {kind}", tokens))
    return sets


def _windowed(name: str, documents: Sequence[tuple[NDArray[np.int16], NDArray[np.int8]]]) -> Gold:
    rows: list[NDArray[np.int64]] = []
    owners: list[NDArray[np.int64]] = []
    offset = 0
    for ids, _ in documents:
        for start in _starts(len(ids)):
            part = ids[start : start + WINDOW].astype(np.int64)
            row = np.full(WINDOW + 2, PAD_ID)
            owner = np.full(WINDOW + 2, -1)
            row[: len(part) + 2] = np.r_[BOS_ID, part, EOS_ID]
            owner[1 : len(part) + 1] = offset + start + np.arange(len(part))
            rows.append(row)
            owners.append(owner)
        offset += len(ids)
    ends = np.concatenate([(labels & END) > 0 for _, labels in documents])
    lasts = np.cumsum([len(ids) for ids, _ in documents]) - 1
    return Gold(name, np.stack(rows), np.stack(owners), ends, lasts)


def _starts(length: int) -> Iterator[int]:
    start = 0
    while True:
        yield start
        if start + WINDOW >= length:
            return
        start += WINDOW - OVERLAP


def probabilities(networks: Sequence[Network], gold: Gold, device: str) -> NDArray[np.float64]:
    """Per token: the sigmoid of the logits averaged over windows and networks."""
    total, count = np.zeros(len(gold.ends)), np.zeros(len(gold.ends))
    for start in range(0, len(gold.ids), 64):
        ids = torch.from_numpy(gold.ids[start : start + 64]).to(device)
        mask = (ids != PAD_ID).float()
        with torch.no_grad():
            logits = torch.stack([n.eval().logits(ids, mask).float() for n in networks]).mean(0)
        owners = gold.owners[start : start + 64]
        np.add.at(total, owners[owners >= 0], logits.cpu().numpy()[owners >= 0])
        np.add.at(count, owners[owners >= 0], 1)
    for network in networks:
        network.train()
    p = 1 / (1 + np.exp(-total / count))
    p[gold.lasts] = 1.0  # the end of a text is always a boundary
    return np.asarray(p, dtype=np.float64)


def score_lines(networks: Sequence[Network], gold: Sequence[Gold], device: str) -> list[str]:
    """A line for each gold set: best F1, F1 at fixed thresholds, calibration error."""
    lines = []
    for each in gold:
        p = probabilities(networks, each, device)
        thresholds = np.arange(0.1, 0.9, 0.02)
        curve = [_f1(p > t, each.ends) for t in thresholds]
        best = int(np.argmax(curve))
        fixed = "  ".join(f"{t}: {_f1(p > t, each.ends):.4f}" for t in (0.3, 0.4, 0.5))
        lines.append(
            f"{each.name:32s} best {curve[best]:.4f} at {thresholds[best]:.2f}  {fixed}"
            f"  ece {_calibration_error(p, each.ends):.4f}"
        )
    return lines


def _f1(predicted: NDArray[np.bool_], ends: NDArray[np.bool_]) -> float:
    found = int((predicted & ends).sum())
    return 2 * found / max(1, int(predicted.sum()) + int(ends.sum()))


def _calibration_error(p: NDArray[np.float64], ends: NDArray[np.bool_]) -> float:
    from truemark.calibration import expected_calibration_error

    return float(expected_calibration_error(p, ends))
