"""From a file to a conversation; the form is decided for each file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from cal_ai.transcripts import brackets, captions, clock, names, webvtt, whatsapp
from cal_ai.transcripts.conversation import BRACKETS, Start, Transcript, gather, split_lines
from truemark.errors import TruemarkError
from truemark.files import read_text
from truemark.languages import NAMES, language_name, language_outside
from truemark.text import counted

LARGEST_TRANSCRIPT = 5_000_000
"""Bytes; more than a hundred hours of talk."""
STANDARD_INPUT = Path("-")
NOBODY_SPEAKS = "nobody speaks in it, expected lines like [Speaker]: words"
# Among forms that find equally many speakers, the first is taken.
_FORMS = (
    (whatsapp.FORM, whatsapp.find_starts),
    (clock.FORM, clock.find_starts),
    (captions.FORM, captions.find_starts),
    (names.FORM, names.find_starts),
)


def parse_transcript(text: str) -> Transcript:
    """Split a conversation into utterances.

    With any line `[Name]: text` it is read in that form; else WebVTT by its first line, else the
    form in which most lines name a speaker.
    """
    lines = split_lines(text)
    if starts := brackets.find_starts(lines):
        return gather(lines, starts, BRACKETS)
    if webvtt.is_webvtt(lines):
        words, starts = webvtt.read_cues(lines)
        return gather(words, starts, webvtt.FORM)
    form, starts = max(
        ((form, find_starts(lines)) for form, find_starts in _FORMS),
        key=lambda reading: _speaker_count(reading[1]),
    )
    if not _speaker_count(starts):
        return gather(lines, (), BRACKETS)
    if form == captions.FORM:
        lines = captions.without_headings(lines, starts)
    return gather(lines, starts, form)


def _speaker_count(starts: Sequence[Start]) -> int:
    return sum(start.speaker is not None for start in starts)


def form_line(transcript: Transcript) -> str:
    """Say in which form a conversation was read, and how many lines were left out."""
    return f"read as {transcript.form}, {counted(len(transcript.skipped_lines), 'line')} left out"


def foreign_language(transcript: Transcript) -> str | None:
    """Name the language of a conversation that is not in English; None when not sure.

    What the file says of its language is believed.
    """
    if transcript.language is not None:
        code = transcript.language.casefold()
        is_english = code == "english" or code.partition("-")[0] in ("en", "eng")
        return None if is_english else language_name(code if code in NAMES else transcript.language)
    words = "\n".join(utterance.words for utterance in transcript.utterances)
    code = language_outside(words, {"en"}) or ""
    return language_name(code) if code else None


def load_transcript(path: Path) -> Transcript:
    """Read the conversation in a UTF-8 file; `-` is standard input."""
    if path == STANDARD_INPUT:
        return parse_transcript(_read_input())
    return parse_transcript(read_text(path, LARGEST_TRANSCRIPT))


def _read_input() -> str:
    data = sys.stdin.buffer.read(LARGEST_TRANSCRIPT + 1)
    if len(data) > LARGEST_TRANSCRIPT:
        raise TruemarkError(
            f"standard input: is too large, expected at most {LARGEST_TRANSCRIPT:,} bytes"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TruemarkError("standard input: not UTF-8 text; save it as UTF-8") from error
