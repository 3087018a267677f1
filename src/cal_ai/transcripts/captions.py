"""Captions and chats of Zoom and Teams as text: a line with name and time, and the words below it.

[Alice Smith] 10:01:22    Alice Smith   0:03    Alice Smith       [11/19 10:01 AM] Alice Smith
Shall we meet?            Shall we meet?        0:03              Shall we meet?
                                                Shall we meet?

Teams also says the time in words (`Alice Smith 0 minutes 3 seconds`), or `0:03 --> 0:05` before the
name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cal_ai.transcripts.clock import TIME
from cal_ai.transcripts.conversation import Start, bare
from cal_ai.transcripts.names import is_name

FORM = "captions or a chat of Zoom or Teams"
_NAME = r"([^\W\d_][^:：<>\[\]]{0,50}?)"
_IN_WORDS = r"(?:\d+ hours? )?\d+ minutes? \d+ seconds?"
_WITH_TIME = tuple(
    re.compile(form)
    for form in (
        rf"\[([^\[\]]+)\]\s+{TIME}",
        rf"{_NAME}(?:\s{{2,}}|\t\s*){TIME}",
        rf"{_NAME}\s+{_IN_WORDS}",
    )
)
_AFTER_TIME = re.compile(rf"\[[^\[\]]*{TIME}\]\s+{_NAME}")
_TIME = re.compile(TIME)
_ALONE = re.compile(rf"{TIME}(?:\s*-->\s*{TIME})?|{_IN_WORDS}")


def find_starts(lines: Sequence[str]) -> list[Start]:
    starts = []
    stripped = [bare(line) for line in lines]
    for place, line in enumerate(stripped):
        if name := _name_in(line):
            starts.append(Start(place, name))
        elif place and "-->" in stripped[place - 1] and _is_heading(stripped, place):
            starts.append(Start(place, line))
        elif not _TIME.fullmatch(line):
            continue
        # The line below a time holds words, though it may be a name too: `Friday`.
        elif _is_heading(stripped, place - 1) and (not starts or starts[-1].place < place - 2):
            starts.append(Start(place, stripped[place - 1]))
    return starts


def _name_in(line: str) -> str | None:
    """Return the name in a line that has nothing else but a time."""
    for form in _WITH_TIME:
        if match := form.fullmatch(line):
            return match[1].strip()
    match = _AFTER_TIME.fullmatch(line)
    return match[1].strip() if match and is_name(match[1]) else None


def without_headings(lines: Sequence[str], starts: Sequence[Start]) -> list[str]:
    """Blank the lines with names and times, which would be taken for words."""
    blanked = list(lines)
    for start in starts:
        blanked[start.place] = ""
        above = start.place - 1
        while above >= 0 and _ALONE.fullmatch(bare(lines[above])):
            above -= 1
        if above >= 0 and bare(lines[above]) == start.speaker:
            blanked[above : start.place] = [""] * (start.place - above)
        elif start.place and "-->" in lines[start.place - 1]:
            blanked[start.place - 1] = ""
    return blanked


def _is_heading(lines: Sequence[str], place: int) -> bool:
    """Whether there is such a line, and it holds nothing but a name."""
    name = lines[place] if place >= 0 else ""
    return bool(name) and name[0].isalpha() and is_name(name) and name[-1] not in ".!?,;:"
