"""Text from elsewhere as Markdown shows it: as it is."""

from __future__ import annotations

import re

from truemark.text import one_line, shortened

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
    line = " ".join(one_line(text[: 4 * limit]).split())
    return _SPECIAL.sub(lambda found: f"&#{ord(found.group())};", shortened(line, limit))
