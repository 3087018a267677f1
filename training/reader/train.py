"""Train readers: one alone, several that teach each other, or one with a finished teacher.

python -m training.reader.train CONVERSATIONS PIECES START OUT --names a,b --steps 5000
python -m training.reader.train … --names reader,teacher --from shipped,mpnet --body 2e-4,1e-4 \
    --trust 0.6,0
python -m training.reader.train … --names reader --from shipped --teacher OUT/teacher
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from cal_ai.extractors.reader import marks
from cal_ai.extractors.reader.decide import KEEP
from cal_ai.extractors.reader.titles import NOT_SPOKEN
from training.reader.augment import Augmenter
from training.reader.batches import LOOKED, Prepared, collated, prepared
from training.reader.conversations import Conversation, is_dev, read_conversations
from training.reader.labels import example
from training.reader.losses import label_losses, teacher_losses, total
from training.reader.network import ENCODER, LONGEST_TITLE, TEACHER, Batch, Reader
from training.weights import read_network, write_parts

_WARM_UP, _MOST_WARM_UP = 0.05, 100  # as a share of the course, and in steps
_UNREAD = 0.06  # share of tokens that are hidden
_SORTED = 512  # examples that are sorted by size together
_MOST_WINDOWS = 12
_NEVER = -1e4
_LOOKS = 2.6  # second looks per talk, about as many as readers ask for
_KNOWS = 0.2  # share of the course after which readers learn from each other with full weight
BatchPair = tuple[Batch, Batch]


@dataclass(frozen=True, slots=True)
class Course:
    """The schedule of a training; `body` and `trust` have a value for each reader."""

    steps: int
    body: Sequence[float]
    trust: Sequence[float]  # weight of the teacher or the other readers against the labels
    heads: float = 1e-3
    seconds: float = math.inf  # shortens the schedule if the steps would take longer


class Examples(IterableDataset[BatchPair]):  # type: ignore[misc, unused-ignore]
    """An endless stream of batches of augmented conversations, different for every worker.

    A batch has about `tokens` tokens with its second looks, so that long talks fit into memory and
    short ones keep the GPU busy.
    """

    def __init__(self, augmenter: Augmenter, pieces: Path, seed: int, tokens: int) -> None:
        self._augmenter, self._pieces, self._seed = augmenter, pieces, seed
        self._tokens = tokens

    def __iter__(self) -> Iterator[BatchPair]:
        worker = get_worker_info()
        if worker:
            torch.set_num_threads(1)
        chance = random.Random(f"{self._seed} {worker.id if worker else 0}")
        marker, changed = marker_of(self._pieces), self._augmenter.changed
        while True:
            order = list(self._augmenter.pool)
            chance.shuffle(order)
            for first in range(0, len(order), _SORTED):
                some = (changed(talk, chance) for talk in order[first : first + _SORTED])
                ready = [prepared(marker, changed_talk, chance) for changed_talk in some]
                groups = grouped([t for t in ready if _windows(t) <= _MOST_WINDOWS], self._tokens)
                chance.shuffle(groups)
                yield from map(collated, groups)


def grouped(talks: Sequence[Prepared], tokens: int) -> list[list[Prepared]]:
    """Group talks of similar size, so that little padding is needed, with few tokens in each."""
    groups: list[list[Prepared]] = []
    size = math.inf
    for talk in sorted(talks, key=lambda talk: talk.arrays["ids"].shape[1]):
        # All windows of a group are as long as the longest, which is that of the latest talk.
        added = _windows(talk) + _LOOKS
        if (size + added) * talk.arrays["ids"].shape[1] > tokens:
            groups.append([])
            size = 0.0
        groups[-1].append(talk)
        size += added
    return groups


def _windows(talk: Prepared) -> int:
    return len(talk.arrays["ids"])


def marker_of(pieces: Path) -> marks.Marker:
    """Make a marker with the pieces of a SentencePiece file."""
    import sentencepiece

    return marks.Marker(sentencepiece.SentencePieceProcessor(model_file=str(pieces)))


class _Learner:
    """A reader with its optimizer."""

    def __init__(self, reader: Reader, body_rate: float, heads_rate: float) -> None:
        self.reader = reader.train()
        named = list(reader.named_parameters())
        body = [p for name, p in named if name.startswith(("layers", "pieces"))]
        heads = [p for name, p in named if not name.startswith(("layers", "pieces"))]
        self._optimizer = torch.optim.AdamW(
            [{"params": body, "top": body_rate}, {"params": heads, "top": heads_rate}],
            lr=body_rate,
            weight_decay=0.02,
            fused=next(reader.parameters()).is_cuda,
        )
        self.mean = 0.0

    def learn(self, loss: Tensor, pace: float, *, heard: bool) -> None:
        """Take one optimizer step; with `heard`, update the running mean of the loss."""
        for group in self._optimizer.param_groups:
            group["lr"] = group["top"] * pace
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.reader.parameters(), 1.0)
        self._optimizer.step()
        if heard:
            current = float(loss.detach())
            self.mean = 0.7 * self.mean + 0.3 * current if self.mean else current


def train(
    readers: Sequence[Reader],
    batches: Iterator[BatchPair],
    course: Course,
    teacher: Reader | None = None,
) -> int:
    """Train the readers and return the number of steps, which is lower if time ran out.

    Readers learn from the labels and from the teacher; without a teacher they learn from each
    other, with a weight that grows from 0.
    """
    learners = [
        _Learner(reader, rate, course.heads)
        for reader, rate in zip(readers, course.body, strict=True)
    ]
    warm_up = min(_MOST_WARM_UP, _WARM_UP * course.steps)
    begun, step, done, waited = time.monotonic(), 0, 0.0, 0.0
    while done < 1:
        pace = min(1.0, (step + 1) / warm_up)
        pace *= 0.5 * (1 + math.cos(math.pi * done))
        weight = 1.0 if teacher else min(1.0, done / _KNOWS)
        trust = [share * weight for share in course.trust]
        asked = time.monotonic()
        source, target = next(batches)
        waited += time.monotonic() - asked
        costs = _costs(readers, source, target, trust, teacher)
        for learner, loss in zip(learners, costs, strict=True):
            learner.learn(loss / len(target["action"]), pace, heard=step % 50 == 0)
        step += 1
        taken = time.monotonic() - begun
        done = max(step / course.steps, taken / course.seconds)
        if step % 250 == 1 or done >= 1:
            means = " ".join(f"{learner.mean:.3f}" for learner in learners)
            print(f"step {step} loss {means} {taken:.0f} s, {waited:.0f} for batches", flush=True)
    for learner in learners:
        learner.reader.eval()
    return step


def _costs(
    readers: Sequence[Reader],
    source: Batch,
    target: Batch,
    trust: Sequence[float],
    teacher: Reader | None = None,
) -> list[Tensor]:
    """Return the loss of each reader, a mix of its losses against labels and teachers."""
    device = next(readers[0].parameters()).device
    source, target = _moved(source, device), _moved(target, device)
    answers, target = answered(readers, source, target, teacher)
    taught = answers.pop() if teacher else None
    costs = []
    for place, answer in enumerate(answers):
        loss = total(label_losses(answer, target))
        others = [_detached(other) for number, other in enumerate(answers) if number != place]
        if trust[place] and (taught or others):
            teachers = [taught] if taught else others
            taught_loss = total(teacher_losses(answer, teachers, target))
            loss = (1 - trust[place]) * loss + trust[place] * taught_loss
        costs.append(loss)
    return costs


def _detached(answers: Batch) -> Batch:
    return {name: values.detach() for name, values in answers.items()}


def _moved(batch: Batch, device: torch.device) -> Batch:
    return {name: values.to(device, non_blocking=True) for name, values in batch.items()}


def _with_gaps(source: Batch) -> Batch:
    ids = source["ids"]
    hidden = (torch.rand(ids.shape, device=ids.device) < _UNREAD) & (source["kinds"] == 0)
    hidden &= ids > marks.UNKNOWN
    return {**source, "ids": ids.masked_fill(hidden, marks.UNKNOWN)}


def answered(
    readers: Sequence[Reader], source: Batch, target: Batch, teacher: Reader | None = None
) -> tuple[list[Batch], Batch]:
    """Return the answers of the readers, the teacher's last, and the target.

    The candidates that the readers find likeliest get a second look. In training, some words are
    hidden from the readers, and some less likely candidates get a second look too.
    """
    learn = readers[0].training
    # Without a cache: inside another `autocast`, weights would be rounded once for all steps.
    device, in_half = source["ids"].device.type, readers[0].in_half
    with torch.autocast(device, torch.bfloat16, enabled=in_half, cache_enabled=False):
        firsts = [_first(reader, _with_gaps(source) if learn else source) for reader in readers]
        looks = _likely(firsts, target, chance=learn)
        target = {
            name: values[looks] if name in LOOKED else values for name, values in target.items()
        }
        again = {name: source[name][target["window"]] for name in marks.CHANNELS}
        again["focus"] = target["focus"].long()
        within = within_lines(target["lines"])
        answers = [
            first | _second(reader, _with_gaps(again) if learn else again, within)
            for reader, first in zip(readers, firsts, strict=True)
        ]
        if teacher:
            with torch.no_grad():
                answers.append(_first(teacher, source) | _second(teacher, again, within))
    return answers, target


def _first(reader: Reader, source: Batch) -> Batch:
    return _float(reader.proposed(source, reader.encode(source)))


def _second(reader: Reader, source: Batch, within: Tensor) -> Batch:
    answers = _float(reader.looked(reader.encode(source), source["focus"]))
    # Padding is no word, and no title spans two lines.
    answers["words"].masked_fill_((source["ids"] == marks.PAD)[:, None], _NEVER)
    answers["titles"].masked_fill_(~within, _NEVER)
    return answers


def within_lines(lines: Tensor) -> Tensor:
    """Tell for each length and first token whether such a title stays within a line."""
    longest = LONGEST_TITLE
    after = torch.nn.functional.pad(lines, (0, longest), value=NOT_SPOKEN)
    ends = torch.stack([after[:, n : n + lines.shape[1]] for n in range(longest)], 1)
    return (ends == lines[:, None]) & (lines != NOT_SPOKEN)[:, None]


def _float(answers: Batch) -> Batch:
    return {name: values.float() for name, values in answers.items()}


def _likely(firsts: Sequence[Batch], target: Batch, *, chance: bool) -> Tensor:
    """Choose the second looks: those that are right, then those that readers find likeliest."""
    talk, place, is_pair = target["talk"], target["place"], target["is_pair"]
    likely = torch.zeros(len(talk), device=talk.device)
    for first in firsts:
        create, action = first["create"].detach(), first["action"].detach()
        new = torch.sigmoid(create[talk, place.clamp(max=create.shape[1] - 1)])
        kept = action.softmax(-1)[talk, place.clamp(max=action.shape[1] - 1), KEEP]
        likely += torch.where(is_pair, new, 1 - kept) / len(firsts)
    score = likely.logit(1e-4)
    if chance:
        score += torch.rand_like(score).logit(1e-4)
    score += 100.0 * (target["right"] > 0)
    return score.topk(min(len(score), round(_LOOKS * len(target["action"])))).indices


def dev_losses(
    reader: Reader, conversations: Sequence[Conversation], pieces: Path
) -> dict[str, float]:
    """Return the mean loss on the unchanged conversations, by part."""
    marker, sums, chance = marker_of(pieces), Counter[str](), random.Random(1)
    device = next(reader.parameters()).device
    reader.eval()
    for first in range(0, len(conversations), 16):
        some = [
            prepared(marker, example(talk), chance) for talk in conversations[first : first + 16]
        ]
        source, target = (_moved(batch, device) for batch in collated(some))
        with torch.no_grad():
            answers, target = answered([reader], source, target)
            losses = label_losses(answers[0], target)
        sums.update({name: float(loss) for name, loss in losses.items()})
    return {name: cost / max(1, len(conversations)) for name, cost in sums.items()}


def batches(
    conversations: Sequence[Conversation],
    pieces: Path,
    seed: int,
    tokens: int,
    workers: int,
) -> Iterator[BatchPair]:
    """Return an endless stream of batches."""
    augmenter = Augmenter(conversations)
    if workers > 1:
        augmenter.prepare(workers)
    loader = DataLoader(
        Examples(augmenter, pieces, seed, tokens),
        batch_size=None,
        num_workers=workers,
        prefetch_factor=4 if workers else None,
    )
    return iter(loader)


def started(start: Path, name: str) -> Reader:
    """Make a reader that starts from stored weights, of its encoder or of all of it."""
    small = start / f"{name}.npz"
    arrays = read_network(small if small.is_file() else start / name)
    vocabulary, width = arrays["pieces.weight"].shape
    shape = TEACHER if width == TEACHER.width else ENCODER
    reader = Reader(
        replace(shape, vocabulary=vocabulary), sees_distance="distances.weight" in arrays
    )
    reader.take(arrays)
    return reader


def compile_layers(reader: Reader) -> None:
    """Compile the layers, which consist of many small operations."""
    for layer in reader.layers:
        layer.compile(dynamic=True)


def for_each(listed: str, names: Sequence[str]) -> list[str]:
    """Split a list of values, one for each name; a single value is for all names."""
    values = listed.split(",")
    return values * len(names) if len(values) == 1 else values


def main() -> None:
    """Train readers and write their weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("conversations", "pieces", "start", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--from", dest="initial", default="minilm", help="one, or one for each")
    parser.add_argument("--names", required=True)
    parser.add_argument("--teacher", type=Path, help="a finished reader, as FOLDER/NAME")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--body", default="2.5e-4", help="learning rate; one, or one for each")
    parser.add_argument("--heads", type=float, default=1e-3, help="learning rate of all else")
    parser.add_argument("--trust", default="0.4", help="in teachers; one, or one for each")
    parser.add_argument("--tokens", type=int, default=72_000, help="in a batch, about")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument(
        "--half", action="store_true", help="bfloat16 without a GPU, for processors that have it"
    )
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options.seed)
    torch.set_float32_matmul_precision("high")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    everything = list(read_conversations(options.conversations.glob("*.jsonl")))
    chosen = [talk for talk in everything if not is_dev(talk)]
    names = options.names.split(",")
    stream = batches(chosen, options.pieces, options.seed, options.tokens, options.workers)
    readers = [
        started(options.start, start).to(device) for start in for_each(options.initial, names)
    ]
    teacher = None
    if options.teacher:
        teacher = started(options.teacher.parent, options.teacher.name).to(device).eval()
    for reader in (*readers, *([teacher] if teacher else ())):
        reader.in_half = options.half or device == "cuda"
        if device == "cuda":
            compile_layers(reader)
    body, trust = (
        [float(value) for value in for_each(x, names)] for x in (options.body, options.trust)
    )
    course = Course(options.steps, body, trust, options.heads, options.seconds)
    print(
        f"{options.names}: {len(chosen)} conversations, {options.steps} steps, {device}", flush=True
    )
    steps = train(readers, stream, course, teacher)
    for name, reader in zip(names, readers, strict=True):
        state = {k: v.float().cpu().numpy() for k, v in reader.state_dict().items()}
        write_parts(state, options.out, name)
        parts = dev_losses(reader, [talk for talk in everything if is_dev(talk)], options.pieces)
        cost = sum(parts.values())
        parts_text = " ".join(f"{part} {value:.3f}" for part, value in parts.items())
        print(f"{name}: cost of what was kept out {cost:.4f}: {parts_text}", flush=True)
        facts = {"seed": options.seed, "steps": steps, "dev": cost}
        (options.out / f"{name}.json").write_text(json.dumps(facts))


if __name__ == "__main__":
    main()
