"""Captions that Zoom and Teams save as text: a line with name and time, and the words below it.

[Alice Smith] 10:01:22        Alice Smith   0:03        Alice Smith
Shall we meet on Friday?      Shall we meet?            0:03
Shall we meet?
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cal_ai.transcripts.clock import TIME
from cal_ai.transcripts.conversation import Start, bare
from cal_ai.transcripts.names import is_name

FORM = "captions of Zoom or Teams"
_BRACKETED = re.compile(rf"\[([^\[\]]+)\]\s+{TIME}")
_BESIDE = re.compile(rf"([^\W\d_][^:：<>\[\]]{{0,50}}?)(?:\s{{2,}}|\t\s*){TIME}")
_ALONE = re.compile(TIME)


def find_starts(lines: Sequence[str]) -> list[Start]:
    starts = []
    stripped = [bare(line) for line in lines]
    for place, line in enumerate(stripped):
        match = _BRACKETED.fullmatch(line) or _BESIDE.fullmatch(line)
        if match:
            starts.append(Start(place, match[1].strip()))
        elif _ALONE.fullmatch(line) and place and _is_heading(stripped, place - 1):
            starts.append(Start(place, stripped[place - 1]))
    return starts


def without_headings(lines: Sequence[str], starts: Sequence[Start]) -> list[str]:
    """Blank the lines with names and times, which would be taken for words."""
    blanked = list(lines)
    for start in starts:
        blanked[start.place] = ""
        if start.place and bare(lines[start.place - 1]) == start.speaker:
            blanked[start.place - 1] = ""
    return blanked


def _is_heading(lines: Sequence[str], place: int) -> bool:
    """Whether the line holds nothing but a name."""
    name = lines[place]
    return bool(name) and name[0].isalpha() and is_name(name) and name[-1] not in ".!?,;:"
