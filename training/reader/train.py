"""Trains the reader, and a second one that also learns from several of the first kind.

python -m training.reader.train CONVERSATIONS PIECES START OUT --name a --seed 1 --steps 5000
python -m training.reader.train … --name reader --teachers a,b,c
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from cal_ai.extractors.reader import marks
from training.reader.augment import Augmenter
from training.reader.batches import Prepared, collated, prepared
from training.reader.conversations import Conversation, is_dev, read_conversations
from training.reader.labels import example
from training.reader.network import Batch, Reader
from training.weights import read_parts, read_small, write_parts

_WARM_UP = 0.06
_UNREAD = 0.06  # share of tokens that are hidden
_SORTED = 96  # examples that are put in order of size
_MOST_WINDOWS = 8
_FAR = -1e4


@dataclass(frozen=True, slots=True)
class Course:
    """How long, how fast and from whom."""

    steps: int
    talks: int = 16
    body: float = 1.2e-4
    heads: float = 6e-4
    seconds: float = math.inf  # the schedule is shortened where the steps would take longer
    teachers: tuple[Reader, ...] = ()
    trust: float = 0.6  # in the teachers, the rest in the labels


class Examples(IterableDataset[Prepared]):  # type: ignore[misc, unused-ignore]
    """Changed conversations without end, in another order for every worker."""

    def __init__(self, conversations: Sequence[Conversation], pieces: Path, seed: int) -> None:
        self._conversations, self._pieces, self._seed = conversations, pieces, seed

    def __iter__(self) -> Iterator[Prepared]:
        torch.set_num_threads(1)
        worker = get_worker_info()
        chance = random.Random(f"{self._seed} {worker.id if worker else 0}")
        marker = marker_of(self._pieces)
        augmenter = Augmenter(self._conversations)
        while True:
            order = list(self._conversations)
            chance.shuffle(order)
            for first in range(0, len(order), _SORTED):
                some = (augmenter.changed(it, chance) for it in order[first : first + _SORTED])
                ready = [prepared(marker, it) for it in some]
                # Talks of like size share a batch: little is filled up.
                ready.sort(key=lambda it: len(it.encoded.tokens))
                yield from (it for it in ready if len(it.encoded.arrays["ids"]) <= _MOST_WINDOWS)


def marker_of(pieces: Path) -> marks.Marker:
    """A marker with the pieces of a SentencePiece file."""
    import sentencepiece

    return marks.Marker(sentencepiece.SentencePieceProcessor(model_file=str(pieces)))


def train(reader: Reader, batches: Iterator[tuple[Batch, Batch]], course: Course) -> int:
    """The number of steps taken: those of the course, if there was time."""
    device = next(reader.parameters()).device
    body = [p for name, p in reader.named_parameters() if name.startswith(("layers", "pieces"))]
    known = {id(p) for p in body}
    heads = [p for p in reader.parameters() if id(p) not in known]
    optimizer = torch.optim.AdamW(
        [{"params": body, "top": course.body}, {"params": heads, "top": course.heads}],
        lr=course.body,
        weight_decay=0.02,
    )
    begun, mean, step, done = time.monotonic(), 0.0, 0, 0.0
    reader.train()
    while done < 1:
        pace = (
            min(1.0, (step + 1) / (_WARM_UP * course.steps)) * 0.5 * (1 + math.cos(math.pi * done))
        )
        for group in optimizer.param_groups:
            group["lr"] = group["top"] * pace
        source, target = next(batches)
        source = {name: it.to(device, non_blocking=True) for name, it in source.items()}
        target = {name: it.to(device, non_blocking=True) for name, it in target.items()}
        loss = _step_loss(reader, _with_gaps(source), target, course)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
        step += 1
        taken = time.monotonic() - begun
        done = max(step / course.steps, taken / course.seconds)
        if step % 50 == 1 or done >= 1:
            mean = float(loss.detach()) if step == 1 else 0.7 * mean + 0.3 * float(loss.detach())
        if step % 250 == 1 or done >= 1:
            print(f"step {step} loss {mean:.3f} {taken:.0f} s", flush=True)
    reader.eval()
    return step


def _with_gaps(source: Batch) -> Batch:
    ids = source["ids"]
    hidden = (torch.rand(ids.shape, device=ids.device) < _UNREAD) & (source["kinds"] == 0)
    hidden &= ids > marks.UNKNOWN
    return {**source, "ids": ids.masked_fill(hidden, marks.UNKNOWN)}


def _step_loss(reader: Reader, source: Batch, target: Batch, course: Course) -> Tensor:
    on_gpu = source["ids"].is_cuda
    with torch.autocast(source["ids"].device.type, torch.bfloat16, enabled=on_gpu):
        answers = _answers(reader, source, target)
        loss = label_loss(answers, target)
        if course.teachers:
            with torch.no_grad():
                told = [_answers(teacher, source, target) for teacher in course.teachers]
            taught = teacher_loss(answers, told, target)
            loss = (1 - course.trust) * loss + course.trust * taught
    return loss / len(target["action"])


def _answers(reader: Reader, source: Batch, target: Batch) -> Batch:
    """What the reader says, with titles of the right pairs."""
    found = reader(source)
    titled = target["titled"].clamp(min=0)
    pairs = found["pairs"].gather(1, titled[..., None].expand(-1, -1, found["pairs"].shape[-1]))
    lines = source["pair_line"].gather(1, titled)
    apart = source["token_line"][:, None, :] - lines[:, :, None]
    titles = reader.titles(pairs, found["tokens"], apart).float()
    titles = titles.masked_fill((source["token_at"] < 0)[:, None, :, None], _FAR)
    answers = {name: found[name].float() for name in ("create", "late", "action", "when", "day")}
    answers["when"] = answers["when"].masked_fill(~target["is_when"][:, None], _FAR)
    answers["day"] = answers["day"].masked_fill(~target["is_day"][:, None], _FAR)
    return {**answers, "first": titles[..., 0], "last": titles[..., 1]}


def label_loss(answers: Batch, target: Batch) -> Tensor:
    """How far the answers are from what is right, summed over talks."""
    counted = target["create"] >= 0
    truth = target["create"].clamp(min=0).float() * 0.96 + 0.02
    loss = F.binary_cross_entropy_with_logits(answers["create"], truth, reduction="none")
    total = (loss * counted).sum()
    timed = target["late"] >= 0
    late = F.binary_cross_entropy_with_logits(
        answers["late"], target["late"].clamp(min=0).float(), reduction="none"
    )
    total = total + 0.3 * (late * timed).sum()
    total = total + F.cross_entropy(
        answers["action"].flatten(0, 1),
        target["action"].flatten(),
        ignore_index=-1,
        reduction="sum",
        label_smoothing=0.02,
    )
    for name, weight in (("when", 0.7), ("day", 0.7), ("first", 0.8), ("last", 0.8)):
        total = total + weight * _any_of(answers[name], target[name]).sum()
    return total


def _any_of(scores: Tensor, right: Tensor) -> Tensor:
    """The cost of not choosing one of the right ones; nothing where none is right."""
    there = right.any(-1)
    chosen = scores.masked_fill(~right, -1e9).logsumexp(-1) - scores.logsumexp(-1)
    return torch.where(there, -chosen, torch.zeros_like(chosen))


def teacher_loss(answers: Batch, told: Sequence[Batch], target: Batch) -> Tensor:
    """How far the answers are from the mean of the teachers', summed over talks."""
    counted = target["create"] >= 0
    mean = torch.stack([torch.sigmoid(it["create"]) for it in told]).mean(0)
    loss = F.binary_cross_entropy_with_logits(answers["create"], mean, reduction="none")
    total = (loss * counted).sum()
    timed = target["late"] >= 0
    late = torch.stack([torch.sigmoid(it["late"]) for it in told]).mean(0)
    late = F.binary_cross_entropy_with_logits(answers["late"], late, reduction="none")
    total = total + 0.3 * (late * timed).sum()
    real = (target["action"] >= 0).float()
    total = total + (_soft(answers["action"], [it["action"] for it in told]) * real).sum()
    for name, weight in (("when", 0.7), ("day", 0.7), ("first", 0.8), ("last", 0.8)):
        there = target[name].any(-1).float()
        soft = _soft(answers[name], [it[name] for it in told])
        total = total + weight * (soft * there).sum()
    return total


