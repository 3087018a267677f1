"""Subtitles, WebVTT as Zoom and Teams save it or SRT.

The text of a cue is `<v Name>text</v>`, `Name: text` or `[Name]: text`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import islice

from cal_ai.transcripts import brackets, names
from cal_ai.transcripts.conversation import Start, bare

WEBVTT, SRT = "WebVTT", "SRT"
_TIMING = re.compile(r"(?:\d+:)?\d{1,2}:\d{2}[.,]\d{3}\s+-->\s")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
_TAG = re.compile(r"</?[a-zA-Z0-9][^<>]*>")


def subtitle_form(lines: Sequence[str]) -> str | None:
    """Name the form of subtitles by the first lines; None for other texts."""
    first, second = [*islice(filter(None, map(bare, lines)), 2), "", ""][:2]
    if first.startswith("WEBVTT"):
        return WEBVTT
    return SRT if first.isdigit() and _TIMING.match(second) else None


def read_cues(lines: Sequence[str]) -> tuple[list[str], list[Start]]:
    """Return the lines with only the words of cues, and where each speaker begins.

    A cue that has no speaker, or the same one as the cue before, continues the utterance.
    """
    words = [""] * len(lines)
    starts: list[Start] = []
    in_cue = False
    for place, line in enumerate(map(bare, lines)):
        if _TIMING.match(line) or not line:
            in_cue = bool(line)
        elif in_cue:
            for speaker, said in _voices(line):
                if speaker is None or (starts and starts[-1].speaker == speaker):
                    words[place] = f"{words[place]} {said}".strip()
                else:
                    starts.append(Start(place, speaker, said))
    return words, starts


def _voices(line: str) -> list[tuple[str | None, str]]:
    """Split a line of a cue into speakers and words; words before the first tag may have none."""
    before, *parts = _VOICE.split(line)
    voices: list[tuple[str | None, str]] = []
    if words := _plain(before):
        named = words.lstrip("-–— ")  # subtitles mark a change of speaker by a dash
        said = brackets.speaker_of(named) or names.speaker_of(named)
        voices.append(said or (None, words))
    for name, words in zip(parts[::2], parts[1::2], strict=True):
        voices.append((html.unescape(name).strip(), _plain(words)))
    return voices


def _plain(text: str) -> str:
    return html.unescape(_TAG.sub("", text)).strip()
