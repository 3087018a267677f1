"""Chats that WhatsApp exports: a date and a time before each name.

Android writes `31/12/25, 22:01 - Alice: text`, the iPhone `[31/12/25, 22:01:15] Alice: text`, and
both write dates as the phone's country does. Notices of the program have no name and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cal_ai.transcripts.conversation import Start

FORM = "WhatsApp export"
_DATE = r"\d{1,4}[./-]\s?\d{1,2}[./-]\s?\d{1,4}\.?"
_TIME = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[AaPp]\.?\s?[Mm]\.?)?"
_MARKS = "[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]*"
_STAMP = re.compile(
    rf"{_MARKS}(?:\[{_DATE},?\s+{_TIME}\]\s+|{_DATE},?\s+{_TIME}\s+[-–]\s+){_MARKS}"
)
_SPEAKER = re.compile(r"([^:：\n]{1,60})[:：]\s")
_NOTICE = re.compile(
    rf"{_MARKS}(?:<[^<>]*omitted>|(?:image|video|audio|sticker|GIF|document|Contact card) omitted"
    r"|This message was deleted\.?|You deleted this message\.?)\s*",
    re.IGNORECASE,
)


def find_starts(lines: Sequence[str]) -> list[Start]:
    starts = []
    for place, line in enumerate(lines):
        stamp = _STAMP.match(line)
        if stamp is None:
            continue
        rest = line[stamp.end() :]
        speaker = _SPEAKER.match(rest + " ")
        if speaker is None or _NOTICE.fullmatch(rest[speaker.end() :]):
            starts.append(Start(place, None))
        else:
            starts.append(Start(place, speaker[1].strip("~ \u202f\xa0"), rest[speaker.end() :]))
    return starts
