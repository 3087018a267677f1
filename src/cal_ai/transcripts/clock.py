"""The form `[10:01] Name: text`: a time before each name, in brackets or not.

The chat of a Zoom meeting has it as `10:01:22 From Alice to Everyone: text`.
"""

from __future__ import annotations

import re

from cal_ai.transcripts import names

FORM = "[10:01] Name: text"
TIME = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?(?:\s?[AaPp]\.?[Mm]\.?)?"
_DATE = r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}[T,\s]\s*"
_STAMP = re.compile(
    rf"\s*(?:\[\s*(?:{_DATE})?{TIME}\s*\]|\(\s*(?:{_DATE})?{TIME}\s*\)|(?:{_DATE})?{TIME}(?=\s))"
    r"\s*[-–—]?\s*"
)
_CHAT = re.compile(r"From\s+(.+?)(?:\s+[Tt]o\s+[^:：]+)?\s*[:：]")


def speaker_of(line: str) -> tuple[str, str] | None:
    """Split a line into speaker and words; None where it begins with no time and name."""
    stamp = _STAMP.match(line)
    if stamp is None:
        return None
    rest = line[stamp.end() :]
    if chat := _CHAT.match(rest):
        return chat[1].strip(), rest[chat.end() :]
    return names.speaker_of(rest)
