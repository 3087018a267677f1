"""Train networks on the windows, with or without earlier networks as teachers.

python -m training.train WINDOWS OUT teacher --pretrained minilm.npz --steps 3789 --parts 0.85,0.15
python -m training.train WINDOWS OUT language --pretrained smollm2.npz --teacher base.onnx
python -m training.train WINDOWS OUT base --teacher base.onnx,language.small.npz --steps 7000
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from training.batches import Batch, batches, made_up_batch, with_gaps
from training.finished import AnyNetwork, finished_network, started
from training.language import LanguageModel
from training.losses import HINT_LOSS, MARKS_LOSS, boundary_loss, hint_loss, marks_loss, target
from training.mean import READ_FIRST, RunningMean
from training.network import Network
from training.prepare import SEED
from training.recipes import RECIPES, Recipe
from training.shapes import LANGUAGE, SHAPES
from training.students import beginning
from training.weights import Arrays, has_parts, layer_count, read_parts, write_parts, write_small

STARTED = time.monotonic()
WARMUP = 200
TIMED_FROM, TIMED_EVERY, REPORTED_EVERY = 20, 100, 500
# The mean of a training covers the steps after this share of it, every so many steps.
MEAN_FROM, MEAN_EVERY = 0.3, 10
FRESH = ("widen.", "boundary.", "marks.", "hint.")


@dataclass(slots=True)
class Schedule:
    """The number of steps; with a deadline in seconds of this process, as many as fit."""

    steps: int
    deadline: float = math.inf
    timed_from: float = 0.0

    def note(self, step: int, now: float) -> None:
        """Shorten the schedule if not all its steps fit at the present pace."""
        if step == TIMED_FROM:
            self.timed_from = now
        elif self.deadline < math.inf:
            pace = (step - TIMED_FROM) / (now - self.timed_from)
            fit = step + max(0.0, self.deadline - now) * pace
            self.steps = int(min(self.steps, fit))

    def rate_at(self, step: int) -> float:
        """Return the learning rate as a share: a linear warm-up, then a cosine down to 0."""
        rise = min(1.0, (step + 1) / WARMUP)
        return rise * 0.5 * (1 + math.cos(math.pi * min(1, step / self.steps)))


def _fast(function: Any, device: str) -> Any:
    torch._dynamo.config.recompile_limit = 64  # one entry for each network and window length
    return torch.compile(function, dynamic=False) if device == "cuda" else function


def _fast_network(network: AnyNetwork, function: Any, device: str) -> Any:
    """Compile the function, or the layers of a language model one by one."""
    if not isinstance(network, LanguageModel):
        return _fast(function, device)
    if device == "cuda":
        network.compile_layers()
    return function


class Teacher:
    """Finished networks whose answers are averaged by their shares."""

    def __init__(
        self, networks: Sequence[AnyNetwork], shares: Sequence[float], device: str
    ) -> None:
        self.networks = [network.to(device) for network in networks]
        self.shares = shares
        self._ask = [_fast_network(network, self._answer, device) for network in networks]

    def __call__(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean probability of each token, and the hidden states of the first network."""
        with torch.no_grad():
            asked = zip(self._ask, self.networks, strict=True)
            answers = [ask(network, ids) for ask, network in asked]
            shares = zip(self.shares, answers, strict=True)
            return sum(share * said for share, (said, _) in shares), answers[0][1]

    @staticmethod
    def _answer(network: AnyNetwork, ids: Tensor) -> tuple[Tensor, Tensor]:
        hidden = network(ids)
        return torch.sigmoid(network.boundary(hidden)[..., 0].float()), hidden


