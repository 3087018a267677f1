"""How many tokens a model reads at a time: from its card, or from the positions in its file."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sat_bench.defaults import DEFAULT_WEIGHTING, WINDOW_TOKENS, Weighting
from truemark.errors import TruemarkError
from truemark.files import open_regular, read_text

MARKS = 2  # <s> and </s> stand around a window
# RoBERTa sets two rows of its table aside: 514 rows are 512 positions.
ROWS_ALIGNED = 8
# Enough: eight times the work moves F1 by less than 0.002 either way.
SHARED_PART = 8


@dataclass(frozen=True, slots=True)
class Reach:
    """A window of tokens, how many it shares with the one before, and how those are weighted."""

    window: int = WINDOW_TOKENS
    overlap: int = round(WINDOW_TOKENS / SHARED_PART)
    weighting: Weighting = DEFAULT_WEIGHTING

    def sharing(self, overlap: int | None, weighting: Weighting = DEFAULT_WEIGHTING) -> Reach:
        """Return the same window with this weighting, and this overlap unless it is None."""
        if overlap is None:
            return Reach(self.window, self.overlap, weighting)
        if overlap >= self.window:
            raise TruemarkError(
                f"an overlap of {overlap} tokens is too long for this model, which reads "
                f"{self.window} at a time: give at most {self.window - 1}"
            )
        return Reach(self.window, overlap, weighting)


@dataclass(frozen=True, slots=True)
class Card:
    """What a model is run with; the tokenizer is a file beside the card."""

    threshold: float
    tokenizer: str
    reach: Reach
    languages: frozenset[str] = frozenset()  # codes; empty: not known


def read_card(path: Path) -> Card:
    """Read the card of a bundled model, which must be complete."""
    facts = _facts(path)
    with suppress(KeyError, ValueError):
        reach = Reach(int(facts["window"]), int(facts["overlap"]))
        languages = frozenset(facts.get("languages", "").split())
        card = Card(float(facts["threshold"]), facts["tokenizer"], reach, languages)
        if 0 <= card.threshold <= 1 and 0 <= reach.overlap < reach.window:
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


def reach_of(model: Path) -> Reach:
    """Return the windows of the card beside a model file, else those it has positions for."""
    card = model.with_suffix(".md")
    if card.is_file():
        with suppress(TruemarkError):
            return read_card(card).reach
    window = longest_window(model)
    return Reach(window, round(window / SHARED_PART))


def longest_window(model: Path) -> int:
    """Count the tokens that a model file has positions for; 510 where it does not say.

    Reading the file takes the library onnx. Without it a model of fewer positions needs a card.
    """
    try:
        import onnx

        with open_regular(model) as file:
            tables = onnx.ModelProto.FromString(file.read()).graph.initializer
    except Exception:
        # Not installed, or not a model: loading it will say what is wrong. Which class a damaged
        # file raises depends on the version of protobuf.
        return WINDOW_TOKENS
    for table in tables:
        rows = table.dims[0] if len(table.dims) == 2 else 0
        if "position" in table.name.lower() and rows > ROWS_ALIGNED:
            return min(WINDOW_TOKENS, rows - rows % ROWS_ALIGNED - MARKS)
    return WINDOW_TOKENS
