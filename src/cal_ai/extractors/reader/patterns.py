"""Regular expressions that are compiled when they are first used, and places in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache


@cache
def pattern(source: str) -> re.Pattern[str]:
    """Compile `source`, ignoring case."""
    return re.compile(source, re.IGNORECASE)


def occurs(source: str, text: str) -> bool:
    """Whether `source` matches somewhere in `text`, ignoring case."""
    # Lowering both is three times as fast as a pattern that ignores case.
    return small_pattern(source).search(text.lower()) is not None


def small(text: str) -> str:
    """Lower the text without moving any character."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)


@cache
def small_pattern(source: str) -> re.Pattern[str]:
    """Compile `source`, lowered except for escapes and group names, for texts in small letters."""
    lowered = re.sub(r"(\\.|\(\?P)|[A-Z]", lambda part: part[1] or part[0].lower(), source)
    return re.compile(lowered, re.ASCII)  # enough for English, and a tenth faster


def matches(source: str, text: str) -> Iterator[re.Match[str]]:
    """Find all places in `text` where `source` matches, ignoring case, with small letters."""
    return small_pattern(source).finditer(small(text))


def any_of(words: Iterable[str]) -> str:
    """Return an alternation of literal words in which the longest wins."""
    return "(?:" + "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)) + ")"


def words(block: str) -> frozenset[str]:
    return frozenset(block.split())


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a text: text[start:end]."""

    start: int
    end: int


def overlaps(mentions: Iterable[Span], start: int, end: int) -> bool:
    """Whether any of the mentions shares a character with text[start:end]."""
    return any(start < mention.end and mention.start < end for mention in mentions)
