"""The interface of systems under test: they answer a text with probabilities of sentence ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sat_bench.corpus.talks import Talk
from truemark.errors import TruemarkError

IntArray = NDArray[np.int32]
FloatArray = NDArray[np.float32]

CERTAIN = inf  # above every threshold, 1 included
PER = 1_000
_LEAST_OF_ONE_DECIMAL = 0.05


class ModelError(TruemarkError):
    """Raised for a system that cannot be found or used; the message says what to do."""


class ModelNotFound(ModelError):  # noqa: N818
    """Raised if there is no model under a name."""


class InvalidModel(ModelError):  # noqa: N818
    """Raised for a file that is no SaT model."""


class TokenizerError(ModelError):
    """Raised for a tokenizer that cannot be found or read."""


def shown_rate(rate: float) -> str:
    """Write a rate with one decimal, or with more if it would look like 0."""
    return f"{rate:.1f}" if rate >= _LEAST_OF_ONE_DECIMAL or not rate else f"{rate:.1g}"


@dataclass(frozen=True, slots=True)
class Loss:
    """How many characters other than white space a system changed, deleted and invented.

    `characters` counts those of the texts, for systems that return sentences.
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

    @property
    def rates(self) -> tuple[float, float, float]:
        """Changed, deleted and invented characters per 1,000 of the texts."""
        scale = PER / max(1, self.characters)
        return self.changed * scale, self.deleted * scale, self.invented * scale

    def __str__(self) -> str:
        changed, deleted, invented = self.rates
        return (
            f"{shown_rate(changed)} changed, {shown_rate(deleted)} deleted, "
            f"{shown_rate(invented)} invented "
            f"per {PER:,} characters"
        )


NO_LOSS = Loss()


@dataclass(frozen=True, slots=True)
class Probabilities:
    """The end offset of each token of a text, and the probability that a sentence ends there.

    A system without probabilities gives its sentence ends, with `CERTAIN` for each; `loss` counts
    what it changed in the text. `seconds` is how long the system worked on the text, if that was
    measured; `replayed` says that the answer is from an earlier run.
    """

    ends: IntArray
    values: FloatArray
    loss: Loss = NO_LOSS
    seconds: float | None = None
    replayed: bool = False


def certain_ends(ends: Iterable[int], loss: Loss = NO_LOSS) -> Probabilities:
    """Make the answer of a system without probabilities from its ascending sentence ends."""
    places = np.fromiter(ends, np.int32)
    return Probabilities(places, np.full(len(places), CERTAIN, np.float32), loss)


@runtime_checkable
class BoundaryModel(Protocol):
    """Anything that returns boundary probabilities for texts, such as a Segmenter."""

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        """Yield the probabilities of each text, in order."""


Read = Callable[[Iterable[Talk]], Iterator[tuple[Talk, Probabilities]]]
"""Yields each talk with the answer of a system, in order; it may read a few talks ahead."""
