"""How many tokens a model reads at a time: from its card, or from the positions in its file."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from sat_bench.models import WINDOW_TOKENS
from truemark.errors import TruemarkError
from truemark.files import open_regular, read_text

MARKS = 2  # <s> and </s> stand around a window
# RoBERTa sets two rows of its table aside, so that 514 are 512 positions.
ROWS_ALIGNED = 8
# Enough: eight times the work moves F1 by less than 0.002 either way.
SHARED_PART = 8

# Of ONNX's message types: model.graph, graph.initializer, tensor.dims and tensor.name.
_GRAPH, _INITIALIZER, _DIMS, _NAME = 7, 5, 1, 8
_VARINT, _EIGHT_BYTES, _SIZED, _FOUR_BYTES = 0, 1, 2, 5


Weighting = Literal["hat", "uniform"]
WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)
DEFAULT_WEIGHTING: Weighting = "hat"


@dataclass(frozen=True, slots=True)
class Reach:
    """A window of tokens, how many of them it shares with the one before, and how these count."""

    window: int = WINDOW_TOKENS
    overlap: int = round(WINDOW_TOKENS / SHARED_PART)
    weighting: Weighting = DEFAULT_WEIGHTING

    def sharing(self, overlap: int | None, weighting: Weighting = DEFAULT_WEIGHTING) -> Reach:
        """The same window with this weighting, and another overlap if one is given."""
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


def longest_window(model: Path) -> int:
    """The tokens that a model file has positions for; 510 where it does not tell."""
    with suppress(OSError, ValueError, IndexError, TruemarkError):
        with (
            open_regular(model) as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view,
        ):
            rows = _rows_of_positions(view)
        if rows:
            return min(WINDOW_TOKENS, rows - rows % ROWS_ALIGNED - MARKS)
    return WINDOW_TOKENS


def own_reach(model: Path) -> Reach:
    """The longest window of a model file, an eighth of it shared."""
    window = longest_window(model)
    return Reach(window, round(window / SHARED_PART))


def _rows_of_positions(view: mmap.mmap) -> int:
    """The length of the first table that is called after positions; 0 if there is none."""
    for number, start, end in _fields(view, 0, len(view)):
        if number != _GRAPH:
            continue
        for inner, at, stop in _fields(view, start, end):
            if inner == _INITIALIZER:
                name, sides = _named_sides(view, at, stop)
                if "position" in name and len(sides) == 2 and sides[0] > ROWS_ALIGNED:
                    return sides[0]
    return 0


def _named_sides(view: mmap.mmap, start: int, end: int) -> tuple[str, list[int]]:
    """The name of a tensor and the lengths of its sides."""
    name, sides = "", list[int]()
    for number, at, stop in _fields(view, start, end):
        if number == _DIMS:
            while at < stop:
                side, at = _varint(view, at)
                sides.append(side)
        elif number == _NAME:
            name = bytes(view[at:stop]).decode("utf-8", "replace").lower()
    return name, sides


def _fields(view: mmap.mmap, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Each field of a protocol buffer: its number, and where its content begins and ends."""
    while start < end:
        key, start = _varint(view, start)
        number, kind = key >> 3, key & 7
        if kind == _SIZED:
            size, start = _varint(view, start)
            stop = start + size
        elif kind == _VARINT:
            stop = _varint(view, start)[1]
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            stop = start + (8 if kind == _EIGHT_BYTES else 4)
        else:
            raise ValueError(f"wire type must be 0, 1, 2 or 5, got {kind}")
        if stop > end:
            raise ValueError(f"field must end by {end}, got {stop}")
        yield number, start, stop
        start = stop


def _varint(view: mmap.mmap, at: int) -> tuple[int, int]:
    """A number in groups of seven bits, and where the next begins."""
    value = shift = 0
    while True:
        byte = view[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
