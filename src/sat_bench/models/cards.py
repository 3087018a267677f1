"""Model cards: what stands between the `---` lines at their top."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sat_bench.models.reach import Reach, own_reach
from truemark.errors import TruemarkError
from truemark.files import read_text


@dataclass(frozen=True, slots=True)
class Card:
    """What a model is to be run with; the tokenizer is a file beside the card."""

    threshold: float
    tokenizer: str
    reach: Reach


def reach_of(model: Path) -> Reach:
    """The windows of the card beside a model file, or else those that it has positions for."""
    card = model.with_suffix(".md")
    if card.is_file():
        with suppress(TruemarkError):
            return read_card(card).reach
    return own_reach(model)


def read_card(path: Path) -> Card:
    """The card of a bundled model, which must be complete."""
    facts = _facts(path)
    with suppress(KeyError, ValueError):
        reach = Reach(int(facts["window"]), int(facts["overlap"]))
        card = Card(float(facts["threshold"]), facts["tokenizer"], reach)
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
