"""A model watched at work: how long it takes, and on a terminal how far it is."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from sat_bench.corpus.talks import Talk
from sat_bench.models.protocol import AnyModel, BoundaryModel, tagged_answers, talk_answers

if TYPE_CHECKING:
    from rich.progress import Progress

    from sat_bench.models.boundaries import Probabilities


@dataclass(frozen=True, slots=True)
class Effort:
    """Seconds that a system took, its start aside, for so many characters."""

    seconds: float
    characters: int

    @property
    def characters_per_s(self) -> float:
        return self.characters / self.seconds if self.seconds > 0 else 0.0

    def __add__(self, other: Effort) -> Effort:
        return Effort(self.seconds + other.seconds, self.characters + other.characters)

    def shared(self, parts: Mapping[str, Effort]) -> dict[str, Effort]:
        """The seconds divided among the parts, by their own; by characters where one has none."""
        # Parts that ran side by side have more seconds of their own than went by.
        known = all(part.seconds > 0 for part in parts.values())
        weights = {name: part.seconds if known else part.characters for name, part in parts.items()}
        whole = sum(weights.values()) or 1
        return {
            name: Effort(self.seconds * weights[name] / whole, part.characters)
            for name, part in parts.items()
        }


NO_EFFORT = Effort(0.0, 0)


@dataclass(slots=True)
class Stopwatch:
    """Runs while a model works, and not while talks are read or answers are used."""

    seconds: float = 0.0
    characters: int = 0

    @property
    def effort(self) -> Effort:
        return Effort(self.seconds, self.characters)

    def answers(
        self, model: AnyModel, talks: Iterable[Talk]
    ) -> Iterator[tuple[Talk, Probabilities]]:
        """Each talk with its probabilities, in order."""
        found = talk_answers(model, self._read(talks))
        while True:
            begun = time.perf_counter()
            answer = next(found, None)
            self.seconds += time.perf_counter() - begun
            if answer is None:
                return
            self.characters += len(answer[0].text)
            yield answer

    def _read(self, talks: Iterable[Talk]) -> Iterator[Talk]:
        # The model asks for a talk while the watch runs, so the reading is taken off again.
        source = iter(talks)
        while True:
            begun = time.perf_counter()
            talk = next(source, None)
            self.seconds -= time.perf_counter() - begun
            if talk is None:
                return
            yield talk


class WatchedModel:
    """A model that tells the length of each text that it has answered for."""

    def __init__(self, model: BoundaryModel, done: Callable[[int], None]) -> None:
        self._model, self._done = model, done

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        """The probabilities of each text, in order."""
        for length, found in tagged_answers(self._model, ((text, len(text)) for text in texts)):
            self._done(length)
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
            bar = progress.add_task(
                name, total=self.characters, done=0, talks=self.talks, unit="characters"
            )
            done = 0

            def advance(characters: int) -> None:
                nonlocal done
                done += 1
                progress.update(bar, advance=characters, done=done)

            yield WatchedModel(model, advance)


def watch_reading(files: Sequence[Path]) -> Iterator[Path]:
    """The files, each of which moves a bar when the next one is asked for."""
    with _columns() as progress:
        bar = progress.add_task("reading", total=len(files), done=0, talks=len(files), unit="talks")
        for number, file in enumerate(files, 1):
            yield file
            progress.update(bar, completed=number, done=number)


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
            facts = task.fields
            pace = _pace(task.completed, task.total or 0, task.elapsed or 0, facts["unit"])
            return Text(f"{facts['done']}/{facts['talks']} talks{pace}")

    return Progress(Name(), BarColumn(), Facts(), console=Console(stderr=True), transient=True)


def _pace(done: float, total: float, elapsed_s: float, unit: str) -> str:
    """Speed and time left, as far as the time since the start can tell."""
    # Not the speed of late: talks are done some at a time, with nothing in between.
    if not done or not elapsed_s:
        return ""
    per_s = done / elapsed_s
    left = timedelta(seconds=round((total - done) / per_s))
    return f", {per_s:,.0f} {unit}/s, {left} left"
