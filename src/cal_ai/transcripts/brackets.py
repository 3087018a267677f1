"""The form `[Name]: text`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cal_ai.transcripts.conversation import Start

# Marks of writing direction, which editors put in front of a line in Hebrew or Arabic, and a BOM.
_INVISIBLE = "\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
_SPEAKER = re.compile(rf"[\s{_INVISIBLE}]*\[([^\[\]]+)\][\s{_INVISIBLE}]*[:：]")


def find_starts(lines: Sequence[str]) -> list[Start]:
    starts = []
    for place, line in enumerate(lines):
        match = _SPEAKER.match(line)
        if match and (speaker := match[1].strip()):
            starts.append(Start(place, speaker, line[match.end() :]))
    return starts
