"""Windows and languages of a model, from its card or from its file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sat_bench.corpus.talks import Talk
from sat_bench.defaults import DEFAULT_WEIGHTING, WINDOW_TOKENS, Weighting
from truemark.errors import TruemarkError
from truemark.files import open_regular, read_text
from truemark.languages import language_code, language_name, language_outside

MARKS = 2  # <s> before and </s> after a window
# RoBERTa reserves two rows of its position table: 514 rows are 512 positions.
ROWS_ALIGNED = 8
# Enough: eight times the work moves F1 by less than 0.002 either way.
SHARED_PART = 8
WORLD = "world"


@dataclass(frozen=True, slots=True)
class Windowing:
    """The size of windows in tokens, their overlap, and how overlapping windows are weighted."""

    window: int = WINDOW_TOKENS
    overlap: int = round(WINDOW_TOKENS / SHARED_PART)
    weighting: Weighting = DEFAULT_WEIGHTING

    def with_overlap(
        self, overlap: int | None, weighting: Weighting = DEFAULT_WEIGHTING
    ) -> Windowing:
        """Return the same window with this weighting, and this overlap unless it is None."""
        overlap = self.overlap if overlap is None else overlap
        if overlap >= self.window:
            raise TruemarkError(
                f"an overlap of {overlap} tokens is too long for this model, which reads "
                f"{self.window} at a time: give at most {self.window - 1}"
            )
        return Windowing(self.window, overlap, weighting)


@dataclass(frozen=True, slots=True)
class Card:
    """The settings that a model is run with; the tokenizer is a file beside the card."""

    threshold: float
    tokenizer: str
    windowing: Windowing
    languages: frozenset[str] = frozenset()  # codes; empty: not known


def read_card(path: Path) -> Card:
    """Read the card of a bundled model; refuse an incomplete one."""
    facts = _facts(path)
    with suppress(KeyError, ValueError):
        windowing = Windowing(int(facts["window"]), int(facts["overlap"]))
        languages = frozenset(facts.get("languages", "").split())
        card = Card(float(facts["threshold"]), facts["tokenizer"], windowing, languages)
        if 0 <= card.threshold <= 1 and 0 <= windowing.overlap < windowing.window:
            return card
    raise TruemarkError(
        f"{path}: the model card must have a threshold from 0 to 1, a tokenizer, a window and an "
        f"overlap below it between --- lines, found {', '.join(facts) or 'nothing'}"
    )


def _facts(path: Path) -> dict[str, str]:
    opening, _, rest = read_text(path).partition("---\n")
    front, closing, _ = rest.partition("\n---\n")
    lines = front.split("\n") if closing and not opening else []
    pairs = (line.partition(":") for line in lines)
    return {key.strip(): value.strip() for key, _, value in pairs}


def windowing_of(model: Path) -> Windowing:
    """Return the windows of the card beside a model file, else the longest the model can read."""
    card = model.with_suffix(".md")
    if card.is_file():
        with suppress(TruemarkError):
            return read_card(card).windowing
    window = longest_window(model)
    return Windowing(window, round(window / SHARED_PART))


def longest_window(model: Path) -> int:
    """Return how many tokens a model file has positions for, or 510 if it does not say.

    Reading the file takes the library onnx. Without it, a model of fewer positions needs a card.
    """
    try:
        import onnx

        with open_regular(model) as file:
            tables = onnx.ModelProto.FromString(file.read()).graph.initializer
    except Exception:
        # onnx is not installed, or the file is no model: loading it will report that. Which class
        # a damaged file raises depends on the version of protobuf.
        return WINDOW_TOKENS
    for table in tables:
        rows = table.dims[0] if len(table.dims) == 2 else 0
        if "position" in table.name.lower() and rows > ROWS_ALIGNED:
            return min(WINDOW_TOKENS, rows - rows % ROWS_ALIGNED - MARKS)
    return WINDOW_TOKENS


class ForeignTextWarning(UserWarning):
    """Warns of a text in a language that the model was not made for."""


def foreign_text(model: str, languages: Collection[str], text: str) -> str | None:
    """Return a hint which model to try, if the model does not read the language of the text."""
    code = language_outside(text, languages) if languages else None
    return None if code is None else f"{language_name(code)} text; {_advice(model, languages)}"


def foreign_talks(model: str, languages: Collection[str], talks: Iterable[Talk]) -> str | None:
    """Return a remark on the talks in languages that the model does not read, if there are any."""
    foreign: Counter[str] = Counter()
    count = 0
    for talk in talks if languages else ():
        count += 1
        code = language_code(talk.language) or language_outside(talk.text, languages)
        if code is not None and code not in languages:
            foreign[language_name(code)] += 1
    if not foreign:
        return None
    names = ", ".join(name for name, _ in foreign.most_common(3))
    more = f" and {len(foreign) - 3} more languages" if len(foreign) > 3 else ""
    are = "are" if foreign.total() > 1 else "is"
    which = f"{foreign.total()} of {count} talks {are}" if count > 1 else "the talk is"
    return f"{which} in {names}{more}; {_advice(model, languages)}"


def _advice(model: str, languages: Collection[str]) -> str:
    reads = "English" if languages == {"en"} else f"{len(languages)} other languages"
    hint = "" if model == WORLD else f": try -model {WORLD}"
    return f"{model} reads {reads}{hint}"
