"""What every model that is measured can do, and how its answers are told apart."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from sat_bench.models.boundaries import Probabilities

Tag = TypeVar("Tag")


class BoundaryModel(Protocol):
    """What is measured: anything that gives boundary probabilities, such as a Segmenter."""

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        """The probabilities of each text, in order."""


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
