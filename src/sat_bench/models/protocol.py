"""What every system under test can do, and how its answers are told apart."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from sat_bench.corpus.talks import Talk
from sat_bench.models.finding import ModelError
from truemark.errors import TruemarkError
from truemark.text import one_line

if TYPE_CHECKING:
    from sat_bench.models.boundaries import Probabilities

LEAST_KEPT = 0.2
Tag = TypeVar("Tag")
# What a system makes of a text; `answers.read_answer` says which forms are good.
Split = Callable[[str], object]


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


@dataclass(frozen=True, slots=True)
class TextSystem:
    """A system that reads one text after the other: a library, a callable, a program.

    `start` gives its function for as long as the block lasts; `identity` names what its answers
    depend on. Of the characters of a text at least the share `least_kept` must be found again in an
    answer, or the answer is taken for garbage.
    """

    name: str
    identity: tuple[tuple[str, str], ...]
    start: Callable[[], AbstractContextManager[Split]]
    threshold: float | None = None
    least_kept: float = LEAST_KEPT

    @contextmanager
    def opened(self) -> Iterator[TextModel]:
        """The system, started."""
        with ExitStack() as stack:
            try:
                split = stack.enter_context(self.start())
            except TruemarkError as error:
                raise ModelError(f"{self.name}: {error}") from error
            except Exception as error:
                raise ModelError(f"{self.name}: does not start: {_said(error)}") from error
            yield TextModel(self, split)


@dataclass(frozen=True, slots=True)
class TextModel:
    """The started system, which answers text by text."""

    system: TextSystem
    split: Split

    def probabilities_many(self, texts: Iterable[str]) -> Iterator[Probabilities]:
        """The answer to each text, in order."""
        return map(self.probabilities, texts)

    def probabilities(self, text: str) -> Probabilities:
        """The answer to one text; what goes wrong in the system is an error of one line."""
        from sat_bench.models.answers import AnswerError, read_answer

        try:
            answer = self.split(text)
        except TruemarkError as error:
            raise ModelError(f"{self.system.name}: {error}") from error
        except Exception as error:
            raise ModelError(
                f"{self.system.name}: fails on a text of {len(text):,} characters: {_said(error)}"
            ) from error
        try:
            return read_answer(text, answer, self.system.least_kept)
        except AnswerError as error:
            raise ModelError(f"{self.system.name}: {error}") from error


def _said(error: Exception) -> str:
    return one_line(f"{type(error).__name__}: {error}".rstrip(": "))


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