def _soft(scores: Tensor, told: Sequence[Tensor]) -> Tensor:
    mean = torch.stack([it.softmax(-1) for it in told]).mean(0)
    return -(mean * scores.log_softmax(-1)).sum(-1)


def dev_loss(reader: Reader, conversations: Sequence[Conversation], pieces: Path) -> float:
    """The mean cost of the conversations as they stand."""
    marker, total = marker_of(pieces), 0.0
    device = next(reader.parameters()).device
    reader.eval()
    for first in range(0, len(conversations), 16):
        some = [prepared(marker, example(it)) for it in conversations[first : first + 16]]
        source, target = ({n: t.to(device) for n, t in it.items()} for it in collated(some))
        with torch.no_grad():
            total += float(label_loss(_answers(reader, source, target), target))
    return total / max(1, len(conversations))


def batches(
    conversations: Sequence[Conversation], pieces: Path, seed: int, talks: int, workers: int
) -> Iterator[tuple[Batch, Batch]]:
    """Batches without end."""
    loader = DataLoader(
        Examples(conversations, pieces, seed),
        batch_size=talks,
        num_workers=workers,
        collate_fn=collated,
        prefetch_factor=4 if workers else None,
    )
    return iter(loader)


def started(start: Path, name: str, vocabulary: int) -> Reader:
    """A reader whose encoder, or all of it, starts from stored weights."""
    from dataclasses import replace

    from training.reader.network import ENCODER

    reader = Reader(replace(ENCODER, vocabulary=vocabulary))
    reader.take(read_small(start / f"{name}.npz"))
    return reader


