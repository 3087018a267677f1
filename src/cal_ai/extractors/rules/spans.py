"""Stretches of a text, as pairs of start and end."""

from __future__ import annotations

from collections.abc import Sequence

Spans = Sequence[tuple[int, int]]


def covers(spans: Spans, start: int, end: int) -> bool:
    """Whether any of the spans shares a character with text[start:end]."""
    return any(start < span_end and span_start < end for span_start, span_end in spans)
