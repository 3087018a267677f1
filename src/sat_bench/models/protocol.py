"""What every system under test can do: answer a text with probabilities of sentence ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    """A system that cannot be found or used; the message says what to do."""


class ModelNotFound(ModelError):  # noqa: N818
    """A model that is not where its name says."""


class InvalidModel(ModelError):  # noqa: N818
    """A file that is no SaT model."""


class TokenizerError(ModelError):
    """A tokenizer that cannot be found or read."""


def shown_rate(rate: float) -> str:
    """Write a rate with one decimal, or with as many as it takes not to look like none."""
    return f"{rate:.1f}" if rate >= _LEAST_OF_ONE_DECIMAL or not rate else f"{rate:.1g}"


@dataclass(frozen=True, slots=True)
class Loss:
    """How many characters other than white space a system changed, deleted and invented.

    `characters` is how many there were, in the texts of systems that return sentences.
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
    """For each token of a text its end offset and the probability that a sentence ends there.

    A system that only says where sentences end gives those places, and `CERTAIN` for each; `loss`
    counts what it changed in the text. `seconds` is how long the system worked on the text, where
    that was measured; `replayed` says that it did so in an earlier run.
    """

    ends: IntArray
    values: FloatArray
    loss: Loss = NO_LOSS
    seconds: float | None = None
    replayed: bool = False


def certain_ends(ends: Iterable[int], loss: Loss = NO_LOSS) -> Probabilities:
    """Make the answer of a system without probabilities from its sentence ends, ascending."""
    places = np.fromiter(ends, np.int32)
    return Probabilities(places, np.full(len(places), CERTAIN, np.float32), loss)


@runtime_checkable
class BoundaryModel(Protocol):
    """Anything that returns boundary probabilities for texts, such as a Segmenter."""

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        """Give the probabilities of each text, in order."""


@runtime_checkable
class TalkModel(Protocol):
    """A model that needs the talk and not only its text, such as predictions on file."""

    def probabilities_of(self, talk: Talk) -> Probabilities:
        """Give the probabilities of the talk's text."""


AnyModel = BoundaryModel | TalkModel