def main() -> None:
    """Trains one reader and writes its weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("conversations", "pieces", "start", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--from", dest="initial", default="base")
    parser.add_argument("--name", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--talks", type=int, default=16)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--share", type=float, default=1.0, help="of the conversations")
    parser.add_argument("--teachers", default="")
    asked = parser.parse_args()
    torch.manual_seed(asked.seed)
    torch.set_float32_matmul_precision("high")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    everything = list(read_conversations(asked.conversations.glob("*.jsonl")))
    chosen = [it for it in everything if not is_dev(it)]
    random.Random(asked.seed).shuffle(chosen)
    chosen = chosen[: round(asked.share * len(chosen))]
    import sentencepiece

    vocabulary = sentencepiece.SentencePieceProcessor(model_file=str(asked.pieces)).vocab_size() + 1
    reader = started(asked.start, asked.initial, vocabulary).to(device)
    teachers = []
    for name in filter(None, asked.teachers.split(",")):
        teacher = Reader(reader.shape).to(device)
        weights = read_parts(asked.out, name)
        teacher.load_state_dict({key: torch.from_numpy(it) for key, it in weights.items()})
        teachers.append(teacher.eval().requires_grad_(False))
    course = Course(asked.steps, asked.talks, seconds=asked.seconds, teachers=tuple(teachers))
    print(f"{asked.name}: {len(chosen)} conversations, {asked.steps} steps, {device}", flush=True)
    told = batches(chosen, asked.pieces, asked.seed, asked.talks, asked.workers)
    steps = train(reader, told, course)
    write_parts(
        {k: v.float().cpu().numpy() for k, v in reader.state_dict().items()}, asked.out, asked.name
    )
    loss = dev_loss(reader, [it for it in everything if is_dev(it)], asked.pieces)
    print(f"{asked.name}: cost of what was kept out of training {loss:.4f}", flush=True)
    facts = {"seed": asked.seed, "steps": steps, "conversations": len(chosen), "dev": loss}
    (asked.out / f"{asked.name}.json").write_text(json.dumps(facts))


if __name__ == "__main__":
    main()
