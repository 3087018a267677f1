"""How far an evaluation is, shown on a terminal while it runs."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from sat_bench.inference import BoundaryModel

if TYPE_CHECKING:
    from rich.progress import Progress

    from sat_bench.boundaries import Probabilities


class WatchedModel:
    """A model that tells the length of each text that it has answered for."""

    def __init__(self, model: BoundaryModel, done: Callable[[int], None]) -> None:
        self._model, self._done = model, done

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        """The probabilities of each text, in order."""
        lengths: deque[int] = deque()

        def read() -> Iterator[str]:
            for text in texts:
                lengths.append(len(text))
                yield text

        for found in self._model.probabilities_many(read()):
            self._done(lengths.popleft())
            yield found


@dataclass(frozen=True, slots=True)
class ProgressBar:
    """A bar on standard error for a corpus of so many talks and characters."""

    talks: int
    characters: int

    @contextmanager
    def watch(self, name: str, model: BoundaryModel) -> Iterator[BoundaryModel]:
        """The model, each of its talks moving the bar; the bar is gone afterwards."""
        with _columns() as progress:
            bar = progress.add_task(name, total=self.characters, done=0, talks=self.talks)
            done = 0

            def advance(characters: int) -> None:
                nonlocal done
                done += 1
                progress.update(bar, advance=characters, done=done)

            yield WatchedModel(model, advance)


def on_a_terminal() -> bool:
    """Whether standard error is a terminal that can redraw a line."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _columns() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task
    from rich.text import Text

    class Name(ProgressColumn):
        """The model's name to the letter: its brackets are not markup."""

        def render(self, task: Task) -> Text:
            return Text(task.description)

    class Facts(ProgressColumn):
        """Talks done, characters per second and time left."""

        def render(self, task: Task) -> Text:
            done, talks = task.fields["done"], task.fields["talks"]
            return Text(f"{done}/{talks} talks{_pace(task.speed, task.time_remaining)}")

    return Progress(Name(), BarColumn(), Facts(), console=Console(stderr=True), transient=True)


def _pace(characters_per_s: float | None, left_s: float | None) -> str:
    """What is known of speed and time left: nothing before the first talk is done."""
    if not characters_per_s or left_s is None:
        return ""
    return f", {characters_per_s:,.0f} characters/s, {timedelta(seconds=int(left_s))} left"
