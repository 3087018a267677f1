"""How far what a system returned differs from the text that it was given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

PER = 1_000


@dataclass(frozen=True, slots=True)
class Loss:
    """Characters other than white space that a system changed, deleted and invented.

    `characters` is how many there were, in the texts of systems that return texts.
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

    def __bool__(self) -> bool:
        return bool(self.changed or self.deleted or self.invented)

    @property
    def rates(self) -> tuple[float, float, float]:
        """Changed, deleted and invented characters per 1,000 of the texts."""
        scale = PER / max(1, self.characters)
        return self.changed * scale, self.deleted * scale, self.invented * scale

    def __str__(self) -> str:
        changed, deleted, invented = self.rates
        return (
            f"{changed:.1f} changed, {deleted:.1f} deleted, {invented:.1f} invented "
            f"per {PER:,} characters"
        )


NO_LOSS = Loss()


def total_loss(losses: Iterable[Loss]) -> Loss:
    """The losses of all texts together."""
    return sum(losses, NO_LOSS)
