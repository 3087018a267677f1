"""Who talks, when, and whose calendar it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo


@dataclass(frozen=True, slots=True)
class Setting:
    """The circumstances of a conversation; `now` and all times are those of the owner's clock.

    `zone` is the owner's time zone, None if it is not known. A talk is `crowded` if it is long or
    has many speakers, so that a guess is nearly always wrong. `greetings` are the first words of
    each speaker.
    """

    owner: str
    speakers: frozenset[str]
    now: datetime
    zone: tzinfo | str | None
    crowded: bool
    greetings: Mapping[str, str]

    @property
    def others(self) -> frozenset[str]:
        return self.speakers - {self.owner}

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name.lower() for name in self.speakers)
