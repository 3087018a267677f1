"""How long a system took for its answers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sat_bench.corpus.talks import Talk
from sat_bench.models.protocol import AnyModel, talk_answers

if TYPE_CHECKING:
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
