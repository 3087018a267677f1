"""Text from elsewhere as Markdown shows it: as it is."""

from __future__ import annotations

import re

from truemark.text import shortened

_JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
# Underscores only at the edge of a word, slashes and dots only where an address becomes a link.
# What comes before is looked at last: at every place of the text it would take far longer.
_SPECIAL = re.compile(
    r"[&<>|\\`*\[\]~${}@]|_(?<![^\W_]_)|_(?![^\W_])|/(?<=:/)|\.(?<=www\.)", re.IGNORECASE
)


def escaped(text: str, limit: int = 300) -> str:
    """One line of `text` that Markdown shows as it is: no markup, no HTML, no link, no table cell.

    What cannot be seen (control characters, direction overrides, halves of surrogate pairs) becomes
    a replacement character; what is longer than `limit` ends in an ellipsis.
    """
    line = " ".join(text[: 4 * limit].split())
    if not line.isprintable():
        line = "".join(map(_visible, line))
    return _SPECIAL.sub(lambda found: f"&#{ord(found.group())};", shortened(line, limit))


def _visible(character: str) -> str:
    # Joiners shape emoji and several scripts; what else cannot be printed only misleads.
    if character.isprintable() or character in _JOINERS:
        return character
    return "\N{REPLACEMENT CHARACTER}"