class Student:
    """A network being trained, with its optimizer."""

    def __init__(
        self,
        name: str,
        network: AnyNetwork,
        recipe: Recipe,
        device: str,
        rate: float = 1.0,
    ) -> None:
        self.name, self.network, self.recipe = name, network.to(device).train(), recipe
        # A student as wide and deep as its teacher starts from its weights and needs no hint.
        self.hinted = recipe.shape not in ("base", "language")
        self.mean = RunningMean(network)
        self._run = _fast_network(network, self._loss, device)
        piece_rate = recipe.fresh_rate if recipe.piece_rate is None else recipe.piece_rate
        tops: dict[str | tuple[str, ...], float]
        tops = {FRESH: recipe.fresh_rate, READ_FIRST: piece_rate, "": recipe.body_rate}
        groups: dict[float, list[Tensor]] = {top: [] for top in tops.values()}
        for name_of, parameter in network.named_parameters():
            top = next(top for begins, top in tops.items() if name_of.startswith(begins))
            groups[top].append(parameter)
        self.optimizer = torch.optim.AdamW(
            [{"params": some, "top": top * rate} for top, some in groups.items()],
            betas=(0.9, 0.98),
            weight_decay=0.02,
            fused=device == "cuda",
        )

    def learn(
        self, batch: Batch, probabilities: Tensor | None, hint: Tensor | None, hint_share: Tensor
    ) -> Tensor:
        """Compute the loss on a batch and its gradient."""
        loss: Tensor = self._run(
            with_gaps(batch, self.recipe.unread), probabilities, hint, hint_share
        )
        loss.backward()
        return loss.detach()

    def _loss(
        self, batch: Batch, said: Tensor | None, hint: Tensor | None, hint_share: Tensor
    ) -> Tensor:
        wanted, weight = target(batch, said, self.recipe.taught)
        hidden = self.network(batch.ids)
        logits = self.network.boundary(hidden)[..., 0].float()
        loss = boundary_loss(logits, batch, wanted, weight)
        loss = loss + MARKS_LOSS * marks_loss(self.network, hidden, batch)
        if hint is not None:
            loss = loss + hint_share * hint_loss(self.network, hidden, hint)
        return loss

    def step(self, rate: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = group["top"] * rate
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)


def learn_together(
    students: Sequence[Student], teacher: Teacher | None, batch: Batch, hint_share: float
) -> list[Tensor]:
    """Let all students learn from a batch with the same answers of the teacher; return losses."""
    device = batch.ids.device.type
    share = torch.full((), hint_share, device=device)
    with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
        probabilities, hidden = teacher(batch.ids) if teacher else (None, None)
        return [
            student.learn(batch, probabilities, hidden if student.hinted else None, share)
            for student in students
        ]


def train(
    students: Sequence[Student],
    stream: Iterator[Batch],
    teacher: Teacher | None,
    schedule: Schedule,
    report: Callable[[str], None],
) -> int:
    """Train the networks in parallel on one stream; return the number of steps."""
    step = 0
    while step < schedule.steps and time.monotonic() - STARTED < schedule.deadline:
        hint_share = HINT_LOSS * (1 - step / schedule.steps)
        learning = [student for student in students if (step + 1) % student.recipe.every == 0]
        losses = learn_together(learning, teacher, next(stream), hint_share)
        for student in learning:
            student.step(schedule.rate_at(step))
            if step >= MEAN_FROM * schedule.steps and (step + 1) % MEAN_EVERY == 0:
                student.mean.add(student.network)
        step += 1
        if step == TIMED_FROM or step % TIMED_EVERY == 0:
            shown = ", ".join(f"{float(loss):.4f}" for loss in losses)  # waits for the device
            now = time.monotonic() - STARTED
            schedule.note(step, now)
            if step in (TIMED_FROM, TIMED_EVERY) or step % REPORTED_EVERY == 0:
                report(f"step {step} of {schedule.steps}: loss {shown}, {now:.0f} s")
    return step


