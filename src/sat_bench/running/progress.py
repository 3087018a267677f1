"""Progress bars on a terminal, for reading talks and for the answers of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sat_bench.corpus.talks import Talk
from sat_bench.models.protocol import Probabilities, Read

if TYPE_CHECKING:
    from rich.progress import Progress


_LONGEST_NAME = 24  # characters


@contextmanager
def watch_answers(talks: int, characters: int, name: str, read: Read) -> Iterator[Read]:
    """Show a bar that advances with each talk that is answered; remove it at the end."""
    with _progress() as progress:
        end = name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME :]}"
        bar = progress.add_task(end, total=characters, done=0, talks=talks, unit="characters")
        done = 0

        def advance(answered: int) -> None:
            nonlocal done
            done += 1
            progress.update(bar, advance=answered, done=done)

        yield partial(watched, read, advance)


def watched(
    read: Read, done: Callable[[int], None], talks: Iterable[Talk]
) -> Iterator[tuple[Talk, Probabilities]]:
    """Read the talks, and report the length of each as it is answered."""
    for talk, probabilities in read(talks):
        done(len(talk.text))
        yield talk, probabilities


def watch_reading(files: Sequence[Path]) -> Iterator[Path]:
    """Yield the files in order, and show on a bar how many have been read."""
    with _progress() as progress:
        bar = progress.add_task("reading", total=len(files), done=0, talks=len(files), unit="talks")
        for number, file in enumerate(files, 1):
            yield file
            progress.update(bar, completed=number, done=number)


def _progress() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.table import Column
    from rich.text import Text

    class Pace(ProgressColumn):
        """Shows talks done, characters per second and time left."""

        def render(self, task: Task) -> Text:
            facts = task.fields
            pace = _pace(task.completed, task.total or 0, task.elapsed or 0, facts["unit"])
            return Text(f"{facts['done']}/{facts['talks']} talks{pace}")

    # A bar of more than one line flickers, so the name is cut and the bar itself shrinks.
    return Progress(
        # Brackets in a name are not markup.
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True)),
        BarColumn(bar_width=None, table_column=Column(ratio=1)),
        Pace(Column(no_wrap=True)),
        console=Console(stderr=True),
        transient=True,
        expand=True,
    )


def _pace(done: float, total: float, elapsed_s: float, unit: str) -> str:
    """Estimate speed and time left from everything since the start."""
    # The latest speed would jump: talks are finished several at a time, with pauses in between.
    if not done or not elapsed_s:
        return ""
    per_s = done / elapsed_s
    left = timedelta(seconds=round((total - done) / per_s))
    return f", {per_s:,.0f} {unit}/s, {left} left"
