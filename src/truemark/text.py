"""Foreign text, made safe to show on a terminal, a page and in a spreadsheet."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_BREAKS = re.compile(r"\s*[^\S ]\s*")
_UNSEEN = frozenset({"Cc", "Cs", "Zl", "Zp"})
# Embeddings, overrides and isolates reverse the rest of the line. Other characters of no width
# stay: joiners shape emoji and several scripts.
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_TAGS = range(0xE0000, 0xE0080)


def printable(text: str) -> str:
    """Replace characters that a terminal would hide or take for commands; keep line breaks."""
    return "\n".join(
        line
        if line.isprintable()
        else "".join(char if char in "\r\t" else _visible(char) for char in line)
        for line in text.split("\n")
    )


def one_line(text: str) -> str:
    """Put text on one line, without characters that a terminal would take for commands."""
    if text.isprintable():
        return text
    return "".join(map(_visible, _BREAKS.sub(" ", text)))


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    hidden = (
        character in _TURNS or ord(character) in _TAGS or unicodedata.category(character) in _UNSEEN
    )
    return "\N{REPLACEMENT CHARACTER}" if hidden else character


def clipped(text: str, longest: int) -> str:
    """Leave out the middle of a text that is longer than `longest`."""
    if len(text) <= longest:
        return text
    end = longest // 4
    return f"{text[: longest - end - 5]} ... {text[-end:]}"


def shortened(text: str, limit: int) -> str:
    """Cut text to `limit` characters, after a whole word, with an ellipsis.

    A single longer word is cut.
    """
    if len(text) <= limit:
        return text
    kept = text[: limit - 1]
    if not text[limit - 1].isspace():
        # Not further back than half: scripts without spaces would lose nearly everything.
        at = max(kept.rfind(" "), kept.rfind("\n"))
        kept = kept[:at] if at >= limit // 2 else kept
    return kept.rstrip() + "…"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Write a number with its noun: `1 sample`, `2 samples`; the default plural adds an s."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural or f'{noun}s'}"


def listed(names: Sequence[str], most: int) -> str:
    """Name the first few and count the rest: `a, b, 3 more`; `nothing` where there are none."""
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join((*names[:most], *more)) or "nothing"