def begun(name: str, start: Arrays, earlier: Path | None) -> AnyNetwork:
    """Initialise the named network from an earlier one of that name, or from `start`.

    `start` has the weights of MiniLM or SmolLM2 with our pieces, or those of a teacher.
    """
    recipe = RECIPES[name]
    torch.manual_seed(SEED)
    if recipe.shape == "language":
        model = LanguageModel(LANGUAGE, recipe.dropout)
        model.take(start)
        return model
    shape = SHAPES[recipe.shape]
    network = Network(shape, recipe.dropout, hint_width=start["pieces.weight"].shape[1])
    network.rounds_pieces = recipe.rounds_pieces
    if earlier and has_parts(earlier, name):
        network.take(read_parts(earlier, name))
    else:
        same = (layer_count(start), start["pieces.weight"].shape[1]) == (
            shape.layers,
            shape.embedding,
        )
        network.take(start if same else beginning(start, shape))
    return network


def finished(student: Student) -> Iterator[tuple[str, AnyNetwork]]:
    """Yield a student under its name, and the mean of its training under another name."""
    yield student.name, student.network
    if student.mean.count:
        yield f"{student.name}-mean", student.mean.network


def parsed() -> argparse.Namespace:
    """Read the command line; teachers and their shares become lists, and shares sum to 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("windows", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("names", help=f"from {', '.join(RECIPES)}, separated by commas")
    parser.add_argument(
        "--pretrained", type=Path, help="weights to begin with, if not the first teacher's"
    )
    parser.add_argument(
        "--teacher", help="finished networks, or base.onnx, to learn from, separated by commas"
    )
    parser.add_argument("--shares", help="how much each teacher counts; without, all the same")
    parser.add_argument("--earlier", type=Path, help="folder of networks to go on from")
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--rate", type=float, default=1.0, help="times the rates of the recipe")
    parser.add_argument("--deadline", type=float, default=math.inf, help="seconds from the start")
    parser.add_argument("--batch", type=int, default=128, help="windows of 508 tokens in a step")
    parser.add_argument("--repeats", type=int, default=1, help="how often a pass is drawn")
    parser.add_argument("--parts", default="1", help="shares of halves, quarters of windows")
    parser.add_argument("--seed", type=int, default=SEED, help="of the order of windows")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    if not options.pretrained and not options.teacher:
        parser.error("give --pretrained or --teacher, where the networks begin")
    options.teachers = [Path(path) for path in (options.teacher or "").split(",") if path]
    counted = [float(share) for share in (options.shares or "").split(",") if share]
    counted = counted or [1.0] * len(options.teachers)
    if len(counted) != len(options.teachers):
        parser.error(f"--shares: give one number a teacher, got {options.shares}")
    options.shares = [share / sum(counted) for share in counted]
    return options


def main() -> None:
    options = parsed()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.set_float32_matmul_precision("high")
    device = options.device
    networks = [finished_network(started(path)) for path in options.teachers]
    teacher = Teacher(networks, options.shares, device) if networks else None
    start_arrays = started(options.pretrained or options.teachers[0])
    students = [
        Student(
            name, begun(name, start_arrays, options.earlier), RECIPES[name], device, options.rate
        )
        for name in options.names.split(",")
    ]
    parts = [float(share) for share in options.parts.split(",")]
    learn_together(students, teacher, made_up_batch(options.batch, device), HINT_LOSS)
    for student in students:
        student.optimizer.zero_grad(set_to_none=True)
    steps = train(
        students,
        batches(options.windows, options.batch, parts, device, options.seed, options.repeats),
        teacher,
        Schedule(options.steps, options.deadline),
        lambda line: print(f"{options.names} {line}", flush=True),
    )
    for student in students:
        for name, network in finished(student):
            write_parts(network.finished(), options.out, name)
            write_small(network.finished(), options.out / f"{name}.small.npz")
    facts = {"names": options.names, "steps": steps, "batch": options.batch}
    (options.out / f"{students[0].name}.json").write_text(json.dumps(facts) + "\n")


if __name__ == "__main__":
    main()
