"""The form `[10:01] Name: text`: a time before each name, in brackets or not.

The chat of a Zoom meeting has it as `10:01:22 From Alice to Everyone: text`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cal_ai.transcripts.conversation import Start
from cal_ai.transcripts.names import speaker_of

FORM = "[10:01] Name: text"
TIME = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?(?:\s?[AaPp]\.?[Mm]\.?)?"
_DATE = r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}[T,\s]\s*"
_STAMP = re.compile(
    rf"\s*(?:\[\s*(?:{_DATE})?{TIME}\s*\]|\(\s*(?:{_DATE})?{TIME}\s*\)|(?:{_DATE})?{TIME}(?=\s))"
    r"\s*[-–—]?\s*"
)
_CHAT = re.compile(r"From\s+(.+?)(?:\s+[Tt]o\s+[^:：]+)?\s*[:：]")


def find_starts(lines: Sequence[str]) -> list[Start]:
    starts = []
    for place, line in enumerate(lines):
        stamp = _STAMP.match(line)
        if stamp is None:
            continue
        rest = line[stamp.end() :]
        if chat := _CHAT.match(rest):
            starts.append(Start(place, chat[1].strip(), rest[chat.end() :]))
        elif said := speaker_of(rest):
            starts.append(Start(place, *said))
    return starts
