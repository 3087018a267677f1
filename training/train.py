"""Train teachers on the windows, then distil them into the networks that ship.

python -m training.train WINDOWS_DIR TOKENIZER.model GOLD_DIR OUT_DIR --teachers 2
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from sat_bench.models.tokenizer import BOS_ID, EOS_ID
from training.network import SHAPES, Network, Shape
from training.prepare import END, MARK_SHIFT, MARKS_KNOWN, SEED
from training.tuning import Gold, read_gold_sets, score_lines

# Windows are also trained cut into equal parts, so that short texts are no surprise.
PARTS = (1, 5)
PART_SHARES = (0.8, 0.2)
MASKED_SHARE, MASKED_LOSS, MARKS_LOSS = 0.12, 0.15, 0.2
# F1 on text without punctuation is best below even odds; leaning there lets one threshold serve.
UNPUNCTUATED_TILT = 1.3


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast to learn; it ends after `steps` or `seconds`, whichever comes first."""

    steps: int
    seconds: float
    rate: float
    warmup: int = 200

    def done(self, step: int, elapsed: float) -> float:
        return max(step / self.steps, elapsed / self.seconds)

    def rate_at(self, step: int, elapsed: float) -> float:
        """A linear rise, then half a cosine down to nothing."""
        rise = min(1.0, (step + 1) / self.warmup)
        return self.rate * rise * 0.5 * (1 + math.cos(math.pi * min(1, self.done(step, elapsed))))


@dataclass(frozen=True, slots=True)
class Batch:
    ids: Tensor
    ends: Tensor
    marks: Tensor
    unpunctuated: Tensor
    trust: Tensor


def batches(folder: Path, size: int, device: str, rng: random.Random) -> Iterator[Batch]:
    """Batches of whole or cut windows, pass after pass, waiting for those still being written."""
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
        order = torch.randperm(len(ids), device=device)
        for start in range(0, len(ids) - size + 1, size):
            rows = order[start : start + size]
            parts = rng.choices(PARTS, PART_SHARES)[0]
            yield as_batch(ids[rows], labels[rows], trust[rows], parts)
        number += 1


