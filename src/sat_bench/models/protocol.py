"""What every system under test can do, and how far its answers may differ from the text."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from sat_bench.corpus.talks import Talk

if TYPE_CHECKING:
    from sat_bench.models.boundaries import Probabilities

CERTAIN = inf  # above every threshold, 1 included
PER = 1_000
Tag = TypeVar("Tag")


@runtime_checkable
class BoundaryModel(Protocol):
    """What is measured: anything that gives boundary probabilities, such as a Segmenter."""

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        """The probabilities of each text, in order."""


@runtime_checkable
class TalkModel(Protocol):
    """A model that goes by the talk and not by its text alone, such as predictions on file."""

    def probabilities_of(self, talk: Talk) -> Probabilities:
        """The probabilities of the talk's text."""


AnyModel = BoundaryModel | TalkModel


def tagged_answers(
    model: BoundaryModel, texts: Iterable[tuple[str, Tag]]
) -> Iterator[tuple[Tag, Probabilities]]:
    """What comes with each text, and the text's probabilities, in order."""
    # The model reads a few texts ahead of the one it answers for.
    waiting: deque[Tag] = deque()

    def read() -> Iterator[str]:
        for text, tag in texts:
            waiting.append(tag)
            yield text

    for probabilities in model.probabilities_many(read()):
        yield waiting.popleft(), probabilities


def talk_answers(model: AnyModel, talks: Iterable[Talk]) -> Iterator[tuple[Talk, Probabilities]]:
    """Each talk with its probabilities, in order."""
    if isinstance(model, TalkModel):
        return ((talk, model.probabilities_of(talk)) for talk in talks)
    return tagged_answers(model, ((talk.text, talk) for talk in talks))


@dataclass(frozen=True, slots=True)
class Loss:
    """Characters other than white space that a system changed, deleted and invented.

    `characters` is how many there were, in the texts of systems that return texts.
    """

    changed: int = 0
    deleted: int = 0
    invented: int = 0
    characters: int = 0

    def __add__(self, other: Loss) -> Loss:
        return Loss(
            self.changed + other.changed,
            self.deleted + other.deleted,
            self.invented + other.invented,
            self.characters + other.characters,
        )

    def __bool__(self) -> bool:
        return bool(self.changed or self.deleted or self.invented)

    @property
    def rates(self) -> tuple[float, float, float]:
        """Changed, deleted and invented characters per 1,000 of the texts."""
        scale = PER / max(1, self.characters)
        return self.changed * scale, self.deleted * scale, self.invented * scale

    def __str__(self) -> str:
        changed, deleted, invented = self.rates
        return (
            f"{changed:.1f} changed, {deleted:.1f} deleted, {invented:.1f} invented "
            f"per {PER:,} characters"
        )


NO_LOSS = Loss()


def total_loss(losses: Iterable[Loss]) -> Loss:
    """The losses of all texts together."""
    return sum(losses, NO_LOSS)
