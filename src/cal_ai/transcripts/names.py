"""The form `Name: text`, and how a name is recognised without brackets."""

from __future__ import annotations

import re

FORM = "Name: text"
_LONGEST_NAME = 50
_MOST_WORDS = 5
_SPEAKER = re.compile(
    rf"[\s\u200b-\u200f\u202a-\u202e\ufeff]*([^\W\d_][^:：<>\[\]{{}}|/\\]{{0,{_LONGEST_NAME}}})"
    r"\s*[:：](?!//|\d\d\b)"  # neither an address nor a time of day
)
_PARTICLES = re.compile("al|and|ben|bin|da|de|del|den|der|di|du|la|le|of|van|von|y|zu")
# Words before a colon that begin a remark or a heading and are not names.
_NO_NAME = re.compile(
    "action items|address|agenda|attendees|cc|date|fyi|https?|link|location|meeting|notes?"
    "|participants|place|ps|re|subject|summary|time|title|todo|topic|url|when|where"
)


def speaker_of(line: str) -> tuple[str, str] | None:
    """Split a line into speaker and words; None where no name stands before a colon."""
    match = _SPEAKER.match(line)
    if match is None or not is_name(match[1]):
        return None
    return match[1].strip(), line[match.end() :]


def is_name(text: str) -> bool:
    """Whether this may be a name: one word, or a few words none of which begins in lower case."""
    words = text.split()
    if not 0 < len(words) <= _MOST_WORDS or _NO_NAME.fullmatch(text.casefold().strip()):
        return False
    return len(words) == 1 or not any(
        word[0].islower() and not _PARTICLES.fullmatch(word) for word in words
    )