def as_batch(ids: Tensor, labels: Tensor, trust: Tensor, parts: int) -> Batch:
    """Windows cut into parts, each between its start and end marks."""
    shape = (ids.shape[0] * parts, ids.shape[1] // parts)

    def framed(values: Tensor, first: int, last: int) -> Tensor:
        return F.pad(F.pad(values.reshape(shape), (1, 0), value=first), (0, 1), value=last)

    flags = framed(labels.long(), 0, 0)
    known = (flags & MARKS_KNOWN) > 0
    return Batch(
        ids=framed(ids.long(), BOS_ID, EOS_ID),
        ends=(flags & END).float(),
        marks=torch.where(known, (flags >> MARK_SHIFT) & 7, -100),
        unpunctuated=known,
        trust=framed(trust.float(), 0, 0),
    )


def boundary_loss(logits: Tensor, target: Tensor, batch: Batch) -> Tensor:
    """Binary cross-entropy, weighted by trust and tilted where punctuation was removed."""
    tilt = torch.where(batch.unpunctuated, UNPUNCTUATED_TILT, 1.0)
    each = -(tilt * target * F.logsigmoid(logits) + (1 - target) * F.logsigmoid(-logits))
    return (each * batch.trust).sum() / batch.trust.sum()


def own_loss(network: Network, hidden: Tensor, batch: Batch, target: Tensor) -> Tensor:
    """Loss on sentence ends and on the marks that were removed."""
    loss = boundary_loss(network.boundary(hidden)[..., 0].float(), target, batch)
    marks = F.cross_entropy(
        network.marks(hidden).float().flatten(0, 1), batch.marks.flatten(), reduction="sum"
    )
    return loss + MARKS_LOSS * marks / batch.marks.numel() * 4


def masked_loss(network: Network, hidden: Tensor, ids: Tensor, hidden_pieces: Tensor) -> Tensor:
    """Loss on guessing the pieces that were masked."""
    guessed = network.masked(hidden[hidden_pieces]) @ network.pieces.weight.T
    return F.cross_entropy(guessed.float(), ids[hidden_pieces])


def train(
    networks: Sequence[tuple[Network, Schedule]],
    stream: Iterator[Batch],
    teachers: Sequence[Network],
    device: str,
    report: Callable[[int, str], None],
    guess_masked: bool,
) -> None:
    """Train the networks side by side on one stream; with teachers, towards what those say."""
    optimizers = [
        torch.optim.AdamW(
            n.parameters(), lr=s.rate, betas=(0.9, 0.98), weight_decay=0.05, fused=device == "cuda"
        )
        for n, s in networks
    ]
    compiled: list[Any] = [_fast(n, device) for n, _ in networks]
    fast_teachers: list[Any] = [_fast(t, device) for t in teachers]
    started = time.monotonic()
    step, elapsed, lead = 0, 0.0, networks[0][1]
    while lead.done(step, elapsed) < 1:
        batch = next(stream)
        with torch.autocast(device, dtype=torch.bfloat16):
            target = _target(teachers, fast_teachers, batch)
            for (network, schedule), run, optimizer in zip(
                networks, compiled, optimizers, strict=True
            ):
                for group in optimizer.param_groups:
                    group["lr"] = schedule.rate_at(step, elapsed)
                ids, chosen = batch.ids, None
                if guess_masked:
                    chosen = torch.rand(ids.shape, device=device) < MASKED_SHARE
                    chosen[::2] = False
                    ids = torch.where(chosen, network.shape.vocabulary, ids)
                hidden = run(ids)
                loss = own_loss(network, hidden, batch, target)
                if chosen is not None:
                    loss = loss + MASKED_LOSS * masked_loss(network, hidden, batch.ids, chosen)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
        step += 1
        if step % 50 == 0:
            report(step, f"loss {float(loss.detach()):.4f}  {elapsed:.0f} s")
        elapsed = time.monotonic() - started


def _fast(network: Network, device: str) -> Any:
    torch._dynamo.config.recompile_limit = 64  # one entry for each network and window length
    return torch.compile(network, dynamic=False) if device == "cuda" else network


def _target(teachers: Sequence[Network], fast: Sequence[Any], batch: Batch) -> Tensor:
    """The label mixed with the teachers' mean probability, which counts more than rules do."""
    if not teachers:
        return batch.ends
    with torch.no_grad():
        each = [
            t.boundary(f(batch.ids))[..., 0].float() for t, f in zip(teachers, fast, strict=True)
        ]
        taught = torch.sigmoid(torch.stack(each).mean(0))
        # A teacher is tilted already where punctuation was removed: undo it, the loss tilts again.
        odds = taught / UNPUNCTUATED_TILT
        untilted = odds / (odds + 1 - taught)
        taught = torch.where(batch.unpunctuated, untilted, taught)
        share = torch.where(batch.trust > 0.99, 0.6, 0.85)
    return share * taught + (1 - share) * batch.ends


def save(network: Network, out: Path, name: str) -> None:
    """Weights as float32 arrays in files of at most 15 MB."""
    parts: list[dict[str, Any]] = [{}]
    size = 0
    for key, value in network.state_dict().items():
        array = value.float().cpu().numpy()
        if size + array.nbytes > 15_000_000:
            parts.append({})
            size = 0
        parts[-1][key] = array
        size += array.nbytes
    for i, part in enumerate(parts):
        np.savez(out / f"{name}.{i}.npz", **part)


def load(out: Path, name: str) -> Network:
    """The network that `save` wrote."""
    shape = SHAPES[name]
    network = Network(shape)
    state = {
        key: torch.from_numpy(array)
        for path in sorted(out.glob(f"{name}.*.npz"))
        for key, array in np.load(path).items()
    }
    network.load_state_dict(state)
    return network


def _build(name: str, vocabulary: int, dropout: float, device: str, seed: int) -> Network:
    torch.manual_seed(seed)
    shape: Shape = SHAPES[name]
    if shape.vocabulary < vocabulary:
        raise ValueError(
            f"vocabulary of {name} must be at least {vocabulary}, got {shape.vocabulary}"
        )
    network = Network(shape, dropout)
    network.to(device)
    return network


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("windows", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("gold", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--teachers", type=int, default=2)
    parser.add_argument("--teacher-steps", type=int, default=4500)
    parser.add_argument("--teacher-seconds", type=float, default=math.inf)
    parser.add_argument("--student-steps", type=int, default=6000)
    parser.add_argument("--student-seconds", type=float, default=math.inf)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--students", default="small,nano")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.set_float32_matmul_precision("high")
    gold = read_gold_sets(options.gold, options.tokenizer)

    def reporter(name: str, network: Network) -> Callable[[int, str], None]:
        def report(step: int, line: str) -> None:
            if step % 250 == 0 or step == 50:
                print(f"{name} step {step}: {line}", flush=True)
            if step % 1000 == 0:
                show(name, [network], gold, options.device)

        return report

    stream = batches(options.windows, options.batch, options.device, random.Random(SEED))
    vocabulary = 1 + max(int(s.ids.max()) for s in gold) if gold else 0
    teachers: list[Network] = []
    for i in range(options.teachers):
        teacher = _build("teacher", vocabulary, 0.1, options.device, SEED + i)
        schedule = Schedule(options.teacher_steps, options.teacher_seconds, 7e-4)
        report = reporter(f"teacher {i}", teacher)
        train([(teacher, schedule)], stream, [], options.device, report, guess_masked=True)
        teachers.append(teacher.eval().requires_grad_(False))
    if len(teachers) > 1:
        show("teachers together", teachers, gold, options.device)
    names = options.students.split(",")
    students = [_build(n, vocabulary, 0.0, options.device, SEED) for n in names]
    rates = {"small": 1.5e-3, "nano": 3e-3}
    plans = [
        (s, Schedule(options.student_steps, options.student_seconds, rates.get(n, 3e-3)))
        for n, s in zip(names, students, strict=True)
    ]
    train(
        plans, stream, teachers, options.device, reporter(names[0], students[0]), guess_masked=False
    )
    for name, student in zip(names, students, strict=True):
        save(student, options.out, name)
        show(name, [student], gold, options.device)


def show(name: str, networks: Sequence[Network], gold: Sequence[Gold], device: str) -> None:
    for line in score_lines(networks, gold, device):
        print(f"  {name}: {line}", flush=True)


if __name__ == "__main__":
    main()
