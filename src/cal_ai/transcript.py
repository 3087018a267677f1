"""Conversations as speakers and what they say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Utterance:
    speaker: str
    words: str
    line: int


@dataclass(frozen=True, slots=True)
class Transcript:
    utterances: tuple[Utterance, ...]
    skipped_lines: tuple[int, ...] = ()
