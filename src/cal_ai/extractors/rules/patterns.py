"""Regular expressions that are compiled when first used."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache


@cache
def pattern(source: str) -> re.Pattern[str]:
    """The compiled form of `source`, ignoring case; compiled once, and not before it is needed."""
    return re.compile(source, re.IGNORECASE)


@cache
def cased(source: str) -> re.Pattern[str]:
    """The compiled form of `source`, in which capitals count."""
    return re.compile(source)


def found(source: str, text: str) -> bool:
    return pattern(source).search(text) is not None


def any_of(words: Iterable[str]) -> str:
    """An alternation of literal words in which the longest wins."""
    return "(?:" + "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)) + ")"


def phrases(block: str) -> str:
    """A pattern that finds any of the expressions in `block`, one per line, at a word's start.

    A line that starts with an ellipsis goes on where the line before it ended.
    """
    joined = re.sub(r"\n *\.\.\.", "", block.strip())
    return r"\b(?:" + "|".join(line.strip() for line in joined.splitlines()) + ")"


def words(block: str) -> frozenset[str]:
    """The words of `block`, which may run over several lines."""
    return frozenset(block.split())


def sentence_case(title: str) -> str:
    return title[:1].upper() + title[1:]
