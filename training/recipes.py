"""How each network learns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a network learns: `fresh_rate` is the rate of the layers that MiniLM does not have.

    `piece_rate`, if given, is that of the table of pieces, which overfits first. `taught` is the
    share of a teacher where labels are gold, and where they are set by rule; with `every` above 1,
    the network learns only from every second, third … batch. `unread` is the share of tokens that
    are hidden from the network, though not from its teacher.
    """

    shape: str
    body_rate: float
    fresh_rate: float
    piece_rate: float | None = None
    dropout: float = 0.0
    taught: tuple[float, float] = (0.6, 0.85)
    rounds_pieces: bool = False
    every: int = 1
    unread: float = 0.0


RECIPES = {
    "teacher": Recipe("base", 3e-4, 1e-3, dropout=0.1),
    "language": Recipe("language", 2.5e-4, 1e-3, 5e-4, dropout=0.1, taught=(0.3, 0.5), unread=0.03),
    "base": Recipe("base", 4e-4, 1.2e-3, 5e-4, dropout=0.05, taught=(0.7, 0.9), unread=0.04),
    "small": Recipe("small", 3e-4, 6e-4, taught=(0.7, 0.9), rounds_pieces=True, every=2),
    "world-teacher": Recipe("world-teacher", 2e-4, 8e-4, 1.5e-4, dropout=0.1, unread=0.04),
    "world": Recipe(
        "world", 4e-4, 1.2e-3, 3e-4, 0.05, taught=(0.75, 0.85), rounds_pieces=True, unread=0.04
    ),
    "nano": Recipe("nano", 1.2e-3, 1.8e-3, taught=(0.7, 0.9), rounds_pieces=True),
}
