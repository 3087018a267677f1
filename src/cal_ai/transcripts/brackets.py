"""The form `[Name]: text`."""

from __future__ import annotations

import re

# Marks of writing direction, which editors put in front of a line in Hebrew or Arabic, and a BOM.
_INVISIBLE = "\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
_SPEAKER = re.compile(rf"[\s{_INVISIBLE}]*\[([^\[\]]+)\][\s{_INVISIBLE}]*[:：]")


def speaker_of(line: str) -> tuple[str, str] | None:
    """Split a line into speaker and words; None where it begins with no name in brackets."""
    match = _SPEAKER.match(line)
    if match and (speaker := match[1].strip()):
        return speaker, line[match.end() :]
    return None
