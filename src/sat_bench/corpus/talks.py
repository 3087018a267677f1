"""A talk: a text with the sentences that are true of it."""

from dataclasses import dataclass

from sat_bench.corpus.sentences import Sentence
from truemark.errors import TruemarkError


class CorpusError(TruemarkError):
    """A corpus that cannot be read: the file, what was found there and what was expected."""


@dataclass(frozen=True, slots=True)
class Talk:
    """One transcript; `id` is the name of its file without the ending."""

    id: str
    source: str
    speaker: str
    title: str
    text: str
    sentences: tuple[Sentence, ...]
    language: str = ""
    condition: str = ""  # what was done to the text, see conditions
    remarks: tuple[str, ...] = ()  # what its file holds that may be meant otherwise

    @property
    def boundaries(self) -> list[int]:
        """The true sentence ends, ascending."""
        return [sentence.end for sentence in self.sentences]
