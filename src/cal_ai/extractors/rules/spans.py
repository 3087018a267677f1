"""Stretches of a text, as pairs of start and end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

Spans = Sequence[tuple[int, int]]


class Placed(Protocol):
    """What has a place in a text, such as a day that is mentioned."""

    @property
    def start(self) -> int:
        """The offset of its first character."""

    @property
    def end(self) -> int:
        """The offset after its last character."""


def covers(spans: Spans, start: int, end: int) -> bool:
    """Whether any of the spans shares a character with text[start:end]."""
    return any(start < span_end and span_start < end for span_start, span_end in spans)


def overlaps(mentions: Iterable[Placed], start: int, end: int) -> bool:
    """The same for what is mentioned in a text."""
    return any(start < mention.end and mention.start < end for mention in mentions)


def blanked(text: str, spans: Spans) -> str:
    """`text` with blanks in the place of the spans."""
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text
